"""Tables of any source that DuckDB can scan several times in the same order, with notes on them.

An aggregate of each column by itself is compiled for each column, and DuckDB computes a few hundred
in one pass, each of which reads the whole table: the time would grow with the square of the number
of columns. Aggregates of a wide table that differ only in their column are computed together, from
one row for each cell, so that the time grows with the number of cells.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadCursor

if TYPE_CHECKING:
    from svc_notebook.data.loading.text_cells.signals import Decision

# The name of a table's column in SQL.
COLUMN = re.compile(r"\bc\d+\b")
POSITION = re.compile(r"\bpos\b")
# Fewer columns are computed faster side by side.
MIN_COLUMNS = 64
# Columns of one query that counts distinct values, which are in memory.
MAX_DISTINCT_COLUMNS = 256
# The value of each cell in a template.
VALUE = "v"
# The type of a column whose values were encoded as JSON, and checked, in Python.
WRITTEN = "WRITTEN"


class TableColumn(NamedTuple):
    """A column: its name in the records, its name in SQL, and its SQL type."""

    name: str
    column: str
    type: str


class RowError(NamedTuple):
    """The reason why one value, or a whole row, cannot be sent; rows count from 1."""

    row: int
    column: str | None
    value: object
    reason: str
    # The row's position among the rows that were read, from 0, and its file if there are several.
    position: int | None = None
    file: str | None = None
    # For a row that could not be read: the texts of its cells, as far as they can be separated.
    cells: tuple[str | None, ...] = ()


class TableOrigin(NamedTuple):
    """Where the rows' files are, and a digest that changes when they change."""

    location: str
    state: str


# Given the rows that a scan skipped, or None if it failed, another way to read the source.
Alternative = Callable[[list[RowError] | None], "SourceTable | None"]
# Given the largest row's bytes, the number of rows and the skipped ones: raises for lost rows.
LostRowsCheck = Callable[[int, int, Sequence[RowError]], None]


@dataclass(frozen=True)
class SourceTable:
    """The rows of a source: the SQL of the table that contains them, and its properties."""

    db: Database
    sql: str
    fields: tuple[TableColumn, ...]
    name: str
    # Columns that are not sent unless `columns` names them.
    hidden: frozenset[str] = frozenset()
    # A delimited file: every column is text, and its content determines its type.
    untyped: bool = False
    # Whether texts can be amounts, as in documents and workbooks: the values are written as JSON.
    text_amounts: bool = False
    # The character between the cells of a delimited file.
    separator: str = ""
    # Documents: any column can be missing in a row, or in all rows.
    ragged: bool = False
    # None for data in memory.
    origin: TableOrigin | None = None
    notes: tuple[str, ...] = ()
    # The cells of the first row, if no header was found.
    first_row: tuple[str, ...] = ()
    # The decisions by which a delimited file is read.
    reading: tuple[Decision, ...] = ()
    # Lines of delimited files that are neither headers, rows nor blank.
    skipped_lines: int = 0
    # For a table of several files: their names, and the number of rows of each.
    files: tuple[str, ...] = ()
    rows_of_files: Callable[[], list[int]] = field(default=list)
    # Errors found while the table was made (`row` counts from 1), and rows the last scan skipped.
    errors: tuple[RowError, ...] = ()
    skipped: Callable[[], list[RowError]] = field(default=list)
    alternative: Alternative = field(default=lambda _: None)
    check_lost_rows: LostRowsCheck = field(default=lambda *_: None)
    # The cells of each column, None where one is empty, if the table has at most this many and
    # they can be read without a scan.
    few_rows: Callable[[int], list[list[str | None]] | None] = field(default=lambda _: None)
    # Where the next increment begins, if only an increment is read.
    cursor: LoadCursor | None = None
    # The SQL of the ids of rows whose texts are split, with the number of their parts.
    parts_sql: str = ""
    # The SQL of the scan that stores the rows that it skips.
    watched_sql: str = ""
    # The SQL of the scan with the source's own column `pos`, if it has one.
    numbered_sql: str = ""

    @property
    def scan(self) -> str:
        """The SQL of the scan that reports broken rows."""
        return self.watched_sql or self.sql

    @property
    def numbered(self) -> str:
        """The SQL of the scan with the column `pos`, which counts rows from 0.

        The source itself numbers the rows, before any other part of a query runs, and the number
        stays with the row: a query may change the order of rows without harm.
        """
        return self.numbered_sql or f"(SELECT *, row_number() OVER () - 1 AS pos FROM {self.sql})"

    @property
    def digest(self) -> str:
        """The SQL of a row's digest, a number that depends on its content only."""
        return f"hash({', '.join(field.column for field in self.fields)})"


class Advice(str):
    """A note that proposes an option or a column; other notes say what differs from the source."""

    __slots__ = ()


def changes_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes that say what was changed or left out."""
    return tuple(note for note in notes if not isinstance(note, Advice))


def advice_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes that advise."""
    return tuple(note for note in notes if isinstance(note, Advice))


def write_notes(notes: Sequence[str]) -> list[str]:
    """Return a line for each note, what was changed or left out first."""
    return [
        *(f"note: {note}" for note in changes_of(notes)),
        *(f"advice: {note}" for note in advice_of(notes)),
    ]


def aggregate(
    table: SourceTable, expressions: Iterable[str], source: str, *, always: Sequence[str] = ()
) -> dict[str, Any]:
    """Compute aggregates of a table's columns over `source`; the keys are the SQL expressions.

    `always` is computed, too, in every pass over columns side by side.
    """
    unique = list(dict.fromkeys(expressions))
    if len(table.fields) < MIN_COLUMNS:
        return table.db.aggregates(unique, source, always=always)
    alike, others = _group_columns(table, unique)
    values: dict[str, Any] = {}
    for columns, by_template in alike:
        distinct = any("DISTINCT" in template for template in by_template)
        max_columns = MAX_DISTINCT_COLUMNS if distinct else len(columns)
        for start in range(0, len(columns), max_columns):
            part = columns[start : start + max_columns]
            values |= _aggregate_cells(table, part, by_template, source)
    return values | table.db.aggregates([*others, *always], source, always=always)


# Aggregates by template and column, or by column and template.
Templates = dict[str, dict[str, str]]


def _group_columns(
    table: SourceTable, expressions: Iterable[str]
) -> tuple[list[tuple[list[str], Templates]], list[str]]:
    """Return groups of columns with the same type and the same templates, and other aggregates."""
    types = {field.column: field.type for field in table.fields}
    of_column, others = _find_templates(expressions, types)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for column, by_template in of_column.items():
        groups[types[column], *by_template].append(column)
    alike = []
    for (_, *templates), columns in groups.items():
        if len(columns) < MIN_COLUMNS:
            for column in columns:
                others += of_column[column].values()
        else:
            shared = {t: {c: of_column[c][t] for c in columns} for t in templates}
            alike.append((columns, shared))
    return alike, others


def _find_templates(
    expressions: Iterable[str], columns: Collection[str]
) -> tuple[Templates, list[str]]:
    """Return the aggregates of single columns, by column and template, and the others."""
    of_column: Templates = defaultdict(dict)
    others = []
    for expression in expressions:
        names = set(COLUMN.findall(expression))
        column = names.pop() if len(names) == 1 else ""
        if column in columns:
            of_column[column][COLUMN.sub(VALUE, expression)] = expression
        else:
            others.append(expression)
    return of_column, others


def _aggregate_cells(
    table: SourceTable, columns: Sequence[str], by_template: Templates, source: str
) -> dict[str, Any]:
    """Compute the templates for each column, from one row for each cell."""
    # The scan of a delimited file skips, and reports, only broken rows of the columns it reads.
    read = [field.column for field in table.fields] if table.untyped else columns
    number_of = {column: number for number, column in enumerate(read)}
    numbers = [number_of[column] for column in columns]
    among = f" WHERE i IN (SELECT unnest({numbers}))" if len(numbers) < len(read) else ""
    position = ", pos" if any(map(POSITION.search, by_template)) else ""
    cells = (
        f"SELECT unnest(range({len(read)})) AS i, unnest([{', '.join(read)}]) AS {VALUE}{position} "
        f"FROM {source}"
    )
    rows = table.db.rows(f"SELECT i, {', '.join(by_template)} FROM ({cells}){among} GROUP BY i")
    by_column = {read[number]: row for number, *row in rows}
    # A table without rows has no groups.
    nothing = [*map(_aggregate_nothing, by_template)]
    return {
        expressions[column]: by_column.get(column, nothing)[n]
        for n, expressions in enumerate(by_template.values())
        for column in columns
    }


def _aggregate_nothing(template: str) -> int | None:
    return 0 if template.startswith("count(") else None
