"""The stored records of an index, with which the rows of a merge or a synchronization compare."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.files import FileLock
from svc_notebook.data.client.operations import FULL_RECORD_PARAMS, count_records, index_exists
from svc_notebook.data.loading.encoding.operations import operations_of
from svc_notebook.data.loading.history.journal import LoadJournal
from svc_notebook.data.loading.options import IfExists, LoadSettings
from svc_notebook.data.loading.sending.batches import HEAD, TAIL, Batch
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Record = Mapping[str, Any]
DIGEST_BYTES = 12
# Ids that one request deletes.
MAX_DELETED_IDS = 1_000


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

    def count(self) -> int:
        """Return the number of records."""
        (count,) = self._file.execute("SELECT count(*) FROM stored").fetchone()
        return int(count)

    def delete_vanished(self) -> None:
        """Forget the records that no row has."""
        self._file.execute("DELETE FROM stored WHERE row = 0")

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

    def count_vanished(self) -> int:
        """Return the number of records that no row has."""
        (count,) = self._file.execute("SELECT count(*) FROM stored WHERE row = 0").fetchone()
        return int(count)

    def read_vanished(self, most: int = MAX_DELETED_IDS) -> Iterator[list[str]]:
        """Yield the ids of the records that no row has, some at a time."""
        last = ""
        query = "SELECT id FROM stored WHERE row = 0 AND id > ? ORDER BY id LIMIT ?"
        while ids := [row[0] for row in self._file.execute(query, (last, most))]:
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
    return blake2b(
        msgspec.json.encode(record, order="deterministic"), digest_size=DIGEST_BYTES
    ).digest()


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
