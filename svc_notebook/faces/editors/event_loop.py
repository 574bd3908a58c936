"""The event loop of the editors, separate from the loop of synchronous calls.

A view's message is received and answered here. Therefore an editor works while a cell runs, and a
function that observes an editor can make synchronous calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from svc_notebook.data.client import Portal

T = TypeVar("T")

_PORTAL = Portal()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the editors' loop and return its result; an interrupt cancels it."""
    _enter()
    return _PORTAL.run(work)


def begin(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the editors' loop without waiting for it."""
    return asyncio.run_coroutine_threadsafe(work, _enter())


def is_here() -> bool:
    """Return whether the caller runs on the editors' loop, where `run` would deadlock."""
    try:
        return asyncio.get_running_loop() is _loop
    except RuntimeError:
        return False


def _enter() -> asyncio.AbstractEventLoop:
    """Return the loop, a new one after a fork."""
    global _loop
    if not is_here():
        _loop = _PORTAL.run(_running_loop())
    assert _loop
    return _loop


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
