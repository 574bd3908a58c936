"""Copies of delimited files with ragged rows, in which all rows have the same number of cells.

DuckDB loses cells and rows of some files without an error: a scan of the lines finds these files.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

from svc_notebook.core.display import list_names, shorten
from svc_notebook.data.loading.sources.csv_candidates import SAMPLE_ROWS
from svc_notebook.data.loading.sources.csv_cells import (
    LINE_ENDS,
    ColumnForms,
    Dialect,
    find_forms,
    find_stray_cell,
    fit_forms,
    is_blank,
    is_empty_row,
    is_open,
    is_well_quoted,
    open_records,
    read_cell,
    read_cells,
    repair_cells,
    repeats_header,
    split_cells,
    split_records,
    write_cell,
)
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.table import RowError
from svc_notebook.data.loading.text_cells.header_names import MAX_HEADER_LINES, free_name
from svc_notebook.errors import BadInput

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
# The size of a read of a scan.
BLOCK_BYTES = 1 << 18


@dataclass(frozen=True)
class RowShape:
    """The properties of a file's rows that a scan of its lines finds."""

    # Whether some quoted cell can contain a line end, and whether one is not closed.
    quoted_lines: bool = False
    open_end: bool = False
    # Whether some row has more cells than the header, the last of them empty: DuckDB drops such a
    # cell silently.
    empty_surplus: bool = False
    # Whether a line repeats the header.
    repeated_header: bool = False
    # Whether some row has separators and no value.
    empty_rows: bool = False
    # The number of records that are not blank, the header included; None if it is unknown.
    records: int | None = None

    def is_misread(self, dialect: Dialect, *, strict: bool) -> bool:
        """Return whether DuckDB would read the rows otherwise than a load does."""
        return (
            self.open_end
            or self.repeated_header
            or (self.empty_surplus and not dialect.trailing)
            or (self.empty_rows and not strict)
        )


def scan_lines(path: Path, dialect: Dialect) -> RowShape:
    """Scan the lines of a file; for most files, counting quotes is sufficient."""
    quote = dialect.quote.encode()
    surplus, empty, headers, records = False, False, 0, 0
    with path.open("rb") as file:
        start = file.read(BLOCK_BYTES)
        marked = start.startswith(BOM_UTF8)
        start = start.removeprefix(BOM_UTF8)
        if b"\n" not in start or dialect.escape != dialect.quote or len(quote) != 1:
            return _scan_quotes(path, dialect)
        header = start.partition(b"\n")[0].rstrip(b"\r") if dialect.header else b""
        can_repeat = len(dialect.cells) > 1 and repeats_header(
            split_cells(header.decode("utf-8", "replace"), dialect), dialect
        )
        file.seek(0)
        while block := file.read(BLOCK_BYTES):
            lines = _Lines(block + file.readline())
            if lines.any_odd(quote):
                return _scan_quotes(path, dialect)
            surplus = surplus or any(_is_wide(line, dialect) for line in lines.with_end(dialect))
            empty = empty or any(
                is_empty_row(line, dialect) for line in lines.without_start(dialect)
            )
            headers += lines.count(header) if can_repeat else 0
            records += lines.filled
    # A byte order mark hides the header itself.
    again = headers > (0 if marked else 1)
    return RowShape(empty_surplus=surplus, repeated_header=again, empty_rows=empty, records=records)


class _Lines:
    """Whole lines of a file, searched all at once."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._bytes = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(self._bytes == ord("\n"))
        # The last line of a file may have no end.
        self._ends = ends if block.endswith(b"\n") else np.append(ends, len(block))
        self._starts = np.concatenate(([0], self._ends[:-1] + 1))

    @property
    def filled(self) -> int:
        """The number of lines that are not blank."""
        sizes = self._ends - self._starts
        first = self._bytes[np.minimum(self._starts, len(self._bytes) - 1)]
        return int((sizes > (first == ord("\r"))).sum())

    def any_odd(self, byte: bytes) -> bool:
        """Return whether a line contains a byte an odd number of times."""
        places = np.flatnonzero(self._bytes == ord(byte))
        # If every line has an even number, so have all lines up to each end.
        return bool((np.searchsorted(places, self._ends) % 2).any())

    def with_end(self, dialect: Dialect) -> Iterator[str]:
        """Yield the lines that may end with an empty cell."""
        separator, quote = dialect.separator.encode()[-1], ord(dialect.quote)
        last = self._ends - 1
        last -= self._bytes[last] == ord("\r")
        last_bytes = self._bytes[last]
        # A block of one blank line has no byte before its end; what is likely is verified below.
        before = self._bytes.take(last - 1, mode="clip")
        likely = (last_bytes == separator) | ((last_bytes == quote) & (before == quote))
        ends = _empty_ends(dialect)
        for line in map(self._line, np.flatnonzero(likely)):
            if line.endswith(ends):
                yield line.decode("utf-8", "replace")

    def without_start(self, dialect: Dialect) -> Iterator[str]:
        """Yield the lines that begin with an empty cell and end with one."""
        separator, quote = dialect.separator.encode()[-1], ord(dialect.quote)
        first = self._bytes.take(self._starts, mode="clip")
        second = self._bytes.take(self._starts + 1, mode="clip")
        last = self._ends - 1
        last -= self._bytes[last] == ord("\r")
        ends = self._bytes[last]
        likely = (first == separator) | ((first == quote) & (second == quote))
        likely &= (ends == separator) | (ends == quote)
        for number in np.flatnonzero(likely):
            yield self._line(number).decode("utf-8", "replace")

    def count(self, line: bytes) -> int:
        """Return how many lines equal a line, which is not empty."""
        likely = np.flatnonzero(
            self._bytes[np.minimum(self._starts, len(self._bytes) - 1)] == line[0]
        )
        return sum(self._line(number).rstrip(b"\r\n") == line for number in likely)

    def _line(self, number: np.int64) -> bytes:
        return self._block[self._starts[number] : self._ends[number] + 1]


def _scan_quotes(path: Path, dialect: Dialect) -> RowShape:
    """Scan the lines of a file and follow each quote to the line that closes it."""
    ends, last = tuple(end.decode() for end in _empty_ends(dialect)), ""
    quoted_lines, surplus, empty, open_end, headers, records = False, False, False, False, 0, 0
    torn: list[str] = []
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for record in split_records(file, dialect, torn):
            if "\n" in record[:-1] or "\r" in record[:-2]:
                quoted_lines = True
            if record.endswith(ends) and _is_wide(record, dialect):
                surplus = True
            empty = empty or is_empty_row(record, dialect)
            if dialect.cells and record.lstrip(dialect.quote).startswith(dialect.cells[0]):
                headers += repeats_header(read_cells(record, dialect) or [], dialect)
            if torn:
                return RowShape(quoted_lines=True, open_end=True)
            last = record
            records += bool(record.strip("\r\n"))
        if quoted_lines or dialect.quote in last:
            open_end = is_open(split_cells(last, dialect)[-1], dialect)
    return RowShape(quoted_lines, open_end, surplus, headers > 1, empty, records)


def _empty_ends(dialect: Dialect) -> tuple[bytes, ...]:
    """Return the possible ends of a record whose last cell is empty."""
    empty = (dialect.separator.encode(), (dialect.separator + dialect.quote * 2).encode())
    return tuple(cell + line_end for cell in empty for line_end in (b"", b"\n", b"\r\n", b"\r"))


def _is_wide(record: str, dialect: Dialect) -> bool:
    if dialect.quote not in record:
        return record.count(dialect.separator) >= len(dialect.names)
    return len(split_cells(record, dialect)) > len(dialect.names)


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
    shown = list_names(surplus, MAX_NUMBERED_ROWS)
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


def copy_regular(
    paths: Sequence[Path], folder: Path, dialect: Dialect, *, strict: bool
) -> tuple[tuple[RegularCopy, ...], tuple[str, ...]]:
    """Copy files so that all rows have the same number of cells; return the surplus names, too.

    Rows with too few cells get empty ones, and the cells beyond the header's are columns; if
    `strict`, both are removed. Blank lines, and lines that repeat the header, are left out. Rows
    with other errors are copied unchanged. A row with one cell too many loses an empty cell if only
    without it all cells have the forms of their columns. If every row ends with an extra separator,
    it is removed. Quotes inside of values are doubled in the copy.
    """
    forms = _read_forms(paths[0], dialect)
    surplus = () if strict else _find_surplus(paths, dialect, forms)
    width = len(dialect.names) + len(surplus)
    allowed = () if strict else forms
    return tuple(_write_regular(path, folder, dialect, width, allowed) for path in paths), surplus


def _read_forms(path: Path, dialect: Dialect) -> ColumnForms:
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


def _find_surplus(paths: Sequence[Path], dialect: Dialect, forms: ColumnForms) -> tuple[str, ...]:
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
    return wide and not fit_forms(_texts(cells[: len(forms)], dialect), forms)


def _write_regular(
    path: Path, folder: Path, dialect: Dialect, width: int, forms: ColumnForms
) -> RegularCopy:
    """Copy a file; without `forms`, rows are not changed to have `width` cells."""
    copy = RegularCopy(fresh(folder, path.name))
    with copy.path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink:
        sink.write(dialect.separator.join(f"c{n}" for n in range(width)) + "\n")
        for record in open_records(path, dialect):
            if forms and is_empty_row(record, dialect):
                copy.empty += 1
            elif not is_blank(record, dialect):
                copy.rows += 1
                sink.write(_regular(record, copy, dialect, width, forms))
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
