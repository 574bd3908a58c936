"""Rate limits: queries of a key per hour, and calls of one kind per minute."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, MutableMapping
from itertools import islice

from svc_notebook.errors import TooMany

HOUR_SECONDS = 3600.0
# Maximum number of callers tracked, and of characters of a caller's identity.
MAX_TRACKED_CALLERS, MAX_CALLER_CHARACTERS = 100_000, 200


class HourlyQueryLimit:
    """Counts each caller's queries of the last hour; least recent callers are dropped first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._query_times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of callers tracked."""
        return len(self._query_times)

    def count(self, key: str, user: str, limit: int, queries: int = 1) -> None:
        """Count queries; raises `TooMany` if they exceed the key's limit per hour."""
        now = self._clock()
        caller = key, user[:MAX_CALLER_CHARACTERS]
        with self._lock:
            times = self._query_times[caller] = self._query_times.pop(caller, deque())
            while times and times[0] <= now - HOUR_SECONDS:
                times.popleft()
            if len(times) + queries > limit:
                wait = int(times[0] + HOUR_SECONDS - now) + 1 if times else int(HOUR_SECONDS)
                raise TooMany(
                    f"this key allows {limit} queries per hour; try again in {wait} s", wait=wait
                )
            times.extend([now] * queries)
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Drop callers without queries in the last hour, and the oldest if there are too many."""
        for caller, times in list(islice(self._query_times.items(), 2)):
            if (
                not times
                or times[-1] <= now - HOUR_SECONDS
                or len(self._query_times) > MAX_TRACKED_CALLERS
            ):
                del self._query_times[caller]


MINUTE_SECONDS = 60


class MinuteCallLimit:
    """Limits the calls in each minute of the clock."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.time) -> None:
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._ends = 0
        self._left = limit

    def count(self, headers: MutableMapping[str, str]) -> None:
        """Count one call and add the remaining quota to the response headers; raises `TooMany`."""
        with self._lock:
            now = self._clock()
            if now >= self._ends:
                self._ends, self._left = (
                    (int(now) // MINUTE_SECONDS + 1) * MINUTE_SECONDS,
                    self._limit,
                )
            refused = self._left == 0
            self._left -= not refused
            headers.update(
                {
                    "x-ratelimit-limit": str(self._limit),
                    "x-ratelimit-remaining": str(self._left),
                    "x-ratelimit-reset": str(self._ends),
                }
            )
        if refused:
            wait = math.ceil(self._ends - now)
            raise TooMany(
                f"at most {self._limit} such calls per minute; try again in {wait} s", wait=wait
            )
