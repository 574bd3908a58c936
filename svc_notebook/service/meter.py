"""Count a key's queries of the last hour, per address or user token."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable

from svc_notebook.errors import Refused

HOUR = 3600.0


class Meter:
    """Remembers when each caller asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked: defaultdict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def count(self, key: str, who: str, most: int, queries: int = 1) -> None:
        """Count queries; raises `Refused` when they are more than the key may ask in an hour."""
        now = self._clock()
        with self._lock:
            asked = self._asked[key, who]
            while asked and asked[0] <= now - HOUR:
                asked.popleft()
            if len(asked) + queries > most:
                wait = int(asked[0] + HOUR - now) + 1 if asked else int(HOUR)
                # No Retry-After: clients would sleep for as long as it says.
                raise Refused(
                    f"this key may ask {most} times an hour; try again in {wait} s", status=429
                )
            asked.extend([now] * queries)
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Drop those who have not asked for an hour, now and then."""
        if len(self._asked) % 1000 == 0:
            old = [who for who, asked in self._asked.items() if not asked or asked[-1] < now - HOUR]
            for who in old:
                del self._asked[who]
