"""The deadline of a search: long-running loops check it between steps.

The deadline is a context variable of the search, so that every loop can read it. Without a
deadline, as for writes, nothing is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from svc_notebook.errors import Refused

SEARCH_TIMEOUT_SECONDS = 4.0
"""Less than the 5 s client timeout, so that clients receive the error."""


class SearchCancelled(Exception):
    """The caller no longer waits for the search."""


class Deadline:
    """The time limit of a search, `seconds` from its start; `cancel` works from any thread."""

    def __init__(self, seconds: float = SEARCH_TIMEOUT_SECONDS) -> None:
        self.seconds = seconds
        # Called by `cancel`: stops a search that runs in another process.
        self.on_cancel: Callable[[], object] | None = None
        self._end = 0.0
        self._cancelled = False
        self.restart()

    def restart(self) -> None:
        """Restart the clock with the full time."""
        self._end = monotonic() + self.seconds

    def extend(self, seconds: float) -> None:
        """Add seconds to the time limit."""
        self._end += seconds

    def cancel(self) -> None:
        """Stop the search at its next step."""
        self._cancelled = True
        if self.on_cancel is not None:
            self.on_cancel()

    def raise_if_cancelled(self) -> None:
        """Raise `SearchCancelled` after `cancel`."""
        if self._cancelled:
            raise SearchCancelled

    def check(self) -> None:
        """Raise `SearchCancelled` after `cancel`, and `Refused` when the time is over."""
        self.raise_if_cancelled()
        if monotonic() > self._end:
            raise Refused(
                f"the search took longer than {self.seconds:g} s: search for less at one time, or "
                "start the service with a longer --search-timeout",
                status=408,
            )


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


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
