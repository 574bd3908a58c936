"""The sending of one partition, on a Dask worker or in this process, and its options."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.data.loading.dask.worker_credentials import WorkerCredentials
from svc_notebook.data.loading.load_plan.profile import ID_NAMES
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.load import load_source
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sending.settings import SendSettings
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.errors import BadInput, CallFailed, Stopped, SvcError

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

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
        source = await asyncio.to_thread(_compute, partition)
    try:
        return await load_source(client, source, target, options, sending)
    except CallFailed as error:
        error.__notes__ = []  # the note describes all partitions
        raise
    except Stopped:
        # Cancelled by the failure of another partition, or by the caller: that error is reported.
        raise asyncio.CancelledError from None


def _compute(partition: Any) -> pd.DataFrame:
    frame: pd.DataFrame = partition.compute(scheduler="synchronous")
    return frame


async def send_on_worker(
    workers: Any,
    client: AsyncClient,
    partition: Any,
    target: str,
    options: LoadSettings,
    sending: SendSettings,
    *,
    advise: Callable[[], str] = lambda: AGAIN,
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
