"""Rate limits: queries of a key per hour, and calls of one kind per minute."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, MutableMapping
from itertools import islice

from svc_notebook.errors import Refused, TooMany

HOUR_SECONDS = 3600.0
# Maximum number of callers tracked, and of characters of a caller's identity.
MAX_TRACKED_CALLERS, MAX_CALLER_CHARACTERS = 100_000, 200


class HourlyQueryLimit:
    """Counts each caller's queries of the last hour; least recent callers are dropped first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of callers tracked."""
        return len(self._asked)

    def count(self, key: str, who: str, most: int, queries: int = 1) -> None:
        """Count queries; raises `Refused` if they exceed the key's limit per hour."""
        now = self._clock()
        caller = key, who[:MAX_CALLER_CHARACTERS]
        with self._lock:
            asked = self._asked[caller] = self._asked.pop(caller, deque())
            while asked and asked[0] <= now - HOUR_SECONDS:
                asked.popleft()
            if len(asked) + queries > most:
                wait = int(asked[0] + HOUR_SECONDS - now) + 1 if asked else int(HOUR_SECONDS)
                # No Retry-After header: clients would sleep for that time.
                raise Refused(
                    f"this key may ask {most} times an hour; try again in {wait} s", status=429
                )
            asked.extend([now] * queries)
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Drop callers without queries in the last hour, and the oldest if there are too many."""
        for caller, asked in list(islice(self._asked.items(), 2)):
            if (
                not asked
                or asked[-1] <= now - HOUR_SECONDS
                or len(self._asked) > MAX_TRACKED_CALLERS
            ):
                del self._asked[caller]


MINUTE_SECONDS = 60


class MinuteCallLimit:
    """Limits the calls in each minute of the clock."""

    def __init__(self, most: int, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._ends = 0
        self._left = most

    def count(self, headers: MutableMapping[str, str]) -> None:
        """Count one call and add the remaining quota to the response headers; raises `TooMany`."""
        with self._lock:
            now = self._clock()
            if now >= self._ends:
                self._ends, self._left = (
                    (int(now) // MINUTE_SECONDS + 1) * MINUTE_SECONDS,
                    self._most,
                )
            refused = self._left == 0
            self._left -= not refused
            headers.update(
                {
                    "x-ratelimit-limit": str(self._most),
                    "x-ratelimit-remaining": str(self._left),
                    "x-ratelimit-reset": str(self._ends),
                }
            )
        if refused:
            wait = math.ceil(self._ends - now)
            raise TooMany(f"{self._most} such calls a minute are taken; wait {wait} s", wait=wait)
