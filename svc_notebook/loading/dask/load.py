"""Distributed loads: Dask workers send the partitions of a source, several at a time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.client.operations import count_records
from svc_notebook.client.replacement import replacing
from svc_notebook.client.task_group import run_together
from svc_notebook.client.tasks import OnProgress
from svc_notebook.errors import BadInput, CallFailed, ServiceBroken, Stopped, SvcError, TooMany
from svc_notebook.loading.dask.worker_credentials import WorkerCredentials
from svc_notebook.loading.load_plan.plan import LoadPlan
from svc_notebook.loading.load_plan.profile import ID_NAMES
from svc_notebook.loading.load_plan.row_errors import MAX_LISTED_ROWS
from svc_notebook.loading.options import IfExists, LoadSettings
from svc_notebook.loading.sending.concurrency_limiter import (
    DEFAULT_IN_FLIGHT,
    ConcurrencyLimiter,
)
from svc_notebook.loading.sending.load import load_source
from svc_notebook.loading.sending.replacement import check_target, default_share, warn_of_hashes
from svc_notebook.loading.sending.result import LoadResult
from svc_notebook.loading.sources.partitions import SourcePartitions, find_workers

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# Partitions in flight if all workers have more threads; each is a task of the event loop.
MAX_IN_FLIGHT = 1024
# Attempts of one partition, each with all retries of its batches.
MAX_ATTEMPTS, FIRST_PAUSE_SECONDS = 4, 1.0
WATCH_SECONDS = 1.0
# How long a load waits for a scheduler or workers that are gone, and for the first worker.
MAX_SILENT_SECONDS, MAX_START_SECONDS = 5.0, 60.0


async def load_partitions(
    client: AsyncClient,
    partitions: SourcePartitions,
    index: str,
    options: LoadSettings,
    *,
    if_exists: IfExists,
    min_share: float | None,
    dry_run: bool,
    resume: bool,
    verify: bool,
    in_flight: int | None,
    on_progress: OnProgress | None,
) -> LoadResult:
    """Send each partition, `in_flight` at a time, on Dask workers if available, else here.

    A partition that is sent again, because its worker was lost, overwrites what it had sent.
    """
    options = _checked(partitions, options, if_exists, resume=resume, verify=verify)
    run = _DaskRun(client, partitions, index, options, in_flight, on_progress)
    if dry_run:
        first = partitions.first()
        return await load_source(client, first, index, run.options_of(0), dry_run=True)
    await check_target(client, index, if_exists)
    if if_exists == "append" and run.hashed:
        await warn_of_hashes(client, index)
    try:
        if if_exists == "replace":
            await run.replace(await _share(client, index, min_share))
        else:
            await run.send(index)
    except asyncio.CancelledError:
        raise Stopped(f"stopped. {run.progress()}", result=run.result()) from None
    except Exception as error:  # the computation of a partition can raise any error
        error.add_note(run.progress())
        raise
    return run.result()


async def _share(client: AsyncClient, index: str, min_share: float | None) -> float:
    """Return the minimum share of records; the number of rows is known when all are sent."""
    if min_share is not None:
        return min_share
    return default_share(await count_records(client, index))


def _checked(
    partitions: SourcePartitions,
    options: LoadSettings,
    if_exists: IfExists,
    *,
    resume: bool,
    verify: bool,
) -> LoadSettings:
    """Reject options that single partitions cannot apply; determine the source of the ids."""
    refused = {"`resume`": resume, "`verify`": verify, "if_exists='merge'": if_exists == "merge"}
    if option := next((name for name, wanted in refused.items() if wanted), None):
        raise BadInput(
            f"{option} does not work with a source in partitions; load the partitions one by one"
        )
    if options.limit is not None:
        raise BadInput("`limit` would apply to each partition; load ddf.head(…) or one partition")
    if options.unrepeatable:
        raise BadInput(
            f"{options.unrepeatable} changes the records each time it is sent, and the partition "
            "of a lost worker is sent again; compute() the DataFrame and push the result"
        )
    if options.id or options.action != "replace":
        return options
    likely = [name for name in ID_NAMES if name in partitions.columns]
    if likely[:1] == ["objectID"]:
        return replace(options, id="objectID")
    if likely:
        raise BadInput(
            "whether ids are unique over all partitions is not checked: pass "
            f"id='{likely[0]}' if that column is unique, or rename it"
        )
    return options


@dataclass
class Sent:
    """The outcome of one partition; an error is stored in picklable parts."""

    result: LoadResult | None = None
    error: tuple[Any, ...] = ()

    def unpack(self) -> LoadResult:
        """Return the result, or raise the error."""
        if self.result:
            return self.result
        kind, args, state = self.error
        error: Exception = kind.__new__(kind, *args)
        error.__dict__.update(state)
        raise error


def send_partition(
    partition: Any, credentials: WorkerCredentials, index: str, options: Mapping[str, Any]
) -> Sent:
    """Send one partition, on a worker."""

    async def send() -> LoadResult:
        async with credentials.client() as client:
            settings = LoadSettings.of(options)
            return await load_source(client, partition, index, settings, in_flight=1)

    try:
        return Sent(asyncio.run(send()))
    except SvcError as error:
        # Errors with additional members are not unpickled correctly.
        state = {name: value for name, value in error.__dict__.items() if name != "__notes__"}
        return Sent(error=(type(error), error.args, state))


@dataclass
class _DaskRun:
    client: AsyncClient
    partitions: SourcePartitions
    index: str
    options: LoadSettings
    # None follows the number of the workers' threads.
    in_flight: int | None
    on_progress: OnProgress | None
    limiter: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(1))
    # No partition is begun before this time, which the overload of one of them sets.
    paused_until: float = 0.0
    decreased_at: float = 0.0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    done: dict[int, LoadResult] = field(default_factory=dict)
    started: float = field(default_factory=monotonic)

    async def replace(self, min_share: float) -> None:
        """Fill a temporary index, and replace the existing index with it."""
        async with replacing(self.client, self.index, min_share=min_share) as scratch:
            await self.send(scratch)
            sent, stored = self.sent, await count_records(self.client, scratch)
            if sent != stored or not sent:
                raise BadInput(
                    f"{sent:,} rows were sent, but {stored:,} records are stored; {self.index} is "
                    "unchanged. Check that the ids are unique over all partitions"
                )

    async def send(self, target: str) -> None:
        """Send every partition; the first failure cancels the others."""
        workers = find_workers()
        threads = await asyncio.to_thread(_count_threads, workers) if workers else 0
        self.limiter = ConcurrencyLimiter(self.in_flight or threads or DEFAULT_IN_FLIGHT)
        waiting = iter(self.partitions)
        slots = min(self.in_flight or MAX_IN_FLIGHT, len(self.partitions))
        work = [self._send_each(waiting, target) for _ in range(slots)]
        watch = [self._watch(workers)] if workers and work else []
        await run_together([*work, *watch])

    async def _send_each(self, waiting: Iterator[tuple[int, Any]], target: str) -> None:
        while True:
            number, partition = next(waiting, (0, None))
            if partition is None:
                return
            self._enter(number, await self._send_again(number, partition, target))

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
                    wait = max(getattr(error, "wait", 0.0), FIRST_PAUSE_SECONDS * 2**attempt)
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
        self.done[number] = self._bounded(result)
        if len(self.done) == len(self.partitions):
            self.finished.set()
        if self.on_progress:
            self.on_progress(self.rows, self.rows * len(self.partitions) // len(self.done))

    def _bounded(self, result: LoadResult) -> LoadResult:
        """List at most as many rejected rows of all partitions as a load in one process does."""
        listed = sum(len(each.rejected) for each in self.done.values())
        first = result.rejected.head(max(MAX_LISTED_ROWS - listed, 0))
        return replace(result, plan=replace(result.plan, rejected=first))

    async def _watch(self, workers: Any) -> None:
        """Raise if the scheduler or all workers are gone; follow the number of workers."""
        seen, had_workers = monotonic(), False
        while not self.finished.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.finished.wait(), WATCH_SECONDS)
            threads = 0
            if workers.status == "running":
                with suppress(TimeoutError, OSError, ValueError):
                    asked = asyncio.to_thread(_count_threads, workers)
                    threads = await asyncio.wait_for(asked, MAX_SILENT_SECONDS)
            if threads:
                seen, had_workers = monotonic(), True
                self.limiter.set_maximum(self.in_flight or threads)
            elif monotonic() - seen > (MAX_SILENT_SECONDS if had_workers else MAX_START_SECONDS):
                raise _cluster_lost(workers)

    async def _send_one(self, number: int, partition: Any, target: str) -> LoadResult:
        options = self.options_of(number)
        workers = find_workers()
        if workers is None:
            return await _send_here(self.client, partition, target, options)
        credentials = WorkerCredentials(self.client.connection)
        return await _send_on_worker(workers, partition, (credentials, target, asdict(options)))

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

    def progress(self) -> str:
        """Describe the progress so far."""
        return (
            f"{len(self.done):,} of {len(self.partitions):,} partitions were sent to {self.index}, "
            f"{self.sent:,} rows"
        )

    def result(self) -> LoadResult:
        """Build one result of all partitions."""
        results = [result for _, result in sorted(self.done.items())]
        return LoadResult(
            plan=self._plan([result.plan for result in results]),
            index=self.index,
            sent=self.sent,
            published=sum(result.published for result in results),
            tasks=tuple(task for result in results for task in result.tasks),
            seconds=monotonic() - self.started,
            action=results[0].action if results else "replace",
            slowed=sum(result.slowed for result in results),
        )

    def _plan(self, plans: list[LoadPlan]) -> LoadPlan:
        rejected = [
            plan.rejected.assign(partition=number)
            for number, plan in zip(sorted(self.done), plans, strict=True)
            if len(plan.rejected)
        ]
        notes = [*self.partitions.notes, *(note for plan in plans for note in plan.notes)]
        return LoadPlan(
            source=self.partitions.name,
            index=self.index,
            rows=self.rows,
            ids=plans[0].ids if plans else "",
            columns=plans[0].columns if plans else pd.DataFrame(),
            sample=plans[0].sample if plans else (),
            rejected=pd.concat(rejected, ignore_index=True) if rejected else _no_rejected(plans),
            rejected_rows=sum(plan.rejected_rows for plan in plans),
            notes=tuple(dict.fromkeys(notes)),
        )


def _no_rejected(plans: list[LoadPlan]) -> pd.DataFrame:
    return plans[0].rejected if plans else pd.DataFrame()


async def _send_here(
    client: AsyncClient, partition: Any, target: str, options: LoadSettings
) -> LoadResult:
    source = partition
    if not isinstance(partition, str):
        source = await asyncio.to_thread(_compute, partition)
    try:
        return await load_source(client, source, target, options, in_flight=1)
    except CallFailed as error:
        error.__notes__ = []  # the note describes all partitions
        raise
    except Stopped:
        # Cancelled by the failure of another partition, or by the caller: that error is reported.
        raise asyncio.CancelledError from None


def _compute(partition: Any) -> pd.DataFrame:
    frame: pd.DataFrame = partition.compute(scheduler="synchronous")
    return frame


async def _send_on_worker(
    workers: Any, partition: Any, rest: tuple[WorkerCredentials, str, Any]
) -> LoadResult:
    """Send a partition on a worker that Dask chooses; cancellation stops it there."""
    from dask.delayed import delayed

    name = f"svc-load-{secrets.token_hex(8)}"
    work = delayed(send_partition, pure=False)(partition, *rest, dask_key_name=name)
    future = workers.compute(work)
    try:
        # Waiting in a thread for a scheduler that is gone would never end.
        await _done(future)
        sent: Sent = await asyncio.to_thread(future.result)
    except BaseException:
        if workers.status == "running":
            future.cancel()
        raise
    return sent.unpack()


async def _done(future: Any) -> None:
    """Wait until a Dask future is done, or the caller is cancelled."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Any) -> None:
        with suppress(RuntimeError):  # the loop of a cancelled load may be closed
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    await done.wait()


def _count_threads(workers: Any) -> int:
    return int(sum(workers.nthreads().values()))


def _cluster_lost(workers: Any) -> SvcError:
    if workers.status == "running":
        return SvcError(
            "the Dask cluster has no workers: start some (cluster.scale(4)), then load again; "
            "equal ids overwrite what was sent"
        )
    return SvcError(
        "the Dask scheduler does not answer: start the cluster and connect to it, then load again; "
        "equal ids overwrite what was sent"
    )
