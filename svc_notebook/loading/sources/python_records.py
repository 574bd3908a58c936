"""Python records (one dict, several, or a stream) as rows that can be scanned repeatedly."""

from __future__ import annotations

import os
import tempfile
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.database import Database, ReadingStopped
from svc_notebook.loading.encoding.python_encoder import Unsendable, write_json
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.dataframe import register
from svc_notebook.loading.table import WRITTEN, RowError, SourceTable, TableColumn

# What is held of a stream; the rest of it is on the disk.
ROWS, CHARACTERS = 20_000, 16_000_000
# What can be gone through, but not as records.
OTHERS = (str, bytes, bytearray, memoryview, os.PathLike, pd.DataFrame, pd.Series, pd.Index)
PROTOCOLS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "dask", "read")
# After so many things of which none is a record, the rest is not looked at.
MAX_LEADING_NON_RECORDS = 100
Texts = list[str | None]
# What a push takes.
Rows = pd.DataFrame | Mapping[str, Any] | Iterable[Mapping[str, Any]]
AsyncRows = Rows | AsyncIterable[Mapping[str, Any]]


def are_records(source: object) -> bool:
    """Tell a dict, or what goes through dicts, from a file's name, a frame or an Arrow table."""
    if isinstance(source, (*OTHERS, np.ndarray, RecordStream)):
        return False
    if isinstance(source, Mapping):
        return True
    return isinstance(source, Iterable) and not any(hasattr(source, each) for each in PROTOCOLS)


def is_stream(source: object) -> bool:
    """Tell what can be gone through only once."""
    return isinstance(source, AsyncIterable) or (
        isinstance(source, Iterator) and are_records(source)
    )


def refuse_early(source: object, *, look: bool = False, resume: bool = False) -> None:
    """Refuse what would only use up a stream, or cannot go on: data in memory has no state."""
    if look and is_stream(source):
        raise BadInput("looking at a stream uses it up; look at what it goes through: list(…)")
    in_memory = isinstance(source, (pd.DataFrame, RecordStream)) or are_records(source)
    if resume and (in_memory or is_stream(source)):
        raise BadInput("only a load of files can be resumed; load this again")


@contextmanager
def at_hand(
    source: Any, options: Mapping[str, Any], *, look: bool = False, resume: bool = False
) -> Iterator[Any]:
    """Go through a stream here and now, in the caller's own thread; give anything else as it is."""
    checked = LoadSettings.of(options)
    refuse_early(source, look=look, resume=resume)
    if isinstance(source, AsyncIterable):
        raise BadInput("an asynchronous stream is awaited: await svc.aio.load(source, index)")
    if not is_stream(source):
        yield source
        return
    with gather(source, checked) as records:
        yield records


@asynccontextmanager
async def awaited(
    source: Any, options: Mapping[str, Any], *, look: bool = False, resume: bool = False
) -> AsyncIterator[Any]:
    """Go through an asynchronous stream, in the caller's own loop; give anything else as it is."""
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
    """Write down every record; one that is none is a fault. What a stream raises is raised."""
    records = RecordStream(options.timezone)
    with _gathering(records, source):
        for item in [source] if isinstance(source, Mapping) else source:
            if stopped():
                raise ReadingStopped
            records.add(item)
            if records.are_enough(options.limit):
                break
    return records


@contextmanager
def _gathering(records: RecordStream, source: object) -> Iterator[None]:
    """Say how far it came where it breaks off, and refuse what holds no record at all."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"this was after record {records.taken:,} of the source; nothing was sent")
        records.close()
        raise
    if records.skipped and not records.rows:
        kind = type(source).__name__
        raise BadInput(
            f"a {kind} that holds no dict cannot be loaded; a record is a dict: "
            "[{'objectID': '1', 'title': 'Jaws'}]"
        )


class RecordStream:
    """Records as the JSON of each value, a piece of them in memory, those before on the disk."""

    def __init__(self, zone: str | None) -> None:
        self._zone = zone
        self._columns: dict[str, Texts] = {}
        self._here = self._characters = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files: list[Path] = []
        self.rows = 0
        self.faults: list[RowError] = []
        self.skipped: list[RowError] = []

    @property
    def taken(self) -> int:
        """How many records were taken, those that are none among them."""
        return self.rows + len(self.skipped)

    def are_enough(self, limit: int | None) -> bool:
        """Whether no more are wanted, or so many things are none that none will come."""
        return self.taken == limit or (not self.rows and self.taken >= MAX_LEADING_NON_RECORDS)

    @property
    def name(self) -> str:
        """What messages call them."""
        return f"the {self.taken:,} record{'' if self.taken == 1 else 's'}"

    @property
    def fields(self) -> tuple[TableColumn, ...]:
        """A column for each member that occurs, in the order in which they do."""
        return tuple(TableColumn(name, f"c{n}", WRITTEN) for n, name in enumerate(self._columns))

    @property
    def texts(self) -> list[Texts] | None:
        """Every column's JSON, unless there is more of it than is held."""
        if self._files:
            return None
        return [self._filled(texts) for texts in self._columns.values()]

    def add(self, item: Any) -> None:
        """Write one record down."""
        if reason := _no_record(item):
            self.skipped.append(RowError(self.taken + 1, None, repr(item)[:200], reason))
            return
        for name, value in item.items():
            self._write(str(name), value)
        self.rows += 1
        self._here += 1
        if self._here >= ROWS or self._characters >= CHARACTERS:
            self._put_away()

    def _write(self, name: str, value: Any) -> None:
        texts = self._filled(self._columns.setdefault(name, []))
        try:
            text = write_json(value, self._zone)
        except Unsendable as error:
            self.faults.append(RowError(self.rows + 1, name, value, str(error)))
            text = None
        texts.append(text)
        self._characters += len(text or "")

    def _filled(self, texts: Texts) -> Texts:
        """Let a column be as long as the others: records before this one had no such member."""
        texts.extend([None] * (self._here - len(texts)))
        return texts

    def _put_away(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="svc-load-")
        arrays = {
            field.column: pa.array(self._filled(texts), pa.large_string())
            for field, texts in zip(self.fields, self._columns.values(), strict=True)
            if texts
        }
        path = Path(self._folder.name) / f"{len(self._files)}.parquet"
        positions = pa.array(np.arange(self.rows - self._here, self.rows, dtype=np.int64))
        pq.write_table(pa.table({"pos": positions, **arrays}), path)
        self._files.append(path)
        self._columns = {name: [] for name in self._columns}
        self._here = self._characters = 0

    def open(self, db: Database) -> SourceTable:
        """Make a table of them."""
        if not self._columns:
            raise BadInput(f"there is no member in {self.name}")
        place = self._place(db)
        return SourceTable(
            db=db,
            sql=place,
            numbered_sql=place,
            fields=self.fields,
            name=self.name,
            ragged=True,
            faults=tuple(self.faults),
            skipped=lambda: list(self.skipped),
        )

    def _place(self, db: Database) -> str:
        import pyarrow as pa

        if not self._files:
            arrays = [pa.array(texts, pa.large_string()) for texts in self.texts or ()]
            register(db, arrays, [field.column for field in self.fields], self.rows)
            return "given"
        if self._here:
            self._put_away()
        names = ", ".join(field.column for field in self.fields)
        files = sql.listing(map(str, self._files))
        return f"(SELECT {names}, pos FROM read_parquet({files}, union_by_name=true))"

    def close(self) -> None:
        """Remove what is on the disk."""
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> RecordStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _no_record(item: object) -> str:
    """Say why something is no record; nothing where it is one."""
    if not isinstance(item, Mapping):
        return f"is of the type {type(item).__name__}, not a dict"
    if any(not isinstance(name, str) for name in item):
        return "has members whose names are not text"
    return ""
