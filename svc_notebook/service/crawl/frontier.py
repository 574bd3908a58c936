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
from svc_notebook.service.crawl.fetcher import Fetcher
from svc_notebook.service.crawl.ledger import UrlLedger, Waiting
from svc_notebook.service.crawl.outcomes import VisitOutcome
from svc_notebook.service.crawl.page_processor import Visitor

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Extractors

# URLs taken from the ledger at once: enough to find one whose host is free.
WINDOW_URLS = 500
# The most that are held, where all those hosts ask for patience.
MAX_TAKEN_URLS = 10 * WINDOW_URLS
# Outcomes are settled together: a transaction costs a flush to the disk.
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
    """Visit all that waits; a whole crawl begins with the configuration's own URLs.

    Without `whole` only what is in the ledger is visited, and no link but a redirect is followed.
    It may be killed at any moment and called again on the same ledger. Raises `BadInput` where it
    cannot begin: login refused, external data that cannot be read.
    """
    visitor = Visitor(configuration, fetcher, extractors)
    try:
        await _unless_stopped(visitor.prepare(), stopped)
        if whole and not stopped.is_set():
            ledger.add(seeds(configuration), limit=configuration.max_urls)
        await _Round(configuration, ledger, visitor, fetcher, stopped, whole).run()
    finally:
        await visitor.close()


def seeds(configuration: Configuration) -> Iterator[Waiting]:
    """List what a whole crawl begins with."""
    yield from (Waiting(url, seed=True) for url in configuration.start_urls)
    yield from (Waiting(url, kind="sitemap", seed=True) for url in configuration.sitemaps)


def found_by(outcome: VisitOutcome, waiting: Waiting) -> Iterator[Waiting]:
    """List what a visit found; what a seed's sitemap or redirect leads to is a seed as well."""
    handed_on = outcome.reason in _HANDED_ON
    depth = outcome.depth + (not handed_on)
    heir = waiting.seed and (waiting.kind == "sitemap" or handed_on)
    hops = waiting.hops + 1 if handed_on else 0
    yield from (
        Waiting(url, depth, seed=heir, hops=hops, referrer=outcome.url) for url in outcome.found
    )
    yield from (
        Waiting(url, depth, "sitemap", waiting.seed, referrer=outcome.url)
        for url in outcome.sitemaps
    )


# Where one URL stands for another, the other one takes its place.
_HANDED_ON = ("http_redirect", "canonical")


class _Round:
    """The visits under way, and what is taken from the ledger for them."""

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
        self._next: deque[Waiting] = deque()
        self._active: dict[asyncio.Task[VisitOutcome], Waiting] = {}
        self._ended: list[tuple[VisitOutcome, Waiting]] = []
        self._settled_at = monotonic()
        self._met: set[str] = set()

    async def run(self) -> None:
        """Go on until nothing waits and nothing is under way, or until it is stopped."""
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
        """Take more from the ledger when there is too little to choose from."""
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
        """Begin visits: one at a time with a host that asks for patience."""
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
        """Return the hosts that are asked for one page at a time, and are asked for one now."""
        return {host for host in map(_host, self._active.values()) if self._is_slow(host)}

    def _is_slow(self, host: str) -> bool:
        """Say whether a host asks for patience, or may do so in the robots.txt yet to be read."""
        return host not in self._met or self._pace.is_slow(host)

    async def _wait(self, stop: asyncio.Task[bool]) -> None:
        """Wait for a visit to end, and settle when it is time."""
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
        """Hand over how visits ended, with what they found, in one step."""
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

    async def _visit(self, waiting: Waiting) -> VisitOutcome:
        try:
            return await self._visitor.visit(waiting, self._ledger.remembered(waiting.url))
        except SvcError:
            raise
        except Exception as error:  # one page must not end the crawl
            log.exception("visiting %s", waiting.url)
            readable = f"the crawler itself failed: {type(error).__name__}: {error}"
            return VisitOutcome(
                waiting.url, waiting.depth, "FAILED", "fetch", "internal_error", readable
            )

    async def _leave_off(self) -> None:
        """End the visits under way; they wait in the ledger still. Keep what has ended."""
        for task in self._active:
            task.cancel()
        await asyncio.gather(*self._active, return_exceptions=True)
        self._settle()


def _host(waiting: Waiting) -> str:
    return _host_of(waiting.url)


@lru_cache(MAX_TAKEN_URLS)  # asked for all that is held, whenever a visit ends
def _host_of(url: str) -> str:
    return urlsplit(url).netloc


async def _unless_stopped(work: object, stopped: asyncio.Event) -> None:
    """Do work, or leave off when it is stopped."""
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
