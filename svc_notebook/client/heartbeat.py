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
    loop = asyncio.get_running_loop()

    def beat() -> None:
        nonlocal timer
        timer = loop.call_later(BEAT, beat)

    timer = loop.call_later(BEAT, beat)
    try:
        yield
    finally:
        timer.cancel()
