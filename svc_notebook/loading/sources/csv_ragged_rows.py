"""Ragged rows: rows of a delimited file whose number of cells differs from the header's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from svc_notebook.display import shorten
from svc_notebook.errors import BadInput
from svc_notebook.loading.sources.csv_cells import (
    LINE_ENDS,
    ColumnForms,
    find_forms,
    find_stray_cell,
    fits_shifted,
    is_open,
    is_well_quoted,
    read_cell,
    repair_cells,
    split_cells,
    split_records,
    write_cell,
)
from svc_notebook.loading.sources.csv_dialect import (
    MAX_HEADER_LINES,
    SNIFFED_ROWS,
    Dialect,
    free_name,
)
from svc_notebook.loading.sources.encoding import fresh
from svc_notebook.loading.table import RowError

UNCLOSED = "has a quote that is never closed, or text after a closing quote"
SHORT = "has fewer columns than the header"
SURPLUS = "has more columns than the header"
SHIFTED = f"{SURPLUS}, and its cells do not fit their columns"
EMPTY_SURPLUS = f"{SURPLUS}: one separator too many, and the last cell is empty"
# Of rejected rows: characters of a row that are shown, and rows whose text is shown.
MAX_SHOWN_CHARACTERS, MAX_SHOWN_ROWS = 10_000, 10_000
# The maximum number of cells beyond those of the header.
MAX_SURPLUS_CELLS = 100
# Rows, or columns, that a note names.
MAX_NUMBERED_ROWS = 5


@dataclass
class NumberedRows:
    """The number of rows of a kind, and the row numbers of the first."""

    number: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        """Count a row."""
        self.number += 1
        if len(self.first) < MAX_NUMBERED_ROWS:
            self.first.append(row)

    def subject(self, singular: str, plural: str) -> str:
        """Return the number of rows with a verb."""
        return f"1 row {singular}" if self.number == 1 else f"{self.number:,} rows {plural}"

    @property
    def places(self) -> str:
        """The row numbers of the first rows."""
        numbers = ", ".join(f"{row:,}" for row in self.first)
        more = ", …" if self.number > len(self.first) else ""
        return f"{'row' if self.number == 1 else 'rows'} {numbers}{more}"


@dataclass
class RegularCopy:
    """A copy of a file in which every row has the same number of cells."""

    path: Path
    rows: int = 0
    # Rows with too few cells, with too many, and with misplaced quotes.
    filled: NumberedRows = field(default_factory=NumberedRows)
    long: NumberedRows = field(default_factory=NumberedRows)
    # Rows with an empty cell too many.
    stray: NumberedRows = field(default_factory=NumberedRows)
    repaired: NumberedRows = field(default_factory=NumberedRows)
    # Lines that repeat the header, by the row that follows.
    repeated: NumberedRows = field(default_factory=NumberedRows)
    # The number of rows without a value, which it does not contain.
    empty: int = 0
    # Rows that the copy does not contain.
    removed: list[RowError] = field(default_factory=list)

    def remove(self, body: str, reason: str, dialect: Dialect) -> None:
        """Reject the current row."""
        shown = body if len(self.removed) < MAX_SHOWN_ROWS else ""
        self.removed.append(broken_row(self.rows, shown, reason, dialect))


def describe_copies(
    copies: Sequence[RegularCopy], names: Sequence[str], surplus: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each file and each way in which its rows were changed."""
    for copy, name in zip(copies, names, strict=True):
        place = f" of {name}" if len(copies) > 1 else ""
        if copy.filled.number:
            yield (
                f"{copy.filled.subject('has', 'have')} fewer cells than the header; the missing "
                f"cells are empty ({copy.filled.places}{place})"
            )
        if copy.long.number:
            what = ", ".join(f"`{each}`" for each in surplus[:MAX_NUMBERED_ROWS])
            more = ", …" if len(surplus) > MAX_NUMBERED_ROWS else ""
            sent = f"the surplus is sent as {what}{more}" if what else "the surplus cells are empty"
            yield (
                f"{copy.long.subject('has', 'have')} more cells than the header; {sent} "
                f"({copy.long.places}{place}). strict=True rejects such rows"
            )
        if copy.stray.number:
            yield (
                f"{copy.stray.subject('has', 'have')} one separator too many: an empty cell is "
                "left out, because only then every other cell fits the format of its column "
                f"({copy.stray.places}{place}). strict=True rejects such rows"
            )
        if copy.repaired.number:
            yield (
                f"{copy.repaired.subject('has', 'have')} quotes inside of values that are escaped "
                "otherwise or not at all; they are read as part of the values "
                f"({copy.repaired.places}{place}). strict=True rejects such rows"
            )
        if copy.repeated.number:
            one = copy.repeated.number == 1
            lines = "1 line repeats" if one else f"{copy.repeated.number:,} lines repeat"
            skipped = "is skipped" if one else "are skipped"
            yield f"{lines} the header and {skipped} (before {copy.repeated.places}{place})"
        if copy.empty:
            what = "row has no value and is" if copy.empty == 1 else "rows have no value and are"
            yield f"{copy.empty:,} {what} skipped{place}; strict=True sends such rows"


def is_plain_header(path: Path, dialect: Dialect) -> bool:
    """Return whether a header has one line, with quotes only around whole names.

    Raises `BadInput` for an unclosed quote in it.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        record = next(split_records(islice(file, MAX_HEADER_LINES + 2), dialect), "")
    body = record.rstrip(LINE_ENDS)
    cells = split_cells(body, dialect)
    well_quoted = all(
        is_well_quoted(cell, dialect)
        if cell.startswith(dialect.quote)
        else dialect.quote not in cell
        for cell in cells
    )
    alone = "\n" not in body and "\r" not in body
    if is_open(cells[-1], dialect) or not (alone or well_quoted):
        raise BadInput(
            f"the header has an unclosed quote before `{cells[-1].strip(dialect.quote)[:20]}`; "
            "close it"
        )
    return alone and well_quoted


def has_rows(path: Path, dialect: Dialect) -> bool:
    """Return whether a file has a line after its header that is not blank."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        records = islice(split_records(file, dialect), int(dialect.header), None)
        return any(not _is_blank(record, dialect) for record in records)


def count_empty_rows(path: Path, dialect: Dialect) -> int:
    """Return the number of rows of a file of one column that are an empty value inside quotes."""
    if len(dialect.names) != 1:
        return 0
    empty = dialect.quote * 2
    return sum(record.rstrip(LINE_ENDS) == empty for record in _open_records(path, dialect))


def read_forms(path: Path, dialect: Dialect) -> ColumnForms:
    """Return the forms of the values of each column, from the first rows."""
    records = islice(_open_records(path, dialect), SNIFFED_ROWS)
    rows = [_texts(cells, dialect) for record in records if (cells := read_cells(record, dialect))]
    return find_forms(rows, len(dialect.names))


def _texts(cells: Sequence[str], dialect: Dialect) -> list[str]:
    return [read_cell(cell, dialect) or "" for cell in cells]


def _without_stray(cells: list[str], dialect: Dialect, forms: ColumnForms) -> list[str]:
    """Leave out the empty cell that a row has too many, if it is evident which one that is."""
    place = None
    if len(cells) == len(forms) + 1:
        place = find_stray_cell(_texts(cells, dialect), forms)
    return cells if place is None else [*cells[:place], *cells[place + 1 :]]


def find_surplus(paths: Sequence[Path], dialect: Dialect, forms: ColumnForms) -> tuple[str, ...]:
    """Return names for the cells that rows have beyond those of the header.

    Such a cell has the name that a later header in the file gives it, or `column5` for the sixth.
    Empty cells need no name, and rows with very many cells are rejected.
    """
    width = len(dialect.names)
    surplus: list[str] = []
    for path in paths:
        for record in _open_records(path, dialect):
            cells = _without_stray(read_cells(record, dialect) or [], dialect, forms)
            header = repeats_header(cells, dialect)
            if (
                not header
                and len(cells) == width + 1
                and not fits_shifted(_texts(cells, dialect), forms)
            ):
                continue
            kept = _without_empty_end(cells, width, dialect)
            more = [read_cell(cell, dialect) for cell in kept[width:]]
            if len(surplus) < len(more) <= MAX_SURPLUS_CELLS:
                named = more if header else [None] * len(more)
                for place in range(len(surplus), len(more)):
                    wanted = (named[place] or "").strip() or f"column{width + place}"
                    surplus.append(free_name(wanted, (*dialect.names, *surplus)))
    return tuple(surplus)


def write_regular(
    path: Path,
    folder: Path,
    dialect: Dialect,
    surplus: Sequence[str],
    forms: ColumnForms,
    *,
    strict: bool,
) -> RegularCopy:
    """Copy a file so that every row has the same number of cells; blank lines are dropped.

    Rows with too few cells get empty ones, and the cells beyond the header's are columns; if
    `strict`, both are removed. Lines that repeat the header are left out. Rows with other errors
    are copied unchanged. A row with one cell too many loses an empty cell if only without it all
    cells have the forms of their columns. If every row ends with an extra separator, it is removed.
    Quotes inside of values are doubled in the copy.
    """
    copy = RegularCopy(fresh(folder, path.name))
    width = len(dialect.names) + len(surplus)
    with copy.path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink:
        sink.write(dialect.separator.join(f"c{n}" for n in range(width)) + "\n")
        for record in _open_records(path, dialect):
            if not strict and is_empty_row(record, dialect):
                copy.empty += 1
            elif not _is_blank(record, dialect):
                copy.rows += 1
                sink.write(_regular(record, copy, dialect, width, () if strict else forms))
    return copy


def _open_records(path: Path, dialect: Dialect) -> Iterator[str]:
    """Yield the records of a file below its header."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as source:
        yield from islice(split_records(source, dialect), int(dialect.header), None)


def _is_blank(record: str, dialect: Dialect) -> bool:
    body = record.rstrip(LINE_ENDS)
    alone = len(dialect.names) == 1 or dialect.separator in body
    return not body or (not alone and not body.strip())


def is_empty_row(record: str, dialect: Dialect) -> bool:
    """Return whether a record of a table of several columns has separators and no value."""
    rest = record.rstrip(LINE_ENDS)
    return (
        len(dialect.names) > 1
        and dialect.separator != " "
        and dialect.separator in rest
        and not rest.strip(f"{dialect.separator}{dialect.quote} ")
        and not any((read_cell(cell, dialect) or "").strip() for cell in split_cells(rest, dialect))
    )


def read_cells(record: str, dialect: Dialect) -> list[str] | None:
    """Return the cells of a record, with their quotes; None if the quotes are misplaced."""
    cells = split_cells(record.rstrip(LINE_ENDS), dialect)
    return cells if all(is_well_quoted(cell, dialect) for cell in cells) else None


def repeats_header(cells: Sequence[str], dialect: Dialect) -> bool:
    """Return whether a row repeats the names of the header, all or the first ones, or more."""
    names = dialect.cells
    shared = min(len(cells), len(names))
    if not 1 < max(len(cells), len(names)) < 2 * shared:
        return False
    found = [(read_cell(cell, dialect) or "").strip() for cell in cells[:shared]]
    return found == [*names[:shared]] and sum(map(bool, found)) > 1


def _regular(
    record: str, copy: RegularCopy, dialect: Dialect, width: int, forms: ColumnForms
) -> str:
    """Return a record with `width` cells, or "" if it is not one of the rows.

    Without `forms`, rows that have another number of cells, or misplaced quotes, are removed.
    """
    strict = not forms
    body = record.rstrip(LINE_ENDS)
    header_width = len(dialect.names)
    cells = read_cells(body, dialect)
    if cells is None:
        repaired = None if strict else repair_cells(body, header_width, dialect)
        if repaired is None and is_open(split_cells(body, dialect)[-1], dialect):
            copy.remove(body, UNCLOSED, dialect)
            return ""
        if repaired is None:
            return body + "\n"
        copy.repaired.add(copy.rows)
        return _join(repaired, width, dialect)
    if repeats_header(cells, dialect):
        copy.repeated.add(copy.rows)
        copy.rows -= 1
        return ""
    if len(cells) == header_width + 1 and dialect.trailing and not cells[-1]:
        return _join([write_cell(cell, dialect) for cell in cells[:-1]], width, dialect)
    if len(found := _without_stray(cells, dialect, forms)) < len(cells):
        copy.stray.add(copy.rows)
        cells = found
    texts = _texts(cells, dialect) if len(cells) == header_width + 1 and forms else [""]
    if texts[-1] and not fits_shifted(texts, forms):
        copy.remove(body, SHIFTED, dialect)
        return ""
    if len(cells) > header_width:
        kept = _without_empty_end(cells, header_width, dialect)
        if strict or len(kept) > width:
            one_empty = len(cells) == header_width + 1 and len(kept) == header_width
            copy.remove(body, EMPTY_SURPLUS if one_empty else SURPLUS, dialect)
            return ""
        copy.long.add(copy.rows)
        cells = kept
    elif len(cells) < header_width:
        if strict:
            copy.remove(body, SHORT, dialect)
            return ""
        copy.filled.add(copy.rows)
    return _join([write_cell(cell, dialect) for cell in cells], width, dialect)


def _without_empty_end(cells: Sequence[str], width: int, dialect: Dialect) -> list[str]:
    """Leave out the empty cells at the end of a row beyond `width`."""
    kept = [*cells]
    while len(kept) > width and read_cell(kept[-1], dialect) is None:
        kept.pop()
    return kept


def _join(cells: Sequence[str], width: int, dialect: Dialect) -> str:
    return dialect.separator.join([*cells, *[""] * (width - len(cells))]) + "\n"


def broken_row(row: int, line: str | None, reason: str, dialect: Dialect) -> RowError:
    """Return the error of a row that cannot be read, with the cells that it seems to have."""
    line = (line or "").strip(LINE_ENDS)
    cells = split_cells(line, dialect)[: len(dialect.names) + MAX_SURPLUS_CELLS] if line else []
    shown = shorten(line, MAX_SHOWN_CHARACTERS)
    return RowError(row, None, shown, reason, cells=tuple(read_cell(c, dialect) for c in cells))
