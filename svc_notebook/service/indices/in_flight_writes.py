"""Track records that are being written, so that searches do not mix old and new versions."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

# Seconds for which a change is remembered, and that a search waits to see it.
REMEMBERED_SECONDS, MAX_WAIT_SECONDS = 0.5, 0.2


class InFlightWrite(NamedTuple):
    """One change: its number, index, time and objectIDs; None means all records."""

    number: int
    home: int
    time: float
    ids: frozenset[str] | None


class InFlightWrites:
    """Changes that are stored but may not be visible to searches yet; one writer, many readers.

    `waiting` is the number of readers that wait for a change.
    """

    def __init__(self) -> None:
        self._recent: deque[InFlightWrite] = deque()
        self._begun = self._shown = 0
        self.waiting = 0
        self._showing = threading.Condition()

    def begin(self, home: int, ids: Iterable[str] | None) -> None:
        """Record, before storing, which records of an index change; None means all."""
        now = time.monotonic()
        while self._recent and self._recent[0].time < now - REMEMBERED_SECONDS:
            self._recent.popleft()
        named = None if ids is None else frozenset(ids)
        self._recent.append(InFlightWrite(self._begun + 1, home, now, named))
        self._begun += 1

    def show(self) -> None:
        """Record that all changes so far are visible to searches."""
        with self._showing:
            self._shown = self._begun
            self._showing.notify_all()

    def moment(self) -> int:
        """Return the number of the last change that a new search is certain to see."""
        return self._shown

    def meet(self, moment: int, home: int, ids: Iterable[str]) -> bool:
        """Return whether any of these records may have changed since a moment."""
        if self._begun == moment:
            return False
        later = [one for one in list(self._recent) if one.number > moment and one.home == home]
        return any(one.ids is None or not one.ids.isdisjoint(ids) for one in later)

    def wait(self) -> None:
        """Wait until the changes so far are visible to searches."""
        wanted = self._begun
        with self._showing:
            self.waiting += 1
            self._showing.wait_for(lambda: self._shown >= wanted, MAX_WAIT_SECONDS)
            self.waiting -= 1
