"""Records and cells of a delimited file, also those whose quotes are not as they should be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from svc_notebook.loading.sources.csv_dialect import Dialect
from svc_notebook.loading.sources.csv_quotes import end_of_quote, open_column

LINE_ENDS = "\r\n"


def split_records(lines: Iterable[str], dialect: Dialect) -> Iterator[str]:
    """Yield records: joins the lines of a record with a quoted cell that contains line ends."""
    record, column = "", None
    for line in lines:
        if dialect.quote in line:
            column = open_column(line, column, dialect)
        if column is None:
            yield record + line
            record = ""
        else:
            record += line
    if record:
        yield record


def split_cells(record: str, dialect: Dialect) -> list[str]:
    """Split a record into its cells, with their quotes."""
    record = record.rstrip(LINE_ENDS)
    if dialect.quote not in record:
        return record.split(dialect.separator)
    cells, at = [], 0
    while at >= 0:
        inside = record.startswith(dialect.quote, at)
        closed = end_of_quote(record, at + 1, dialect) if inside else at
        following = record.find(dialect.separator, closed) if closed >= 0 else -1
        cells.append(record[at:following] if following >= 0 else record[at:])
        at = following + 1 if following >= 0 else -1
    return cells


def read_cell(cell: str, dialect: Dialect) -> str | None:
    """Return the value of a cell with or without quotes; None for an empty one."""
    quote, escape = dialect.quote, dialect.escape
    if len(cell) > 1 and cell.startswith(quote) and cell.endswith(quote):
        # A backslash escapes a quote or a backslash; before other characters it is a character.
        escaped = re.escape(escape) + f"([{re.escape(escape + quote)}])"
        cell = re.sub(escaped, r"\1", cell[1:-1])
    return cell or None


def write_cell(cell: str, dialect: Dialect) -> str:
    """Return a cell with its quotes doubled, and with quotes around it if it contains some."""
    if not cell.startswith(dialect.quote):
        return _quoted(cell, dialect) if dialect.quote in cell else cell
    if dialect.escape == dialect.quote:
        return cell
    return _quoted(read_cell(cell, dialect) or "", dialect)


def is_well_quoted(cell: str, dialect: Dialect) -> bool:
    """Return whether a cell has quotes around all of it, or none at its beginning."""
    if not cell.startswith(dialect.quote):
        return True
    return end_of_quote(cell, 1, dialect) == len(cell)


def is_open(cell: str, dialect: Dialect) -> bool:
    """Return whether a cell begins with a quote that is never closed."""
    return cell.startswith(dialect.quote) and end_of_quote(cell, 1, dialect) < 0


def repair_cells(body: str, width: int, dialect: Dialect) -> list[str] | None:
    """Return the cells of a line whose quotes are misplaced, with quotes as they should be.

    Quotes can be escaped otherwise than in the rest of the file, or not at all: then a cell ends
    with a quote before a separator. None if a line does not have `width` cells that way.
    """
    if any(end in body for end in LINE_ENDS):
        return None
    quote = dialect.quote
    other = replace(dialect, escape="\\" if dialect.escape == quote else quote)
    cells = split_cells(body, other)
    if len(cells) == width and all(is_well_quoted(cell, other) for cell in cells):
        return [write_cell(cell, other) for cell in cells]
    loose = _split_loosely(body, dialect)
    return loose if len(loose) == width else None


def _split_loosely(body: str, dialect: Dialect) -> list[str]:
    """Split a line whose quotes inside of values are not escaped; return quoted cells."""
    quote, separator = dialect.quote, dialect.separator
    cells, at = [], 0
    while at >= 0:
        if body.startswith(quote, at):
            end = body.find(quote + separator, at + 1)
            if end < 0 and (len(body) - 1 == at or not body.endswith(quote)):
                return []
            last = end < 0
            end = len(body) - 1 if last else end
            cell = body[at : end + 1]
            well = is_well_quoted(cell, dialect)
            cells.append(write_cell(cell, dialect) if well else _quoted(cell[1:-1], dialect))
            at = -1 if last else end + 2
        else:
            end = body.find(separator, at)
            cells.append(body[at:end] if end >= 0 else body[at:])
            at = end + 1 if end >= 0 else -1
    return cells


def _quoted(text: str, dialect: Dialect) -> str:
    return dialect.quote + text.replace(dialect.quote, dialect.quote * 2) + dialect.quote
