"""Several tables in one delimited file, of which one is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby

from svc_notebook.core.display import shorten
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_candidates import LineRow, read_rows
from svc_notebook.data.loading.sources.csv_cells import Dialect
from svc_notebook.data.loading.sources.csv_lines import Layout, SkippedLines, describe_titles
from svc_notebook.data.loading.text_cells.cell_kinds import NO_NUMBER, VALUE
from svc_notebook.data.loading.text_cells.signals import state

MAX_SHOWN_NAMES, MAX_NAME_CHARACTERS = 3, 30


@dataclass(frozen=True)
class FileTable:
    """A table among others: its rows, of which the first is its header."""

    rows: Sequence[LineRow]
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

    def describe(self, numbers: Sequence[int]) -> str:
        """Return the note of a table that is not loaded, given the file's number of each line."""
        names = [f"`{shorten(name, MAX_NAME_CHARACTERS)}`" for name in self.rows[0].cells if name]
        more = ", …" if len(names) > MAX_SHOWN_NAMES else ""
        first, last = numbers[self.first], numbers[self.end - 1]
        to = "the last" if self.goes_on else f"{last + 1:,}"
        rows = f"{len(self.rows) - 1:,}{' or more' if self.goes_on else ''} rows"
        return (
            f"lines {first + 1:,} to {to} are another table and are not loaded "
            f"({', '.join(names[:MAX_SHOWN_NAMES])}{more}; {rows}): skip={first} loads it"
        )


def find_tables(lines: Sequence[str], dialect: Dialect, *, whole: bool) -> list[FileTable]:
    """Return the tables of a file; none if it has one, or if it is in doubt.

    Tables have blank lines between them, different names, and values below their names. If the
    lines are not the `whole` file, the last row can be incomplete, and is left out.
    """
    blank = re.compile(rf"[\s{re.escape(dialect.separator + dialect.quote)}]*")
    if not any(map(blank.fullmatch, lines)):
        return []
    rows = [
        row._replace(cells=[cell.strip() for cell in row.cells])
        for row in read_rows(lines, dialect.separator, dialect.quote, dialect.escape)
    ]
    tables: list[FileTable] = []
    for filled, group in groupby(rows if whole else rows[:-1], lambda row: any(row.cells)):
        # The first lines of one cell are titles.
        block = [*dropwhile(lambda row: sum(map(bool, row.cells)) < 2, group)]
        if not filled or not block:
            continue
        if _has_header(block) and not (tables and block[0].cells == tables[-1].rows[0].cells):
            tables.append(FileTable(block))
        elif tables and len(block[0].cells) == len(tables[-1].rows[0].cells):
            tables[-1] = FileTable([*tables[-1].rows, *block])
        else:
            return []
    return [*tables[:-1], replace(tables[-1], goes_on=not whole)] if len(tables) > 1 else []


def _has_header(block: Sequence[LineRow]) -> bool:
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


def choose_table(
    layout: Layout, lines: Sequence[str], tables: Sequence[FileTable], options: LoadSettings
) -> tuple[Layout, list[str]]:
    """Choose the largest of several tables, or the first after the option `skip`.

    A table that goes on after the sample is assumed to be the largest.
    """
    explicit = options.skip is not None
    chosen = (
        tables[0] if explicit else max(tables, key=lambda table: (table.goes_on, len(table.rows)))
    )
    numbered = list(_number_lines(layout, lines))
    before = max((table.end for table in tables if table.end <= chosen.first), default=0)
    titles = [line for _, line in numbered[before : chosen.first]]
    numbers = [number for number, _ in numbered]
    notes = [table.describe(numbers) for table in tables if table is not chosen]
    length = chosen.end - chosen.first if chosen is not tables[-1] else None
    layout = replace(layout, preamble=chosen.first, length=length)
    what = f"{len(chosen.rows) - 1:,} rows, of {len(tables):,} tables the most"
    decision = state("table", f"line {numbers[chosen.first] + 1:,}", what)
    return layout.with_decision(decision), [*describe_titles(titles), *notes]


def _number_lines(layout: Layout, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table with their numbers in the file, from 0."""
    last = -1

    def read() -> Iterator[str]:
        nonlocal last
        for last, line in enumerate(lines):  # noqa: B007
            yield line

    for line in layout.read_lines(read(), SkippedLines()):
        yield last, line
