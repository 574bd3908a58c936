"""The cookie jar of a crawl: cookies that hosts require before they serve a page."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

# Limits per host and per crawl: a host that sets more cookies does not want its pages read.
MAX_COOKIES_PER_HOST = 50
MAX_COOKIE_BYTES = 4096
MAX_HOSTS = 1000


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
