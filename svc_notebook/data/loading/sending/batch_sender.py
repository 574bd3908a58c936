"""Batches are compared, recorded and paced, then sent several at once; fewer when rate limited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import numpy as np

from svc_notebook.core.api import RequestSpec, SearchApi
from svc_notebook.data.client.task_group import run_together
from svc_notebook.data.client.transport.exchange import SerializedBody
from svc_notebook.data.loading.history.recorder import LoadRecorder
from svc_notebook.data.loading.load_plan.preparation import Prepared
from svc_notebook.data.loading.sending.batches import Batch, Span, merge_spans, pack_batches
from svc_notebook.data.loading.sending.result import LoadCounts
from svc_notebook.data.loading.sending.stored_records import StoredRecords, keep_changed
from svc_notebook.errors import (
    BadInput,
    CallFailed,
    ServiceBroken,
    TimedOut,
    TooMany,
    UnexpectedAnswer,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from svc_notebook.data.client import AsyncClient

Sleep = Callable[[float], Awaitable[None]]
Acknowledged = Callable[[Batch, int], None]
NextBatch = Callable[[], Awaitable[Batch | None]]

# Attempts of one batch, each with all retries of the client.
MAX_ATTEMPTS = 4
FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.5, 30.0
# Batches that must succeed before the concurrency is increased.
BATCHES_BEFORE_INCREASE = 8
# How long a stopped load waits for the batches in flight, and then for their publication. Both
# waits are within the time in which a stopped call has to end.
SETTLE_SECONDS = 0.3
# Batches in flight, and partitions of a load without workers.
DEFAULT_IN_FLIGHT = 4
# Cutting operations of this size into batches takes about as long as a thread's turn.
MAX_QUICK_CHARACTERS = 1_000_000
# A partial update that is not idempotent, inside the JSON of a batch.
NOT_IDEMPOTENT = re.compile(rb'"_operation"\s*:\s*"(Increment|Decrement|Add)"')


class ConcurrencyLimiter:
    """The concurrency limit: halved after a failure, then increased slowly."""

    def __init__(self, maximum: int) -> None:
        self.maximum = self.limit = maximum
        # Whether a batch has succeeded.
        self.used = False
        # How often the limit was halved.
        self.decreases = 0
        self._busy = 0
        self._successes = 0
        self._change = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free slot and occupy it."""
        async with self._change:
            await self._change.wait_for(lambda: self._busy < self.limit)
            self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            async with self._change:
                self._change.notify_all()

    def decrease(self) -> None:
        """Halve the limit after a failure."""
        self.limit = max(1, self.limit // 2)
        self.decreases += 1
        self._successes = 0

    def set_maximum(self, maximum: int) -> None:
        """Set another maximum; the limit follows it, unless it was decreased."""
        if self.limit == self.maximum or self.limit > maximum:
            self.limit = maximum
        self.maximum = maximum

    def count_success(self) -> None:
        """Increase the limit by one after enough successes."""
        self.used = True
        self._successes += 1
        if self._successes >= BATCHES_BEFORE_INCREASE and self.limit < self.maximum:
            self.limit += 1
            self._successes = 0


async def send_batches(
    client: AsyncClient,
    index: str,
    next_batch: NextBatch,
    acknowledged: Acknowledged,
    *,
    limiter: ConcurrencyLimiter,
    sleep: Sleep = asyncio.sleep,
    uncertain: Callable[[Batch], None] = lambda _: None,
) -> None:
    """Send the batches of `next_batch` until it returns None; raise the first failure.

    If cancelled, it waits a while for the batches that are in flight, because the service may
    accept them anyway; `uncertain` is called with each batch whose fate stays unknown.
    """
    queue: asyncio.Queue[Batch | None] = asyncio.Queue(maxsize=1)
    in_flight: dict[asyncio.Task[int], Batch] = {}

    async def fetch() -> None:
        while batch := await next_batch():
            await queue.put(batch)
        for _ in range(limiter.maximum):
            await queue.put(None)

    async def send() -> None:
        while batch := await queue.get():
            sending = asyncio.create_task(_send_one(client, index, batch, limiter, sleep))
            in_flight[sending] = batch
            task = await asyncio.shield(sending)
            del in_flight[sending]
            acknowledged(batch, task)

    try:
        await run_together([fetch(), *(send() for _ in range(limiter.maximum))])
    except asyncio.CancelledError:
        await _settle(in_flight, acknowledged, uncertain)
        raise
    finally:
        for sending in in_flight:
            sending.cancel()
        await asyncio.gather(*in_flight, return_exceptions=True)


async def _settle(
    in_flight: dict[asyncio.Task[int], Batch],
    acknowledged: Acknowledged,
    uncertain: Callable[[Batch], None],
) -> None:
    """Wait for the batches that were sent when the load was stopped."""
    if in_flight:
        await asyncio.wait(in_flight, timeout=SETTLE_SECONDS)
    for sending, batch in in_flight.items():
        if sending.done() and not sending.cancelled() and sending.exception() is None:
            acknowledged(batch, sending.result())
        else:
            uncertain(batch)


async def _send_one(
    client: AsyncClient, index: str, batch: Batch, limiter: ConcurrencyLimiter, sleep: Sleep
) -> int:
    """Send one batch until it is acknowledged; return its task."""
    path = f"/1/indexes/{quote(index, safe='')}/batch"
    # The client decides whether a batch with partial updates can be repeated.
    body = SerializedBody(batch.body, repeatable=True) if batch.repeatable else batch.body
    spec = RequestSpec("POST", path, {}, body)
    for number in range(MAX_ATTEMPTS):
        try:
            async with limiter.slot():
                answer = await client.perform(SearchApi.batch.endpoint, spec)
        except CallFailed as error:
            limiter.decrease()
            wait = _wait(error, number, batch)
            # Without a connection at first, the service is not there.
            unreachable = isinstance(error, Unreachable)
            if wait is None or (
                not limiter.used and unreachable and isinstance(error.__cause__, httpx.ConnectError)
            ):
                raise
            await sleep(wait)
        else:
            limiter.count_success()
            return int(answer["taskID"])
    raise AssertionError("the last attempt returns or raises")


def _wait(error: CallFailed, number: int, batch: Batch) -> float | None:
    """Return the seconds before another attempt; None if another attempt is useless."""
    if number + 1 == MAX_ATTEMPTS:
        return None
    if isinstance(error, TooMany):
        return min(max(error.wait, 2.0**number), MAX_BACKOFF_SECONDS)
    temporary = isinstance(error, (TimedOut, Unreachable, ServiceBroken))
    if isinstance(error, UnexpectedAnswer) or not (temporary and batch.repeatable):
        return None
    return min(FIRST_BACKOFF_SECONDS * 2.0**number, MAX_BACKOFF_SECONDS)


def _count_left(prepared: Prepared, settled: Sequence[Span]) -> int:
    """Return the number of sendable rows outside the settled spans."""
    spans = merge_spans(settled)
    dropped = sum(int(np.diff(np.searchsorted(prepared.dropped, span))[0]) for span in spans)
    return prepared.plan.sendable - sum(last - first for first, last in spans) + dropped


def not_repeatable(operation: str) -> BadInput:
    """Return the error of a batch that must not be sent twice."""
    return BadInput(
        "it is not known whether the last batch was applied; sending it again could change the "
        f"records twice ({operation}): load only the rows that are missing"
    )


class OutgoingBatches:
    """The batches that are still to be sent, without the rows that are stored already."""

    def __init__(
        self,
        prepared: Prepared,
        counts: LoadCounts,
        settled: Sequence[Span],
        digests: Mapping[Span, int],
        stored: StoredRecords | None,
        recorder: LoadRecorder | None,
        *,
        may_repeat: bool,
        per_second: int | None,
    ) -> None:
        self._prepared = prepared
        self._counts = counts
        self._batches = pack_batches(prepared, settled, digests)
        self._stored = stored
        self._recorder = recorder
        # Whether some of the rows may have been sent before.
        self._may_repeat = may_repeat or prepared.options.spread
        # The maximum number of rows that are sent in a second, and when the next may be sent.
        self._per_second = per_second
        self._next_at = 0.0
        # Rows that are still to be read.
        self.rows_left = _count_left(prepared, settled)

    async def next(self) -> Batch | None:
        """Return the next batch with a row to send, when it can be sent; None at the end."""
        while True:
            batch = await self._cut_next()
            if batch is None:
                return None
            self.rows_left -= batch.rows
            self._check_repeatable(batch)
            changed = batch
            if self._stored is not None:
                changed = await asyncio.to_thread(keep_changed, batch, self._stored)
                self._counts.unchanged += batch.rows - changed.rows
            if changed.rows:
                if self._recorder:
                    await self._recorder.keep(changed)
                await self._pace(changed)
                return changed

    async def _pace(self, batch: Batch) -> None:
        """Wait until a batch can be sent without exceeding the rate."""
        if self._per_second is None:
            return
        now = monotonic()
        await asyncio.sleep(max(self._next_at - now, 0))
        self._next_at = max(self._next_at, now) + batch.rows / self._per_second

    async def _cut_next(self) -> Batch | None:
        operations = self._prepared.operations
        if operations is not None and sum(map(len, operations)) <= MAX_QUICK_CHARACTERS:
            return next(self._batches, None)
        batch: Batch | None = await self._prepared.table.db.in_thread(next, self._batches, None)
        return batch

    def _check_repeatable(self, batch: Batch) -> None:
        """Reject rows that may have been sent already, if their operations are not idempotent."""
        if (
            self._may_repeat
            and not batch.repeatable
            and (match := NOT_IDEMPOTENT.search(batch.body))
        ):
            raise not_repeatable(match[1].decode())
