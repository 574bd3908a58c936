"""Unclosed quotes in CSV, and the rows that would be lost inside them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from svc_notebook.errors import BadInput
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_cells import (
    end_of_quote,
    is_torn,
    left_open,
    next_field,
    with_next,
)
from svc_notebook.loading.sources.csv_dialect import Dialect

# A closed value contains rows if at least this many of its lines, and this share, look like rows.
MIN_LINES_LIKE_ROWS, MIN_SHARE_LIKE_ROWS = 20, 0.9
# Lines of a value that are compared with rows; the later ones are assumed to be like them.
MAX_CHECKED_LINES = 10_000
# A row can contain others if it is longer than this many bytes, and this many times the average.
# In a file with fewer rows than the last number, the average does not count.
MIN_LONG_ROW_BYTES, LONG_ROW_FACTOR, FEW_ROWS = 200, 4, 1000


@dataclass
class MultilineValue:
    """A quoted value that extends beyond the line on which it begins."""

    line: int
    column: int
    # The lines after that one, those that were compared with rows, and those that look like rows.
    lines: int = 0
    checked: int = 0
    rows: int = 0
    # Whether its closing quote is followed by a separator or the end of the line.
    closed: bool = False

    def add_line(self, line: str, end: int, dialect: Dialect) -> None:
        """Count a line that belongs to the value, wholly or up to `end`."""
        self.lines += 1
        self.closed = end >= 0 and line[end : end + 1] in ("", "\n", "\r", dialect.separator)
        if not self.closed and self.checked < MAX_CHECKED_LINES:
            self.checked += 1
            self.rows += _is_row(line, dialect)

    def contains_rows(self, dialect: Dialect, options: LoadSettings) -> bool:
        """Return whether its content is rows rather than a value."""
        if not self.closed:
            return self.rows > 0
        column = dialect.names[self.column : self.column + 1]
        enough = max(MIN_LINES_LIKE_ROWS, MIN_SHARE_LIKE_ROWS * self.checked)
        return self.rows >= enough and not any(name in options.dtype for name in column)


def may_contain_rows(paths: Sequence[Path], largest_bytes: int, rows: int) -> bool:
    """Return whether the largest row is so long that it may contain several rows."""
    size = sum(path.stat().st_size for path in paths)
    if largest_bytes <= MIN_LONG_ROW_BYTES:
        return False
    return rows < FEW_ROWS or largest_bytes > LONG_ROW_FACTOR * size / rows


def check_quotes(paths: Sequence[Path], name: str, dialect: Dialect, options: LoadSettings) -> None:
    """Raise `BadInput` for files in which rows are inside a quoted value."""
    for path in paths:
        for value in multiline_values(path, dialect):
            if value.contains_rows(dialect, options):
                shown = name if len(paths) == 1 else path.name
                raise BadInput(_message(value, shown, dialect))


def _message(value: MultilineValue, name: str, dialect: Dialect) -> str:
    opens = f"line {value.line:,} of {name} opens a quote that is"
    if not value.closed:
        return (
            f"{opens} never closed, so at least {value.rows:,} rows after it would be lost. Close "
            f"it; if {dialect.quote} is not a quote in this file, pass a character that does not "
            "occur in it: quote='^'"
        )
    column = dialect.names[value.column]
    return (
        f"{opens} closed {value.lines:,} lines later, and the text between looks like rows. "
        "Close it where its value ends; if all of the text is one value, pass "
        f"dtype={{'{column}': 'string'}}"
    )


def multiline_values(path: Path, dialect: Dialect) -> Iterator[MultilineValue]:
    """Yield the quoted values that extend over several lines."""
    value: MultilineValue | None = None
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for number, (line, following) in enumerate(with_next(file), 1):
            if value is None:
                found = left_open(line, 0, 0, dialect) if dialect.quote in line else None
            else:
                end = end_of_quote(line, 0, dialect)
                value.add_line(line, end, dialect)
                if end < 0:
                    continue
                yield value
                found = left_open(line, *next_field(line, end, value.column, dialect), dialect)
            if found is not None and is_torn(line, following, dialect):
                found = None
            value = None if found is None else MultilineValue(number, found)
    if value:
        yield value


def _is_row(line: str, dialect: Dialect) -> bool:
    """Return whether a line would be a row; in a table of one column, every line would."""
    width = len(dialect.names)
    if line.count(dialect.separator) < width - 1 or not line.strip():
        return False
    with suppress(csv.Error):  # a field of more than 128 KB
        row = next(csv.reader([line], delimiter=dialect.separator, quotechar=dialect.quote))
        return len(row) == width
    return False
