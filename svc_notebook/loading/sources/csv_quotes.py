"""Unclosed quotes in CSV, and the rows that would be lost inside them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from svc_notebook.errors import BadInput
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_dialect import Dialect

# Of a value that is closed, so many lines have to look like rows, and nearly all.
MANY, SHARE = 20, 0.9
# So many lines of a value tell what the rest of it is.
MAX_QUOTED_LINES = 10_000
# A row of so many bytes, and so much longer than the others, may have swallowed some.
LONG, TIMES, FEW = 200, 4, 1000


@dataclass
class Value:
    """A quoted value that goes on after the line on which it begins."""

    line: int
    column: int
    # The lines after that one; of those looked at, how many would be rows by themselves.
    lines: int = 0
    looked_at: int = 0
    rows: int = 0
    # Whether a quote ends it that is followed by a separator or the end of a line.
    closed: bool = False

    def take(self, line: str, end: int, dialect: Dialect) -> None:
        """Count a line in, of which the value has all or what is before `end`."""
        self.lines += 1
        self.closed = end >= 0 and line[end : end + 1] in ("", "\n", "\r", dialect.separator)
        if not self.closed and self.looked_at < MAX_QUOTED_LINES:
            self.looked_at += 1
            self.rows += _is_row(line, dialect)

    def swallows(self, dialect: Dialect, options: LoadSettings) -> bool:
        """Tell whether what it holds is rows rather than a value."""
        if not self.closed:
            return self.rows > 0
        meant = dialect.names[self.column : self.column + 1]
        likely = self.rows >= MANY and self.rows >= SHARE * self.looked_at
        return likely and not any(name in options.dtype for name in meant)


def may_swallow(paths: Sequence[Path], longest: int, rows: int) -> bool:
    """Tell whether the longest row is so long that it may be many."""
    size = sum(path.stat().st_size for path in paths)
    return longest > LONG and (rows < FEW or longest > TIMES * size / rows)


def refuse_swallowed(
    paths: Sequence[Path], name: str, dialect: Dialect, options: LoadSettings
) -> None:
    """Refuse files in which a quote swallows the rows after it."""
    for path in paths:
        for value in long_values(path, dialect):
            if value.swallows(dialect, options):
                shown = name if len(paths) == 1 else path.name
                raise BadInput(_swallowed(value, shown, dialect))


def _swallowed(value: Value, name: str, dialect: Dialect) -> str:
    opens = f"line {value.line:,} of {name} opens a quote that"
    if not value.closed:
        return (
            f"{opens} nothing closes, and rows after it would be lost, {value.rows:,} at the "
            f"least. Close it; if {dialect.quote} quotes nothing in this file, name a character "
            "that it does not have: quote='^'"
        )
    column = dialect.names[value.column]
    return (
        f"{opens} is closed {value.lines:,} lines later, and what is between looks like rows. "
        f"Close it where its value ends; if all of it is one value, say so: "
        f"dtype={{'{column}': 'string'}}"
    )


def open_column(line: str, column: int | None, dialect: Dialect) -> int | None:
    """Tell the column of the quote that is open after a line, given that of the line before."""
    if column is None:
        return left_open(line, 0, 0, dialect)
    end = end_of_quote(line, 0, dialect)
    return column if end < 0 else left_open(line, *next_field(line, end, column, dialect), dialect)


def long_values(path: Path, dialect: Dialect) -> Iterator[Value]:
    """Find the quoted values of several lines."""
    held: Value | None = None
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for number, line in enumerate(file, 1):
            if held is None:
                found = left_open(line, 0, 0, dialect) if dialect.quote in line else None
            else:
                end = end_of_quote(line, 0, dialect)
                held.take(line, end, dialect)
                if end < 0:
                    continue
                yield held
                found = left_open(line, *next_field(line, end, held.column, dialect), dialect)
            held = None if found is None else Value(number, found)
    if held:
        yield held


def left_open(line: str, at: int, column: int, dialect: Dialect) -> int | None:
    """Tell the column of the quote that is open at the end of a line, from a field's start on."""
    while 0 <= at < len(line):
        if line.startswith(dialect.quote, at):
            at = end_of_quote(line, at + 1, dialect)
            if at < 0:
                return column
        at, column = next_field(line, at, column, dialect)
    return None


def next_field(line: str, at: int, column: int, dialect: Dialect) -> tuple[int, int]:
    """Find where the next field begins; at -1 where there is none."""
    found = line.find(dialect.separator, at)
    return (found + 1 if found >= 0 else -1), column + 1


def end_of_quote(line: str, at: int, dialect: Dialect) -> int:
    """Find what comes after the quote that closes the value; -1 where none does."""
    quote, escape = dialect.quote, dialect.escape
    while (at := line.find(quote, at)) >= 0:
        before = line[:at]
        if escape != quote and (len(before) - len(before.rstrip(escape))) % 2:
            at += 1
        elif escape == quote and line.startswith(quote, at + 1):
            at += 2
        else:
            return at + 1
    return -1


def _is_row(line: str, dialect: Dialect) -> bool:
    """Tell whether a line would be a row by itself; in a table of one column any would."""
    width = len(dialect.names)
    if line.count(dialect.separator) < width - 1 or not line.strip():
        return False
    with suppress(csv.Error):  # a field of more than 128 KB
        row = next(csv.reader([line], delimiter=dialect.separator, quotechar=dialect.quote))
        return len(row) == width
    return False
