"""The thread pool that answers reads, shared so that no caller occupies all threads.

Each caller has two lanes: one for small requests, one for large requests, which take longest. A
lane runs a few requests at a time and queues the others; beyond a limit it refuses them. If the
caller disconnects, its work is not started, or it is cancelled at its next time check.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from svc_notebook.errors import TooMany
from svc_notebook.service.engine.execution import (
    SEARCH_TIMEOUT_SECONDS,
    Deadline,
    SearchCancelled,
    limit_time,
)
from svc_notebook.service.http.messages import ClientDisconnected, Receive, ServiceResponse

READER_THREADS = 6
# Requests with a larger body use their caller's lane for large requests.
LARGE_REQUEST_BYTES = 32 * 2**10
# Maximum requests of one caller that run at one time, in each lane.
MAX_RUNNING_SMALL, MAX_RUNNING_LARGE = 4, 1
# Maximum requests of one caller that wait in one lane.
MAX_WAITING_REQUESTS = 256
# Seconds after which a disconnect of the caller is watched for; most requests end sooner.
WATCH_AFTER_SECONDS = 0.05

Work = Callable[[], ServiceResponse]
# Answers a request outside the threads, or returns None.
OtherWork = Callable[[Deadline], Awaitable[ServiceResponse | None]]


class LaneName(NamedTuple):
    """The caller of a lane and its kind of requests."""

    caller: str
    large: bool


@dataclass
class Lane:
    """The running and waiting requests of one kind of one caller; `at_once` may run."""

    at_once: int
    running: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def enter(self) -> asyncio.Future[None]:
        """Enter the lane; return a future that is done when the request may run."""
        turn = asyncio.get_running_loop().create_future()
        if self.running < self.at_once:
            self.running += 1
            turn.set_result(None)
        elif len(self.waiting) < MAX_WAITING_REQUESTS:
            self.waiting.append(turn)
        else:
            raise TooMany(
                f"{MAX_WAITING_REQUESTS} requests with this key are waiting already; send fewer at "
                "the same time"
            )
        return turn

    def leave(self, turn: asyncio.Future[None]) -> None:
        """Leave the lane and start the next waiting request."""
        if turn.cancelled() or not turn.done():
            with suppress(ValueError):
                self.waiting.remove(turn)
            return
        while self.waiting:
            following = self.waiting.popleft()
            if not following.done():
                following.set_result(None)
                return
        self.running -= 1


class ReaderThreads:
    """Runs reads in a thread pool; one search may take `seconds`.

    `at_once` small requests of one caller run at one time, if they are more than the threads allow.
    """

    def __init__(self, seconds: float = SEARCH_TIMEOUT_SECONDS, at_once: int = 0) -> None:
        self._seconds = seconds
        self._at_once = max(MAX_RUNNING_SMALL, at_once)
        # Two are left for other callers, also when none of the requests is answered elsewhere.
        self._pool = ThreadPoolExecutor(max(READER_THREADS, self._at_once + 2), "svc-read")
        self.running = 0
        """Number of requests that threads work at."""
        self._lanes: dict[LaneName, Lane] = {}

    def close(self) -> None:
        """Accept no more work; work that has not started is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def run(
        self,
        caller: str,
        size: int,
        receive: Receive,
        work: Work,
        elsewhere: OtherWork | None = None,
    ) -> ServiceResponse:
        """Run the work of a request with a body of `size` bytes when the caller's lane permits.

        `elsewhere` is tried first. Threads run the work if it returns None.

        Raises `TooMany` if too many of the caller's requests wait, and `ClientDisconnected` if it
        disconnects.
        """
        name = LaneName(caller, size > LARGE_REQUEST_BYTES)
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = Lane(MAX_RUNNING_LARGE if name.large else self._at_once)
        turn = lane.enter()
        deadline = Deadline(self._seconds)
        try:
            async with _watch(receive, partial(_cancel, turn, deadline)):
                if not turn.done():
                    # If only the future is cancelled, the caller disconnected; if this task is, the
                    # service stops.
                    await asyncio.wait([turn])
                if turn.cancelled():
                    raise ClientDisconnected
                if elsewhere and (response := await elsewhere(deadline)) is not None:
                    return response
                self.running += 1
                try:
                    loop = asyncio.get_running_loop()
                    return await loop.run_in_executor(self._pool, _run_timed, work, deadline)
                finally:
                    self.running -= 1
        except SearchCancelled:
            raise ClientDisconnected from None
        except asyncio.CancelledError:
            deadline.cancel()
            raise
        finally:
            lane.leave(turn)
            if not lane.running:  # then none waits
                self._lanes.pop(name, None)


def _run_timed(work: Work, deadline: Deadline) -> ServiceResponse:
    deadline.restart()
    deadline.check()
    with limit_time(deadline):
        return work()


def _cancel(turn: asyncio.Future[None], deadline: Deadline) -> None:
    turn.cancel()
    deadline.cancel()


@asynccontextmanager
async def _watch(receive: Receive, leave: Callable[[], None]) -> AsyncIterator[None]:
    """Call `leave` when the caller disconnects; requests answered quickly are not watched."""
    watching: list[asyncio.Task[None]] = []

    async def listen() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        leave()

    def begin() -> None:
        watching.append(asyncio.create_task(listen()))

    timer = asyncio.get_running_loop().call_later(WATCH_AFTER_SECONDS, begin)
    try:
        yield
    finally:
        timer.cancel()
        for task in watching:
            task.cancel()
