"""Hashes of the records of an index, kept on this machine between two loads that compare."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from svc_notebook.client.operations import count_records
from svc_notebook.errors import BadInput
from svc_notebook.files import FileLock
from svc_notebook.loading.history.journal import LoadJournal
from svc_notebook.loading.sending.unchanged import StoredRecords, read_stored

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient


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
