"""The shape of a delimited file's rows, from a scan of its lines; few rows are read here."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from svc_notebook.loading.sources.csv_cells import is_open, split_cells, split_records
from svc_notebook.loading.sources.csv_dialect import Dialect
from svc_notebook.loading.sources.csv_ragged_rows import (
    is_empty_row,
    read_cells,
    repeats_header,
)

# The size of a read.
BLOCK_BYTES = 1 << 18
# The size of a file that is read in Python: starting a scan takes longer than reading a few rows.
MAX_FILE_BYTES = 1_000_000
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


def read_few_rows(path: Path, dialect: Dialect, max_cells: int) -> list[Texts] | None:
    """Return the cells of each column, or None for a file that a scan must read.

    Only what a scan reads without a doubt is read: valid UTF-8, one kind of line ends, no line end
    inside a cell, quotes around whole cells, and the same number of cells in every row.
    """
    width = len(dialect.names)
    if width < 2 or {len(dialect.separator), len(dialect.quote)} != {1}:
        return None
    if path.stat().st_size > MAX_FILE_BYTES:
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
