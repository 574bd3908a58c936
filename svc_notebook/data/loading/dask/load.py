"""Distributed loads: Dask workers send the partitions of a source, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.data.client.operations import count_records
from svc_notebook.data.client.task_group import run_together
from svc_notebook.data.client.temporary_index import (
    TemporaryIndex,
    copy_around,
    name_temporary_index,
)
from svc_notebook.data.loading.dask.partition_sender import (
    AGAIN,
    RESUME,
    PartitionCheckpoint,
    PublishedPartition,
    check_hashes,
    check_partition_options,
    cluster_lost,
    combine_plans,
    count_threads,
    expects_workers,
    open_partition_checkpoint,
    send_here,
    send_on_worker,
    still_holds,
)
from svc_notebook.data.loading.history.recorder import (
    LoadRecorder,
    is_recorded,
    new_entry,
    recording,
)
from svc_notebook.data.loading.load_plan.plan import LoadContract, LoadPlan
from svc_notebook.data.loading.load_plan.row_errors import MAX_LISTED_ROWS
from svc_notebook.data.loading.options import MAX_IN_FLIGHT, LoadSettings, SendSettings
from svc_notebook.data.loading.sending.batch_sender import DEFAULT_IN_FLIGHT, ConcurrencyLimiter
from svc_notebook.data.loading.sending.existing_index import (
    AttributeLoss,
    check_rejected,
    check_share,
    check_target,
    warn_of_hashes,
)
from svc_notebook.data.loading.sending.load import load_source
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.partitions import SourcePartitions, find_workers
from svc_notebook.errors import BadInput, KeyRefused, ServiceBroken, Stopped, TooMany

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Attempts of one partition, each with all retries of its batches.
MAX_ATTEMPTS = 4


@dataclass(frozen=True)
class ClusterTimes:
    """How long a load waits for the service and the cluster."""

    # After the first overload of a partition; the pause doubles.
    first_pause_seconds: float = 1.0
    # Between two checks of the cluster.
    watch_seconds: float = 1.0
    # For a scheduler or workers that are gone, for a connected scheduler that is too busy to
    # answer, and for the first worker of a cluster that starts some.
    max_silent_seconds: float = 5.0
    max_busy_seconds: float = 30.0
    max_start_seconds: float = 60.0


async def load_partitions(
    client: AsyncClient,
    partitions: SourcePartitions,
    index: str,
    options: LoadSettings,
    sending: SendSettings,
) -> LoadResult:
    """Send each partition, `in_flight` at a time, on Dask workers if available, else here.

    A partition that is sent again, because its worker was lost, overwrites what it had sent.
    """
    options = check_partition_options(partitions, options, sending)
    run = _DaskRun(client, partitions, index, options, sending)
    if sending.dry_run:
        return await run.load_first(sending.contract)
    run.checkpoint = open_partition_checkpoint(
        client, partitions, index, options, sending.if_exists, hashed=run.hashed
    )
    await run.check_index()
    await run.check_attribute_loss()
    try:
        with run.checkpoint.hold() if run.checkpoint else nullcontext():
            async with _recorded(run):
                await run.carry_out()
    except asyncio.CancelledError:
        raise Stopped(f"stopped. {run.progress()}", result=run.result()) from None
    except Exception as error:  # the computation of a partition can raise any error
        error.add_note(run.progress())
        raise
    return run.result()


def _recorded(run: _DaskRun) -> AbstractAsyncContextManager[None]:
    """Return the context that lists the load in the journal; it cannot be undone."""
    if not is_recorded(run.index):
        return nullcontext()
    entry = new_entry(
        run.client, run.result().plan, run.sending.if_exists, run.options.action,
        source=run.partitions.name,
    )  # fmt: skip
    entry = msgspec.structs.replace(entry, options=run.options.to_save())
    recorder = LoadRecorder(run.client, entry, 0)
    recorder.abandon("its partitions are sent side by side, and no previous versions are kept")
    return recording(recorder, lambda: (run.result(), 0))


@dataclass
class _DaskRun:
    client: AsyncClient
    partitions: SourcePartitions
    index: str
    options: LoadSettings
    sending: SendSettings
    times: ClusterTimes = ClusterTimes()
    limiter: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(1))
    # No partition is begun before this time, which the overload of one of them sets.
    paused_until: float = 0.0
    decreased_at: float = 0.0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    done: dict[int, LoadResult] = field(default_factory=dict)
    # The published partitions, on disk; and those that an interrupted load had published.
    checkpoint: PartitionCheckpoint | None = None
    earlier: dict[int, PublishedPartition] = field(default_factory=dict)
    # Partitions that were handed out: those that are not done may be stored in part.
    begun: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    # Whether the temporary index is kept although the load was refused.
    is_kept: bool = False
    started: float = field(default_factory=monotonic)

    async def load_first(self, contract: LoadContract | None = None) -> LoadResult:
        """Plan the load of the first partition."""
        first = await asyncio.to_thread(self.partitions.first)
        settings = SendSettings(dry_run=True, contract=contract)
        return await load_source(self.client, first, self.index, self.options_of(0), settings)

    async def check_index(self) -> None:
        """Reject an index or partitions into which, or of which, no rows can be sent."""
        resume, if_exists = self.sending.resume, self.sending.if_exists
        if resume and not self.checkpoint:
            raise BadInput(
                f"{self.partitions.name} cannot be resumed, because Dask does not recognise its "
                "partitions again: write it to Parquet files, and load dd.read_parquet(…) of them"
            )
        if not (resume and self.checkpoint and self.checkpoint.entries):
            await check_target(self.client, self.index, if_exists)
            if if_exists == "append" and self.hashed and not resume:
                await warn_of_hashes(self.client, self.index)

    async def check_attribute_loss(self) -> None:
        """Refuse to delete attributes of existing records.

        The first partition is checked before anything is sent. The others are checked when they
        are sent, if the index has records.
        """
        if self.options.action != "replace" or self.options.replace_records:
            return
        has_records = self.sending.if_exists == "append"
        with suppress(KeyRefused):  # each partition notes that its records cannot be read
            has_records = has_records and await count_records(self.client, self.index) > 0
        if not has_records:
            self.options = replace(self.options, replace_records=True)
            return
        plan = (await self.load_first()).plan
        if plan.deleted_attributes:
            raise AttributeLoss(plan.deleted_attributes).refusal(self.index)

    async def carry_out(self) -> None:
        """Send into the index itself, or into the temporary index that replaces it."""
        replaces = self.sending.if_exists == "replace"
        target = name_temporary_index(self.index, "load") if replaces else self.index
        if self.checkpoint:
            target = await self._resume_or_begin(self.checkpoint, target)
        if replaces:
            await self._replace(target)
        else:
            await self.send(target)
        if self.checkpoint:
            self.checkpoint.discard()

    async def _resume_or_begin(self, checkpoint: PartitionCheckpoint, target: str) -> str:
        """Resume an interrupted load, or delete its temporary index; return the target index."""
        client, options = self.client, self.options
        earlier, entries = checkpoint.target, checkpoint.entries
        if self.sending.resume:
            if earlier and entries and await still_holds(client, earlier, entries, options):
                self.earlier = {entry.number: entry for entry in entries}
                return earlier
            await self._prepare_to_send_again(checkpoint, target)
        if earlier and earlier not in (target, self.index):
            left = TemporaryIndex(self.client, self.index, "load", name=earlier)
            await left.claim(drop_at_exit=False)
            await left.discard()
        checkpoint.begin(target)
        return target

    async def _prepare_to_send_again(self, checkpoint: PartitionCheckpoint, target: str) -> None:
        """Refuse to store rows twice with other ids, or note that nothing was resumed."""
        # The same partitions get the same ids again: those overwrite what was sent.
        if self.hashed and target == self.index and checkpoint.earlier_state != checkpoint.state:
            await check_hashes(self.client, self.index)
        self.notes.append(
            "the source, the options or the index have changed: all rows were sent again"
            if checkpoint.target
            else "no interrupted load of these partitions is known: all rows were sent"
        )

    async def _replace(self, target: str) -> None:
        """Fill a temporary index, and move it over the index; an interrupted load is resumed."""
        temporary = TemporaryIndex(self.client, self.index, "load", name=target)
        await temporary.claim(drop_at_exit=False)
        try:
            await copy_around(self.client, self.index, target)
            await self.send(target)
            await self._check_stored(target)
            if not self.sending.skip_rejected:
                check_rejected(self._plan().rejected_rows)
            await self._check_share()
            await temporary.promote()
        except BaseException as error:
            if self._is_resumable(error):
                temporary.release()
            # If it cannot be deleted, and there is a checkpoint, the next load deletes it.
            elif await temporary.discard(warn=not self.checkpoint) and self.checkpoint:
                self.checkpoint.discard()
                self.checkpoint = None
            raise

    async def _check_stored(self, target: str) -> None:
        if not self.sent:
            raise BadInput(
                f"no row was sent, as all {self.rows:,} of {self.partitions.name} were "
                f"rejected; {self.index} is unchanged"
                if self.rows
                else f"{self.partitions.name} has no rows; {self.index} is unchanged. "
                f"svc.clear_index({self.index!r}) empties it"
            )
        stored = await count_records(self.client, target)
        if self.sent != stored:
            raise BadInput(
                f"{self.sent:,} rows were sent, but {stored:,} records are stored; {self.index} is "
                "unchanged. Check that the ids are unique over all partitions"
            )

    async def _check_share(self) -> None:
        """Refuse to replace by fewer records; what was sent is kept for a resumed load."""
        try:
            await check_share(self.client, self.index, self._plan(), self.sending.min_share)
        except BadInput as error:
            if self.checkpoint:
                self.is_kept = True
                error.add_note("the rows that were sent are kept: add resume=True to use them")
            raise

    def _is_resumable(self, error: BaseException) -> bool:
        """Return whether a later load can resume this one."""
        bad_input = isinstance(error, BadInput) and not self.is_kept
        return bool(self.checkpoint and self.checkpoint.entries) and not bad_input

    async def send(self, target: str) -> None:
        """Send every partition; the first failure cancels the others."""
        workers = find_workers()
        threads = await asyncio.to_thread(count_threads, workers) if workers else 0
        in_flight = self.sending.in_flight  # None follows the number of the workers' threads
        self.limiter = ConcurrencyLimiter(in_flight or threads or DEFAULT_IN_FLIGHT)
        waiting = iter(self.partitions)
        slots = min(in_flight or MAX_IN_FLIGHT, len(self.partitions))
        work = [self._send_each(waiting, target) for _ in range(slots)]
        watch = [self._watch(workers)] if workers and work else []
        await run_together([*work, *watch])

    async def _send_each(self, waiting: Iterator[tuple[int, Any]], target: str) -> None:
        while True:
            number, partition = next(waiting, (0, None))
            if partition is None:
                return
            if entry := self.earlier.get(number):
                result = await self._restore(entry, partition, target)
            else:
                self.begun.add(number)
                result = await self._send_again(number, partition, target)
            self._enter(number, result)

    async def _restore(self, entry: PublishedPartition, partition: Any, target: str) -> LoadResult:
        """Return the result of a published partition; only its rejected rows are read again."""
        if not entry.rejected_rows:
            return entry.result(entry.plan(self.partitions.name, self.index), self.options)
        async with self.limiter.slot():
            dry = await self._send_one(entry.number, partition, target, dry_run=True)
        return entry.result(dry.plan, self.options)

    async def _send_again(self, number: int, partition: Any, target: str) -> LoadResult:
        """Send a partition; if the service is overloaded, again after a pause for all of them."""
        for attempt in range(MAX_ATTEMPTS):
            async with self.limiter.slot():
                await asyncio.sleep(max(self.paused_until - monotonic(), 0))
                started = monotonic()
                try:
                    result = await self._send_one(number, partition, target)
                except (TooMany, ServiceBroken) as error:
                    if attempt + 1 == MAX_ATTEMPTS:
                        raise
                    pause = self.times.first_pause_seconds * 2**attempt
                    wait = max(getattr(error, "wait", 0.0), pause)
                    self.paused_until = max(self.paused_until, monotonic() + wait)
                    self._adapt(started, slowed=True)
                else:
                    self._adapt(started, slowed=result.slowed > 0)
                    return result
        raise AssertionError("the last attempt returns or raises")

    def _adapt(self, started: float, *, slowed: bool) -> None:
        """Send fewer partitions at once if the service slowed one down; else slowly more."""
        if not slowed:
            self.limiter.count_success()
        elif started > self.decreased_at:
            # Partitions that ran at the same time met the same overload: it counts once.
            self.limiter.decrease()
            self.decreased_at = monotonic()

    def _enter(self, number: int, result: LoadResult) -> None:
        if self.checkpoint and number not in self.earlier:
            self.checkpoint.write(PublishedPartition.of(number, result))
        # At most as many rejected rows are listed as of a load in one process.
        listed = sum(len(outcome.rejected) for outcome in self.done.values())
        first = result.rejected.head(max(MAX_LISTED_ROWS - listed, 0))
        self.done[number] = replace(result, plan=replace(result.plan, rejected=first))
        if len(self.done) == len(self.partitions):
            self.finished.set()
        if self.sending.on_progress:
            self.sending.on_progress(self.rows, self.rows * len(self.partitions) // len(self.done))

    async def _watch(self, workers: Any) -> None:
        """Raise if the scheduler or all workers are gone; follow the number of workers."""
        seen, had_workers = monotonic(), False
        while not self.finished.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.finished.wait(), self.times.watch_seconds)
            threads, allowed = await _count_responding_threads(workers, self.times)
            if threads:
                seen, had_workers = monotonic(), True
                self.limiter.set_maximum(self.sending.in_flight or threads)
                continue
            if not had_workers and expects_workers(workers):
                allowed = self.times.max_start_seconds
            # A cluster that is lost after the last partition has lost nothing.
            if monotonic() - seen > allowed and not self.finished.is_set():
                raise cluster_lost(workers, self.advice())

    async def _send_one(
        self, number: int, partition: Any, target: str, *, dry_run: bool = False
    ) -> LoadResult:
        options = self.options_of(number)
        settings = SendSettings(in_flight=1, dry_run=dry_run, contract=self.sending.contract)
        workers = find_workers()
        if workers is None:
            return await send_here(self.client, partition, target, options, settings)
        return await send_on_worker(
            workers, self.client, partition, target, options, settings, advise=self.advice
        )

    def options_of(self, number: int) -> LoadSettings:
        """Return the options of a partition; hashed ids get a salt so that equal rows differ."""
        return replace(self.options, spread=True, salt=f"part {number}" if self.hashed else "")

    @property
    def hashed(self) -> bool:
        """Whether the ids are hashes of rows."""
        return not self.options.id and self.options.action == "replace"

    @property
    def sent(self) -> int:
        """The number of acknowledged rows."""
        return sum(result.sent for result in self.done.values())

    @property
    def rows(self) -> int:
        """The number of rows of the finished partitions."""
        return sum(result.plan.rows for result in self.done.values())

    def advice(self) -> str:
        """Return what to do after the cluster was lost."""
        return RESUME if self.checkpoint and self.done else AGAIN

    def progress(self) -> str:
        """Describe the progress so far."""
        left = len(self.begun - self.done.keys())
        in_part = f"; rows of {left:,} more may be stored" if left else ""
        more = "; resume=True resumes the load" if self.checkpoint and self.done else ""
        return (
            f"{len(self.done):,} of {len(self.partitions):,} partitions were sent to {self.index}, "
            f"{self.sent:,} rows{in_part}{more}"
        )

    def result(self) -> LoadResult:
        """Build one result of all partitions."""
        results = [result for _, result in sorted(self.done.items())]
        return LoadResult(
            plan=self._plan(),
            index=self.index,
            sent=self.sent,
            published=sum(result.published for result in results),
            tasks=tuple(task for result in results for task in result.tasks),
            seconds=monotonic() - self.started,
            action=self.options.action,
            resumed=sum(result.resumed for result in results),
            slowed=self.limiter.decreases,
        )

    def _plan(self) -> LoadPlan:
        plans = {number: result.plan for number, result in self.done.items()}
        return combine_plans(self.partitions, self.index, plans, self.notes)


async def _count_responding_threads(workers: Any, times: ClusterTimes) -> tuple[int, float]:
    """Return the number of threads, and how long the load waits if there are none."""
    if workers.status != "running":
        return 0, times.max_silent_seconds
    try:
        counted = asyncio.to_thread(count_threads, workers)
        threads = await asyncio.wait_for(counted, times.max_silent_seconds)
    except TimeoutError:
        return 0, times.max_busy_seconds
    except (OSError, ValueError):
        return 0, times.max_silent_seconds
    return threads, times.max_silent_seconds
