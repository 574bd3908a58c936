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
from svc_notebook.service.crawl.page_processor import PageProcessor
from svc_notebook.service.crawl.transport.fetcher import Fetcher
from svc_notebook.service.crawl.visits import PendingUrl, UrlLedger, VisitOutcome

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Extractors

# URLs taken from the ledger at once: enough to find one with a free host.
LEDGER_READ_URLS = 500
# Maximum URLs held in memory if all their hosts are slow.
MAX_QUEUED_URLS = 10 * LEDGER_READ_URLS
# Outcomes are settled in batches: each transaction costs a flush to disk.
BATCH_OUTCOMES, BATCH_SECONDS = 50, 0.2

log = logging.getLogger(__name__)


async def crawl(
    configuration: Configuration,
    ledger: UrlLedger,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    stopped: asyncio.Event,
    whole: bool = True,
    browser: str | None = None,
) -> None:
    """Visit all waiting URLs; a whole crawl adds the configuration's own URLs first.

    Without `whole`, only URLs in the ledger are visited, and no links except redirects are
    followed. A crawl may be killed at any time and resumed by another call on the same ledger.
    Raises `BadInput` if it cannot start: the login fails or external data cannot be read.
    """
    processor = PageProcessor(configuration, fetcher, extractors, browser=browser)
    try:
        await _unless_stopped(processor.prepare(), stopped)
        if whole and not stopped.is_set():
            ledger.add(seeds(configuration), limit=configuration.max_urls)
        await _CrawlLoop(configuration, ledger, processor, fetcher, stopped, whole).run()
    finally:
        await processor.close()


def seeds(configuration: Configuration) -> Iterator[PendingUrl]:
    """Return the URLs that a whole crawl starts with."""
    yield from (PendingUrl(url, seed=True) for url in configuration.start_urls)
    yield from (PendingUrl(url, kind="sitemap", seed=True) for url in configuration.sitemaps)


def urls_found_by(outcome: VisitOutcome, waiting: PendingUrl) -> Iterator[PendingUrl]:
    """Return the URLs that a visit found; those of a seed's sitemap or redirect are seeds."""
    replaced = outcome.reason in _REPLACED
    depth = outcome.depth + (not replaced)
    is_seed = waiting.seed and (waiting.kind == "sitemap" or replaced)
    hops = waiting.hops + 1 if replaced else 0
    yield from (
        PendingUrl(url, depth, seed=is_seed, hops=hops, referrer=outcome.url)
        for url in outcome.found
    )
    yield from (
        PendingUrl(url, depth, "sitemap", waiting.seed, referrer=outcome.url)
        for url in outcome.sitemaps
    )


# Outcomes in which another URL replaces the visited one.
_REPLACED = ("http_redirect", "canonical")


class _CrawlLoop:
    """The visits in progress, and the URLs taken from the ledger for them."""

    def __init__(
        self,
        configuration: Configuration,
        ledger: UrlLedger,
        processor: PageProcessor,
        fetcher: Fetcher,
        stopped: asyncio.Event,
        follow: bool,
    ) -> None:
        self._ledger = ledger
        self._processor = processor
        self._throttle = fetcher.throttle
        self._stopped = stopped
        self._follow = follow
        self._limit = configuration.max_urls
        self._width = max(int(configuration.rate_limit), 1)
        self._queue: deque[PendingUrl] = deque()
        self._active: dict[asyncio.Task[VisitOutcome], PendingUrl] = {}
        self._ended: list[tuple[VisitOutcome, PendingUrl]] = []
        self._settled_at = monotonic()
        self._known_hosts: set[str] = set()

    async def run(self) -> None:
        """Run until no URL is waiting and no visit is in progress, or until stopped."""
        stop = asyncio.create_task(self._stopped.wait())
        try:
            while not self._stopped.is_set():
                self._refill()
                self._start_visits()
                if not self._active:
                    if not self._ended and not self._queue:
                        return
                    self._settle()
                    continue
                await self._wait(stop)
        finally:
            stop.cancel()
            await self._abort()

    def _refill(self) -> None:
        """Take more URLs from the ledger if too few hosts are free."""
        busy_hosts = self._busy_slow_hosts()
        free = sum(_host(waiting) not in busy_hosts for waiting in self._queue)
        if free >= self._width or len(self._queue) >= MAX_QUEUED_URLS:
            return
        if self._ended:
            if self._active and not self._is_settling_due():
                return
            self._settle()
        busy = {waiting.url for waiting in (*self._active.values(), *self._queue)}
        rows = self._ledger.waiting(LEDGER_READ_URLS + len(busy))
        self._queue.extend(row for row in rows if row.url not in busy)

    def _start_visits(self) -> None:
        """Start visits, one at a time for slow hosts."""
        busy_hosts, later = self._busy_slow_hosts(), []
        while self._queue and len(self._active) < self._width:
            waiting = self._queue.popleft()
            if (host := _host(waiting)) in busy_hosts:
                later.append(waiting)
                continue
            if self._is_slow(host):
                busy_hosts.add(host)
            self._active[asyncio.create_task(self._visit(waiting))] = waiting
        self._queue.extendleft(reversed(later))

    def _busy_slow_hosts(self) -> set[str]:
        """Return the slow hosts with a visit in progress."""
        return {host for host in map(_host, self._active.values()) if self._is_slow(host)}

    def _is_slow(self, host: str) -> bool:
        """Return whether a host requires a delay, or may do so in a robots.txt not yet read."""
        return host not in self._known_hosts or self._throttle.is_slow(host)

    async def _wait(self, stop: asyncio.Task[bool]) -> None:
        """Wait for a visit to end, and settle outcomes when due."""
        await asyncio.wait(
            (*self._active, stop),
            timeout=BATCH_SECONDS if self._ended else None,
            return_when=asyncio.FIRST_COMPLETED,
        )
        self._collect([task for task in self._active if task.done()])
        if self._is_settling_due():
            self._settle()

    def _collect(self, done: Iterable[asyncio.Task[VisitOutcome]]) -> None:
        for task in done:
            waiting = self._active.pop(task)
            self._ended.append((task.result(), waiting))
            if len(self._known_hosts) >= MAX_QUEUED_URLS:
                self._known_hosts.clear()
            self._known_hosts.add(_host(waiting))

    def _is_settling_due(self) -> bool:
        return bool(self._ended) and (
            len(self._ended) >= BATCH_OUTCOMES or monotonic() - self._settled_at >= BATCH_SECONDS
        )

    def _settle(self) -> None:
        """Write the outcomes and the URLs they found to the ledger in one transaction."""
        if not self._ended:
            return
        new_urls = [
            url
            for outcome, waiting in self._ended
            if self._follow or outcome.reason in _REPLACED
            for url in urls_found_by(outcome, waiting)
        ]
        self._ledger.settle([outcome for outcome, _ in self._ended], new_urls, limit=self._limit)
        self._ended, self._settled_at = [], monotonic()

    async def _visit(self, waiting: PendingUrl) -> VisitOutcome:
        try:
            return await self._processor.visit(waiting, self._ledger.remembered(waiting.url))
        except SvcError:
            raise
        except Exception as error:  # one page must not stop the crawl
            log.exception("visiting %s", waiting.url)
            readable = f"internal error of the crawler: {type(error).__name__}: {error}"
            return VisitOutcome(
                waiting.url, waiting.depth, "FAILED", "fetch", "internal_error", readable
            )

    async def _abort(self) -> None:
        """Cancel the visits in progress, whose URLs remain waiting, and settle those that ended."""
        for task in self._active:
            task.cancel()
        await asyncio.gather(*self._active, return_exceptions=True)
        self._settle()


def _host(waiting: PendingUrl) -> str:
    return _host_of(waiting.url)


@lru_cache(MAX_QUEUED_URLS)  # called for all held URLs whenever a visit ends
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
