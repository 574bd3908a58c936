"""The stored records of an index, with which the rows of a load are compared."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

from svc_notebook.core.display import shorten
from svc_notebook.core.files import FileLock
from svc_notebook.data.client.operations import (
    FULL_RECORD_PARAMS,
    MAX_IDS_PER_REQUEST,
    count_records,
    index_exists,
)
from svc_notebook.data.loading.encoding.json_values import canonical
from svc_notebook.data.loading.history.journal import LoadJournal, encode, operations_of
from svc_notebook.data.loading.history.recorder import read_records
from svc_notebook.data.loading.load_plan.derived_columns import PART_MARK
from svc_notebook.data.loading.load_plan.plan import LoadDifference
from svc_notebook.data.loading.options import IfExists, LoadSettings
from svc_notebook.data.loading.sending.batches import HEAD, TAIL, Batch
from svc_notebook.errors import BadInput, NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.loading.table import SourceTable

Record = Mapping[str, Any]
DIGEST_BYTES = 12
# Ids that one request deletes.
MAX_DELETED_IDS = 1_000
# Values of a column that a difference shows.
MAX_SAMPLES, MAX_SAMPLE_CHARACTERS = 3, 40
ABSENT = "absent"
# The condition of a record that no row has.
VANISHED = "row = 0"


class StoredRecords:
    """The digests of stored records, or the records themselves, by id.

    They are kept in a temporary file, or in that of a `path`, so that memory does not grow with
    the index.
    """

    def __init__(self, *, whole: bool = False, path: Path | None = None) -> None:
        # Used by one thread after the other.
        self._file = sqlite3.connect(path or "", check_same_thread=False, isolation_level=None)
        self.is_kept = path is not None
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS stored "
            "(id TEXT PRIMARY KEY, content BLOB, row INTEGER DEFAULT 0) WITHOUT ROWID"
        )
        self._file.execute("CREATE TEMP TABLE batch (id TEXT PRIMARY KEY) WITHOUT ROWID")
        self._encode = msgspec.json.encode if whole else digest

    def close(self) -> None:
        """Close the file, and delete a temporary one."""
        self._file.close()

    def reset(self) -> None:
        """Forget which records have a row."""
        self._file.execute("UPDATE stored SET row = 0 WHERE row <> 0")

    def count(self, condition: str = "true") -> int:
        """Return the number of records that fulfil a condition."""
        (count,) = self._file.execute(f"SELECT count(*) FROM stored WHERE {condition}").fetchone()
        return int(count)

    def delete_vanished(self) -> None:
        """Forget the records that no row has."""
        self._file.execute(f"DELETE FROM stored WHERE {VANISHED}")

    def add(self, records: Sequence[Record], *, row: int = 0) -> None:
        """Keep stored records; `row` is 1 for records that have a row."""
        rows = [(record["objectID"], self._encode(record), row) for record in records]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR REPLACE INTO stored VALUES (?, ?, ?)", rows)
        self._file.execute("COMMIT")

    def take(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the digests, or the encoded records, of rows; these records are not vanished."""
        among = "WHERE id IN (SELECT id FROM batch)"
        self._file.execute("BEGIN")
        self._file.execute("DELETE FROM batch")
        self._file.executemany(
            "INSERT OR IGNORE INTO batch VALUES (?)", [(object_id,) for object_id in ids]
        )
        self._file.execute(f"UPDATE stored SET row = 1 {among}")
        self._file.execute("COMMIT")
        return dict(self._file.execute(f"SELECT id, content FROM stored {among}"))

    def read_vanished(self) -> Iterator[list[str]]:
        """Yield the ids of the records that no row has, some at a time."""
        last = ""
        query = f"SELECT id FROM stored WHERE {VANISHED} AND id > ? ORDER BY id LIMIT ?"
        while ids := [row[0] for row in self._file.execute(query, (last, MAX_DELETED_IDS))]:
            yield ids
            last = ids[-1]


def check_mergeable(options: LoadSettings, if_exists: IfExists = "merge") -> None:
    """Reject options whose rows cannot be compared with stored records."""
    if options.action != "replace" or options.duplicates == "keep":
        raise BadInput(
            f"if_exists='{if_exists}' compares whole records: omit the options action and "
            "duplicates"
        )
    if if_exists == "sync" and options.limit is not None:
        raise BadInput(
            "if_exists='sync' deletes the records without a row, and `limit` leaves rows out: omit "
            "it"
        )


async def read_stored(
    client: AsyncClient, index: str, *, whole: bool = False, path: Path | None = None
) -> StoredRecords:
    """Read a whole index: a digest of each record, or the `whole` records."""
    stored = StoredRecords(whole=whole, path=path)
    try:
        if await index_exists(client, index):
            async for page in client.browse_pages(index, **FULL_RECORD_PARAMS):
                stored.add(page["hits"])
    except BaseException:
        stored.close()
        raise
    return stored


def records_of(batch: Batch) -> list[dict[str, Any]]:
    """Decode the records of a batch."""
    return [operation.body for operation in operations_of(batch.body)]


def keep_changed(batch: Batch, stored: StoredRecords) -> Batch:
    """Keep the operations of a batch that would change a record."""
    operations = operations_of(batch.body)
    digests = stored.take([operation.body["objectID"] for operation in operations])
    changed = [
        operation
        for operation in operations
        if digests.get(operation.body["objectID"]) != digest(operation.body)
    ]
    if stored.is_kept:
        stored.add([operation.body for operation in changed], row=1)
    body = HEAD + b",".join(map(msgspec.json.encode, changed)) + TAIL
    return replace(batch, rows=len(changed), body=body)


def digest(record: Mapping[str, Any]) -> bytes:
    """Return a digest that is equal for equal records, whatever the order of their attributes."""
    return blake2b(encode(record), digest_size=DIGEST_BYTES).digest()


@asynccontextmanager
async def kept_hashes(client: AsyncClient, index: str) -> AsyncIterator[StoredRecords]:
    """Yield the hashes of the last load, or those of the stored records if they do not agree.

    The hashes are valid while a mark beside them exists: it is removed before they change, and
    made when the load has finished.
    """
    journal = LoadJournal.of(client.connection)
    path = journal.hashes_path(index)
    mark = journal.hashes_mark(index)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(path.with_suffix(".lock"))
        is_free = lock.acquire()
    except OSError as error:
        raise BadInput(f"the hashes {path} cannot be kept: {error.strerror}") from None
    if not is_free:
        raise BadInput(f"another load into {index} with the same hashes is running: wait for it")
    try:
        is_valid = mark.exists()
        mark.unlink(missing_ok=True)
        stored = StoredRecords(path=path) if is_valid else None
        if stored and stored.count() != await count_records(client, index):
            stored.close()
            stored = None
        if stored is None:
            path.unlink(missing_ok=True)
            stored = await read_stored(client, index, path=path)
        stored.reset()
        try:
            yield stored
        finally:
            stored.close()
        mark.touch(mode=0o600)
    finally:
        lock.release(remove=True)


@dataclass
class _ColumnChanges:
    changed: int = 0
    samples: list[str] = field(default_factory=list)


def compare_batches(
    batches: Iterable[Batch], stored: StoredRecords, *, deletes: bool
) -> LoadDifference:
    """Compare the records of batches with whole stored records, by column."""
    columns: dict[str, _ColumnChanges] = {}
    new = changed = unchanged = 0
    for batch in batches:
        records = records_of(batch)
        bodies = stored.take([record["objectID"] for record in records])
        for record in records:
            body = bodies.get(record["objectID"])
            if body is None:
                new += 1
            elif _compare(record, msgspec.json.decode(body), columns):
                changed += 1
            else:
                unchanged += 1
    vanished = stored.count(VANISHED) if deletes else 0
    rows = [(name, c.changed, "; ".join(c.samples)) for name, c in columns.items()]
    frame = pd.DataFrame(rows, columns=["column", "changed", "samples"])
    frame = frame.astype({"column": "str", "changed": "int64", "samples": "str"})
    in_order = frame.sort_values("changed", ascending=False, kind="stable", ignore_index=True)
    return LoadDifference(new, changed, unchanged, vanished, in_order)


def _compare(
    record: dict[str, Any], stored: dict[str, Any], columns: dict[str, _ColumnChanges]
) -> bool:
    """Count the columns whose values differ; return whether there are some."""
    differs = False
    for name in dict.fromkeys([*stored, *record]):
        before, after = _write(stored, name), _write(record, name)
        if before == after:
            continue
        differs = True
        column = columns.setdefault(name, _ColumnChanges())
        column.changed += 1
        if len(column.samples) < MAX_SAMPLES:
            shown = (shorten(text, MAX_SAMPLE_CHARACTERS) for text in (before, after))
            column.samples.append(f"{record['objectID']}: {' → '.join(shown)}")
    return differs


def _write(record: dict[str, Any], name: str) -> str:
    return canonical(msgspec.json.encode(record[name]).decode()) if name in record else ABSENT


async def find_vanished_parts(
    client: AsyncClient, index: str, table: SourceTable
) -> AsyncIterator[list[str]]:
    """Yield stored ids without a part, for some rows at a time, those with high numbers first.

    The parts of a row have the numbers from 1 without a gap, so that only the next one is read.
    If the deletion is interrupted, none is missing in between.
    """
    chunks = table.db.chunks(f"{table.parts_sql} ORDER BY source_id", MAX_IDS_PER_REQUEST)
    while chunk := await table.db.in_thread(next, chunks, None):
        rows: list[tuple[str, int]] = list(zip(*chunk.to_pydict().values(), strict=True))
        try:
            stored = await _find_parts(client, index, rows)
        except NotFound:
            return
        if stored:
            yield stored


async def _find_parts(
    client: AsyncClient, index: str, rows: Sequence[tuple[str, int]]
) -> list[str]:
    whole = await _find_stored(client, index, [name for name, _ in rows])
    beyond: list[str] = []
    left = list(rows)
    while left:
        left = [(name, number + 1) for name, number in left]
        ids = {f"{name}{PART_MARK}{number}": (name, number) for name, number in left}
        stored = await _find_stored(client, index, [*ids])
        beyond += stored
        left = [ids[part] for part in stored]
    return [*reversed(beyond), *whole]


async def _find_stored(client: AsyncClient, index: str, ids: Sequence[str]) -> list[str]:
    records: Any = await asyncio.shield(read_records(client, index, ids))
    return [name for name, record in zip(ids, records, strict=True) if record is not None]
