"""The throttle of a crawl: concurrent requests, requests per second, and delay per host."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

# Longer delays requested by a host are capped to this.
MAX_CRAWL_DELAY_SECONDS = 60.0
MAX_KNOWN_HOSTS = 10_000


class Throttle:
    """Limits a crawl to `rate` concurrent requests and `rate` new requests per second."""

    def __init__(self, rate: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._slots = asyncio.Semaphore(max(int(rate), 1))
        self._starts: deque[float] = deque(maxlen=max(int(rate), 1))
        self._delays: dict[str, float] = {}
        self._free: dict[str, float] = {}  # when a host may receive the next request

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for the next turn of a host, and hold a slot during the block."""
        await self._wait_for_host(host)
        if host in self._delays:
            self._free[host] = self._clock() + self._delays[host]
        async with self.slot():
            yield

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot during the block without waiting for a host."""
        async with self._slots:
            await self._wait_for_second()
            yield

    def delay(self, host: str, seconds: float) -> None:
        """Set the delay between two pages of a host (its Crawl-delay), in seconds."""
        if len(self._delays) < MAX_KNOWN_HOSTS:
            self._delays[host] = min(seconds, MAX_CRAWL_DELAY_SECONDS)

    def pause(self, host: str, seconds: float) -> None:
        """Pause requests to a host (its Retry-After), in seconds."""
        if len(self._free) > MAX_KNOWN_HOSTS:
            now = self._clock()
            self._free = {name: free for name, free in self._free.items() if free > now}
        until = self._clock() + min(seconds, MAX_CRAWL_DELAY_SECONDS)
        self._free[host] = max(self._free.get(host, 0.0), until)

    def is_slow(self, host: str) -> bool:
        """Return whether a host is limited to one page at a time."""
        return host in self._delays or self._free.get(host, 0.0) > self._clock()

    async def _wait_for_host(self, host: str) -> None:
        while True:
            wait = self._free.get(host, 0.0) - self._clock()
            if wait <= 0:
                break
            await asyncio.sleep(wait)

    async def _wait_for_second(self) -> None:
        while len(self._starts) == self._starts.maxlen:
            wait = self._starts[0] + 1 - self._clock()
            if wait <= 0:
                break
            await asyncio.sleep(wait)
        self._starts.append(self._clock())
