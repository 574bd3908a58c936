"""Work on several segments at the same time: NumPy releases Python's lock in most operations."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Fewer records are searched by one thread.
MIN_PARALLEL_RECORDS = 400_000
MAX_THREADS = 8


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)  # not on Windows and macOS
    return len(usable(0)) if usable else os.cpu_count() or 1


class SegmentThreads:
    """The threads of a process that help searches of large indices; `most` counts the caller."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def map(self, act: Callable[[T], R], items: Sequence[T], records: int) -> list[R]:
        """Return the results of a function for each item; the caller and free threads share them.

        `records` is the number of records of all items together. The threads have the context
        variables of the caller. The first error is raised when all threads have stopped.
        """
        if len(items) < 2 or self.most < 2 or records < MIN_PARALLEL_RECORDS:
            return [act(item) for item in items]
        results: dict[int, R] = {}
        left = deque(enumerate(items))

        def work() -> None:
            while left:
                try:
                    number, item = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                try:
                    results[number] = act(item)
                except BaseException:
                    left.clear()
                    raise

        helpers = self._start(work, min(self.most, len(items)) - 1)
        try:
            work()
        finally:
            # A helper that has not begun has nothing to do any more.
            wait([helper for helper in helpers if not helper.cancel()])
        for helper in helpers:
            if not helper.cancelled():
                helper.result()
        return [results[number] for number in range(len(items))]

    def _start(self, work: Callable[[], None], count: int) -> list[Future[None]]:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self.most - 1, "svc-segments")
        return [self._executor.submit(copy_context().run, work) for _ in range(count)]


# The threads of this process.
segment_threads = SegmentThreads(min(count_processors(), MAX_THREADS))
