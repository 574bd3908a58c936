"""Several tables in one delimited file: where each begins and ends."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from svc_notebook.display import shorten
from svc_notebook.loading.sources.csv_dialect import Dialect
from svc_notebook.loading.text_cells.cell_kinds import NO_NUMBER, VALUE

MAX_SHOWN_NAMES, MAX_NAME_CHARACTERS = 3, 30


@dataclass(frozen=True)
class FoundRow:
    """A row, the line on which it begins, and the line after it."""

    first: int
    end: int
    cells: tuple[str, ...]

    @property
    def filled(self) -> int:
        """The number of cells that are not blank."""
        return sum(map(bool, self.cells))


@dataclass(frozen=True)
class FoundTable:
    """A table among others: its rows, of which the first is its header."""

    rows: tuple[FoundRow, ...]
    # Whether the file continues after these rows.
    goes_on: bool = False

    @property
    def first(self) -> int:
        """The line of the header, from 0."""
        return self.rows[0].first

    @property
    def end(self) -> int:
        """The line after the last row."""
        return self.rows[-1].end

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(filter(None, self.rows[0].cells))

    def describe(self, numbers: Sequence[int]) -> str:
        """Return the note of a table that is not loaded, given the file's number of each line."""
        names = [f"`{shorten(name, MAX_NAME_CHARACTERS)}`" for name in self.names]
        more = ", …" if len(names) > MAX_SHOWN_NAMES else ""
        first, last = numbers[self.first], numbers[self.end - 1]
        to = "the last" if self.goes_on else f"{last + 1:,}"
        rows = f"{len(self.rows) - 1:,}{' or more' if self.goes_on else ''} rows"
        return (
            f"lines {first + 1:,} to {to} are another table and are not loaded "
            f"({', '.join(names[:MAX_SHOWN_NAMES])}{more}; {rows}): skip={first} loads it"
        )


def find_tables(lines: Sequence[str], dialect: Dialect, *, whole: bool = True) -> list[FoundTable]:
    """Return the tables of a file; none if it has one, or if it is in doubt.

    Tables have blank lines between them, different names, and values below their names. If the
    lines are not the `whole` file, the last row can be incomplete, and is left out.
    """
    blank = re.compile(rf"[\s{re.escape(dialect.separator + dialect.quote)}]*")
    if not any(map(blank.fullmatch, lines)):
        return []
    rows = list(_read_rows(lines, dialect))
    blocks = [_without_titles(block) for block in _split_blocks(rows if whole else rows[:-1])]
    filled = [block for block in blocks if block]
    if len(filled) < 2:
        return []
    tables: list[FoundTable] = []
    for block in filled:
        if tables and not _begins_table(block, tables[-1]):
            if len(block[0].cells) != len(tables[-1].rows[0].cells):
                return []
            tables[-1] = FoundTable((*tables[-1].rows, *block))
        elif tables or _has_header(block):
            tables.append(FoundTable(tuple(block)))
        else:
            return []
    if len(tables) < 2:
        return []
    return [*tables[:-1], replace(tables[-1], goes_on=not whole)]


def _read_rows(lines: Sequence[str], dialect: Dialect) -> Iterator[FoundRow]:
    escape = dialect.escape if dialect.escape != dialect.quote else None
    reader = csv.reader(
        lines, delimiter=dialect.separator, quotechar=dialect.quote, escapechar=escape,
        doublequote=escape is None, skipinitialspace=dialect.separator == " ",
    )  # fmt: skip
    first = 0
    try:
        for row in reader:
            yield FoundRow(first, reader.line_num, tuple(cell.strip() for cell in row))
            first = reader.line_num
    except csv.Error:
        return


def _split_blocks(rows: Sequence[FoundRow]) -> list[list[FoundRow]]:
    """Split rows at blank ones."""
    blocks: list[list[FoundRow]] = [[]]
    for row in rows:
        if row.filled:
            blocks[-1].append(row)
        elif blocks[-1]:
            blocks.append([])
    return blocks


def _without_titles(block: Sequence[FoundRow]) -> Sequence[FoundRow]:
    """Leave out lines of one cell at the beginning of a block."""
    titles = next((n for n, row in enumerate(block) if row.filled > 1), len(block))
    return block[titles:]


def _begins_table(block: Sequence[FoundRow], before: FoundTable) -> bool:
    return _has_header(block) and block[0].cells != before.rows[0].cells


def _has_header(block: Sequence[FoundRow]) -> bool:
    """Return whether the first row of a block has names, some of them above values only."""
    first, *others = block
    if not others or any(len(row.cells) != len(first.cells) for row in block):
        return False
    names = [cell for cell in first.cells if cell]
    if len(names) < 2 or any(map(VALUE.fullmatch, names)) or len(set(names)) < len(names):
        return False
    columns = zip(*(row.cells for row in others), strict=True)
    return any(
        name and not NO_NUMBER.fullmatch(name) and any(column)
        and all(map(VALUE.fullmatch, filter(None, column)))
        for name, column in zip(first.cells, columns, strict=True)
    )  # fmt: skip
