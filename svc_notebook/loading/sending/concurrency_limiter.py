"""The concurrency limiter: sends several batches at once, and fewer when rate limited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx

from svc_notebook.api import RequestSpec, SearchApi
from svc_notebook.client.task_group import run_together
from svc_notebook.client.transport.serialization import SerializedBody
from svc_notebook.errors import (
    CallFailed,
    ServiceBroken,
    TimedOut,
    TooMany,
    UnexpectedAnswer,
    Unreachable,
)
from svc_notebook.loading.sending.batches import Batch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from svc_notebook.client import AsyncClient

Sleep = Callable[[float], Awaitable[None]]
Acknowledged = Callable[[Batch, int], None]
NextBatch = Callable[[], Awaitable[Batch | None]]

# Attempts of one batch, each with all retries of the client.
MAX_ATTEMPTS = 4
MAX_BACKOFF_SECONDS = 30.0
# Batches that must succeed before the concurrency is increased.
BATCHES_BEFORE_INCREASE = 8


class ConcurrencyLimiter:
    """The concurrency limit: halved after a failure, then increased slowly."""

    def __init__(self, most: int) -> None:
        self.most = self.open = most
        self.used = False
        self._busy = 0
        self._calm = 0
        self._change = asyncio.Condition()

    @asynccontextmanager
    async def lane(self) -> AsyncIterator[None]:
        """Wait for a free slot and hold it."""
        async with self._change:
            await self._change.wait_for(lambda: self._busy < self.open)
            self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            async with self._change:
                self._change.notify_all()

    def trouble(self) -> None:
        """Halve the limit."""
        self.open = max(1, self.open // 2)
        self._calm = 0

    def fine(self) -> None:
        """Increase the limit by one after enough successes."""
        self.used = True
        self._calm += 1
        if self._calm >= BATCHES_BEFORE_INCREASE and self.open < self.most:
            self.open += 1
            self._calm = 0


async def send_batches(
    client: AsyncClient,
    index: str,
    next_batch: NextBatch,
    acknowledged: Acknowledged,
    *,
    lanes: ConcurrencyLimiter,
    sleep: Sleep = asyncio.sleep,
) -> None:
    """Send the batches of `next_batch` until it returns None; raise the first failure."""
    queue: asyncio.Queue[Batch | None] = asyncio.Queue(maxsize=1)

    async def fetch() -> None:
        while batch := await next_batch():
            await queue.put(batch)
        for _ in range(lanes.most):
            await queue.put(None)

    async def send() -> None:
        while batch := await queue.get():
            task = await _send_one(client, index, batch, lanes, sleep)
            acknowledged(batch, task)

    await run_together([fetch(), *(send() for _ in range(lanes.most))])


async def _send_one(
    client: AsyncClient, index: str, batch: Batch, lanes: ConcurrencyLimiter, sleep: Sleep
) -> int:
    """Send one batch until it is acknowledged; return its task."""
    path = f"/1/indexes/{quote(index, safe='')}/batch"
    # Whether it may be repeated is known, but for batches that change what is stored.
    body = SerializedBody(batch.body, repeatable=True) if batch.repeatable else batch.body
    parcel = RequestSpec("POST", path, {}, body)
    for number in range(MAX_ATTEMPTS):
        try:
            async with lanes.lane():
                answer = await client.perform(SearchApi.batch.endpoint, parcel)
        except CallFailed as error:
            lanes.trouble()
            wait = _wait(error, number, batch)
            if wait is None or (not lanes.used and _is_nobody_there(error)):
                raise
            await sleep(wait)
        else:
            lanes.fine()
            return int(answer["taskID"])
    raise AssertionError("the last try returns or raises")


def _is_nobody_there(error: CallFailed) -> bool:
    """Return whether no connection was established: a service can become reachable again."""
    return isinstance(error, Unreachable) and isinstance(error.__cause__, httpx.ConnectError)


def _wait(error: CallFailed, number: int, batch: Batch) -> float | None:
    """Return the delay before another attempt; None if another attempt is useless."""
    if number + 1 == MAX_ATTEMPTS:
        return None
    if isinstance(error, TooMany):
        return min(max(error.wait, 2.0**number), MAX_BACKOFF_SECONDS)
    passing = isinstance(error, (TimedOut, Unreachable, ServiceBroken))
    if isinstance(error, UnexpectedAnswer):
        return None
    return min(0.5 * 2.0**number, MAX_BACKOFF_SECONDS) if passing and batch.repeatable else None
