"""How many calls of one kind are taken in a minute, and the headers that say so."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, MutableMapping

from svc_notebook.errors import TooMany

MINUTE = 60


class Quota:
    """Counts calls in each minute of the clock."""

    def __init__(self, most: int, clock: Callable[[], float] = time.time) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._ends = 0
        self._left = most

    def count(self, headers: MutableMapping[str, str]) -> None:
        """Count one call, and say in its answer's headers what is left; raises `TooMany`."""
        with self._lock:
            now = self._clock()
            if now >= self._ends:
                self._ends, self._left = (int(now) // MINUTE + 1) * MINUTE, self._most
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
