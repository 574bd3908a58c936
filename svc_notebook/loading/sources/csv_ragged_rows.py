"""Ragged rows: rows of a delimited file whose number of cells differs from the header's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from svc_notebook.display import shorten
from svc_notebook.errors import BadInput
from svc_notebook.loading.sources.csv_dialect import MAX_HEADER_LINES, Dialect
from svc_notebook.loading.sources.csv_quotes import end_of_quote, open_column
from svc_notebook.loading.sources.encoding import fresh
from svc_notebook.loading.table import RowError

LINE_ENDS = "\r\n"
UNCLOSED = "has a quote that is never closed, or text after a closing quote"
SURPLUS = "has more columns than the header"
EMPTY_SURPLUS = f"{SURPLUS}: one separator too many, and the last cell is empty"
# Of rejected rows: characters of a row that are shown, and rows whose text is shown.
MAX_SHOWN_CHARACTERS, MAX_SHOWN_ROWS = 10_000, 10_000
# Filled rows whose numbers a note contains.
MAX_NUMBERED_ROWS = 5
# The size of a read, and the part of a record of several lines that is kept to count its cells.
BLOCK_BYTES, MAX_RECORD_CHARACTERS = 1 << 20, 64_000_000


@dataclass
class RegularCopy:
    """A copy of a file in which every row has as many cells as the header."""

    path: Path
    rows: int = 0
    # Rows with too few cells: their number, and the row numbers of the first.
    filled: int = 0
    filled_rows: list[int] = field(default_factory=list)
    # Rows with too many cells, which the copy does not contain.
    removed: list[RowError] = field(default_factory=list)


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
        cell = cell[1:-1].replace(escape + quote, quote)
    return cell or None


def is_plain_header(path: Path, dialect: Dialect) -> bool:
    """Return whether a header has one line, with quotes only around whole names.

    Raises `BadInput` for an unclosed quote in it.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        record = next(split_records(islice(file, MAX_HEADER_LINES + 2), dialect), "")
    body = record.rstrip(LINE_ENDS)
    cells = split_cells(body, dialect)
    well_quoted = all(_is_well_quoted(cell, dialect) for cell in cells)
    alone = "\n" not in body and "\r" not in body
    still_open = cells[-1].startswith(dialect.quote) and end_of_quote(cells[-1], 1, dialect) < 0
    if still_open or not (alone or well_quoted):
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


def _is_well_quoted(cell: str, dialect: Dialect) -> bool:
    if not cell.startswith(dialect.quote):
        return dialect.quote not in cell
    return end_of_quote(cell, 1, dialect) == len(cell)


@dataclass(frozen=True)
class RowShape:
    """The properties of a file's rows that a scan of its lines finds."""

    # Whether some quoted cell can contain a line end, and whether the last one is never closed.
    quoted_lines: bool = False
    open_end: bool = False
    # Whether some row has more cells than the header, the last of them empty: DuckDB drops such a
    # cell silently.
    empty_surplus: bool = False


def scan_lines(path: Path, dialect: Dialect) -> RowShape:
    """Scan the lines of a file; for most files, counting quotes is sufficient."""
    quote = dialect.quote.encode()
    ends = _empty_ends(dialect)
    surplus = False
    with path.open("rb") as file:
        if b"\n" not in file.read(BLOCK_BYTES) or dialect.escape != dialect.quote:
            return _scan_quotes(path, dialect)
        file.seek(0)
        while lines := file.readlines(BLOCK_BYTES):
            if any(line.count(quote) % 2 for line in lines):
                return _scan_quotes(path, dialect)
            wide = (line.decode("utf-8", "replace") for line in lines if line.endswith(ends))
            surplus = surplus or any(_is_wide(line, dialect) for line in wide)
    return RowShape(empty_surplus=surplus)


def _scan_quotes(path: Path, dialect: Dialect) -> RowShape:
    """Scan the lines of a file and follow each quote to the line that closes it."""
    ends = tuple(end.decode() for end in _empty_ends(dialect))
    record, column, quoted_lines, surplus = "", None, False, False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        for line in file:
            if dialect.quote in line:
                column = open_column(line, column, dialect)
            if column is not None:
                quoted_lines = True
                record += line if len(record) < MAX_RECORD_CHARACTERS else ""
                continue
            if line.endswith(ends) and _is_wide(record + line, dialect):
                surplus = True
            record = ""
    return RowShape(quoted_lines, column is not None, surplus)


def _empty_ends(dialect: Dialect) -> tuple[bytes, ...]:
    """Return the possible ends of a record whose last cell is empty."""
    empty = (dialect.separator.encode(), (dialect.separator + dialect.quote * 2).encode())
    return tuple(cell + line_end for cell in empty for line_end in (b"", b"\n", b"\r\n", b"\r"))


def _is_wide(record: str, dialect: Dialect) -> bool:
    if dialect.quote not in record:
        return record.count(dialect.separator) >= len(dialect.names)
    return len(split_cells(record, dialect)) > len(dialect.names)


def write_regular(path: Path, folder: Path, dialect: Dialect) -> RegularCopy:
    """Copy a file so that every row has as many cells as the header; blank lines are dropped.

    Rows with too few cells get empty ones, rows with too many are removed. Rows with other errors
    are copied unchanged. If every row ends with an extra separator, it is removed.
    """
    copy = RegularCopy(fresh(folder, path.name))
    width = len(dialect.names)
    with (
        path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as source,
        copy.path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink,
    ):
        records = split_records(source, dialect)
        if dialect.header:
            next(records, None)
        sink.write(dialect.separator.join(f"c{n}" for n in range(width)) + "\n")
        for record in records:
            if not _is_blank(record, dialect):
                copy.rows += 1
                sink.write(_regular(record, copy, dialect))
    return copy


def _is_blank(record: str, dialect: Dialect) -> bool:
    body = record.rstrip(LINE_ENDS)
    alone = len(dialect.names) == 1 or dialect.separator in body
    return not body or (not alone and not body.strip())


def _regular(record: str, copy: RegularCopy, dialect: Dialect) -> str:
    """Return a record with as many cells as the header, or "" if it has too many."""
    body = record.rstrip(LINE_ENDS)
    width = len(dialect.names)
    if dialect.quote in body:
        cells = split_cells(body, dialect)
        if cells[-1].startswith(dialect.quote) and end_of_quote(cells[-1], 1, dialect) < 0:
            copy.removed.append(broken_row(copy.rows, body, UNCLOSED, dialect))
            return ""
        # DuckDB reports text after a closing quote.
        found = len(cells) if all(_is_well_quoted(cell, dialect) for cell in cells) else width
    else:
        found = body.count(dialect.separator) + 1
    if found == width + 1 and dialect.trailing and body.endswith(dialect.separator):
        return f"{body[:-1]}\n"
    if found > width:
        shown = len(copy.removed) < MAX_SHOWN_ROWS
        copy.removed.append(_surplus(body if shown else "", copy.rows, dialect))
        return ""
    if missing := width - found:
        copy.filled += 1
        copy.filled_rows += [copy.rows] if copy.filled <= MAX_NUMBERED_ROWS else []
    return body + dialect.separator * missing + "\n"


def _surplus(body: str, row: int, dialect: Dialect) -> RowError:
    empty = not body or read_cell(split_cells(body, dialect)[-1], dialect) is None
    reason = EMPTY_SURPLUS if empty else SURPLUS
    return broken_row(row, body, reason, dialect)


def broken_row(row: int, line: str | None, reason: str, dialect: Dialect) -> RowError:
    """Return the error of a row that cannot be read, with the cells that it seems to have."""
    line = (line or "").strip(LINE_ENDS)
    cells = split_cells(line, dialect)[: len(dialect.names)] if line else []
    shown = shorten(line, MAX_SHOWN_CHARACTERS)
    return RowError(row, None, shown, reason, cells=tuple(read_cell(c, dialect) for c in cells))


def describe_filled(copies: Sequence[RegularCopy], names: Sequence[str]) -> Iterator[str]:
    """Yield a note for each file whose rows were filled."""
    for copy, name in zip(copies, names, strict=True):
        if not copy.filled:
            continue
        rows = ", ".join(f"{row:,}" for row in copy.filled_rows)
        more = ", …" if copy.filled > len(copy.filled_rows) else ""
        place = f" of {name}" if len(copies) > 1 else ""
        count = f"{copy.filled:,} rows have" if copy.filled > 1 else "1 row has"
        which = "rows" if copy.filled > 1 else "row"
        yield (
            f"{count} fewer cells than the header; the missing cells are empty "
            f"({which} {rows}{more}{place})"
        )
