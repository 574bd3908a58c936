"""Files of Arrow, Feather, ORC and Avro as tables: read as streams, and kept on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_notebook.data.loading.database import Database, ReadingStopped
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import find_index
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.sources.query_results import open_reader
from svc_notebook.data.loading.sources.read_limits import (
    VALUE_BYTES,
    ReadingBudget,
    size_of,
    try_reading,
)
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.errors import BadInput

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


def open_columnar(read: Callable[[Path], pa.RecordBatchReader], trial: str) -> Opener:
    """Return the opener of a format that Arrow reads; `trial` reads a file in another process."""

    def open_files(
        paths: Sequence[Path], name: str, options: LoadSettings, db: Database
    ) -> SourceTable:
        for path in paths:
            try_reading(trial, path, name, ADVICE)
        with _translated(name):
            reader = _limit(_chain([read(path) for path in paths], name), paths, name)
            index = find_index([reader.schema], options)
            table = open_reader(reader, name, options, db)
        fields = tuple(field for field in table.fields if field.name not in index.excluded)
        return replace(table, fields=fields, notes=index.notes)

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

    scanner = dataset.dataset(path, format="orc").scanner(**ORC_OPTIONS)
    return scanner.to_reader()


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
