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
    records_id: int
    time: float
    ids: frozenset[str] | None


class InFlightWrites:
    """Changes that are stored but may not be visible to searches yet; one writer, many readers.

    `waiting` is the number of readers that wait for a change.
    """

    def __init__(self) -> None:
        self._recent: deque[InFlightWrite] = deque()
        self._started = self._visible = 0
        self.waiting = 0
        self._became_visible = threading.Condition()

    def begin(self, records_id: int, ids: Iterable[str] | None) -> None:
        """Record, before storing, which records of an index change; None means all."""
        now = time.monotonic()
        while self._recent and self._recent[0].time < now - REMEMBERED_SECONDS:
            self._recent.popleft()
        named = None if ids is None else frozenset(ids)
        self._recent.append(InFlightWrite(self._started + 1, records_id, now, named))
        self._started += 1

    def mark_visible(self) -> None:
        """Record that all changes so far are visible to searches."""
        with self._became_visible:
            self._visible = self._started
            self._became_visible.notify_all()

    def last_visible(self) -> int:
        """Return the number of the last change that a new search is certain to see."""
        return self._visible

    def may_have_changed(self, since: int, records_id: int, ids: Iterable[str]) -> bool:
        """Return whether any of these records may have changed since the change of this number."""
        if self._started == since:
            return False
        later = [
            write
            for write in list(self._recent)
            if write.number > since and write.records_id == records_id
        ]
        return any(write.ids is None or not write.ids.isdisjoint(ids) for write in later)

    def wait(self) -> None:
        """Wait until the changes so far are visible to searches."""
        started = self._started
        with self._became_visible:
            self.waiting += 1
            self._became_visible.wait_for(lambda: self._visible >= started, MAX_WAIT_SECONDS)
            self.waiting -= 1
