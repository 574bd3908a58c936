"""Tables that DuckDB can scan repeatedly in one order, whatever their source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from svc_notebook.loading.database import Database

# The type of a column whose values were written as JSON, and checked, before DuckDB saw them.
WRITTEN = "WRITTEN"


class TableColumn(NamedTuple):
    """A column: its name on the wire, its name in SQL, its type there."""

    name: str
    column: str
    type: str


class RowError(NamedTuple):
    """Why one value, or a whole row, cannot be sent; rows count from 1."""

    row: int
    column: str | None
    value: object
    reason: str
    # Where the row stands among those that were read, and in which of several files.
    position: int | None = None
    file: str | None = None
    # Of a row that could not be read: the texts of its cells, as far as they can be told apart.
    cells: tuple[str | None, ...] = ()


class TableOrigin(NamedTuple):
    """Where rows come from, and what tells one state of that from another."""

    place: str
    state: str


@dataclass(frozen=True)
class SourceTable:
    """Rows to be sent: what stands after FROM, and what is known of it."""

    db: Database
    sql: str
    fields: tuple[TableColumn, ...]
    name: str
    # A delimited file: every column is text, and its content decides its type.
    untyped: bool = False
    # Documents: a row may lack any column, and so may all of them.
    ragged: bool = False
    # Nothing for data in memory.
    origin: TableOrigin | None = None
    notes: tuple[str, ...] = ()
    # Where several files are one table: their names, and how many rows each has.
    files: tuple[str, ...] = ()
    rows_of_files: Callable[[], list[int]] = field(default=list)
    # Values found wanting while the table was made, by position; rows the last scan skipped.
    faults: tuple[RowError, ...] = ()
    skipped: Callable[[], list[RowError]] = field(default=list)
    # Another way to read the same source, for when a scan of this one fails.
    otherwise: Callable[[list[RowError] | None], SourceTable | None] = field(default=lambda _: None)
    # Refuses a source of which rows were lost, given the longest row, their number, those skipped.
    refuse_lost: Callable[[int, int, Sequence[RowError]], None] = field(default=lambda *_: None)
    # The scan that also remembers what it skips.
    watched_sql: str = ""
    # The scan with a column `pos` of the source's own, where it has one.
    numbered_sql: str = ""

    @property
    def scan(self) -> str:
        """What stands after FROM in the one scan that reports broken rows."""
        return self.watched_sql or self.sql

    @property
    def numbered(self) -> str:
        """What stands after FROM where rows are named by position: `pos` counts them from 0.

        The number is given beside the source, below all else that a query does, and travels with
        the row: what a query does with the order of rows does not matter.
        """
        return self.numbered_sql or f"(SELECT *, row_number() OVER () - 1 AS pos FROM {self.sql})"

    @property
    def digest(self) -> str:
        """The SQL of a number that tells a row by its content, whichever scan reads it."""
        return f"hash({', '.join(field.column for field in self.fields)})"
