"""Copies of delimited files with ragged rows, in which all rows have the same number of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from svc_notebook.core.display import shorten
from svc_notebook.data.loading.sources.csv_candidates import SAMPLE_ROWS
from svc_notebook.data.loading.sources.csv_cells import (
    LINE_ENDS,
    ColumnForms,
    Dialect,
    find_forms,
    find_stray_cell,
    fits_shifted,
    is_open,
    read_cell,
    repair_cells,
    split_cells,
    write_cell,
)
from svc_notebook.data.loading.sources.csv_rows import (
    is_blank,
    is_empty_row,
    open_records,
    read_cells,
    repeats_header,
)
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.table import RowError
from svc_notebook.data.loading.text_cells.header_names import free_name

UNCLOSED = "has a quote that is never closed, or text after a closing quote"
SHORT = "has fewer columns than the header"
SURPLUS = "has more columns than the header"
SHIFTED = f"{SURPLUS}, and its cells do not fit their columns"
EMPTY_SURPLUS = f"{SURPLUS}: one separator too many, and the last cell is empty"
# Of rejected rows: characters of a row that are shown, and rows whose text is shown.
MAX_SHOWN_CHARACTERS, MAX_SHOWN_ROWS = 10_000, 10_000
# The maximum number of cells beyond those of the header.
MAX_SURPLUS_CELLS = 100
# The maximum number of rows, or of columns, that a note names.
MAX_NUMBERED_ROWS = 5
# The notes on the rows of a copy that differ from the file's, by the kind of the change.
STRICT = ". strict=True rejects such rows"
CHANGES = {
    "filled": "{have} fewer cells than the header; the missing cells are empty ({rows})",
    "long": "{have} more cells than the header; {surplus} ({rows})" + STRICT,
    "stray": "{have} one separator too many: an empty cell is left out, because only then every "
    "other cell fits the format of its column ({rows})" + STRICT,
    "repaired": "{have} quotes inside of values that are escaped otherwise or not at all; they are "
    "read as part of the values ({rows})" + STRICT,
}


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

    @property
    def shown(self) -> str:
        """The row numbers of the first rows."""
        numbers = ", ".join(f"{row:,}" for row in self.first)
        more = ", …" if self.number > len(self.first) else ""
        return f"{'row' if self.number == 1 else 'rows'} {numbers}{more}"


@dataclass
class RegularCopy:
    """A copy of a file in which every row has the same number of cells."""

    path: Path
    rows: int = 0
    # The rows that were changed, by the kind of the change.
    changed: dict[str, NumberedRows] = field(
        default_factory=lambda: {kind: NumberedRows() for kind in CHANGES}
    )
    # Lines that repeat the header, by the row that follows.
    repeated: NumberedRows = field(default_factory=NumberedRows)
    # The number of rows without a value, which it does not contain.
    empty: int = 0
    # Rows that the copy does not contain.
    removed: list[RowError] = field(default_factory=list)

    def change(self, kind: str) -> None:
        """Count the current row as changed."""
        self.changed[kind].add(self.rows)

    def remove(self, body: str, reason: str, dialect: Dialect) -> None:
        """Reject the current row."""
        shown = body if len(self.removed) < MAX_SHOWN_ROWS else ""
        self.removed.append(broken_row(self.rows, shown, reason, dialect))


def describe_copies(
    copies: Sequence[RegularCopy], names: Sequence[str], surplus: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each file and each way in which its rows were changed."""
    shown = ", ".join(f"`{name}`" for name in surplus[:MAX_NUMBERED_ROWS])
    shown += ", …" if len(surplus) > MAX_NUMBERED_ROWS else ""
    sent = f"the surplus is sent as {shown}" if surplus else "the surplus cells are empty"
    for copy, name in zip(copies, names, strict=True):
        yield from _describe_copy(copy, f" of {name}" if len(copies) > 1 else "", sent)


def _describe_copy(copy: RegularCopy, of_file: str, sent: str) -> Iterator[str]:
    for kind, rows in copy.changed.items():
        have = "1 row has" if rows.number == 1 else f"{rows.number:,} rows have"
        if rows.number:
            yield CHANGES[kind].format(have=have, rows=rows.shown + of_file, surplus=sent)
    if number := copy.repeated.number:
        lines = "1 line repeats" if number == 1 else f"{number:,} lines repeat"
        skipped = "is skipped" if number == 1 else "are skipped"
        yield f"{lines} the header and {skipped} (before {copy.repeated.shown}{of_file})"
    if copy.empty:
        what = "row has no value and is" if copy.empty == 1 else "rows have no value and are"
        yield f"{copy.empty:,} {what} skipped{of_file}; strict=True sends such rows"


def read_forms(path: Path, dialect: Dialect) -> ColumnForms:
    """Return the forms of the values of each column, from the first rows."""
    records = islice(open_records(path, dialect), SAMPLE_ROWS)
    rows = [_texts(cells, dialect) for record in records if (cells := read_cells(record, dialect))]
    return find_forms(rows, len(dialect.names))


def _texts(cells: Sequence[str], dialect: Dialect) -> list[str]:
    return [read_cell(cell, dialect) or "" for cell in cells]


def _without_stray(cells: list[str], dialect: Dialect, forms: ColumnForms) -> list[str]:
    """Leave out the surplus empty cell of a row, if it is evident which one it is."""
    stray = None
    if len(cells) == len(forms) + 1:
        stray = find_stray_cell(_texts(cells, dialect), forms)
    return cells if stray is None else [*cells[:stray], *cells[stray + 1 :]]


def find_surplus(paths: Sequence[Path], dialect: Dialect, forms: ColumnForms) -> tuple[str, ...]:
    """Return names for the cells that rows have beyond those of the header.

    Such a cell has the name that a later header in the file gives it, or `column5` for the sixth.
    Empty cells need no name, and rows with very many cells are rejected.
    """
    width = len(dialect.names)
    surplus: list[str] = []
    for record in chain.from_iterable(open_records(path, dialect) for path in paths):
        cells = _without_stray(read_cells(record, dialect) or [], dialect, forms)
        header = repeats_header(cells, dialect)
        if not header and _is_shifted(cells, dialect, forms):
            continue
        more = _texts(_without_empty_end(cells, width, dialect)[width:], dialect)
        if len(surplus) < len(more) <= MAX_SURPLUS_CELLS:
            for number, text in [*enumerate(more)][len(surplus) :]:
                name = (header and text.strip()) or f"column{width + number}"
                surplus.append(free_name(name, (*dialect.names, *surplus)))
    return tuple(surplus)


def _is_shifted(cells: Sequence[str], dialect: Dialect, forms: ColumnForms) -> bool:
    """Return whether a row has one cell too many, but not at its end."""
    wide = len(cells) == len(dialect.names) + 1
    return wide and not fits_shifted(_texts(cells, dialect), forms)


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
        for record in open_records(path, dialect):
            if not strict and is_empty_row(record, dialect):
                copy.empty += 1
            elif not is_blank(record, dialect):
                copy.rows += 1
                sink.write(_regular(record, copy, dialect, width, () if strict else forms))
    return copy


def _regular(
    record: str, copy: RegularCopy, dialect: Dialect, width: int, forms: ColumnForms
) -> str:
    """Return a record with `width` cells, or "" if it is not one of the rows.

    Without `forms`, rows that have another number of cells, or misplaced quotes, are removed.
    """
    body = record.rstrip(LINE_ENDS)
    cells = read_cells(body, dialect)
    if cells is None:
        return _repaired(body, copy, dialect, width, repair=bool(forms))
    if repeats_header(cells, dialect):
        copy.repeated.add(copy.rows)
        copy.rows -= 1
        return ""
    if dialect.trailing and len(cells) == len(dialect.names) + 1 and not cells[-1]:
        return _join([write_cell(cell, dialect) for cell in cells[:-1]], width, dialect)
    kept = _without_stray(cells, dialect, forms)
    if len(kept) < len(cells):
        copy.change("stray")
    if reason := _fit(kept, copy, dialect, width, forms):
        copy.remove(body, reason, dialect)
        return ""
    kept = _without_empty_end(kept, len(dialect.names), dialect)
    return _join([write_cell(cell, dialect) for cell in kept], width, dialect)


def _repaired(body: str, copy: RegularCopy, dialect: Dialect, width: int, *, repair: bool) -> str:
    """Return a line with misplaced quotes: repaired, or as it is; "" if a quote is not closed."""
    cells = repair_cells(body, len(dialect.names), dialect) if repair else None
    if cells is not None:
        copy.change("repaired")
        return _join(cells, width, dialect)
    if is_open(split_cells(body, dialect)[-1], dialect):
        copy.remove(body, UNCLOSED, dialect)
        return ""
    return body + "\n"


def _fit(
    cells: Sequence[str], copy: RegularCopy, dialect: Dialect, width: int, forms: ColumnForms
) -> str:
    """Count a row with another number of cells than the header; return why it is rejected."""
    usual, strict = len(dialect.names), not forms
    if len(cells) == usual:
        return ""
    if len(cells) < usual:
        if not strict:
            copy.change("filled")
        return SHORT if strict else ""
    if not strict and read_cell(cells[-1], dialect) and _is_shifted(cells, dialect, forms):
        return SHIFTED
    filled = len(_without_empty_end(cells, usual, dialect))
    if strict or filled > width:
        return EMPTY_SURPLUS if len(cells) == usual + 1 and filled == usual else SURPLUS
    copy.change("long")
    return ""


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
