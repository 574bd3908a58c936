"""The two jobs of a crawler: a whole crawl, and a crawl of given URLs."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from svc_notebook.errors import SvcError
from svc_notebook.service.crawlers.crawl import Crawl
from svc_notebook.service.crawlers.crawler import Config, StoredCrawler, present_config
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.ledger import CrawlLedger, TaskLedger
from svc_notebook.service.crawlers.preconditions import find_fault, read_config
from svc_notebook.service.crawlers.reindex import block, block_urls, publish
from svc_notebook.service.crawlers.task import StoredCrawlerTask
from svc_notebook.service.store import is_storage_trouble

if TYPE_CHECKING:
    from svc_notebook.service.crawl.configuration import Configuration
    from svc_notebook.service.crawl.extraction.extractors import Extractors
    from svc_notebook.service.crawl.transport.fetcher import Fetcher

Tools = tuple["Configuration", "Fetcher", "Extractors"]
# Seconds between two checks whether writes are published, and between two attempts on a full disk.
LOOK, PAUSE = 0.02, 1.0


async def work_reindex(
    parts: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl, stopped: asyncio.Event
) -> None:
    """Resume a crawl and publish it at its end; an error blocks the crawler."""
    from svc_notebook.service.crawl.frontier import crawl as visit_all

    ledger = CrawlLedger(parts.store, parts.tasks, crawler, crawl)

    async def go_on() -> None:
        async with open_tools(parts, crawl.config) as (configuration, fetcher, extractors):
            await visit_all(
                configuration, ledger, fetcher=fetcher, extractors=extractors, stopped=stopped
            )

    fault = await _try(go_on, stopped)
    if stopped.is_set():
        return
    if fault:
        block(parts, crawler, crawl, fault)
        return
    await _wait_published(parts, stopped)
    if not stopped.is_set():
        publish(parts, crawler, crawl)


async def work_urls(
    parts: CrawlerDependencies,
    crawler: StoredCrawler,
    task: StoredCrawlerTask,
    stopped: asyncio.Event,
) -> None:
    """Visit the URLs of a task; an error of the whole task blocks the crawler."""
    from svc_notebook.service.crawl.frontier import crawl as visit_all

    config = present_config(parts.store, crawler)
    ledger = TaskLedger(parts.store, parts.tasks, crawler, task.id, config)

    async def visit() -> None:
        async with open_tools(parts, config) as (configuration, fetcher, extractors):
            await visit_all(
                configuration,
                ledger,
                fetcher=fetcher,
                extractors=extractors,
                stopped=stopped,
                whole=False,
            )

    fault = find_fault(parts, config) or await _try(visit, stopped)
    if fault and not stopped.is_set():
        block_urls(parts, crawler, task.id, f"URLs were not crawled: {fault}")


@asynccontextmanager
async def open_tools(parts: CrawlerDependencies, config: Config) -> AsyncIterator[Tools]:
    """Open the fetcher and the extractors of a configuration."""
    from svc_notebook.service.crawl.transport.fetcher import Fetcher

    configuration = read_config(config)
    with parts.engines.lend() as extractors:
        async with Fetcher(configuration, allow_private=parts.allow_private) as fetcher:
            yield configuration, fetcher, extractors


async def _try(work: Callable[[], Awaitable[None]], stopped: asyncio.Event) -> str:
    """Run a job; return why it failed, or an empty text. Retries while the disk fails."""
    while not stopped.is_set():
        try:
            await work()
        except SvcError as error:
            return str(error)
        except Exception as error:
            if not is_storage_trouble(error):
                traceback.print_exception(error, file=sys.stderr)
                return f"the crawl failed: {type(error).__name__}; the service's output tells more"
            sys.stderr.write(f"a crawl waits: {error}; free the disk or the data folder's file\n")
            await rest(stopped, PAUSE)
        else:
            return ""
    return ""


async def _wait_published(parts: CrawlerDependencies, stopped: asyncio.Event) -> None:
    """Wait until all writes so far are published."""
    last = parts.tasks.last
    while parts.tasks.published < last and not stopped.is_set():
        await rest(stopped, LOOK)


async def rest(stopped: asyncio.Event, seconds: float) -> None:
    """Sleep, but wake up when the job is stopped."""
    try:
        await asyncio.wait_for(stopped.wait(), seconds)
    except TimeoutError:
        return
