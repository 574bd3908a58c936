"""Python records (one dict, several, or a stream) as a table that can be scanned repeatedly."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeGuard

import msgspec
import numpy as np
import pandas as pd

from svc_notebook.core.display import format_count
from svc_notebook.core.locked_folders import TemporaryFolder
from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import Database, ReadingStopped
from svc_notebook.data.loading.encoding.json_values import Unsendable, write_json
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import register
from svc_notebook.data.loading.sources.given_files import is_file_object
from svc_notebook.data.loading.table import WRITTEN, RowError, SourceTable, TableColumn
from svc_notebook.errors import BadInput

# The part of a stream that is in memory; the rows before it are in files.
MAX_BUFFERED_ROWS, MAX_BUFFERED_CHARACTERS = 20_000, 16_000_000
MAX_SHOWN_CHARACTERS = 200  # of an item that is not a record
# Iterable types whose items are not records.
NOT_RECORDS = (str, bytes, bytearray, memoryview, os.PathLike, pd.DataFrame, pd.Series, pd.Index)
PROTOCOLS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "dask", "read")
# A source whose first items, this many, include no record is refused.
MAX_LEADING_NON_RECORDS = 100
# Dicts of data sets, of which each is a source.
SPLITS = ("DatasetDict", "IterableDatasetDict")
Texts = list[str | None]
# The sources of a push.
Rows = pd.DataFrame | Mapping[str, Any] | Iterable[Mapping[str, Any]]
AsyncRows = Rows | AsyncIterable[Mapping[str, Any]]


def are_records(source: object) -> bool:
    """Return whether a source is a dict or iterates over dicts; False for paths and tables."""
    if isinstance(source, (*NOT_RECORDS, np.ndarray, RecordStream)) or are_paths(source):
        return False
    if isinstance(source, Mapping):
        return True
    return isinstance(source, Iterable) and not any(
        hasattr(source, protocol) for protocol in PROTOCOLS
    )


def are_paths(source: object) -> TypeGuard[Sequence[str | os.PathLike[str]]]:
    """Return whether a source is a list of paths, patterns and URLs; plain words are none."""
    return (
        isinstance(source, (list, tuple))
        and bool(source)
        and all(
            isinstance(item, os.PathLike) or (isinstance(item, str) and _may_be_path(item))
            for item in source
        )
    )


def _may_be_path(text: str) -> bool:
    return not text.isalnum() and not text.startswith(("{", "[")) and "\n" not in text


def is_stream(source: object) -> bool:
    """Return whether a source can be iterated over only once."""
    return isinstance(source, AsyncIterable) or (
        isinstance(source, Iterator) and are_records(source)
    )


def refuse_early(source: object, *, look: bool = False, resume: bool = False) -> None:
    """Raise `BadInput` for a plan of a stream, which would consume it, or a resume without files.

    `look` says that nothing will be sent.
    """
    if look and is_stream(source):
        raise BadInput("a plan would consume the stream; pass a list of its items: list(…)")
    if look and is_file_object(source) and not source.seekable():
        raise BadInput("a plan would consume the open file; pass its path, or io.BytesIO(content)")
    in_memory = isinstance(source, (pd.DataFrame, RecordStream)) or are_records(source)
    if resume and (in_memory or is_stream(source)):
        raise BadInput("only a load of files can be resumed; load this source again")


@contextmanager
def at_hand(
    source: Any, options: Mapping[str, Any], *, look: bool = False, resume: bool = False
) -> Iterator[Any]:
    """Yield the records of a stream, read in the caller's thread; other sources are unchanged."""
    checked = LoadSettings.of(options)
    refuse_early(source, look=look, resume=resume)
    if isinstance(source, AsyncIterable):
        raise BadInput(
            "an asynchronous stream needs the asynchronous function: "
            "await svc.aio.load(source, index)"
        )
    if not is_stream(source):
        yield source
        return
    with gather(source, checked) as records:
        yield records


@asynccontextmanager
async def awaited(
    source: Any, options: Mapping[str, Any], *, look: bool = False, resume: bool = False
) -> AsyncIterator[Any]:
    """Yield the records of an asynchronous stream, read in the caller's event loop.

    Other sources are unchanged.
    """
    if not isinstance(source, AsyncIterable):
        yield source
        return
    checked = LoadSettings.of(options)
    refuse_early(source, look=look, resume=resume)
    with RecordStream(checked.timezone) as records:
        with _gathering(records, source):
            async for item in source:
                records.add(item)
                if records.are_enough(checked.limit):
                    break
        yield records


def gather(
    source: Any, options: LoadSettings, stopped: Callable[[], bool] = lambda: False
) -> RecordStream:
    """Encode every record; items that are not records are errors. Errors of a stream are raised."""
    records = RecordStream(options.timezone)
    with _gathering(records, source):
        if type(source).__name__ in SPLITS:
            raise BadInput(
                f"a {type(source).__name__} has several splits; pass one of them: data['train']"
            )
        if callable(as_dicts := getattr(source, "mappings", None)):  # a result of SQLAlchemy
            source = as_dicts()
        if isinstance(source, Mapping) and _is_of_columns(source):
            records.notes.append("the rows are the lists of the dict, each as a column")
            source = _iterate_rows(source)
        for item in [source] if isinstance(source, Mapping) else source:
            if stopped():
                raise ReadingStopped
            records.add(item)
            if records.are_enough(options.limit):
                break
    return records


def _is_of_columns(source: Mapping[Any, Any]) -> bool:
    """Return whether a dict is a table by columns: several lists of equal length, and no value."""
    values = list(source.values())
    are_lists = all(isinstance(value, (list, tuple, np.ndarray, pd.Series)) for value in values)
    return len(values) > 1 and are_lists and len({len(value) for value in values}) == 1


def _iterate_rows(columns: Mapping[Any, Any]) -> Iterator[dict[Any, Any]]:
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


@contextmanager
def _gathering(records: RecordStream, source: object) -> Iterator[None]:
    """Add the number of records to an error of the source; refuse a source without records."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"raised after record {records.taken:,} of the source; nothing was sent")
        records.close()
        raise
    if records.skipped and not records.rows:
        kind, record = type(source).__name__, "[{'objectID': '1', 'title': 'Jaws'}]"
        raise BadInput(
            f"a {kind} without a dict cannot be loaded; a record is a dict: {record}, and several "
            "files are a pattern or a list: ['a.csv', 'b.csv']"
        )


class RecordStream:
    """Records as the JSON of each value: the last ones in memory, those before in files."""

    def __init__(self, zone: str | None) -> None:
        self._zone = zone
        self._columns: dict[str, Texts] = {}
        self._buffered_rows = self._buffered_characters = 0
        self._folder: TemporaryFolder | None = None
        self._files: list[Path] = []
        # When reading began.
        self.started = monotonic()
        self.rows = 0
        self.notes: list[str] = []
        self.errors: list[RowError] = []
        self.skipped: list[RowError] = []

    @property
    def taken(self) -> int:
        """The number of items that were read, those that are not records included."""
        return self.rows + len(self.skipped)

    def are_enough(self, limit: int | None) -> bool:
        """Return whether the limit is reached, or the source seems to have no records."""
        return self.taken == limit or (not self.rows and self.taken >= MAX_LEADING_NON_RECORDS)

    @property
    def name(self) -> str:
        """Their name in messages."""
        return f"the {format_count(self.taken, 'record')}"

    @property
    def fields(self) -> tuple[TableColumn, ...]:
        """A column for each member that occurs, in the order of their first occurrence."""
        return tuple(TableColumn(name, f"c{n}", WRITTEN) for n, name in enumerate(self._columns))

    @property
    def texts(self) -> list[Texts] | None:
        """The JSON of every column; None if some of the records are in files."""
        if self._files:
            return None
        return [self._padded(texts) for texts in self._columns.values()]

    def begin_columns(self, names: Iterable[str]) -> None:
        """Set the order of columns that are known before the first record."""
        for name in names:
            self._columns.setdefault(name, [])

    def add(self, item: Any) -> None:
        """Add one record."""
        item = _as_dict(item)
        if reason := _reason_against(item):
            shown = repr(item)[:MAX_SHOWN_CHARACTERS]
            self.skipped.append(RowError(self.taken + 1, None, shown, reason))
            return
        for name, value in item.items():
            self._add_value(str(name), value)
        self.rows += 1
        self._buffered_rows += 1
        if (
            self._buffered_rows >= MAX_BUFFERED_ROWS
            or self._buffered_characters >= MAX_BUFFERED_CHARACTERS
        ):
            self._flush()

    def _add_value(self, name: str, value: Any) -> None:
        texts = self._padded(self._columns.setdefault(name, []))
        try:
            text = write_json(value, self._zone)
        except Unsendable as error:
            self.errors.append(RowError(self.rows + 1, name, value, str(error)))
            text = None
        texts.append(text)
        self._buffered_characters += len(text or "")

    def _padded(self, texts: Texts) -> Texts:
        """Extend a column to the length of the others, for records without the member."""
        texts.extend([None] * (self._buffered_rows - len(texts)))
        return texts

    def _flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._folder = self._folder or TemporaryFolder()
        arrays = {
            field.column: pa.array(self._padded(texts), pa.large_string())
            for field, texts in zip(self.fields, self._columns.values(), strict=True)
            if texts
        }
        path = self._folder.path / f"{len(self._files)}.parquet"
        positions = pa.array(np.arange(self.rows - self._buffered_rows, self.rows, dtype=np.int64))
        pq.write_table(pa.table({"pos": positions, **arrays}), path)
        self._files.append(path)
        self._columns = {name: [] for name in self._columns}
        self._buffered_rows = self._buffered_characters = 0

    def open(self, db: Database) -> SourceTable:
        """Make a table of the records."""
        if not self._columns:
            raise BadInput(f"{self.name} have no members; a record is a dict with members")
        table_sql = self._table_sql(db)
        return SourceTable(
            db, table_sql, self.fields, self.name, ragged=True, numbered_sql=table_sql,
            notes=tuple(self.notes), errors=tuple(self.errors), skipped=lambda: [*self.skipped],
        )  # fmt: skip

    def _table_sql(self, db: Database) -> str:
        import pyarrow as pa

        if not self._files:
            arrays = [pa.array(texts, pa.large_string()) for texts in self.texts or ()]
            register(db, arrays, [field.column for field in self.fields], self.rows)
            return "given"
        if self._buffered_rows:
            self._flush()
        names = ", ".join(field.column for field in self.fields)
        files = sql.listing(map(str, self._files))
        return f"(SELECT {names}, pos FROM read_parquet({files}, union_by_name=true))"

    def close(self) -> None:
        """Remove the files."""
        if self._folder:
            self._folder.remove()

    def __enter__(self) -> RecordStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_dict(item: Any) -> Any:
    """Return an object with named fields as a dict, as pandas does; other items as they are."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, msgspec.Struct):
        return msgspec.structs.asdict(item)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return dataclasses.asdict(item)
    # A named tuple, a model of pydantic, or an object of attrs.
    for name in ("_asdict", "model_dump"):
        if callable(convert := getattr(item, name, None)):
            return convert()
    if fields := getattr(item, "__attrs_attrs__", None):
        return {field.name: getattr(item, field.name) for field in fields}
    return item


def _reason_against(item: object) -> str:
    """Return the reason why an item is not a record; empty for a record."""
    if not isinstance(item, Mapping):
        return f"has the type {type(item).__name__}, not dict"
    if any(not isinstance(name, str) for name in item):
        return "has members whose names are not text"
    return ""
