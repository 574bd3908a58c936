"""Wakes a loop now and then while it waits for us."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

BEAT = 0.1  # seconds


@contextmanager
def beating() -> Iterator[None]:
    """Let Stop reach a cell that awaits: a kernel sees it only when its loop next turns.

    Interrupts come to the main thread alone, so other threads' loops may sleep.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    beat = _Beat(asyncio.get_running_loop())
    beat()
    try:
        yield
    finally:
        beat.timer.cancel()


class _Beat:
    """Schedules itself again and again."""

    timer: asyncio.TimerHandle

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self) -> None:
        self.timer = self._loop.call_later(BEAT, self)
