"""The RPC dispatcher of an editor: calls of its views, run in order and cancelled on request.

A view sends `{id, call, args}` and receives `{id, value}` or `{id, error: {type, message,
advice}}`, before that optionally `{id, progress}`, and `{id, working}` each second. `{cancel: id}`
cancels a call, which then answers `{id, cancelled}`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from svc_notebook.editors import event_loop
from svc_notebook.editors.error_display import explain
from svc_notebook.editors.js_values import plain
from svc_notebook.errors import BadOption

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Send = Callable[[dict[str, Any]], None]

HEARTBEAT_SECONDS = 1.0  # seconds between two heartbeats of a long call
_MARK = "_svc_call"
_current: ContextVar[tuple[Send, Any] | None] = ContextVar("svc_editor_call", default=None)


@dataclass(frozen=True)
class CallOptions:
    """How a call is run: with `latest` a new call cancels earlier ones, else calls run in order."""

    latest: bool = False


@overload
def call(function: F) -> F: ...
@overload
def call(*, latest: bool) -> Callable[[F], F]: ...
def call(function: F | None = None, *, latest: bool = False) -> F | Callable[[F], F]:
    """Allow views to call a method, which can be a coroutine function."""

    def mark(method: F) -> F:
        setattr(method, _MARK, CallOptions(latest))
        return method

    return mark if function is None else mark(function)


def tell_progress(done: int, total: int, text: str = "") -> None:
    """Send progress to the view whose call is running."""
    if (current := _current.get()) is not None:
        send, number = current
        send({"id": number, "progress": {"done": done, "total": total, "text": text}})


class CallDispatcher:
    """Dispatches the calls of one editor's views and sends their results."""

    def __init__(self, editor: object, send: Send) -> None:
        self._editor = editor
        self._send = send
        self._running: dict[Any, asyncio.Task[None]] = {}
        self._lanes: dict[str, asyncio.Task[None]] = {}

    def take(self, message: Any) -> None:
        """Accept one message, from any thread; unknown messages are ignored."""
        if isinstance(message, dict) and ("call" in message or "cancel" in message):
            event_loop.begin(self._accept(message))

    async def _accept(self, message: dict[str, Any]) -> None:
        if "cancel" in message:
            self._cancel(message["cancel"])
            return
        number, name = message["id"], message["call"]
        before = self._lanes.get(name)
        work = self._answer(number, name, message.get("args") or {}, before)
        task = self._running[number] = self._lanes[name] = asyncio.create_task(work)
        task.add_done_callback(lambda done: self._forget(number, name, done))

    def _cancel(self, number: Any) -> None:
        if task := self._running.get(number):
            task.cancel()

    def _forget(self, number: Any, name: str, task: asyncio.Task[None]) -> None:
        self._running.pop(number, None)
        if self._lanes.get(name) is task:
            del self._lanes[name]
        if task.cancelled():  # before it began
            self._send({"id": number, "cancelled": True})

    async def _answer(
        self, number: Any, name: str, args: dict[str, Any], before: asyncio.Task[None] | None
    ) -> None:
        _current.set((self._send, number))
        beat = asyncio.create_task(self._show_life(number))
        try:
            answer = {"value": plain(await self._perform(name, args, before))}
        except asyncio.CancelledError:
            answer = {"cancelled": True}
        except Exception as error:
            answer = {"error": explain(error)}
        finally:
            beat.cancel()
        self._send({"id": number, **answer})

    async def _show_life(self, number: Any) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self._send({"id": number, "working": True})

    async def _perform(
        self, name: str, args: dict[str, Any], before: asyncio.Task[None] | None
    ) -> Any:
        method, how = self._find(name)
        if before is not None:
            if how.latest:
                before.cancel()
            await asyncio.wait([before])
        value = method(**args)
        return await value if inspect.isawaitable(value) else value

    def _find(self, name: str) -> tuple[Callable[..., Any], CallOptions]:
        method = getattr(self._editor, name, None)
        how = getattr(method, _MARK, None)
        if method is None or how is None:
            raise BadOption(f"this editor has no call `{name}`")
        return method, how


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """Run an editor's coroutine to its end for a cell that called it."""
    if event_loop.is_here():
        work.close()
        raise BadOption("a function that observes an editor cannot wait for it; await it instead")
    return event_loop.run(work)


def on_stage(act: Callable[[], T]) -> T:
    """Run a function on the editors' loop, in order with the views' calls."""

    async def perform() -> T:
        return act()

    return act() if event_loop.is_here() else event_loop.run(perform())
