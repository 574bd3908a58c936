"""Tables of SQLite files, read row by row by the standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from svc_notebook.core.display import list_names
from svc_notebook.data.loading.database import Database, ReadingStopped
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.sources.read_limits import MAX_LINE_BYTES, ReadingBudget, size_of
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.errors import BadInput, did_you_mean

# Tables that SQLite and programs keep for themselves.
OWN_TABLES = ("sqlite_", "android_metadata", "alembic_version", "django_migrations")
TABLES = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
BUSY_SECONDS = 1.0
# Steps of SQLite's machine between two looks at the time: a view can run without end.
CHECK_STEPS = 100_000
ADVICE = (
    "a view can have rows without end; if its rows are as they should be, write them to a table or "
    "a CSV file"
)


def open_sqlite(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of the only table of a file, or of the one that the option `sheet` names."""
    if len(paths) > 1:
        raise BadInput(f"{name} are several databases; load each separately")
    uri = f"{paths[0].absolute().as_uri()}?mode=ro"
    records = db.ends.enter_context(RecordStream(options.timezone))
    budget = ReadingBudget.of_files(paths, name, ADVICE)
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
            connection.set_progress_handler(lambda: db.stopped or budget.is_late, CHECK_STEPS)
            table, notes = _choose(connection, name, options)
            quoted = table.replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            columns = [column[0] for column in cursor.description]
            check_unique(columns)
            records.begin_columns(columns)
            for row in cursor:
                if db.stopped:
                    raise ReadingStopped
                if records.are_enough(options.limit):
                    break
                budget.add(sum(map(size_of, row)))
                records.add({n: v for n, v in zip(columns, row, strict=True) if v is not None})
    except sqlite3.Error as error:
        if db.stopped:
            raise ReadingStopped from error
        budget.check_time()
        raise BadInput(f"{name} cannot be read: {error}; check that it is complete") from error
    return replace(records.open(db), name=f"{name}, table `{table}`", notes=notes)


def _choose(
    connection: sqlite3.Connection, name: str, options: LoadSettings
) -> tuple[str, tuple[str, ...]]:
    names, tables = _list_tables(connection)
    if not tables:
        raise BadInput(f"{name} has no tables")
    if options.sheet in names:
        return options.sheet, ()
    shown = list_names(tables)
    if options.sheet is not None:
        raise BadInput(
            f"{name} has no table `{options.sheet}`{did_you_mean(options.sheet, tables)}; its "
            f"tables: {shown}"
        )
    if len(tables) > 1:
        raise BadInput(
            f"{name} is a database of {len(tables):,} tables: {shown}; name one: "
            f"sheet={tables[0]!r}"
        )
    return tables[0], (f"table `{tables[0]}` of the database is read",)


def _list_tables(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Return the names of tables and views, and those to choose from if none is named."""
    kinds = {str(row[0]): str(row[1]) for row in connection.execute(TABLES)}
    names = [table for table in kinds if not table.startswith(OWN_TABLES)]
    # A view is a choice only if there is no table.
    return names, [table for table in names if kinds[table] == "table"] or names
