"""The rows of a delimited file: their shape by a scan of its lines, records, and few rows as cells.

DuckDB loses cells and rows of some files without an error: the scan finds these files.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from svc_notebook.data.loading.sources.csv_cells import (
    LINE_ENDS,
    Dialect,
    is_open,
    is_well_quoted,
    read_cell,
    split_cells,
    split_records,
)
from svc_notebook.data.loading.text_cells.header_names import MAX_HEADER_LINES
from svc_notebook.errors import BadInput

# The size of a read of a scan.
BLOCK_BYTES = 1 << 18
# The size of a file that is read in Python: starting a scan takes longer than reading a few rows.
MAX_FEW_ROWS_BYTES = 1_000_000
# The cells of a column, None where a cell is empty.
Texts = list[str | None]


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


def has_rows(path: Path, dialect: Dialect) -> bool:
    """Return whether a file has a line after its header that is not blank."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        records = islice(split_records(file, dialect), int(dialect.header), None)
        return any(not is_blank(record, dialect) for record in records)


def count_empty_rows(path: Path, dialect: Dialect) -> int:
    """Return the number of rows of a file of one column that are an empty value inside quotes."""
    if len(dialect.names) != 1:
        return 0
    empty = dialect.quote * 2
    return sum(record.rstrip(LINE_ENDS) == empty for record in open_records(path, dialect))


def open_records(path: Path, dialect: Dialect) -> Iterator[str]:
    """Yield the records of a file below its header."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as source:
        yield from islice(split_records(source, dialect), int(dialect.header), None)


def is_blank(record: str, dialect: Dialect) -> bool:
    """Return whether a record is not a row: an empty line, or blanks where cells are separated."""
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
    texts = [(read_cell(cell, dialect) or "").strip() for cell in cells[:shared]]
    return texts == [*names[:shared]] and sum(map(bool, texts)) > 1


def read_few_rows(path: Path, dialect: Dialect, max_cells: int) -> list[Texts] | None:
    """Return the cells of each column, or None for a file that a scan must read.

    Only what a scan reads without a doubt is read: valid UTF-8, one kind of line ends, no line end
    inside a cell, quotes around whole cells, and the same number of cells in every row.
    """
    width = len(dialect.names)
    if width < 2 or {len(dialect.separator), len(dialect.quote)} != {1}:
        return None
    if path.stat().st_size > MAX_FEW_ROWS_BYTES:
        return None
    lines = _read_lines(path)
    if lines is None or (len(lines) - dialect.header) * width > max_cells:
        return None
    # A scan of several columns skips blank lines, too.
    rows = [line for line in lines[int(dialect.header) :] if line]
    well_quoted = _row_pattern(dialect.separator, dialect.quote).fullmatch
    if not all(well_quoted(row) for row in rows if dialect.quote in row):
        return None
    reader = csv.reader(rows, delimiter=dialect.separator, quotechar=dialect.quote, strict=True)
    try:
        cells = list(reader)
    except csv.Error:  # a cell beyond the module's limit
        return None
    if any(len(row) != width for row in cells):
        return None
    return [[cell or None for cell in column] for column in zip(*cells, strict=True)] or None


@lru_cache
def _row_pattern(separator: str, quote: str) -> re.Pattern[str]:
    """Return the pattern of a row in which each cell has no quote, or is enclosed in quotes.

    A quoted cell begins and ends at a separator or at an end of the row. Each repeat ends at one
    place, so that a row that does not match is rejected in linear time.
    """
    separator, quote = re.escape(separator), re.escape(quote)
    inside = f"{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}"
    quoted = f"(?<![^{separator}]){inside}(?![^{separator}])"
    return re.compile(f"[^{quote}]*(?:{quoted}[^{quote}]*)*")


def _read_lines(path: Path) -> list[str] | None:
    """Return the lines without their ends; None if they have several kinds of ends."""
    try:
        text = path.read_bytes().removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    if "\r" in text:
        text, ends = text.replace("\r\n", "\n"), text.count("\r\n")
        if "\r" in text or text.count("\n") != ends:
            return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
