"""The state of a crawl by host: cookies that hosts require, and the throttle of requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic

import httpx

# Limits per host and per crawl: a host that sets more cookies does not want its pages read.
MAX_COOKIES_PER_HOST = 50
MAX_COOKIE_BYTES = 4096
MAX_HOSTS = 1000
# Longer delays requested by a host are capped to this.
MAX_CRAWL_DELAY_SECONDS = 60.0
MAX_KNOWN_HOSTS = 10_000


class HostCookies:
    """Cookies by the host that set them, sent to that host only.

    Only cookies that a page requires are kept, not those that pages set: each page is read as by a
    first-time visitor, regardless of the pages read before.
    """

    def __init__(self) -> None:
        self._by_host: dict[str, httpx.Cookies] = {}

    def keep(self, url: str, lines: Sequence[str]) -> None:
        """Store the cookies of the `Set-Cookie` lines of a response to `url`."""
        host = httpx.URL(url).netloc.decode()
        if host not in self._by_host and len(self._by_host) >= MAX_HOSTS:
            self._by_host.pop(next(iter(self._by_host)))
        jar = self._by_host.setdefault(host, httpx.Cookies())
        short = [line for line in lines if len(line) <= MAX_COOKIE_BYTES and line.isascii()]
        raw = [(b"set-cookie", line.encode()) for line in short[:MAX_COOKIES_PER_HOST]]
        jar.extract_cookies(httpx.Response(200, headers=raw, request=httpx.Request("GET", url)))
        for cookie in [*jar.jar][:-MAX_COOKIES_PER_HOST]:
            jar.jar.clear(cookie.domain, cookie.path, cookie.name)

    def header(self, url: str) -> str:
        """Return the `Cookie` header for a URL, empty if it has no cookies."""
        jar = self._by_host.get(httpx.URL(url).netloc.decode())
        if jar is None:
            return ""
        request = httpx.Request("GET", url)
        jar.set_cookie_header(request)
        return str(request.headers.get("Cookie", ""))

    def add(self, other: HostCookies) -> None:
        """Add all cookies of another jar."""
        for host, jar in other._by_host.items():
            self._by_host.setdefault(host, httpx.Cookies()).update(jar)


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
