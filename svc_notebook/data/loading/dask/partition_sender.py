"""The partitions of a load: the sending of each, and those that are published.

A partition is sent on a Dask worker or in this process. The published ones resume a load, and give
the plan of all of them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import msgspec
import pandas as pd

from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
from svc_notebook.data.client.operations import MAX_IDS_PER_REQUEST, count_records
from svc_notebook.data.loading.load_plan.ids import SCHEME
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.profile import ID_NAMES
from svc_notebook.data.loading.load_plan.row_errors import ERROR_COLUMNS
from svc_notebook.data.loading.options import IfExists, LoadSettings, SendSettings
from svc_notebook.data.loading.sending.checkpoint import Checkpoint, facts_of, open_checkpoint_of
from svc_notebook.data.loading.sending.comparison import holds
from svc_notebook.data.loading.sending.load import load_source
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, Stopped, SvcError

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

NO_PARTITIONS = LoadPlan("", "", 0, "", (), (), pd.DataFrame(columns=ERROR_COLUMNS), 0, ())
# How often a worker looks whether its partition was cancelled; it asks no other machine.
CANCEL_POLL_SECONDS = 0.1
ENDED_WORKER = {"closed", "closing", "failed"}
AGAIN = "then load again; equal ids overwrite what was sent"
RESUME = "then load again with resume=True, which sends only what is missing"


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
    partition: Any,
    credentials: WorkerCredentials,
    index: str,
    options: Mapping[str, Any],
    sending: SendSettings,
) -> Sent:
    """Send one partition, on a worker."""
    is_cancelled = _find_cancellation()

    async def send() -> LoadResult:
        async with credentials.client() as client:
            work = load_source(client, partition, index, LoadSettings.of(options), sending)
            return await _run_until_cancelled(work, is_cancelled)

    try:
        return Sent(asyncio.run(send()))
    except SvcError as error:
        # Errors with additional members are not unpickled correctly.
        state = {name: value for name, value in error.__dict__.items() if name != "__notes__"}
        return Sent(error=(type(error), error.args, state))


def _find_cancellation() -> Callable[[], bool]:
    """Return a function that tells whether Dask has given up this thread's task.

    Dask does not stop a task that runs: without this, a partition of a load that has ended would
    be sent to its end, into an index that may be deleted.
    """
    from dask.distributed import get_worker

    try:
        worker = get_worker()
        task = worker.state.tasks[worker.get_current_task()]
    except (ValueError, KeyError):  # called outside a task
        return lambda: False
    return lambda: task.state == "cancelled" or worker.status.name in ENDED_WORKER


async def _run_until_cancelled(
    work: Coroutine[Any, Any, LoadResult], is_cancelled: Callable[[], bool]
) -> LoadResult:
    task = asyncio.create_task(work)
    while not (await asyncio.wait([task], timeout=CANCEL_POLL_SECONDS))[0]:
        if is_cancelled():
            task.cancel()
            break
    return await task


async def send_here(
    client: AsyncClient, partition: Any, target: str, options: LoadSettings, sending: SendSettings
) -> LoadResult:
    """Send one partition from this process."""
    source = partition
    if not isinstance(partition, str):
        source = await asyncio.to_thread(partition.compute, scheduler="synchronous")
    try:
        return await load_source(client, source, target, options, sending)
    except CallFailed as error:
        error.__notes__ = []  # the note describes all partitions
        raise
    except Stopped:
        # Cancelled by the failure of another partition, or by the caller: that error is reported.
        raise asyncio.CancelledError from None


async def send_on_worker(
    workers: Any,
    client: AsyncClient,
    partition: Any,
    target: str,
    options: LoadSettings,
    sending: SendSettings,
    *,
    advise: Callable[[], str],
) -> LoadResult:
    """Send one partition on a worker that Dask chooses; a cancellation ends it there, too.

    `advise` returns what to do after the cluster has discarded it.
    """
    from dask.delayed import delayed

    name = f"svc-load-{secrets.token_hex(8)}"
    work = delayed(send_partition, pure=False)(
        partition, WorkerCredentials(client.connection), target, asdict(options), sending,
        dask_key_name=name,
    )  # fmt: skip
    future = workers.compute(work)
    try:
        # Waiting in a thread for a scheduler that is gone would never end.
        await _done(future)
        sent: Sent = await asyncio.to_thread(future.result)
    except BaseException as error:
        if workers.status == "running":
            future.cancel()
        if isinstance(error, CancelledError):  # of Dask, and not of asyncio
            raise SvcError(
                "the Dask cluster discarded a partition, because it was restarted or closed: "
                f"connect to a running cluster, {advise()}"
            ) from error
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


def count_threads(workers: Any) -> int:
    """Return the number of threads of all workers."""
    return int(sum(workers.nthreads().values()))


def expects_workers(workers: Any) -> bool:
    """Return whether a cluster starts workers, or does when there is work."""
    cluster = getattr(workers, "cluster", None)
    is_adaptive = getattr(cluster, "_adaptive", None) is not None
    return is_adaptive or bool(getattr(cluster, "plan", None))


def cluster_lost(workers: Any, advice: str) -> SvcError:
    """Return the error for a cluster that cannot send partitions."""
    if workers.status == "running":
        return SvcError(f"the Dask cluster has no workers: start some (cluster.scale(4)), {advice}")
    return SvcError(
        f"the Dask scheduler does not answer: start the cluster and connect to it, {advice}"
    )


def check_partition_options(
    partitions: SourcePartitions, options: LoadSettings, sending: SendSettings
) -> LoadSettings:
    """Reject options that single partitions cannot apply; determine the source of the ids."""
    if refusal := next(_find_refusals(options, sending), None):
        raise BadInput(refusal)
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


def _find_refusals(options: LoadSettings, sending: SendSettings) -> Iterator[str]:
    if sending.if_exists == "sync":
        yield (
            "if_exists='sync' does not work with a source in partitions, because it deletes the "
            "records that its source does not have: load all of them at once, ddf.compute()"
        )
    merges = sending.if_exists == "merge"
    for option, is_given in (("`verify`", sending.verify), ("if_exists='merge'", merges)):
        if is_given:
            yield (
                f"{option} does not work with a source in partitions; load the partitions one by "
                "one"
            )
    if options.limit is not None:
        yield "`limit` would apply to each partition; load ddf.head(…) or one partition"
    for name, kind in options.dtype.items():
        if kind in ("list", "levels") and not options.separator_of(name):
            yield (
                f"each partition would find its own separator of `{name}`; pass it: "
                f"list_separator={{'{name}': '|'}}"
            )
    if options.unrepeatable:
        yield (
            f"{options.unrepeatable} changes the records each time it is sent, and the partition "
            "of a lost worker is sent again; compute() the DataFrame and push the result"
        )


class PublishedPartition(msgspec.Struct):
    """One published partition."""

    number: int
    rows: int
    sent: int
    published: int
    rejected_rows: int
    ids: str
    notes: tuple[str, ...]
    tasks: tuple[int, ...]
    # One of its records, which is read back before the load is resumed.
    record: dict[str, Any] | None

    @classmethod
    def of(cls, number: int, result: LoadResult) -> Self:
        """Describe a partition whose rows were published."""
        plan = result.plan
        record = dict(plan.sample[0]) if plan.sample else None
        return cls(
            number, plan.rows, result.sent, result.published, plan.rejected_rows, plan.ids,
            plan.notes, result.tasks, record,
        )  # fmt: skip

    def result(self, plan: LoadPlan, options: LoadSettings) -> LoadResult:
        """Build the result of the partition from the plan of its rows."""
        return LoadResult(
            plan, plan.index, self.sent, self.published, self.tasks, 0.0, resumed=self.sent,
            action=options.action,
        )  # fmt: skip

    def plan(self, source: str, index: str) -> LoadPlan:
        """Return what is known of a partition without reading it again."""
        return LoadPlan(source, index, self.rows, self.ids, (), (), pd.DataFrame(), 0, self.notes)


PartitionCheckpoint = Checkpoint[PublishedPartition]


def open_partition_checkpoint(
    client: AsyncClient,
    partitions: SourcePartitions,
    index: str,
    options: LoadSettings,
    if_exists: IfExists,
    *,
    hashed: bool,
) -> PartitionCheckpoint | None:
    """Read the checkpoint of an earlier load; None if its partitions cannot be recognised."""
    origin = partitions.origin
    if origin is None:
        return None
    identity = [origin.location, *client.connection.place, index]
    if if_exists != "replace":
        # Different sources can be added at the same time, but only one replaces the index.
        identity.append(origin.state)
    facts = facts_of(if_exists, options, SCHEME if hashed else "")
    state = f"{origin.state}|{len(partitions)} partitions|{facts}"
    return open_checkpoint_of(PublishedPartition, "\n".join(identity), state)


async def still_holds(
    client: AsyncClient, index: str, entries: Sequence[PublishedPartition], options: LoadSettings
) -> bool:
    """Return whether an index contains a record of each partition, of at most a thousand."""
    step = -(-len(entries) // MAX_IDS_PER_REQUEST)
    records = [entry.record for entry in entries[::step] if entry.record]
    with suppress(KeyRefused):  # a key with write access only
        return await holds(client, index, records, options)
    return True


async def check_hashes(client: AsyncClient, index: str) -> None:
    """Reject rows with hashed ids if an earlier load may have sent them with other ids."""
    with suppress(KeyRefused):
        if held := await count_records(client, index):
            raise BadInput(
                f"no interrupted load of these partitions is known, {index} has {held:,} records, "
                "and the ids are hashes of rows and partitions: rows that were sent in other "
                "partitions would be stored twice. Name the column of the ids, id='…', or load "
                "with if_exists='replace'"
            )


def combine_plans(
    partitions: SourcePartitions, index: str, plans: Mapping[int, LoadPlan], notes: Sequence[str]
) -> LoadPlan:
    """Combine the plans of partitions, by number; rejected rows get a column `partition`."""
    ordered = [plan for _, plan in sorted(plans.items())]
    every = [*partitions.notes, *notes, *(note for plan in ordered for note in plan.notes)]
    # A partition that an interrupted load published has no columns here.
    first = next((plan for plan in ordered if plan.column_rows), [*ordered, NO_PARTITIONS][0])
    return LoadPlan(
        source=partitions.name,
        index=index,
        rows=sum(plan.rows for plan in ordered),
        ids=first.ids,
        column_rows=first.column_rows,
        sample=first.sample,
        rejected=_combine_rejected(plans, first),
        rejected_rows=sum(plan.rejected_rows for plan in ordered),
        notes=tuple(dict.fromkeys(every)),
    )


def _combine_rejected(plans: Mapping[int, LoadPlan], first: LoadPlan) -> pd.DataFrame:
    rows = [
        plan.rejected.assign(partition=number)
        for number, plan in sorted(plans.items())
        if len(plan.rejected)
    ]
    if rows:
        return pd.concat(rows, ignore_index=True)
    return first.rejected if len(first.rejected.columns) else NO_PARTITIONS.rejected.copy()


class WorkerCredentials:
    """A picklable connection for a worker; its keys are visible only in the pickled bytes."""

    def __init__(self, connection: ClientConfig) -> None:
        self._connection = connection

    def client(self) -> AsyncClient:
        """Create a client with these credentials."""
        return AsyncClient(self._connection)

    def __repr__(self) -> str:
        return f"WorkerCredentials({self._connection.app_id!r}, {self._connection.address!r})"

    def __dask_tokenize__(self) -> str:
        return repr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {row.name: getattr(self._connection, row.name) for row in fields(ClientConfig)}
        keys = {name: options.pop(name).reveal() for name in ("api_key", "crawler_api_key")}
        return _restore, (options, keys)


def _restore(values: dict[str, Any], keys: dict[str, str]) -> WorkerCredentials:
    secrets = {name: Secret(key) for name, key in keys.items()}
    return WorkerCredentials(ClientConfig(**{**values, **secrets}))
