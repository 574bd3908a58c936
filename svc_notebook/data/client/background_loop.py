"""The background event loop that runs all blocking calls, and methods that make such calls."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import inspect
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from svc_notebook.data.client.progress import Progress
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.errors import BadInput, Stopped, unchained

if TYPE_CHECKING:
    from svc_notebook.data.client.client import AsyncClient, Client

F = TypeVar("F", bound=Callable[..., Any])
SWITCH_ENTRY = (
    "progress : bool, default None\n"
    "    Draw a progress bar; None draws one in notebooks and terminals.\n"
)
_SWITCH = Parameter("progress", Parameter.KEYWORD_ONLY, default=None, annotation="bool | None")
_CALLBACK_ENTRY = re.compile(r"^on_progress : .*\n(?:    .*\n)+", re.M)
T = TypeVar("T")
Tick = Callable[[], None]

POLL_SECONDS = 0.05  # between two polls; a result wakes the caller at once
# For the cleanup of a stopped call, after which it reports what it has done: less than a second on
# a machine that is not busy. A second interrupt ends the waiting.
CANCEL_SECONDS = 3.0
# For the end of the loop when the process ends.
CLOSE_SECONDS = 0.8
WAKE_UP_SECONDS = 0.1
MIN_NEST_ASYNCIO2 = (1, 7, 3)  # earlier versions lose the cells queued behind a nested call


class Portal:
    """An event loop in its own thread, started by the first call."""

    def __init__(self) -> None:
        self._abandoned: list[asyncio.AbstractEventLoop] = []
        self._reset()
        atexit.register(self.leave)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._exiting = threading.Event()

    def run(
        self,
        work: Coroutine[Any, Any, T],
        on_tick: Tick | None = None,
        stop: threading.Event | None = None,
    ) -> T:
        """Run `work` to its end and return its result; `on_tick` is called while it runs.

        An interrupt, or `stop` when it is set, cancels the work and waits until it has cleaned up.
        If the work ends with `Stopped`, that exception reports what was done so far; otherwise
        `KeyboardInterrupt` is raised.
        """
        if sys.is_finalizing():
            work.close()
            raise BadInput("Python is ending, so this call cannot be made; make it earlier")
        loop = self._own_loop()
        # Not the running loop: threads of gevent share one.
        if threading.current_thread() is self._thread:
            work.close()
            raise BadInput(
                "a blocking call on the background loop would wait for itself; await the same "
                "method of `client.aio` instead"
            )
        call = _LoopCall(work, loop, self._exiting)
        return _watch(call, on_tick, stop or threading.Event())

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():
            self._abandon()
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="svc-portal", daemon=True
                )
                self._thread.start()
            return self._loop

    def _abandon(self) -> None:
        """Keep the loop unused after a fork, because its thread does not exist in the child.

        If the loop were collected, it would unregister its wake-up pipe from the selector, which
        the parent process still uses.
        """
        if self._loop:
            self._abandoned.append(self._loop)
        self._reset()

    def close(self) -> None:
        """Stop the loop and close what is open on it; a later call starts a new loop."""
        if self._process == os.getpid() and self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_SECONDS)
            self._reset()

    def leave(self) -> None:
        """Close for good at process exit; callers that still wait are not notified."""
        self._exiting.set()
        self.close()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    _run_until_stopped(loop)
    ending = loop.create_task(_end_all(loop))
    ending.add_done_callback(lambda _: loop.stop())
    _run_until_stopped(loop)
    loop.close()


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped."""
    while True:
        try:
            return loop.run_forever()
        except KeyboardInterrupt:
            continue  # a task ended with `Stopped`, at which asyncio ends `run_forever`


async def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all running work: tasks first, because they use the generators."""
    while others := asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    with suppress(RuntimeError):  # at shutdown of Python no thread can be started to wait
        await loop.shutdown_default_executor()


@contextmanager
def _set_by_interrupt(stop: threading.Event) -> Iterator[None]:
    """Make the first interrupt set a flag for a while, instead of raising at any point.

    While a cell awaits, a kernel handles interrupts on its own loop, which does not help when this
    package blocks that loop. Threads other than the main one receive no signals.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (
        None,
        signal.SIG_IGN,
    ):
        yield
        return

    def set_or_raise(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    signal.signal(signal.SIGINT, set_or_raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if stop.is_set():  # set after the last poll: the caller still wants to stop
        raise KeyboardInterrupt


@unchained
def _watch(job: _LoopCall[T], on_tick: Tick | None, stop: threading.Event) -> T:
    with _set_by_interrupt(stop):
        return job.watch(stop, on_tick)


class _LoopCall(Generic[T]):
    """One coroutine on the loop, as seen by the calling thread."""

    def __init__(
        self,
        work: Coroutine[Any, Any, T],
        loop: asyncio.AbstractEventLoop,
        exiting: threading.Event,
    ) -> None:
        self._loop = loop
        self._exiting = exiting
        self._task: asyncio.Task[T] | None = None
        self._ended = threading.Event()
        loop.call_soon_threadsafe(self._begin, work, context=contextvars.copy_context())

    def _begin(self, work: Coroutine[Any, Any, T]) -> None:
        self._task = self._loop.create_task(work)
        self._task.add_done_callback(self._wake)

    def _wake(self, _: asyncio.Task[T]) -> None:
        if not self._exiting.is_set():
            self._ended.set()

    def watch(self, stop: threading.Event, on_tick: Tick | None) -> T:
        """Return the result; a set flag, or an exception in this thread, cancels the work."""
        try:
            while not stop.is_set():
                if self._ended.wait(POLL_SECONDS) and self._task:
                    return self._task.result()
                if on_tick:
                    on_tick()
        except BaseException:
            self._end()
            raise
        raise self._end() or KeyboardInterrupt()

    def _end(self) -> Stopped | None:
        """Cancel the work, wait for its cleanup, and return its `Stopped` exception, if any."""
        self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        if not self._ended.wait(CANCEL_SECONDS):
            return Stopped(
                f"stopped; the call has not ended within {CANCEL_SECONDS:g} s, and what it has "
                "sent may still be carried out"
            )
        if not self._task or self._task.cancelled():
            return None
        error = self._task.exception()
        return error if isinstance(error, Stopped) else None


_PORTAL = Portal()
run = _PORTAL.run


P = ParamSpec("P")
R = TypeVar("R")


def blocking(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """Return the blocking variant of a coroutine function."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return run(function(*args, **kwargs))

    return call


def iterate(values: AsyncIterator[R]) -> Iterator[R]:
    """Iterate over what an asynchronous iterator yields on the background loop."""
    done = object()
    while (value := run(_next_or(values, done))) is not done:
        yield value  # type: ignore[misc]


async def _next_or(values: AsyncIterator[R], otherwise: object) -> R | object:
    return await anext(values, otherwise)


def behind_bar(begin: Callable[[OnProgress], Coroutine[Any, Any, R]], bar: Progress) -> R:
    """Run work that reports its progress, and draw a progress bar."""
    with bar:
        return run(begin(bar), on_tick=bar.draw, stop=bar.stop)


@contextmanager
def regular_wake_ups() -> Iterator[None]:
    """Wake the loop regularly, because a kernel handles Stop only at its loop's next turn.

    Only the main thread receives interrupts, so loops of other threads need no wake-ups.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wake_up = _WakeUp(asyncio.get_running_loop())
    wake_up()
    try:
        yield
    finally:
        wake_up.timer.cancel()


class _WakeUp:
    """A callback that reschedules itself."""

    timer: asyncio.TimerHandle

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self) -> None:
        self.timer = self._loop.call_later(WAKE_UP_SECONDS, self)


def allow_nesting() -> None:
    """Patch asyncio so that `loop.run_until_complete` works inside a running loop.

    The patch applies to the whole process and cannot be undone. This package does not need it: the
    blocking methods run on their own loop. It serves coroutines or iterators that are already bound
    to the caller's loop. Raises `BadInput` where the patch would break the process.
    """
    if reason := reason_against_nesting():
        raise BadInput(f"nested event loops are not allowed here: {reason}")
    import nest_asyncio2

    nest_asyncio2.apply()


def reason_against_nesting() -> str | None:
    """Return why nesting would break this process, or None if it would not."""
    loop = asyncio._get_running_loop()
    if loop is not None and type(loop).__module__.partition(".")[0] == "uvloop":
        return "the running loop is uvloop's, which cannot be patched"
    if hasattr(asyncio, "_nest_patched") and not hasattr(asyncio, "_nest_asyncio2"):
        return (
            "nest_asyncio 1.x has patched this process; it loses queued cells. Restart without it"
        )
    try:
        installed = version("nest-asyncio2")
    except PackageNotFoundError:
        return "nest-asyncio2 is not installed; pip install 'nest-asyncio2>=1.7.3'"
    if _numbers(installed) < MIN_NEST_ASYNCIO2:
        return f"nest-asyncio2 {installed} loses queued cells; pip install -U nest-asyncio2"
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def blocking_method(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """Return the method of a `Client` that waits for the result of a coroutine function."""

    @wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run(method(client.aio, *args, **kwargs))

    return call


def blocking_iterator(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[T]],
) -> Callable[Concatenate[Client, P], Iterator[T]]:
    """Return the method of a `Client` that iterates over what an asynchronous iterator yields."""

    @wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return iterate(method(client.aio, *args, **kwargs))

    accepted = inspect.signature(method)
    returned = accepted.return_annotation.replace("AsyncIterator", "Iterator")
    call.__signature__ = accepted.replace(return_annotation=returned)  # type: ignore[attr-defined]
    return call


def documented_by(method: Callable[..., Any]) -> Callable[[F], F]:
    """Give a method of a `Client` the docstring and the parameters of the asynchronous one.

    A switch `progress` for a progress bar takes the place of the callback `on_progress`.
    """

    def describe(function: F) -> F:
        doc = _CALLBACK_ENTRY.sub(SWITCH_ENTRY, inspect.cleandoc(method.__doc__ or ""))
        function.__doc__ = doc.replace("AsyncClient", "Client")
        accepted = inspect.signature(method)
        parameters = [
            _SWITCH if name == "on_progress" else p for name, p in accepted.parameters.items()
        ]
        function.__signature__ = accepted.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return describe
