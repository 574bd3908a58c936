"""The load itself: from a source to published records."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from svc_notebook.client.tasks import wait
from svc_notebook.client.temporary_index import TemporaryIndex, copy_around
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, Stopped, SvcError, TaskFailed
from svc_notebook.loading.database import Database
from svc_notebook.loading.load_plan.ids import SCHEME
from svc_notebook.loading.load_plan.plan import LoadPlan, Prepared, prepare
from svc_notebook.loading.load_plan.row_order import Span
from svc_notebook.loading.options import IfExists, LoadSettings, RowOptions
from svc_notebook.loading.sending.batches import Batch, merge_spans, pack_batches
from svc_notebook.loading.sending.checkpoint import (
    AcknowledgedBatch,
    Checkpoint,
    facts_of,
    has_other_ids,
    open_checkpoint,
)
from svc_notebook.loading.sending.concurrency_limiter import ConcurrencyLimiter, send_batches
from svc_notebook.loading.sending.replacement import (
    check_least,
    check_share,
    check_target,
    describe_first,
    move_over,
    warn_of_hashes,
)
from svc_notebook.loading.sending.result import OUTCOMES, LoadCounts, LoadResult
from svc_notebook.loading.sending.unchanged import (
    Stored,
    check_mergeable,
    keep_changed,
    read_stored,
)
from svc_notebook.loading.sending.verification import still_holds
from svc_notebook.loading.sending.verification import verify as read_back
from svc_notebook.loading.sources.partitions import find_parts
from svc_notebook.loading.sources.python_records import Rows, refuse_early
from svc_notebook.loading.sources.source import Source

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# An operation, inside a document, that is not idempotent.
ONCE = re.compile(rb'"_operation"\s*:\s*"(Increment|Decrement|Add)"')
OnProgress = Callable[[int, int], None]


def plan(source: Source, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
    """Return the plan of a load; nothing is sent."""
    _check_index(index)
    checked = LoadSettings.of(options)
    refuse_early(source, look=True)
    if parts := find_parts(source, checked):
        source = parts.first()
    with Database() as db:
        return prepare(source, index, checked, db).plan


async def push(
    client: AsyncClient,
    df: Rows,
    index: str,
    *,
    if_exists: IfExists = "append",
    least: float | None = None,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[RowOptions],
) -> LoadResult:
    """Write a DataFrame's rows to an index, and wait until they are published."""
    if isinstance(df, (str, os.PathLike)):
        raise BadInput("a text is not a DataFrame; load(…) takes files, URLs and SQL")
    return await load(
        client, df, index, if_exists=if_exists, least=least, verify=verify,
        in_flight=in_flight, on_progress=on_progress, **options,
    )  # fmt: skip


async def load(
    client: AsyncClient,
    source: Source,
    index: str,
    *,
    if_exists: IfExists = "append",
    least: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[RowOptions],
) -> LoadResult:
    """Send every row that can be sent, and wait until all are published.

    With `verify`, all records are read back and the result's `differences` lists those that are not
    stored as they were sent. An index is not replaced if there are differences, or by fewer records
    than the share `least` of the old number. If cancelled, raises `Stopped`, whose `result` is the
    result so far. `resume` continues an interrupted load of files. `on_progress` is called with
    `(rows sent, rows)`.
    """
    _check_index(index)
    if in_flight < 1:
        raise BadInput("`in_flight` is 1 or more")
    check_least(least, if_exists)
    checked = LoadSettings.of(options)
    refuse_early(source, look=dry_run, resume=resume)
    if parts := await asyncio.to_thread(find_parts, source, checked):
        return await _load_parts(
            client, parts, index, if_exists=if_exists, least=least, dry_run=dry_run, resume=resume,
            verify=verify, in_flight=in_flight, on_progress=on_progress, given=options,
        )  # fmt: skip
    db = Database()
    run: _LoadRun | None = None
    try:
        prepared = await db.in_thread(prepare, source, index, checked, db)
        run = _LoadRun(client, index, prepared, in_flight, on_progress)
        if not dry_run:
            await run.carry_out(if_exists, least, resume=resume, verify=verify)
        return run.ledger.close(dry_run=dry_run)
    except asyncio.CancelledError:
        raise _stopped(index, run) from None
    except (CallFailed, TaskFailed) as error:
        if isinstance(error, KeyRefused) and (primary := await _primary_of(client, index)):
            raise BadInput(
                f"{index} is a replica of {primary}, which has its records: write to that"
            ) from error
        if run:
            error.add_note(run.story())
        raise
    finally:
        await db.leave()


async def _primary_of(client: AsyncClient, index: str) -> str | None:
    """Return the primary of a replica; None if it is unknown."""
    with suppress(SvcError):
        return (await client.get_settings(index)).get("primary")
    return None


async def _load_parts(*args: Any, **options: Any) -> LoadResult:
    from svc_notebook.loading.dask.load import load_parts  # it imports this module

    return await load_parts(*args, **options)


def _check_index(index: object) -> None:
    if not isinstance(index, str) or not index:
        raise BadInput(f"an index is named by text, not {index!r}: load(source, 'films')")
    if any("\ud800" <= letter <= "\udfff" for letter in index):
        raise BadInput("the name of the index has half a character in it (a lone surrogate)")


def _stopped(index: str, run: _LoadRun | None) -> Stopped:
    if run is None:
        return Stopped(f"stopped while the source was read; nothing was sent to {index}")
    return Stopped(f"stopped. {run.story()}", result=run.ledger.close())


def _nothing_to_send(plan: LoadPlan, index: str) -> str:
    if not len(plan.rejected):
        return f"there is no row to replace {index} with; clear it if that is meant"
    told = describe_first(plan)
    return f"no row can be sent, and {index} was left as it is: {told}"


def _count_left(prepared: Prepared, settled: Sequence[Span]) -> int:
    """Count the rows to be sent that no settled span contains."""
    spans = merge_spans(settled)
    dropped = sum(int(np.diff(np.searchsorted(prepared.dropped, span))[0]) for span in spans)
    return prepared.plan.sendable - sum(last - first for first, last in spans) + dropped


def _twice(operation: str) -> BadInput:
    return BadInput(
        "it is not known whether the last batch was carried out, and sent again it would "
        f"change the records twice ({operation}): load the rest"
    )


class _LoadRun:
    """One running load."""

    def __init__(
        self,
        client: AsyncClient,
        index: str,
        prepared: Prepared,
        in_flight: int,
        on_progress: OnProgress | None,
    ) -> None:
        self._client = client
        self._prepared = prepared
        # Rows with the same id keep their order only if batches are sent one after the other.
        in_order = prepared.options.duplicates == "keep"
        self._lanes = ConcurrencyLimiter(1 if in_order else in_flight)
        self._on_progress = on_progress
        self._checkpoint: Checkpoint | None = None
        self._stored: Stored | None = None
        # Rows still to be read; whether some of them can have been sent before.
        self._left = 0
        self._again = False
        self.ledger = LoadCounts(prepared.plan, index, action=prepared.options.action)

    async def carry_out(
        self, if_exists: IfExists, least: float | None, *, resume: bool, verify: bool
    ) -> None:
        """Send and publish, into the index itself or into the temporary index that replaces it."""
        index = self.ledger.index
        if if_exists == "merge":
            check_mergeable(self._prepared.options)
            self._stored = await read_stored(self._client, index)
        if if_exists == "replace" and not self._prepared.plan.sendable:
            raise BadInput(_nothing_to_send(self._prepared.plan, index))
        if if_exists == "replace":
            await check_share(self._client, index, self._prepared.plan, least)
        self._checkpoint = self._open_checkpoint(if_exists)
        if resume:
            self._check_resumable(if_exists)
        if not (resume and self._checkpoint and self._checkpoint.entries):
            await check_target(self._client, index, if_exists)
            await self._warn_of_hashes(if_exists)
        with self._checkpoint.hold() if self._checkpoint else nullcontext():
            await self._write(if_exists, resume=resume, verify=verify)

    async def _write(self, if_exists: IfExists, *, resume: bool, verify: bool) -> None:
        index = self.ledger.index
        temporary = TemporaryIndex(self._client, index, "load") if if_exists == "replace" else None
        target = temporary.name if temporary else index
        if self._checkpoint:
            target = await self._take_up(self._checkpoint, target, resume=resume)
        if temporary:
            await self._replace(target, verify=verify)
        else:
            await self._fill(target, verify=verify)
        if self._checkpoint:
            self._checkpoint.discard()

    async def _replace(self, target: str, *, verify: bool) -> None:
        """Fill a temporary index, and move it over the index; an interrupted one is resumed."""
        temporary = self._temporary(target)
        await temporary.claim(drop_at_exit=False)
        try:
            await copy_around(self._client, temporary.index, target)
            await self._fill(target, verify=verify)
            self._check_differences()
            await move_over(temporary, self.ledger.sent)
        except BaseException as error:
            if self._may_go_on(error):
                temporary.release()
            # If it cannot be deleted, and there is a checkpoint, the next load deletes it.
            elif await temporary.discard(warn=not self._checkpoint) and self._checkpoint:
                self._checkpoint.discard()
            raise

    def _temporary(self, name: str) -> TemporaryIndex:
        return TemporaryIndex(self._client, self.ledger.index, "load", name=name)

    async def _warn_of_hashes(self, if_exists: IfExists) -> None:
        # Partitions of workers get one common warning.
        alone = self._prepared.hashed and not self._prepared.options.spread
        if alone and if_exists in ("append", "merge") and self._prepared.plan.sendable:
            await warn_of_hashes(self._client, self.ledger.index)

    def _check_resumable(self, if_exists: IfExists) -> None:
        if what := self._prepared.options.unrepeatable:
            raise _twice(what)
        if not self._checkpoint:
            raise BadInput("only a load of files can be resumed; load this again")
        # A replacement discards what was sent, and sends it again.
        origin = self._prepared.table.origin
        if (
            origin
            and self._prepared.hashed
            and if_exists != "replace"
            and has_other_ids(self._checkpoint.found, origin.state, SCHEME)
        ):
            raise BadInput(
                "this load was begun by an earlier release, which made other ids of the rows: "
                f"resumed, it would leave rows twice in {self.ledger.index}; load it again with "
                "if_exists='replace', or into another index"
            )

    def _may_go_on(self, error: BaseException) -> bool:
        """Return whether a later load can resume this one."""
        return bool(self._checkpoint and self._checkpoint.entries) and not isinstance(
            error, BadInput
        )

    async def _fill(self, target: str, *, verify: bool) -> None:
        await self._send(target)
        await self._publish(target)
        if verify:
            self.ledger.differences = await read_back(self._client, target, self._prepared)

    def _check_differences(self) -> None:
        found = self.ledger.differences
        if found is not None and len(found):
            object_id, problem = found.iloc[0]
            raise BadInput(
                f"{len(found):,} records are not as they were sent, the first of them "
                f"{object_id!r}, which {problem}; {self.ledger.index} was left as it is"
            )

    def _open_checkpoint(self, if_exists: IfExists) -> Checkpoint | None:
        origin = self._prepared.table.origin
        if origin is None:
            return None
        place = [origin.place, *self._client.connection.place, self.ledger.index]
        scheme = SCHEME if self._prepared.hashed else ""
        facts = facts_of(if_exists, self._prepared.options, scheme)
        return open_checkpoint("\n".join(place), f"{origin.state}|{facts}")

    async def _take_up(self, checkpoint: Checkpoint, target: str, *, resume: bool) -> str:
        """Resume an interrupted load, or remove its remains; return the target index."""
        earlier = checkpoint.target
        if resume and earlier and checkpoint.entries and await self._is_there(checkpoint, earlier):
            return earlier
        if earlier and earlier not in (target, self.ledger.index):
            left = await self._temporary(earlier).claim(drop_at_exit=False)
            await left.discard()
        if resume and earlier:
            self._note(
                "the source, the options or the index are not as they were: all rows were sent"
            )
        checkpoint.begin(target)
        return target

    async def _is_there(self, checkpoint: Checkpoint, target: str) -> bool:
        """Enter what was acknowledged, and check that it is still stored as it was sent."""
        for entry in checkpoint.entries:
            self.ledger.enter(entry.task, entry.rows)
        await self._publish(target)
        self._again = True
        with suppress(KeyRefused):
            if not await still_holds(self._client, target, self._prepared, self._settled()):
                self.ledger.rows_of.clear()
                return False
        self.ledger.resumed = self.ledger.sent
        return True

    def _note(self, text: str) -> None:
        plan = self.ledger.plan
        self.ledger.plan = replace(plan, notes=(*plan.notes, text))

    async def _send(self, target: str) -> None:
        settled = self._settled()
        self._left = _count_left(self._prepared, settled)
        batches = pack_batches(self._prepared, settled, self._digests())
        self._tell()
        await send_batches(
            self._client, target, lambda: self._next(batches), self._enter, lanes=self._lanes
        )
        if self._left:
            raise BadInput(
                f"{self._prepared.table.name} changed while it was read: load it again, once it "
                "is whole"
            )

    def _settled(self) -> list[Span]:
        return [entry.span for entry in self._checkpoint.entries] if self._checkpoint else []

    def _digests(self) -> dict[Span, int]:
        entries = self._checkpoint.entries if self._checkpoint else []
        return {entry.span: entry.digest for entry in entries if entry.digest}

    async def _next(self, batches: Iterator[Batch]) -> Batch | None:
        while True:
            batch: Batch | None = await self._prepared.table.db.in_thread(next, batches, None)
            if batch is None:
                return None
            self._left -= batch.rows
            self._check_repeatable(batch)
            if self._stored is None:
                return batch
            changed = await asyncio.to_thread(keep_changed, batch, self._stored)
            self.ledger.unchanged += batch.rows - changed.rows
            if changed.rows:
                return changed

    def _check_repeatable(self, batch: Batch) -> None:
        """Reject rows that can have been sent already, if their operations are not idempotent."""
        again = self._again or self._prepared.options.spread
        if again and not batch.repeatable and (found := ONCE.search(batch.body)):
            raise _twice(found[1].decode())

    def _enter(self, batch: Batch, task: int) -> None:
        self.ledger.enter(task, batch.rows)
        if self._checkpoint:
            self._checkpoint.write(AcknowledgedBatch(*batch.span, batch.rows, task, batch.digest))
        self._tell()

    def _tell(self) -> None:
        if self._on_progress:
            self._on_progress(self.ledger.sent, self._prepared.plan.sendable)

    async def _publish(self, target: str) -> None:
        """Wait for every task, as long as some tasks are published in time."""
        left = list(self.ledger.rows_of)
        while left:
            try:
                await wait(self._client, left, index=target)
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
                waiting = sum(self.ledger.rows_of[task] for task in left)
                self.ledger.published = self.ledger.sent - waiting

    def story(self) -> str:
        """Describe the progress so far."""
        what, done = OUTCOMES[self.ledger.action]
        of = f"{self._prepared.plan.sendable:,} {what or 'rows '}"
        sent = f"{self.ledger.sent:,} of {of}were sent"
        more = "; resume=True goes on from there" if self._checkpoint and self.ledger.sent else ""
        return f"{sent} to {self.ledger.index}, {self.ledger.published:,} {done}{more}"
