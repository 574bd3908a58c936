"""Files of Arrow, Feather, ORC and Avro as tables: read as streams, and kept on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_notebook.errors import BadInput
from svc_notebook.loading.database import Database, ReadingStopped
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.pandas_index import find_index
from svc_notebook.loading.sources.python_records import RecordStream
from svc_notebook.loading.sources.query_results import open_reader
from svc_notebook.loading.sources.read_limits import UnpackedBytes
from svc_notebook.loading.table import SourceTable

if TYPE_CHECKING:
    import pyarrow as pa

Opener = Callable[[Sequence[Path], str, LoadSettings, Database], SourceTable]


def open_columnar(read: Callable[[Path], pa.RecordBatchReader]) -> Opener:
    """Return the opener of a format that Arrow reads."""

    def open_files(
        paths: Sequence[Path], name: str, options: LoadSettings, db: Database
    ) -> SourceTable:
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
    """Read a file of ORC stripe by stripe."""
    import pyarrow as pa
    from pyarrow import orc

    file = orc.ORCFile(path)
    stripes = (file.read_stripe(number) for number in range(file.nstripes))
    return pa.RecordBatchReader.from_batches(file.schema, stripes)


def open_avro(paths: Sequence[Path], name: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of files of Avro, record by record."""
    try:
        import fastavro
    except ImportError as error:
        raise BadInput(
            f'{name} is an Avro file, which needs fastavro: pip install "svc-notebook[formats]"'
        ) from error
    records = db.ends.enter_context(RecordStream(options.timezone))
    unpacked = _count_unpacked(paths, name)
    with _translated(name):
        for record in _iterate(paths, fastavro.reader):
            if db.stopped:
                raise ReadingStopped
            if records.are_enough(options.limit):
                break
            unpacked.add(sum(len(v) for v in record.values() if isinstance(v, (str, bytes))))
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

    unpacked = _count_unpacked(paths, name)

    def count() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            unpacked.add(batch.nbytes)
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, count())


def _count_unpacked(paths: Sequence[Path], name: str) -> UnpackedBytes:
    return UnpackedBytes(name, sum(path.stat().st_size for path in paths))


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Raise errors of the libraries as `BadInput`."""
    try:
        yield
    except (BadInput, ReadingStopped):
        raise
    except Exception as error:  # a damaged file raises errors of several libraries
        raise BadInput(f"{name} cannot be read: {error}; check that it is complete") from error
