"""One running load: its rows are sent in batches, published, verified and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from svc_notebook.data.client.tasks import publishing_of, wait
from svc_notebook.data.client.temporary_index import (
    TemporaryIndex,
    copy_around,
    name_temporary_index,
)
from svc_notebook.data.loading.history.journal import describe_source, digest_of_source
from svc_notebook.data.loading.history.recorder import (
    LoadRecorder,
    find_resumed,
    is_recorded,
    new_entry,
    recording,
)
from svc_notebook.data.loading.load_plan.ids import SCHEME
from svc_notebook.data.loading.load_plan.preparation import Prepared
from svc_notebook.data.loading.load_plan.proposals import add_proposals
from svc_notebook.data.loading.options import SendSettings
from svc_notebook.data.loading.sending.batch_sender import (
    DEFAULT_IN_FLIGHT,
    SETTLE_SECONDS,
    ConcurrencyLimiter,
    OutgoingBatches,
    not_repeatable,
    send_batches,
)
from svc_notebook.data.loading.sending.batches import Batch, Span, pack_batches
from svc_notebook.data.loading.sending.checkpoint import (
    AcknowledgedBatch,
    Checkpoint,
    facts_of,
    has_other_ids,
    open_checkpoint,
)
from svc_notebook.data.loading.sending.comparison import check_differences, still_holds
from svc_notebook.data.loading.sending.comparison import verify as read_back
from svc_notebook.data.loading.sending.existing_index import (
    AttributeLoss,
    check_share,
    check_target,
    describe_no_rows,
    find_attribute_loss,
    move_over,
    replaces_records,
    warn_of_hashes,
)
from svc_notebook.data.loading.sending.result import OUTCOMES, LoadCounts, LoadResult
from svc_notebook.data.loading.sending.stored_records import (
    StoredRecords,
    check_mergeable,
    compare_batches,
    find_vanished_parts,
    kept_hashes,
    read_stored,
)
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, SvcError, TaskFailed

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.loading.sources.source import Source


class LoadRun:
    """One running load of prepared rows."""

    def __init__(
        self,
        client: AsyncClient,
        source: Source,
        index: str,
        prepared: Prepared,
        settings: SendSettings,
        started: float,
    ) -> None:
        self._client = client
        self._source = source
        self._prepared = prepared
        self._settings = settings
        self._if_exists = settings.if_exists
        # Rows with the same id are applied in order only if batches are sent one by one.
        in_order = prepared.options.duplicates == "keep"
        in_flight = settings.in_flight or DEFAULT_IN_FLIGHT
        self._limiter = ConcurrencyLimiter(1 if in_order else in_flight)
        self._checkpoint: Checkpoint[AcknowledgedBatch] | None = None
        self._stored: StoredRecords | None = None
        self._deletes = False
        # Whether some rows may have been sent before.
        self._may_repeat = False
        self._recorder: LoadRecorder | None = None
        self._is_new = False
        # The hashes that are kept for the next load.
        self._kept = AsyncExitStack()
        action = prepared.options.action
        self.counts = LoadCounts(prepared.plan, index, started, action=action)

    async def complete_plan(self) -> None:
        """Add to the plan what the rows suggest, and what the load would change."""
        db = self._prepared.table.db
        self.counts.plan = await db.in_thread(add_proposals, self._prepared)
        await self._note_attribute_loss()
        await self._note_difference()

    async def carry_out(self) -> None:
        """Send and publish, into the index itself or into the temporary index that replaces it."""
        async with self._kept:
            if self._settings.merges:
                check_mergeable(self._prepared.options, self._if_exists)
                self._stored = await self._read_stored()
            self._check_rows()
            if self._settings.replaces_index:
                plan, min_share = self._prepared.plan, self._settings.min_share
                await check_share(self._client, self.counts.index, plan, min_share)
            if self._if_exists == "sync":
                self._deletes = self._may_delete()
            else:
                self._checkpoint = self._open_checkpoint()
            if self._settings.resume:
                self._check_resumable()
            if not (self._settings.resume and self._acknowledged):
                await check_target(self._client, self.counts.index, self._if_exists)
                await self._warn_of_hashes()
            await self._check_attribute_loss()
            with self._checkpoint.hold() if self._checkpoint else nullcontext():
                await self._write()

    def _check_rows(self) -> None:
        """Reject a source without a row to send if it is a file, or deletes what exists."""
        prepared, options = self._prepared, self._prepared.options
        may_be_empty = options.spread or options.cursor is not None
        is_file = prepared.table.origin is not None and not may_be_empty
        if (self._settings.replaces_index or is_file) and not prepared.plan.sendable:
            raise BadInput(describe_no_rows(prepared.plan, self.counts.index, self._if_exists))

    async def _read_stored(self) -> StoredRecords:
        """Return what the rows are compared with: hashes kept by the last load, or the index."""
        if self._settings.compare_with == "hashes":
            return await self._kept.enter_async_context(
                kept_hashes(self._client, self.counts.index)
            )
        return await read_stored(self._client, self.counts.index)

    async def _check_attribute_loss(self) -> None:
        """Refuse to delete attributes of existing records, unless the options allow it."""
        prepared = self._prepared
        if prepared.options.replace_records or not replaces_records(prepared, self._if_exists):
            return
        loss = await self._find_attribute_loss()
        if loss.attributes:
            raise loss.refusal(self.counts.index)
        self._is_new = loss.is_new
        self.counts.plan = loss.note_in(self.counts.plan)

    async def _find_attribute_loss(self) -> AttributeLoss:
        return await find_attribute_loss(
            self._client, self._source, self.counts.index, self._prepared
        )

    async def _note_attribute_loss(self) -> None:
        """Add to the plan the attributes of existing records that the load would delete."""
        if not replaces_records(self._prepared, self._if_exists):
            return
        try:
            loss = await self._find_attribute_loss()
        except CallFailed as error:
            unread = f"the records of {self.counts.index} cannot be read ({error})"
            loss = AttributeLoss(unread=unread)
        self.counts.plan = loss.note_in(self.counts.plan)

    def _may_delete(self) -> bool:
        """Return whether records without a row are deleted; a rejected row may have one of them."""
        if not self._prepared.plan.rejected_rows or self._settings.min_share is not None:
            return True
        self._note(
            "no record was deleted, because a rejected row can have its id; correct these rows, or "
            "pass min_share=0"
        )
        return False

    async def _note_difference(self) -> None:
        """Add to the plan what differs from the stored records."""
        if not self._settings.merges:
            return
        check_mergeable(self._prepared.options, self._if_exists)
        stored = await read_stored(self._client, self.counts.index, whole=True)
        self._stored = stored
        difference = await self._prepared.table.db.in_thread(
            lambda: compare_batches(
                pack_batches(self._prepared), stored, deletes=self._if_exists == "sync"
            )
        )
        self.counts.plan = replace(self.counts.plan, difference=difference)

    def close(self) -> None:
        """Delete what was kept of the stored records."""
        if self._stored:
            self._stored.close()

    async def _delete_vanished(self) -> None:
        """Delete the stored records without a row, after all rows were sent."""
        if not (self._deletes and self._stored):
            return
        for ids in self._stored.read_vanished():
            await self._delete(ids)
        self._stored.delete_vanished()

    async def _delete_vanished_parts(self) -> None:
        """Delete stored parts of the texts that are shorter than before."""
        if self._prepared.options.split:
            table = self._prepared.table
            async for ids in find_vanished_parts(self._client, self.counts.index, table):
                await self._delete(ids)

    async def _delete(self, ids: list[str]) -> None:
        if self._recorder:
            await self._recorder.keep_deleted(ids)
        requests: Any = [{"action": "deleteObject", "body": {"objectID": name}} for name in ids]
        answer = await self._client.batch(self.counts.index, requests)
        await wait(self._client, [answer["taskID"]], index=self.counts.index)
        self.counts.deleted += len(ids)

    async def _write(self) -> None:
        index = self.counts.index
        replaces = self._if_exists == "replace"
        target = name_temporary_index(index, "load") if replaces else index
        if self._checkpoint:
            target = await self._resume_or_begin(self._checkpoint, target)
        self._recorder = self._make_recorder()
        async with recording(self._recorder, self._outcome) if self._recorder else nullcontext():
            await (self._replace(target) if replaces else self._fill(target))
        if self._checkpoint:
            self._checkpoint.discard()

    def _make_recorder(self) -> LoadRecorder | None:
        """Return the record of this load; a resumed load continues that of the interrupted one."""
        if self._prepared.options.spread or not is_recorded(self.counts.index):
            return None
        name = self._checkpoint.path.stem if self._checkpoint else ""
        entry = find_resumed(self._client, name) if self.counts.resumed else None
        if entry is None:
            origin = self._prepared.table.origin
            entry = new_entry(
                self._client, self.counts.plan, self._if_exists, self.counts.action,
                source=describe_source(self._source, self._prepared.plan.source),
                source_hash=origin.state if origin else "", checkpoint=name,
                cursor=self._prepared.table.cursor, cursor_source=digest_of_source(self._source),
            )  # fmt: skip
        return LoadRecorder(self._client, entry, self._settings.undo_rows, is_new=self._is_new)

    def _outcome(self) -> tuple[LoadResult, int]:
        """Return the result so far, and the number of rows that were dropped on request."""
        is_last = self._prepared.options.duplicates == "last"
        return self.counts.close(), self._prepared.duplicates if is_last else 0

    async def _replace(self, target: str) -> None:
        """Fill a temporary index, and move it over the index; an interrupted load is resumed."""
        temporary = self._temporary(target)
        await temporary.claim(drop_at_exit=False)
        try:
            await copy_around(self._client, temporary.index, target)
            await self._fill(target)
            check_differences(self.counts.differences, self.counts.index)
            await move_over(temporary, self.counts.sent)
        except BaseException as error:
            if self._is_resumable(error):
                temporary.release()
            # If it cannot be deleted, and there is a checkpoint, the next load deletes it.
            elif await temporary.discard(warn=not self._checkpoint) and self._checkpoint:
                self._checkpoint.discard()
            raise

    def _temporary(self, name: str) -> TemporaryIndex:
        return TemporaryIndex(self._client, self.counts.index, "load", name=name)

    async def _warn_of_hashes(self) -> None:
        # Partitions of workers get one common warning.
        alone = self._prepared.hashed and not self._prepared.options.spread
        if alone and self._if_exists in ("append", "merge") and self._prepared.plan.sendable:
            await warn_of_hashes(self._client, self.counts.index)

    def _check_resumable(self) -> None:
        if operation := self._prepared.options.unrepeatable:
            raise not_repeatable(operation)
        if self._if_exists == "sync":
            raise BadInput("omit `resume`: if_exists='sync' sends only what is not stored yet")
        if not self._checkpoint:
            raise BadInput("only a load of files can be resumed; load this source again")
        # A replacement discards what was sent, and sends it again.
        origin = self._prepared.table.origin
        if (
            origin
            and self._prepared.hashed
            and self._if_exists != "replace"
            and has_other_ids(self._checkpoint.earlier_state, origin.state, SCHEME)
        ):
            raise BadInput(
                "an earlier release began this load with other ids for the same rows; resuming it "
                f"would store rows twice in {self.counts.index}: load it again with "
                "if_exists='replace', or into another index"
            )

    def _is_resumable(self, error: BaseException) -> bool:
        """Return whether a later load can resume this one."""
        return bool(self._acknowledged) and not isinstance(error, BadInput)

    async def _fill(self, target: str) -> None:
        try:
            await self._send(target)
            await self._publish(target)
            await self._delete_vanished()
            if target == self.counts.index and not self._deletes:
                await self._delete_vanished_parts()
        except asyncio.CancelledError:
            self.counts.stopped = True
            if target == self.counts.index:
                await self._count_published(target)
            raise
        if self._settings.verify:
            self.counts.differences = await read_back(self._client, target, self._prepared)

    def _open_checkpoint(self) -> Checkpoint[AcknowledgedBatch] | None:
        origin = self._prepared.table.origin
        if origin is None:
            return None
        location = [origin.location, *self._client.connection.place, self.counts.index]
        scheme = SCHEME if self._prepared.hashed else ""
        facts = facts_of(self._if_exists, self._prepared.options, scheme)
        return open_checkpoint("\n".join(location), f"{origin.state}|{facts}")

    async def _resume_or_begin(self, checkpoint: Checkpoint[AcknowledgedBatch], target: str) -> str:
        """Resume an interrupted load, or delete its temporary index; return the target index."""
        earlier, resume = checkpoint.target, self._settings.resume
        if (
            resume
            and earlier
            and checkpoint.entries
            and await self._restore_progress(checkpoint, earlier)
        ):
            return earlier
        if earlier and earlier not in (target, self.counts.index):
            left = await self._temporary(earlier).claim(drop_at_exit=False)
            await left.discard()
        if resume and earlier:
            self._note(
                "the source, the options or the index have changed: all rows were sent again"
            )
        checkpoint.begin(target, at_once=target != self.counts.index)
        return target

    async def _restore_progress(
        self, checkpoint: Checkpoint[AcknowledgedBatch], target: str
    ) -> bool:
        """Count the acknowledged batches; return False if the index no longer contains them."""
        for entry in checkpoint.entries:
            self.counts.enter(entry.task, entry.rows)
        await self._publish(target)
        self._may_repeat = True
        with suppress(KeyRefused):
            if not await still_holds(self._client, target, self._prepared, self._settled()):
                self.counts.rows_of.clear()
                return False
        self.counts.resumed = self.counts.sent
        return True

    def _note(self, text: str) -> None:
        plan = self.counts.plan
        self.counts.plan = replace(plan, notes=(*plan.notes, text))

    async def _send(self, target: str) -> None:
        digests = {batch.span: batch.digest for batch in self._acknowledged if batch.digest}
        outgoing = OutgoingBatches(
            self._prepared, self.counts, self._settled(), digests, self._stored,
            self._recorder, may_repeat=self._may_repeat, per_second=self._settings.per_second,
        )  # fmt: skip
        self._report_progress()
        await send_batches(
            self._client, target, outgoing.next, self._enter, limiter=self._limiter,
            uncertain=self.counts.count_uncertain,
        )  # fmt: skip
        self.counts.slowed = self._limiter.decreases
        if outgoing.rows_left:
            raise BadInput(
                f"{self._prepared.table.name} changed while it was read: load it again when it is "
                "complete"
            )

    @property
    def _acknowledged(self) -> Sequence[AcknowledgedBatch]:
        """The batches that this load, or the interrupted one, has sent."""
        return self._checkpoint.entries if self._checkpoint else ()

    def _settled(self) -> list[Span]:
        return [batch.span for batch in self._acknowledged]

    def _enter(self, batch: Batch, task: int) -> None:
        self.counts.enter(task, batch.rows)
        if self._checkpoint:
            self._checkpoint.write(AcknowledgedBatch(*batch.span, batch.rows, task, batch.digest))
        self._report_progress()

    def _report_progress(self) -> None:
        if self._settings.on_progress:
            self._settings.on_progress(self.counts.sent, self._prepared.plan.sendable)

    async def _publish(self, target: str) -> None:
        """Wait for all tasks; at a timeout, wait again if some were published meanwhile."""
        left = list(self.counts.rows_of)
        report = publishing_of(self._settings.on_progress)
        while left:
            try:
                await wait(self._client, left, index=target, on_progress=report)
                left = []
            except TaskFailed as error:
                if len(error.tasks) == len(left):
                    raise
                left = list(error.tasks)
            except KeyRefused:  # reading a task requires `addObject`; the writes were accepted
                self._note(
                    "the service accepted the rows; whether they are published is not known, "
                    "because this key may not read tasks (right `addObject`)"
                )
                return
            finally:
                waiting = sum(self.counts.rows_of[task] for task in left)
                self.counts.published = self.counts.sent - waiting

    async def _count_published(self, target: str) -> None:
        """Count the rows that are published when the load is stopped; wait a while for the rest."""
        tasks = list(self.counts.rows_of)
        left = tasks
        try:
            await wait(self._client, tasks, index=target, timeout=SETTLE_SECONDS)
            left = []
        except TaskFailed as error:
            left = list(error.tasks)
        except SvcError:  # the service is out of reach, or the key may not read tasks
            return
        self.counts.published = self.counts.sent - sum(self.counts.rows_of[task] for task in left)

    def progress(self) -> str:
        """Describe the progress so far."""
        what, done = OUTCOMES[self.counts.action]
        of = f"{self._prepared.plan.sendable:,} {what or 'rows '}"
        sent = f"{self.counts.sent:,} of {of}were sent"
        is_exact = not self.counts.uncertain and self.counts.published == self.counts.sent
        at_least = "at least " if self.counts.stopped and not is_exact else ""
        more = (
            f"; {self.counts.uncertain:,} more may be stored" if self.counts.uncertain else ""
        ) + ("; resume=True resumes the load" if self._checkpoint and self.counts.sent else "")
        return f"{sent} to {self.counts.index}, {at_least}{self.counts.published:,} {done}{more}"
