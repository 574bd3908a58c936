"""robots.txt rules: read once per host and kept for the crawl."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from protego import Protego

from svc_notebook.service.crawl.outcomes import FetchFailure
from svc_notebook.service.crawl.transport.fetcher import USER_AGENT, Fetcher, FetchResponse
from svc_notebook.service.crawl.urls import normalize, origin

# The maximum size of the file (RFC 9309, 2.5, requires at least as much).
MAX_ROBOTS_BYTES = 500 << 10
MAX_SITEMAPS_PER_HOST = 100
MAX_CACHED_HOSTS = 1000


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one host; without a file everything is allowed."""

    file: Protego | None = field(default=None, repr=False)
    sitemaps: tuple[str, ...] = ()
    delay: float | None = None

    def allows(self, url: str) -> bool:
        """Return whether a URL may be fetched."""
        return self.file is None or self.file.can_fetch(url, USER_AGENT)


class Robots:
    """The rules of all hosts of a crawl, cached."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, asyncio.Task[RobotsRules]] = {}

    async def rules(self, url: str) -> RobotsRules:
        """Return the rules for a URL; raises `FetchFailure` if the file is unavailable."""
        site = origin(url)
        task = self._rules.get(site)
        if task is None:
            while len(self._rules) >= MAX_CACHED_HOSTS:
                self._rules.pop(next(iter(self._rules)))
            task = self._rules[site] = asyncio.create_task(self._read(site))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel requests in progress."""
        for task in self._rules.values():
            task.cancel()
        await asyncio.gather(*self._rules.values(), return_exceptions=True)

    async def _read(self, site: str) -> RobotsRules:
        try:
            response = await self._fetcher.follow(f"{site}/robots.txt", limit=MAX_ROBOTS_BYTES)
        except FetchFailure as failure:
            if failure.reason in ("page_too_big", "too_many_redirects"):
                return RobotsRules()
            raise
        if response.status >= 500 or response.status == 429:
            raise FetchFailure(
                "robotstxt_unavailable",
                f"{site}/robots.txt answers with status {response.status}: its rules are unknown"
                " is allowed",
            )
        rules = read_rules(response) if response.status == 200 else RobotsRules()
        if rules.delay:
            self._fetcher.throttle.delay(site.partition("://")[2], rules.delay)
        return rules


def read_rules(response: FetchResponse) -> RobotsRules:
    """Parse a robots.txt; other content gives no rules."""
    file = Protego.parse(response.body.decode("utf-8-sig", "replace").replace("\0", ""))
    named = [normalize(url, response.url) for url in file.sitemaps]
    delay = file.crawl_delay(USER_AGENT)
    return RobotsRules(
        file,
        tuple(dict.fromkeys(url for url in named[:MAX_SITEMAPS_PER_HOST] if url)),
        delay if delay and delay > 0 else None,
    )
