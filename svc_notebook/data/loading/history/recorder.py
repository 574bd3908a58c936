"""The record of a running load: its entry in the journal, and the versions that undo it."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.files import FileLock
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.journal_file import describe_unwritable
from svc_notebook.data.client.operations import (
    FULL_RECORD_PARAMS,
    MAX_IDS_PER_REQUEST,
    count_records,
)
from svc_notebook.data.client.task_group import run_together
from svc_notebook.data.client.temporary_index import parse_name
from svc_notebook.data.loading.history.journal import (
    LoadEntry,
    LoadJournal,
    LoadState,
    VersionsFile,
    VersionsTooLarge,
    ids_of,
    user_name,
)
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.loading.load_plan.plan import LoadPlan
    from svc_notebook.data.loading.options import LoadCursor
    from svc_notebook.data.loading.sending.batches import Batch
    from svc_notebook.data.loading.sending.result import LoadResult

CONCURRENT_READS = 4
SEES_HIDDEN = "seeUnretrievableAttributes"
PARTIAL_UPDATE = b'"_operation"'


class LoadRecorder:
    """Writes the entry of a load, and the versions of the records that it changes.

    A load never fails because of its record: then it cannot be undone, and the entry says why.
    """

    def __init__(
        self, client: AsyncClient, entry: LoadEntry, undo_rows: int, *, is_new: bool = False
    ) -> None:
        self.entry = entry
        self._client = client
        self._undo_rows = undo_rows
        self._journal = LoadJournal.of(client.connection)
        self._versions = VersionsFile(self._journal.versions_path(entry.load_id))
        self._lock = FileLock(self._journal.lock_path(entry.load_id))
        self._rows = 0
        self._digest = hashlib.blake2b(digest_size=16)
        # Whether the index can have records of the rows, and whether these can be read whole.
        self._may_be_stored = not is_new
        self._sees_all = False
        # Ids of records that the operations of partial updates changed.
        self._computed_ids: list[str] = []

    @property
    def keeps_versions(self) -> bool:
        """Whether the load can be undone so far."""
        return not self.entry.not_undoable

    def abandon(self, reason: str) -> None:
        """Delete the versions, as the load cannot be undone."""
        self.entry = msgspec.structs.replace(self.entry, not_undoable=reason)
        self._versions.delete()

    async def begin(self) -> None:
        """Write the entry; a load that is resumed continues its own."""
        try:
            self._journal.hashes_mark(self.entry.index).unlink(missing_ok=True)
            self._versions.create()
            self._lock.acquire()
            await self._journal.write(self.entry)
        except (BadInput, OSError) as error:
            path = self._journal.path
            self.abandon(
                describe_unwritable(path, error) if isinstance(error, OSError) else str(error)
            )
            # The list of loads cannot show the reason.
            warn_user(
                f"this load of {self.entry.index} cannot be undone: {self.entry.not_undoable}"
            )
            return
        if self.entry.if_exists not in ("merge", "sync"):
            await self._read_or_abandon(self._prepare())

    async def keep(self, batch: Batch) -> None:
        """Keep what undoes a batch, before it is sent."""
        self._digest.update(batch.digest.to_bytes(8, "little") if batch.digest else batch.body)
        await self._read_or_abandon(self._keep(batch))

    async def keep_deleted(self, ids: Sequence[str]) -> None:
        """Keep stored records, before they are deleted."""
        await self._read_or_abandon(self._keep_deleted(ids))

    async def finish(self, state: LoadState, result: LoadResult, dropped: int) -> None:
        """Write the outcome of the load."""
        if self._computed_ids:
            await self._read_or_abandon(self._keep_stored("after", self._computed_ids))
        self.entry = msgspec.structs.replace(
            self.entry,
            state=state,
            source_hash=self.entry.source_hash or self._digest.hexdigest(),
            **counts_of(result, dropped),
        )
        try:
            await self._journal.write(self.entry)
        except BadInput:
            self._versions.delete()
        self._lock.release(remove=True)

    async def _read_or_abandon(self, keeping: Any) -> None:
        if not self.keeps_versions:
            keeping.close()
            return
        try:
            await keeping
        except VersionsTooLarge:
            self.abandon("the previous versions take too much space")
        except KeyRefused:
            self.abandon("this key may not read whole records (rights `search` and `browse`)")
        except CallFailed as error:
            self.abandon(f"the previous versions could not be read: {error}")
        except OSError as error:
            self.abandon(f"the previous versions cannot be written: {error.strerror}")

    async def _prepare(self) -> None:
        """Find out whether there are previous versions; keep all of them for a replacement."""
        index, replaces = self.entry.index, self.entry.if_exists == "replace"
        self._check_rows(self.entry.rows)
        few = self.entry.rows <= MAX_IDS_PER_REQUEST and not replaces
        if few or not (self.keeps_versions and self._may_be_stored):
            return
        stored = await count_records(self._client, index)
        self._may_be_stored = bool(stored) and not replaces
        if replaces:
            self._check_rows(stored)
            if stored and self.keeps_versions:
                await self._keep_index()

    async def _keep_index(self) -> None:
        await self._check_rights()
        async for page in self._client.browse_pages(self.entry.index, **FULL_RECORD_PARAMS):
            await asyncio.to_thread(
                self._versions.write, "before", msgspec.json.encode(page["hits"])
            )

    def _check_rows(self, rows: int) -> None:
        if self.keeps_versions and rows > self._undo_rows:
            self.abandon(
                f"it changes more than {self._undo_rows:,} records; `undo_rows` allows more"
                if self._undo_rows
                else "undo_rows=0 kept nothing"
            )

    async def _keep(self, batch: Batch) -> None:
        self._rows += batch.rows
        self._check_rows(self._rows)
        if not self.keeps_versions:
            return
        if self._may_be_stored:
            ids = await asyncio.to_thread(ids_of, batch.body)
            await self._keep_stored("before", ids)
            if not batch.repeatable or PARTIAL_UPDATE in batch.body:
                self._computed_ids += ids
        if self.keeps_versions:
            await asyncio.to_thread(self._versions.write, "sent", batch.body)

    async def _keep_deleted(self, ids: Sequence[str]) -> None:
        self._rows += len(ids)
        self._check_rows(self._rows)
        if self.keeps_versions:
            await self._keep_stored("before", ids)
        if self.keeps_versions:
            self._versions.write("deleted", msgspec.json.encode(ids))

    async def _keep_stored(self, kind: Any, ids: Sequence[str]) -> None:
        try:
            records = await read_records(self._client, self.entry.index, ids)
        except NotFound:  # the index does not exist yet
            self._may_be_stored = False
            return
        stored = [record for record in records if record is not None]
        if stored:
            await self._check_rights()
            await asyncio.to_thread(self._versions.write, kind, msgspec.json.encode(stored))

    async def _check_rights(self) -> None:
        """Abandon if the key does not read all attributes: they would be lost by an undo."""
        if self._sees_all:
            return
        settings = await self._client.get_settings(self.entry.index)
        if settings.get("unretrievableAttributes"):
            try:
                key = await self._client.get_key(self._client.connection.api_key.reveal())
            except CallFailed:  # the admin key reads all
                pass
            else:
                if SEES_HIDDEN not in key["acl"]:
                    raise KeyRefused(f"this key lacks the right `{SEES_HIDDEN}`", status=403)
        self._sees_all = True


def new_entry(
    client: AsyncClient,
    plan: LoadPlan,
    if_exists: str,
    action: str,
    *,
    source: str,
    source_hash: str = "",
    checkpoint: str = "",
    cursor: LoadCursor | None = None,
    cursor_source: str = "",
) -> LoadEntry:
    """Create the entry of a load that is about to begin."""
    ends: dict[str, Any] = {} if cursor is None else {
        "cursor": cursor.column, "cursor_type": cursor.type, "cursor_value": cursor.value,
        "cursor_files": dict(cursor.files), "cursor_source": cursor_source,
        "cursor_columns": {**cursor.columns, **{
            row.name: row.sent_as for row in plan.column_rows if row.missing < plan.rows
        }},
    }  # fmt: skip
    return LoadEntry(
        secrets.token_hex(4), time.time(), plan.index, source, checkpoint=checkpoint,
        source_hash=source_hash, application=client.connection.app_id,
        address=client.connection.address, user=user_name(), if_exists=if_exists, action=action,
        options=dict(plan.options), decisions=[*map(str, plan.notes)], rows=plan.sendable, **ends,
    )  # fmt: skip


def counts_of(result: LoadResult, dropped: int) -> dict[str, Any]:
    """Return the counts of a load as its entry has them."""
    return {
        "rows": result.plan.rows, "sent": result.sent, "published": result.published,
        "unchanged": result.unchanged, "deleted": result.deleted, "dropped": dropped,
        "rejected": result.rejected_rows - dropped, "seconds": result.seconds,
        "decisions": [*map(str, result.notes)],
    }  # fmt: skip


def is_recorded(index: str) -> bool:
    """Return whether loads into an index are recorded: not those into temporary indices."""
    return parse_name(index) is None


def find_resumed(client: AsyncClient, checkpoint: str) -> LoadEntry | None:
    """Return the entry of the interrupted load that has a checkpoint, if there is one."""
    entries = LoadJournal.of(client.connection).read()
    return next(
        (
            entry
            for entry in reversed(entries)
            if entry.checkpoint == checkpoint and entry.state in ("interrupted", "failed")
        ),
        None,
    )


async def read_records(
    client: AsyncClient, index: str, ids: Sequence[str]
) -> list[dict[str, Any] | None]:
    """Read stored records, None for one that does not exist, some requests at a time."""
    parts = [ids[at : at + MAX_IDS_PER_REQUEST] for at in range(0, len(ids), MAX_IDS_PER_REQUEST)]
    results: list[Any] = [None] * len(parts)

    async def read(start: int) -> None:
        for number in range(start, len(parts), CONCURRENT_READS):
            requests: Any = [{"indexName": index, "objectID": name} for name in parts[number]]
            results[number] = (await client.get_objects(requests))["results"]

    await run_together([read(start) for start in range(min(CONCURRENT_READS, len(parts)))])
    return [record for records in results for record in records]


async def read_existing(
    client: AsyncClient, index: str, ids: Sequence[str]
) -> list[dict[str, Any] | None]:
    """Read stored records as `read_records` does; there are none if the index does not exist."""
    try:
        return await read_records(client, index, ids)
    except NotFound:
        return [None] * len(ids)


@asynccontextmanager
async def recording(recorder: LoadRecorder, result_of: Any) -> AsyncIterator[None]:
    """Write the entry of a load before and after it; `result_of` returns its counts."""
    await recorder.begin()
    try:
        yield
    except asyncio.CancelledError:
        await recorder.finish("interrupted", *result_of())
        raise
    except BaseException:
        await recorder.finish("failed", *result_of())
        raise
    await recorder.finish("finished", *result_of())
