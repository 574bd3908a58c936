"""One background event loop on which every synchronous call runs.

The calling thread polls, so that Stop works in any cell, whether or not the kernel's own loop is
blocked by it, and progress is drawn by the thread, and into the cell, that asked for it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from svc_notebook.errors import BadInput, Stopped, unchained

T = TypeVar("T")
Tick = Callable[[], None]

POLL = 0.05  # seconds between two looks; an answer wakes the caller at once
GRACE = 0.8  # seconds a stopped call has to clean up; a kernel is expected to reply within one


class Portal:
    """A loop in a thread of its own, begun by the first call."""

    def __init__(self) -> None:
        self._forsaken: list[asyncio.AbstractEventLoop] = []
        self._begin_anew()
        atexit.register(self.leave)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._left = threading.Event()

    def run(self, work: Coroutine[Any, Any, T], on_tick: Tick | None = None) -> T:
        """Run `work` to its end and return its result; `on_tick` is called while it runs.

        An interrupt cancels the work and waits until it has cleaned up. Work that ends with
        `Stopped` tells what it had done by that; otherwise `KeyboardInterrupt` is raised.
        """
        loop = self._own_loop()
        if asyncio._get_running_loop() is loop:
            work.close()
            raise BadInput(
                "a blocking call from inside the portal's own loop would wait for itself; "
                "await the same method of `client.aio` instead"
            )
        return _watch(_Job(work, loop, self._left), on_tick)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():
            self._forsake()
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="svc-portal", daemon=True
                )
                self._thread.start()
            return self._loop

    def _forsake(self) -> None:
        """After a fork the thread is gone; keep its loop, unused.

        Were the loop collected, it would take its wake-up pipe off the selector, and the
        selector is still the parent's, too.
        """
        if self._loop:
            self._forsaken.append(self._loop)
        self._begin_anew()

    def close(self) -> None:
        """End the loop and close what is open on it; a later call begins another."""
        if self._process == os.getpid() and self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(GRACE)
            self._begin_anew()

    def leave(self) -> None:
        """Close for good, with the process: who still waits is told nothing, for nobody listens."""
        self._left.set()
        self.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    _turn(loop)
    ending = loop.create_task(_end_all(loop))
    ending.add_done_callback(lambda _: loop.stop())
    _turn(loop)
    loop.close()


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is told to stop."""
    while True:
        try:
            return loop.run_forever()
        except KeyboardInterrupt:
            continue  # a task ended with `Stopped`: it is told, but asyncio leaves the loop, too


async def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    """Let whatever is under way clean up: tasks first, for they hold the generators."""
    while others := asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    with suppress(RuntimeError):  # while Python ends, no thread can be begun to wait for others
        await loop.shutdown_default_executor()


@contextmanager
def _stop_flag() -> Iterator[threading.Event]:
    """Let an interrupt set a flag for a while instead of striking anywhere.

    A kernel waits for an interrupt on its own loop while a cell awaits, which does not help
    when that loop is blocked by us. Threads other than the main one get no signals.
    """
    stop = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (
        None,
        signal.SIG_IGN,
    ):
        yield stop
        return
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
    if stop.is_set():  # came after the last look: the caller wants to stop all the same
        raise KeyboardInterrupt


@unchained
def _watch(job: _Job[T], on_tick: Tick | None) -> T:
    with _stop_flag() as stop:
        return job.watch(stop, on_tick)


class _Job(Generic[T]):
    """One coroutine on the loop, as the calling thread sees it."""

    def __init__(
        self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, left: threading.Event
    ) -> None:
        self._loop = loop
        self._left = left
        self._task: asyncio.Task[T] | None = None
        self._ended = threading.Event()
        loop.call_soon_threadsafe(self._begin, work, context=contextvars.copy_context())

    def _begin(self, work: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(work)
        self._task.add_done_callback(self._wake)

    def _wake(self, _: asyncio.Task[T]) -> None:
        if not self._left.is_set():
            self._ended.set()

    def watch(self, stop: threading.Event, on_tick: Tick | None) -> T:
        """Return the result; a set flag, or an exception in this thread, ends the work."""
        try:
            while not stop.is_set():
                if self._ended.wait(POLL) and self._task:
                    return self._task.result()
                if on_tick:
                    on_tick()
        except BaseException:
            self._end()
            raise
        raise self._end() or KeyboardInterrupt()

    def _end(self) -> Stopped | None:
        """Cancel the work, let it clean up, and return what it says it had done, if it does."""
        self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        self._ended.wait(GRACE)
        if not self._task or not self._task.done() or self._task.cancelled():
            return None
        error = self._task.exception()
        return error if isinstance(error, Stopped) else None


_PORTAL = Portal()
run = _PORTAL.run
