"""The undo of a load: records get the version that they had before it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.files import FileLock
from svc_notebook.data.client.tasks import OnProgress, wait
from svc_notebook.data.loading.history.journal import (
    LoadEntry,
    LoadJournal,
    VersionsFile,
    VersionTable,
    encode,
    user_name,
)
from svc_notebook.data.loading.history.recorder import read_existing
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

READ_IDS, BATCH_RECORDS, BATCH_BYTES = 4_000, 1_000, 2_000_000
MAX_NAMED_CONFLICTS = 10
NO_REDO = "it is an undo: load the source again"


@dataclass
class LoadUndo:
    """What an undo does: ids to restore and to delete, and those that were changed since."""

    entry: LoadEntry
    restored: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    unchanged: int = 0

    def refusal(self) -> BadInput:
        """Return the error about records that were changed since."""
        count = len(self.conflicts)
        named = ", ".join(self.conflicts[:MAX_NAMED_CONFLICTS])
        more = count - MAX_NAMED_CONFLICTS
        shown = f"{named} and {more:,} more" if more > 0 else named
        nouns = "record has" if count == 1 else "records have"
        return BadInput(
            f"{count:,} {nouns} changed since the load {self.entry.load_id} ({shown}); "
            f"{self.entry.index} is unchanged. dry_run=True lists them, force=True overwrites them"
        )


def find_load(client: AsyncClient, load_id: str) -> LoadEntry:
    """Find a load that can be undone; raise `BadInput` with the reason if it cannot."""
    journal = LoadJournal.of(client.connection)
    entry = journal.find(load_id)
    if reason := why_not_undoable(journal, entry):
        raise BadInput(f"the load {entry.load_id} of {entry.index} cannot be undone: {reason}")
    return entry


def why_not_undoable(journal: LoadJournal, entry: LoadEntry) -> str:
    """Return why a load cannot be undone; empty if it can."""
    if entry.state == "running":
        return "it is still running"
    if entry.state == "undone":
        return "it was undone already"
    if entry.not_undoable:
        return entry.not_undoable
    if not journal.versions_path(entry.load_id).exists():
        return "its previous versions were deleted to make room for those of later loads"
    return ""


async def undo_load(
    client: AsyncClient,
    load_id: str,
    *,
    dry_run: bool = False,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> LoadUndo:
    """Restore what a load replaced or deleted, and delete what it added.

    An interrupted undo is completed by another: each record has either version.
    """
    journal = LoadJournal.of(client.connection)
    async with journal.alone():
        entry = find_load(client, load_id)
        versions = VersionsFile(journal.versions_path(entry.load_id))
        replaces = entry.if_exists == "replace"
        table = await asyncio.to_thread(VersionTable, versions, replaces_index=replaces)
        try:
            undo = await _compare(client, entry, table)
            if dry_run:
                return undo
            if undo.conflicts and not force:
                raise undo.refusal()
            await _carry_out(client, journal, undo, table, on_progress)
        finally:
            table.close()
        versions.delete()
    return undo


async def _compare(client: AsyncClient, entry: LoadEntry, table: VersionTable) -> LoadUndo:
    """Compare the stored records with their versions before and after the load."""
    undo = LoadUndo(entry)
    for rows in table.read(READ_IDS):
        stored = await read_existing(client, entry.index, [row[0] for row in rows])
        for (name, before, after, unknown), record in zip(rows, stored, strict=True):
            current = None if record is None else encode(record)
            if current == before:
                undo.unchanged += 1
                continue
            (undo.deleted if before is None else undo.restored).append(name)
            if unknown or current != after:
                undo.conflicts.append(name)
    return undo


async def _carry_out(
    client: AsyncClient,
    journal: LoadJournal,
    undo: LoadUndo,
    table: VersionTable,
    on_progress: OnProgress | None,
) -> None:
    started = time.monotonic()
    entry = _entry_of(journal, undo)
    lock = FileLock(journal.lock_path(entry.load_id))
    lock.acquire()
    try:
        journal.hashes_mark(entry.index).unlink(missing_ok=True)
        await journal.write(entry)
        index, total = undo.entry.index, len(undo.restored) + len(undo.deleted)
        tasks, sent = [], 0
        for requests in _batches(undo, table):
            answer = await client.batch(index, requests)
            tasks.append(answer["taskID"])
            sent += len(requests)
            if on_progress:
                on_progress(sent, total)
        await wait(client, tasks, index=index)
        outcome = msgspec.structs.replace(
            entry, state="finished", rows=total, sent=len(undo.restored),
            published=len(undo.restored), deleted=len(undo.deleted), unchanged=undo.unchanged,
            seconds=time.monotonic() - started,
        )  # fmt: skip
        await journal.write(msgspec.structs.replace(undo.entry, state="undone"))
        await journal.write(outcome)
    finally:
        lock.release(remove=True)


def _entry_of(journal: LoadJournal, undo: LoadUndo) -> LoadEntry:
    """Return the entry of an undo: that of an interrupted one, or a new one."""
    undone = undo.entry
    for entry in journal.read():
        if entry.parent == undone.load_id and entry.state == "interrupted":
            return msgspec.structs.replace(entry, state="running")
    return LoadEntry(
        f"{undone.load_id}-undo", time.time(), undone.index, undone.source,
        source_hash=undone.source_hash, application=undone.application, address=undone.address,
        user=user_name(), if_exists=undone.if_exists, action="undo", not_undoable=NO_REDO,
        parent=undone.load_id,
    )  # fmt: skip


def _batches(undo: LoadUndo, table: VersionTable) -> Iterator[list[Any]]:
    requests: list[Any] = []
    size = 0
    for name in [*undo.restored, *undo.deleted]:
        before = table.before(name)
        size += len(before or b"")
        requests.append(
            {"action": "deleteObject", "body": {"objectID": name}}
            if before is None
            else {"action": "updateObject", "body": msgspec.json.decode(before)}
        )
        if len(requests) == BATCH_RECORDS or size > BATCH_BYTES:
            yield requests
            requests, size = [], 0
    if requests:
        yield requests
