"""The execution of a search: its limits, its context, and the threads that share its work.

Loops check the time of a search, and what builds its answer counts bytes. The deadline is a context
variable, so that every loop can read it; without one, as for writes, nothing is interrupted.
Several segments are searched at a time: NumPy releases Python's lock in most operations.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from time import monotonic
from typing import TypeVar

from svc_notebook.errors import BadInput, Refused

# Less than the 5 s client timeout, so that clients receive the error.
SEARCH_TIMEOUT_SECONDS = 4.0
# Maximum bytes of the answer to one search, and of the hits of all searches of one call.
MAX_ANSWER_BYTES = 64 * 2**20


class SearchCancelled(Exception):
    """The caller no longer waits for the search."""


class Deadline:
    """The time limit of a search, `seconds` from its start; `cancel` works from any thread."""

    def __init__(self, seconds: float = SEARCH_TIMEOUT_SECONDS) -> None:
        self.seconds = seconds
        # Called by `cancel`: stops a search that runs in another process.
        self.on_cancel: Callable[[], object] | None = None
        self._end = 0.0
        self._bytes = 0
        self._cancelled = False
        self.restart()

    def restart(self) -> None:
        """Restart the clock with the full time, and the count of the answer's bytes."""
        self._end = monotonic() + self.seconds
        self._bytes = 0

    def extend(self, seconds: float) -> None:
        """Add seconds to the time limit."""
        self._end += seconds

    def cancel(self) -> None:
        """Stop the search at its next step."""
        self._cancelled = True
        if self.on_cancel is not None:
            self.on_cancel()

    def count(self, size: int) -> None:
        """Count bytes of the answer before they are built; raise `BadInput` beyond the limit."""
        self._bytes += size
        if self._bytes > MAX_ANSWER_BYTES:
            raise BadInput(
                f"the answer takes more than {MAX_ANSWER_BYTES // 2**20} MB: request fewer hits "
                "(`hitsPerPage`), attributes (`attributesToRetrieve`, `attributesToHighlight`, "
                "`attributesToSnippet`), `facets` or `maxValuesPerFacet`, or shorter highlight tags"
            )

    def raise_if_cancelled(self) -> None:
        """Raise `SearchCancelled` after `cancel`."""
        if self._cancelled:
            raise SearchCancelled

    def check(self) -> None:
        """Raise `SearchCancelled` after `cancel`, and `Refused` when the time is over."""
        if self._cancelled:
            raise SearchCancelled
        if monotonic() > self._end:
            raise Refused(
                f"the search took longer than {self.seconds:g} s: search for less at one time, or "
                "start the service with a longer --search-timeout",
                status=408,
            )


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
_missing: ContextVar[set[str] | None] = ContextVar("missing", default=None)


@contextmanager
def limit_time(deadline: Deadline) -> Iterator[None]:
    """Set the deadline of all code in the context."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def stop_clock() -> Iterator[None]:
    """Exclude one-time preparation shared by all searches, such as opening an index."""
    begun = monotonic()
    try:
        yield
    finally:
        if deadline := _current.get():
            deadline.extend(monotonic() - begun)


def check_time() -> None:
    """Raise if the current search has no time left or is cancelled."""
    if (deadline := _current.get()) is not None:
        deadline.check()


def restart_time() -> None:
    """Restart the clock for the next search of a call; raise if time is over or cancelled."""
    if (deadline := _current.get()) is not None:
        deadline.check()
        deadline.restart()


def count_answer_bytes(size: int) -> None:
    """Count bytes of the current search's answer; raises `BadInput` if they are too many."""
    if (deadline := _current.get()) is not None:
        deadline.count(size)


@contextmanager
def without_missing_tables() -> Iterator[set[str]]:
    """Build missing tables in the background in this context; provides their languages.

    Without it, a table is built where it is first used.
    """
    missing: set[str] = set()
    token = _missing.set(missing)
    try:
        yield missing
    finally:
        _missing.reset(token)


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
