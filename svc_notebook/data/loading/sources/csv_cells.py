"""Records, rows and cells of a delimited file, also misplaced quotes; the forms of its columns."""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from svc_notebook.data.loading.text_cells.cell_kinds import cell_form

LINE_ENDS = "\r\n"
# A closed value contains rows if at least this many of its lines, and this share, look like rows.
MIN_LINES_LIKE_ROWS, MIN_SHARE_LIKE_ROWS = 20, 0.9
# Cells of a row that are too many for a line of a text.
MIN_ROW_CELLS = 4
# A column has a form if at least so many values, and this share of them, have it.
MIN_VALUES, FORM_SHARE = 5, 0.9

# The form of the values of each column; empty for a column whose values have none in common.
ColumnForms = Sequence[str]
# The quote of a file without quotes: a character that no text contains.
NO_QUOTE = "\x1d"
# The size of a file that is read in Python: starting a scan takes longer than reading a few rows.
MAX_FEW_ROWS_BYTES = 1_000_000
# The cells of a column, None where a cell is empty.
Texts = list[str | None]


@dataclass(frozen=True)
class Dialect:
    """The dialect that DuckDB reads a file with."""

    separator: str
    quote: str
    escape: str
    header: bool
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    # The cells of the header, or of its last row, as they are in the file.
    cells: tuple[str, ...] = ()
    # Whether each row ends with a separator that the header does not have.
    trailing: bool = False
    # The cells of the first row, if no header was found.
    first_row: tuple[str, ...] = ()
    # The columns whose quoted values are values, whatever their lines look like.
    texts: frozenset[int] = frozenset()

    @property
    def blanks(self) -> str:
        """The characters around a cell that can belong to the separator."""
        return " " if self.separator == "\t" else " \t"


def longest_record(path: Path, dialect: Dialect) -> int:
    """Return the bytes of a file's longest record; a record ends at a line end outside quotes."""
    quote, escaped = dialect.quote.encode(), f"\\{dialect.quote}".encode()
    longest = length = quotes = 0
    with path.open("rb") as file:
        for line in file:
            length += len(line)
            quotes += line.count(quote)
            quotes -= line.count(escaped) if dialect.escape == "\\" else 0
            if quotes % 2 == 0:
                longest, length = max(longest, length), 0
    return max(longest, length)


def split_records(
    lines: Iterable[str], dialect: Dialect, torn: list[str] | None = None
) -> Iterator[str]:
    """Yield records: joins the lines of a record with a quoted cell that contains line ends.

    A line whose quote is not closed before other rows is a record by itself; `torn` gets it.
    """
    source = iter(lines)
    waiting: deque[str] = deque()
    while (line := waiting.popleft() if waiting else next(source, None)) is not None:
        column = left_open(line, 0, 0, dialect) if dialect.quote in line else None
        if column is None:
            yield line
            continue
        value = _OpenValue(dialect, column, [line])
        value.read(chain(_drain(waiting), source))
        if value.is_torn:
            if torn is not None:
                torn.append(line)
            waiting.extendleft(reversed(value.lines[1:]))
            yield line
        else:
            # Joined once: appending to a long text copies it, unless the interpreter optimizes it.
            yield "".join(value.lines)


def _drain(waiting: deque[str]) -> Iterator[str]:
    """Yield and remove the lines that wait; those that are not taken wait further."""
    while waiting:
        yield waiting.popleft()


@dataclass
class _OpenValue:
    """The lines of a record whose first line opens a quote, and whether they are rows instead."""

    dialect: Dialect
    column: int | None
    lines: list[str]
    # The lines after the first that look like rows, and those up to the last closed quote.
    rows: int = 0
    # Whether a closing quote is followed by other text than a separator.
    broken: bool = False
    # Whether enough lines are rows to end the record before its quote is closed.
    stopped: bool = False

    def read(self, following: Iterator[str]) -> None:
        """Add the lines up to the end of the record."""
        quote, separator = self.dialect.quote, self.dialect.separator
        alone = len(self.dialect.names) < 2
        # The lines of a quote that is never closed can be millions: most need few steps.
        for line in following:
            self.lines.append(line)
            if alone or separator in line:
                self.rows += self.column not in self.dialect.texts and is_row(line, self.dialect)
            if quote in line and (end := end_of_quote(line, 0, self.dialect)) >= 0:
                self._end_value(line, end)
            elif self.rows:
                self.stopped = self._looks_like_rows
            if self.stopped or self.column is None:
                return

    @property
    def _looks_like_rows(self) -> bool:
        inside = len(self.lines) - 1
        return inside >= MIN_LINES_LIKE_ROWS and self.rows >= MIN_SHARE_LIKE_ROWS * inside

    def _end_value(self, line: str, end: int) -> None:
        """End the value at a position of its last line, where another can begin."""
        assert self.column is not None
        if line[end : end + 1] not in ("", "\n", "\r", self.dialect.separator):
            self.broken = True
            self.stopped = self.rows == len(self.lines) - 1
        self.column = left_open(line, *next_field(line, end, self.column, self.dialect),
                                self.dialect)  # fmt: skip

    @property
    def is_torn(self) -> bool:
        """Whether the first line is a record by itself, because the others are rows."""
        inside = len(self.lines) - 1
        if not inside or not self.rows:
            return False
        if self.column is not None or self.broken:  # never closed, or text after the quote
            return 2 * self.rows >= inside
        if self._looks_like_rows:
            return True
        # Both ends of the value are in lines that have all cells of a row, of the same forms: a
        # closed value is otherwise a text with line ends.
        width = len(self.dialect.names)
        return (
            width >= MIN_ROW_CELLS
            and all(line.count(self.dialect.separator) == width - 1 for line in self.lines)
            and self._has_equal_forms()
        )

    def _has_equal_forms(self) -> bool:
        """Return whether cells with digits of the first line have their form in all other lines."""
        first, *others = (line.split(self.dialect.separator) for line in self.lines)
        opened = next(n for n, cell in enumerate(first) if cell.startswith(self.dialect.quote))
        forms = {
            n: form for n, cell in enumerate(first[:opened]) if "9" in (form := cell_form(cell))
        }
        return bool(forms) and all(
            cell_form(cells[n]) == form for cells in others for n, form in forms.items()
        )


def is_row(line: str, dialect: Dialect) -> bool:
    """Return whether a line would be a row; in a table of one column, every line would."""
    width = len(dialect.names)
    if line.count(dialect.separator) < width - 1 or not line.strip():
        return False
    with suppress(csv.Error):  # a field of more than 128 KB
        row = next(csv.reader([line], delimiter=dialect.separator, quotechar=dialect.quote))
        return len(row) == width
    return False


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
    """Split a line whose quotes inside of values are not all escaped; return quoted cells."""
    quote, separator = dialect.quote, dialect.separator
    cells, at = [], 0
    while at >= 0:
        if body.startswith(quote, at):
            end = body.find(quote + separator, at + 1)
            if end < 0 and not body.endswith(quote) and (cell := _find_literal(body, at, dialect)):
                cells.append(_quoted(cell, dialect))
                at = at + len(cell) + 1 if at + len(cell) < len(body) else -1
                continue
            if end < 0 and (len(body) - 1 == at or not body.endswith(quote)):
                return []
            last = end < 0
            end = len(body) - 1 if last else end
            cell = body[at : end + 1]
            well = is_well_quoted(cell, dialect)
            inner = cell[1:-1].replace(quote * 2, quote)
            cells.append(write_cell(cell, dialect) if well else _quoted(inner, dialect))
            at = -1 if last else end + 2
        else:
            end = body.find(separator, at)
            cells.append(body[at:end] if end >= 0 else body[at:])
            at = end + 1 if end >= 0 else -1
    return cells


def _find_literal(body: str, at: int, dialect: Dialect) -> str:
    """Return the cell at a position if its quotes enclose a part of it, as in `"Kid" Ory`."""
    cell = body[at:].partition(dialect.separator)[0]
    rest = cell[1:].partition(dialect.quote)[2]
    return cell if rest.startswith(" ") and dialect.quote not in rest else ""


def _quoted(text: str, dialect: Dialect) -> str:
    return dialect.quote + text.replace(dialect.quote, dialect.quote * 2) + dialect.quote


def left_open(line: str, at: int, column: int, dialect: Dialect) -> int | None:
    """Return the column of the quote that is open at the end of a line, from a field's start on."""
    while 0 <= at < len(line):
        if line.startswith(dialect.quote, at):
            at = end_of_quote(line, at + 1, dialect)
            if at < 0:
                return column
        at, column = next_field(line, at, column, dialect)
    return None


def next_field(line: str, at: int, column: int, dialect: Dialect) -> tuple[int, int]:
    """Return the start and the column of the next field; the start is -1 if there is none."""
    position = line.find(dialect.separator, at)
    return (position + 1 if position >= 0 else -1), column + 1


def end_of_quote(line: str, at: int, dialect: Dialect) -> int:
    """Return the position after the quote that closes the value; -1 if it is not closed."""
    quote, escape = dialect.quote, dialect.escape
    while (at := line.find(quote, at)) >= 0:
        if escape != quote and _is_escaped(line, at, escape):
            at += 1
        elif escape == quote and line.startswith(quote, at + 1):
            at += 2
        else:
            return at + 1
    return -1


def _is_escaped(line: str, at: int, escape: str) -> bool:
    """Return whether an odd number of escapes is before a position."""
    first = at
    while first and line[first - 1] == escape:
        first -= 1
    return (at - first) % 2 == 1


def find_forms(rows: Sequence[Sequence[str]], width: int) -> ColumnForms:
    """Return the form of the values of each column, from rows that have `width` cells."""
    usual = [row for row in rows if len(row) == width]
    return [_common_form(column) for column in zip(*usual, strict=True)] or [""] * width


def find_stray_cell(cells: Sequence[str], forms: ColumnForms) -> int | None:
    """Return the place of the empty cell without which a row with one cell too many is regular.

    With it, some cell does not have the form of its column; without it, all cells have, and no
    other empty cell makes that true.
    """
    if len(cells) != len(forms) + 1 or fit_forms(cells[:-1], forms):
        return None
    places = [position for position, cell in enumerate(cells) if not cell]
    without = {position: (*cells[:position], *cells[position + 1 :]) for position in places}
    fitting = {row: position for position, row in without.items() if fit_forms(row, forms)}
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _common_form(column: Sequence[str]) -> str:
    values = [value for value in column if value]
    form, number = Counter(map(cell_form, values)).most_common(1)[0] if values else ("", 0)
    is_text = "9" not in form or ("a" in form and " " in form)
    return "" if is_text or number < max(MIN_VALUES, FORM_SHARE * len(values)) else form


def fit_forms(cells: Sequence[str], forms: ColumnForms) -> bool:
    """Return whether all cells that are not empty have the forms of their columns."""
    return all(
        not form or not cell or cell_form(cell) == form
        for cell, form in zip(cells, forms, strict=True)
    )


def has_rows(path: Path, dialect: Dialect) -> bool:
    """Return whether a file has a line after its header that is not blank."""
    return any(not is_blank(record, dialect) for record in open_records(path, dialect))


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
    cells = split_cells(record, dialect)
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
    text, ends = text.replace("\r\n", "\n"), text.count("\r\n")
    if "\0" in text or "\r" in text or (ends and text.count("\n") != ends):
        return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
