"""Tables of any source that DuckDB can scan several times in the same order, with notes on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadCursor
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.loading.text_cells.signals import Decision

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

    def find_field(self, name: str, use: str) -> TableColumn:
        """Return the column of a name; raises `BadInput` that says for what `use` it is needed."""
        by_name = {field.name: field for field in self.fields}
        if name not in by_name:
            raise BadInput(f"{self.name} has no column `{name}`{use}{did_you_mean(name, by_name)}")
        return by_name[name]

    def with_stored_rows(self, stored: str) -> SourceTable:
        """Return a table of rows of this one that a table of the database has, in their order."""
        return replace(
            self, sql=stored, numbered_sql=f"(SELECT *, rowid AS pos FROM {stored})",
            watched_sql="", files=(), few_rows=lambda _: None, check_lost_rows=lambda *_: None,
        )  # fmt: skip


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
