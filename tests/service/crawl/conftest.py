"""What the tests of the crawl share: a site, and one engine for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.frontier import crawl
from svc_notebook.service.crawl.page_processor import visit
from svc_notebook.service.crawl.transport.fetcher import Fetcher
from svc_notebook.service.crawl.visits import PendingUrl, Remembered, VisitOutcome
from tests.service.crawl.memory_ledger import MemoryLedger
from tests.service.crawl.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def engine() -> Iterator[Extractors]:
    with Extractors() as engine:
        yield engine


class Crawler:
    """Crawls and visits with one engine, on the loopback, without long waits."""

    def __init__(self, engine: Extractors) -> None:
        self.engine = engine

    def crawl(
        self, config: dict[str, Any], ledger: MemoryLedger | None = None, **how: Any
    ) -> MemoryLedger:
        """Run a crawl to its end, or until so many URLs are `settled`."""
        ledger = ledger or MemoryLedger()
        asyncio.run(self._crawl(config, ledger, **how))
        return ledger

    def visit(
        self, config: dict[str, Any], url: str, remembered: Remembered | None = None
    ) -> VisitOutcome:
        """Visit one URL."""
        return asyncio.run(self._visit(config, url, remembered))

    async def _crawl(
        self,
        config: dict[str, Any],
        ledger: MemoryLedger,
        *,
        settled: int | None = None,
        whole: bool = True,
    ) -> None:
        configuration = read_configuration(config)
        stopped = asyncio.Event()
        if settled is not None:

            def stop(ledger: MemoryLedger) -> None:
                if len(ledger.outcomes) >= settled:
                    stopped.set()

            ledger.after = stop
        async with Fetcher(configuration, allow_private=True, backoff=0.01) as fetcher:
            await crawl(
                configuration,
                ledger,
                fetcher=fetcher,
                extractors=self.engine,
                stopped=stopped,
                whole=whole,
            )

    async def _visit(
        self, config: dict[str, Any], url: str, remembered: Remembered | None
    ) -> VisitOutcome:
        configuration = read_configuration(config)
        async with Fetcher(configuration, allow_private=True, backoff=0.01) as fetcher:
            return await visit(
                configuration,
                PendingUrl(url, seed=True),
                fetcher=fetcher,
                extractors=self.engine,
                remembered=remembered,
            )


@pytest.fixture
def crawler(engine: Extractors) -> Crawler:
    return Crawler(engine)
