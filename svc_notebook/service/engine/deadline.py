"""How long a search may take: loops of unbounded length ask between two steps whether to go on.

The deadline belongs to the context of the search, so that every loop reaches it; without one, as
for writes, nothing ends early.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from svc_notebook.errors import Refused

SEARCH_TIMEOUT_SECONDS = 4.0
"""Less than the 5 s for which clients wait, so that they see the refusal."""


class SearchCancelled(Exception):
    """Nobody waits for the search any more."""


class Deadline:
    """The moment at which a search ends unfinished; `cancel` works from any thread."""

    def __init__(self, seconds: float = SEARCH_TIMEOUT_SECONDS) -> None:
        self.seconds = seconds
        self._end = 0.0
        self._cancelled = False
        self.restart()

    def restart(self) -> None:
        """Grant the whole time from now on."""
        self._end = monotonic() + self.seconds

    def extend(self, seconds: float) -> None:
        """Grant more time."""
        self._end += seconds

    def cancel(self) -> None:
        """End the search at its next step."""
        self._cancelled = True

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
    """Let a deadline hold for everything inside."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def stop_clock() -> Iterator[None]:
    """Do not count the time of what is prepared once for all searches, as opening an index."""
    begun = monotonic()
    try:
        yield
    finally:
        if deadline := _current.get():
            deadline.extend(monotonic() - begun)


def check_time() -> None:
    """Raise if the search that runs here has no time left, or nobody waits for it."""
    if (deadline := _current.get()) is not None:
        deadline.check()


def restart_time() -> None:
    """Grant the whole time to the next search of one call; raises if nobody waits for it."""
    if (deadline := _current.get()) is not None:
        deadline.check()
        deadline.restart()
