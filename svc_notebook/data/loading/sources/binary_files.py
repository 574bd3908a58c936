"""Files of Arrow, Feather, ORC, Avro and SQLite as tables: read as streams, kept on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_notebook.core.display import list_names
from svc_notebook.data.loading.database import Database, ReadingStopped
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique, find_index
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.sources.query_results import open_reader
from svc_notebook.data.loading.sources.read_limits import (
    MAX_LINE_BYTES,
    VALUE_BYTES,
    ReadingBudget,
    size_of,
    try_reading,
)
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

Opener = Callable[[Sequence[Path], str, LoadSettings, Database], SourceTable]


# Reads all batches of a file, one at a time.
READ_ARROW = """import pyarrow
    from pyarrow import ipc
    file = ipc.open_file(pyarrow.memory_map(path))
    for number in range(file.num_record_batches): file.get_batch(number)"""
READ_FEATHER = """from pyarrow import feather
    feather.read_table(path)"""
# One batch at a time.
ORC_OPTIONS: dict[str, Any] = {
    "batch_size": 8192,
    "batch_readahead": 0,
    "fragment_readahead": 0,
    "use_threads": False,
}
READ_ORC = f"""from pyarrow import dataset
    options = dict({", ".join(f"{name}={value}" for name, value in ORC_OPTIONS.items())})
    for batch in dataset.dataset(path, format="orc").scanner(**options).to_reader(): pass"""
ADVICE = "write it in smaller batches, or as a Parquet file"
# Tables that SQLite and programs keep for themselves.
OWN_TABLES = ("sqlite_", "android_metadata", "alembic_version", "django_migrations")
TABLES = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
BUSY_SECONDS = 1.0
# Steps of SQLite's machine between two looks at the time: a view can run without end.
CHECK_STEPS = 100_000
VIEW_ADVICE = (
    "a view can have rows without end; if its rows are as they should be, write them to a table or "
    "a CSV file"
)


def open_columnar(read: Callable[[Path], pa.RecordBatchReader], trial: str) -> Opener:
    """Return the opener of a format that Arrow reads; `trial` reads a file in another process."""

    def open_files(
        paths: Sequence[Path], name: str, options: LoadSettings, db: Database
    ) -> SourceTable:
        for path in paths:
            try_reading(trial, path, name, ADVICE)
        with _translated(name):
            reader = _limit(_chain([read(path) for path in paths], name), paths, name)
            excluded, notes = find_index([reader.schema], options)
            table = open_reader(reader, name, options, db)
        fields = tuple(field for field in table.fields if field.name not in excluded)
        return replace(table, fields=fields, notes=notes)

    return open_files


def read_arrow(path: Path) -> pa.RecordBatchReader:
    """Read a file or a stream of Arrow, which Feather is as well."""
    import pyarrow as pa
    from pyarrow import ipc

    source = pa.memory_map(str(path))
    try:
        file = ipc.open_file(source)
    except pa.ArrowInvalid:
        return ipc.open_stream(pa.memory_map(str(path)))
    batches = (file.get_batch(number) for number in range(file.num_record_batches))
    return pa.RecordBatchReader.from_batches(file.schema, batches)


def read_feather(path: Path) -> pa.RecordBatchReader:
    """Read a file of the first version of Feather, which is read at once."""
    from pyarrow import feather

    return feather.read_table(path).to_reader()


def read_orc(path: Path) -> pa.RecordBatchReader:
    """Read a file of ORC by some thousand rows: a stripe can have millions of equal ones."""
    from pyarrow import dataset

    return dataset.dataset(path, format="orc").scanner(**ORC_OPTIONS).to_reader()


open_arrow_files = open_columnar(read_arrow, READ_ARROW)
open_feather_files = open_columnar(read_feather, READ_FEATHER)
open_orc_files = open_columnar(read_orc, READ_ORC)


def open_avro(paths: Sequence[Path], name: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of files of Avro, record by record."""
    try:
        import fastavro
    except ImportError as error:
        raise BadInput(
            f'{name} is an Avro file, which needs fastavro: pip install "svc-notebook[formats]"'
        ) from error
    records = db.ends.enter_context(RecordStream(options.timezone))
    budget = ReadingBudget.of_files(paths, name)
    with _translated(name):
        for record in _iterate(paths, fastavro.reader):
            if db.stopped:
                raise ReadingStopped
            if records.are_enough(options.limit):
                break
            budget.add(sum(map(size_of, record.values())))
            records.add(record)
    return replace(records.open(db), name=name)


def _iterate(paths: Sequence[Path], reader: Callable[[Any], Any]) -> Iterator[Mapping[str, Any]]:
    for path in paths:
        with path.open("rb") as file:
            yield from reader(file)


def _chain(readers: Sequence[pa.RecordBatchReader], name: str) -> pa.RecordBatchReader:
    import pyarrow as pa

    first = readers[0]
    if any(not reader.schema.equals(first.schema) for reader in readers):
        raise BadInput(f"the files of {name} have different columns or types; load each separately")
    if len(readers) == 1:
        return first
    batches = (batch for reader in readers for batch in reader)
    return pa.RecordBatchReader.from_batches(first.schema, batches)


def _limit(reader: pa.RecordBatchReader, paths: Sequence[Path], name: str) -> pa.RecordBatchReader:
    """Return a reader that ends with an error where files unpack to far more than their size."""
    import pyarrow as pa

    budget = ReadingBudget.of_files(paths, name)

    def count() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            budget.add(batch.nbytes + VALUE_BYTES * len(batch))
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, count())


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Raise errors of the libraries as `BadInput`."""
    try:
        yield
    except (BadInput, ReadingStopped):
        raise
    except Exception as error:  # a damaged file raises errors of several libraries
        raise BadInput(f"{name} cannot be read: {error}; check that it is complete") from error


def open_sqlite(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of the only table of a file, or of the one that the option `sheet` names."""
    if len(paths) > 1:
        raise BadInput(f"{name} are several databases; load each separately")
    uri = f"{paths[0].absolute().as_uri()}?mode=ro"
    records = db.ends.enter_context(RecordStream(options.timezone))
    budget = ReadingBudget.of_files(paths, name, VIEW_ADVICE)
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
