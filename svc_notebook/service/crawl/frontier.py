"""The crawl loop: visit the URLs waiting in a ledger until none is left."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from svc_notebook.errors import SvcError
from svc_notebook.service.crawl.configuration import Configuration
from svc_notebook.service.crawl.ledger import PendingUrl, UrlLedger
from svc_notebook.service.crawl.outcomes import VisitOutcome
from svc_notebook.service.crawl.page_processor import Visitor
from svc_notebook.service.crawl.transport.fetcher import Fetcher

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Extractors

# URLs taken from the ledger at once: enough to find one with a free host.
WINDOW_URLS = 500
# Maximum URLs held in memory if all their hosts are slow.
MAX_TAKEN_URLS = 10 * WINDOW_URLS
# Outcomes are settled in batches: each transaction costs a flush to disk.
BATCH, BATCH_SECONDS = 50, 0.2

log = logging.getLogger(__name__)


async def crawl(
    configuration: Configuration,
    ledger: UrlLedger,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    stopped: asyncio.Event,
    whole: bool = True,
) -> None:
    """Visit all waiting URLs; a whole crawl adds the configuration's own URLs first.

    Without `whole`, only URLs in the ledger are visited, and no links except redirects are
    followed. A crawl may be killed at any time and resumed by another call on the same ledger.
    Raises `BadInput` if it cannot start: the login fails or external data cannot be read.
    """
    visitor = Visitor(configuration, fetcher, extractors)
    try:
        await _unless_stopped(visitor.prepare(), stopped)
        if whole and not stopped.is_set():
            ledger.add(seeds(configuration), limit=configuration.max_urls)
        await _Round(configuration, ledger, visitor, fetcher, stopped, whole).run()
    finally:
        await visitor.close()


def seeds(configuration: Configuration) -> Iterator[PendingUrl]:
    """Return the URLs that a whole crawl starts with."""
    yield from (PendingUrl(url, seed=True) for url in configuration.start_urls)
    yield from (PendingUrl(url, kind="sitemap", seed=True) for url in configuration.sitemaps)


def found_by(outcome: VisitOutcome, waiting: PendingUrl) -> Iterator[PendingUrl]:
    """Return the URLs that a visit found; those of a seed's sitemap or redirect are seeds."""
    handed_on = outcome.reason in _HANDED_ON
    depth = outcome.depth + (not handed_on)
    heir = waiting.seed and (waiting.kind == "sitemap" or handed_on)
    hops = waiting.hops + 1 if handed_on else 0
    yield from (
        PendingUrl(url, depth, seed=heir, hops=hops, referrer=outcome.url) for url in outcome.found
    )
    yield from (
        PendingUrl(url, depth, "sitemap", waiting.seed, referrer=outcome.url)
        for url in outcome.sitemaps
    )


# Outcomes in which another URL replaces the visited one.
_HANDED_ON = ("http_redirect", "canonical")


class _Round:
    """The visits in progress, and the URLs taken from the ledger for them."""

    def __init__(
        self,
        configuration: Configuration,
        ledger: UrlLedger,
        visitor: Visitor,
        fetcher: Fetcher,
        stopped: asyncio.Event,
        follow: bool,
    ) -> None:
        self._ledger = ledger
        self._visitor = visitor
        self._pace = fetcher.pace
        self._stopped = stopped
        self._follow = follow
        self._limit = configuration.max_urls
        self._width = max(int(configuration.rate_limit), 1)
        self._next: deque[PendingUrl] = deque()
        self._active: dict[asyncio.Task[VisitOutcome], PendingUrl] = {}
        self._ended: list[tuple[VisitOutcome, PendingUrl]] = []
        self._settled_at = monotonic()
        self._met: set[str] = set()

    async def run(self) -> None:
        """Run until no URL is waiting and no visit is in progress, or until stopped."""
        stop = asyncio.create_task(self._stopped.wait())
        try:
            while not self._stopped.is_set():
                self._refill()
                self._begin()
                if not self._active:
                    if not self._ended and not self._next:
                        return
                    self._settle()
                    continue
                await self._wait(stop)
        finally:
            stop.cancel()
            await self._leave_off()

    def _refill(self) -> None:
        """Take more URLs from the ledger if too few hosts are free."""
        held = self._held()
        free = sum(_host(waiting) not in held for waiting in self._next)
        if free >= self._width or len(self._next) >= MAX_TAKEN_URLS:
            return
        if self._ended:
            if self._active and not self._is_time():
                return
            self._settle()
        busy = {waiting.url for waiting in (*self._active.values(), *self._next)}
        rows = self._ledger.waiting(WINDOW_URLS + len(busy))
        self._next.extend(row for row in rows if row.url not in busy)

    def _begin(self) -> None:
        """Start visits, one at a time for slow hosts."""
        held, later = self._held(), []
        while self._next and len(self._active) < self._width:
            waiting = self._next.popleft()
            if (host := _host(waiting)) in held:
                later.append(waiting)
                continue
            if self._is_slow(host):
                held.add(host)
            self._active[asyncio.create_task(self._visit(waiting))] = waiting
        self._next.extendleft(reversed(later))

    def _held(self) -> set[str]:
        """Return the slow hosts with a visit in progress."""
        return {host for host in map(_host, self._active.values()) if self._is_slow(host)}

    def _is_slow(self, host: str) -> bool:
        """Return whether a host requires a delay, or may do so in a robots.txt not yet read."""
        return host not in self._met or self._pace.is_slow(host)

    async def _wait(self, stop: asyncio.Task[bool]) -> None:
        """Wait for a visit to end, and settle outcomes when due."""
        await asyncio.wait(
            (*self._active, stop),
            timeout=BATCH_SECONDS if self._ended else None,
            return_when=asyncio.FIRST_COMPLETED,
        )
        self._collect([task for task in self._active if task.done()])
        if self._is_time():
            self._settle()

    def _collect(self, done: Iterable[asyncio.Task[VisitOutcome]]) -> None:
        for task in done:
            waiting = self._active.pop(task)
            self._ended.append((task.result(), waiting))
            if len(self._met) >= MAX_TAKEN_URLS:
                self._met.clear()
            self._met.add(_host(waiting))

    def _is_time(self) -> bool:
        return bool(self._ended) and (
            len(self._ended) >= BATCH or monotonic() - self._settled_at >= BATCH_SECONDS
        )

    def _settle(self) -> None:
        """Write the outcomes and the URLs they found to the ledger in one transaction."""
        if not self._ended:
            return
        found = [
            url
            for outcome, waiting in self._ended
            if self._follow or outcome.reason in _HANDED_ON
            for url in found_by(outcome, waiting)
        ]
        self._ledger.settle([outcome for outcome, _ in self._ended], found, limit=self._limit)
        self._ended, self._settled_at = [], monotonic()

    async def _visit(self, waiting: PendingUrl) -> VisitOutcome:
        try:
            return await self._visitor.visit(waiting, self._ledger.remembered(waiting.url))
        except SvcError:
            raise
        except Exception as error:  # one page must not stop the crawl
            log.exception("visiting %s", waiting.url)
            readable = f"the crawler itself failed: {type(error).__name__}: {error}"
            return VisitOutcome(
                waiting.url, waiting.depth, "FAILED", "fetch", "internal_error", readable
            )

    async def _leave_off(self) -> None:
        """Cancel the visits in progress, whose URLs remain waiting, and settle those that ended."""
        for task in self._active:
            task.cancel()
        await asyncio.gather(*self._active, return_exceptions=True)
        self._settle()


def _host(waiting: PendingUrl) -> str:
    return _host_of(waiting.url)


@lru_cache(MAX_TAKEN_URLS)  # called for all held URLs whenever a visit ends
def _host_of(url: str) -> str:
    return urlsplit(url).netloc


async def _unless_stopped(work: object, stopped: asyncio.Event) -> None:
    """Await work, or cancel it when stopped."""
    assert asyncio.iscoroutine(work)
    doing = asyncio.ensure_future(work)
    stop = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait((doing, stop), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
    finally:
        for task in (doing, stop):
            task.cancel()
        await asyncio.gather(doing, stop, return_exceptions=True)
