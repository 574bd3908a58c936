"""The RPC dispatcher of an editor: calls of its views, run in order and cancelled on request.

A view sends `{id, call, args}` and receives `{id, value}` or `{id, error: {type, message,
advice}}`, before that optionally `{id, progress}`, and `{id, working}` each second. `{cancel: id}`
cancels a call, which then answers `{id, cancelled}`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import sys
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypedDict, TypeVar, overload

from svc_notebook import errors
from svc_notebook.errors import BadOption
from svc_notebook.faces.editors import event_loop

_LOG = logging.getLogger(__name__)


class Explanation(TypedDict):
    """An error as a view shows it."""

    type: str
    message: str
    advice: str


# The first matching row is used.
ADVICE: list[tuple[type[Exception], str]] = [
    (errors.NotConnected, "Connect in a cell, then open the editor again."),
    (errors.Unreachable, "Check that the service runs and the URL is correct, then try again."),
    (errors.TimedOut, "The service may be busy; try again in a moment."),
    (errors.KeyRefused, "Connect with a key that has this right, then open the editor again."),
    (errors.NotFound, "Check that the index exists: `%svc indices` lists all indices."),
    (errors.TooMany, "Wait a moment, then try again."),
    (errors.ServiceBroken, "This is an error of the service; its log may have details."),
    (errors.LocalServiceFailed, "Start the service again: `%svc serve`."),
    (errors.TaskFailed, "The change was accepted and may still be published; reload later."),
    (errors.SvcError, ""),
    (Exception, "This is an error of the editor; the notebook's log has the details."),
]


def explain(error: Exception) -> Explanation:
    """Describe an error; unexpected errors are also logged."""
    if not isinstance(error, errors.SvcError):
        _LOG.error("an editor's call failed", exc_info=error)
    advice = next(text for kind, text in ADVICE if isinstance(error, kind))
    message = "; ".join([str(error), *getattr(error, "__notes__", ())])
    return {"type": type(error).__name__, "message": message, "advice": advice}


MAX_JS_INTEGER = 2**53  # JavaScript rounds larger integers


def plain(value: Any) -> Any:
    """Return a JSON-serializable copy; integers that JavaScript would round become text."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -MAX_JS_INTEGER <= value <= MAX_JS_INTEGER else str(value)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): plain(member) for key, member in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case _:
            return str(value)


F = TypeVar("F", bound=Callable[..., Any])


T = TypeVar("T")


Send = Callable[[dict[str, Any]], None]


HEARTBEAT_SECONDS = 1.0  # between two heartbeats of a long call


_MARK = "_svc_call"


_current: ContextVar[tuple[Send, Any] | None] = ContextVar("svc_editor_call", default=None)


@overload
def call(function: F) -> F: ...


@overload
def call(*, latest: bool) -> Callable[[F], F]: ...


def call(function: F | None = None, *, latest: bool = False) -> F | Callable[[F], F]:
    """Allow views to call a method, which can be a coroutine function.

    With `latest` a new call cancels earlier ones, else calls run in order.
    """

    def mark(method: F) -> F:
        setattr(method, _MARK, latest)
        return method

    return mark if function is None else mark(function)


def report_progress(done: int, total: int, text: str = "") -> None:
    """Send progress to the view whose call is running, if any."""
    if (current := _current.get()) is not None:
        send, number = current
        send({"id": number, "progress": {"done": done, "total": total, "text": text}})


class CallDispatcher:
    """Dispatches the calls of one editor's views and sends their results."""

    def __init__(self, editor: object, send: Send) -> None:
        self._editor = editor
        self._send = send
        self._running: dict[Any, asyncio.Task[None]] = {}
        self._last_tasks: dict[str, asyncio.Task[None]] = {}

    def accept(self, message: Any) -> None:
        """Accept one message, from any thread; unknown messages are ignored."""
        if isinstance(message, dict) and ("call" in message or "cancel" in message):
            event_loop.begin(self._start(message))

    async def _start(self, message: dict[str, Any]) -> None:
        if "cancel" in message:
            if running := self._running.get(message["cancel"]):
                running.cancel()
            return
        number, name = message["id"], message["call"]
        before = self._last_tasks.get(name)
        work = self._answer(number, name, message.get("args") or {}, before)
        task = self._running[number] = self._last_tasks[name] = asyncio.create_task(work)
        task.add_done_callback(lambda done: self._forget(number, name, done))

    def _forget(self, number: Any, name: str, task: asyncio.Task[None]) -> None:
        self._running.pop(number, None)
        if self._last_tasks.get(name) is task:
            del self._last_tasks[name]
        if task.cancelled():  # before it began
            self._send({"id": number, "cancelled": True})

    async def _answer(
        self, number: Any, name: str, args: dict[str, Any], before: asyncio.Task[None] | None
    ) -> None:
        _current.set((self._send, number))
        heartbeat = asyncio.create_task(self._send_heartbeats(number))
        try:
            answer = {"value": plain(await self._perform(name, args, before))}
        except asyncio.CancelledError:
            answer = {"cancelled": True}
        except Exception as error:
            answer = {"error": explain(error)}
        finally:
            heartbeat.cancel()
        self._send({"id": number, **answer})

    async def _send_heartbeats(self, number: Any) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self._send({"id": number, "working": True})

    async def _perform(
        self, name: str, args: dict[str, Any], before: asyncio.Task[None] | None
    ) -> Any:
        method = getattr(self._editor, name, None)
        latest = getattr(method, _MARK, None)
        if method is None or latest is None:
            raise BadOption(f"this editor has no call `{name}`")
        if before is not None:
            if latest:
                before.cancel()
            await asyncio.wait([before])
        value = method(**args)
        return await value if inspect.isawaitable(value) else value


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """Run an editor's coroutine and return its result to the cell that called it."""
    if event_loop.is_here():
        work.close()
        raise BadOption("a callback of an editor cannot wait for it: use the coroutine instead")
    return event_loop.run(work)


def finish(end: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Run the last coroutine of an editor, and wait for it unless this is the editors' loop.

    Nothing runs while Python ends, when the last editors are collected: no thread can start then,
    and copies of indices have been dropped before.
    """
    if sys.is_finalizing():
        return
    if event_loop.is_here():
        event_loop.begin(end())
    else:
        wait_for(end())


def run_on_loop(act: Callable[[], T]) -> T:
    """Run a function on the editors' loop, on which the calls of views run too."""

    async def perform() -> T:
        return act()

    return act() if event_loop.is_here() else event_loop.run(perform())
