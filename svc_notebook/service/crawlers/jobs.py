"""The jobs of a crawler: a whole crawl, a crawl of given URLs, and a test of one URL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from svc_notebook.core.api.shapes import CrawlTest
from svc_notebook.core.display import format_count
from svc_notebook.errors import SvcError
from svc_notebook.service.background_thread import ERROR_LOG
from svc_notebook.service.crawlers.configurations import find_config_error, read_config
from svc_notebook.service.crawlers.crawl import Crawl
from svc_notebook.service.crawlers.crawler import (
    Config,
    StoredCrawler,
    StoredCrawlerTask,
    current_config,
)
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.ledger import CrawlLedger, TaskLedger
from svc_notebook.service.crawlers.reindex import block, block_urls, publish
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.store import advise_on_storage, is_storage_failure

if TYPE_CHECKING:
    from svc_notebook.service.crawl.configuration import Configuration
    from svc_notebook.service.crawl.extraction.extractors import Extractors
    from svc_notebook.service.crawl.transport.fetcher import Fetcher
    from svc_notebook.service.crawl.visits import ActionResult, VisitOutcome

# Less than the response timeout of clients.
TRIAL_SECONDS = 25
Tools = tuple["Configuration", "Fetcher", "Extractors"]
# Seconds between two checks whether writes are published, and between two attempts on a full disk.
PUBLISH_POLL_SECONDS, RETRY_SECONDS = 0.02, 1.0


async def run_reindex(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl, stopped: asyncio.Event
) -> None:
    """Resume a crawl and publish it at its end; an error blocks the crawler."""
    from svc_notebook.service.crawl.frontier import crawl as visit_all

    ledger = CrawlLedger(
        dependencies.store, dependencies.tasks, crawler, crawl, dependencies.catalog
    )

    async def visit() -> None:
        async with open_tools(dependencies, crawl.config) as (configuration, fetcher, extractors):
            await visit_all(
                configuration,
                ledger,
                fetcher=fetcher,
                extractors=extractors,
                stopped=stopped,
                browser=dependencies.browser,
            )

    error = await _run_job(visit, stopped)
    if stopped.is_set():
        return
    if error:
        block(dependencies, crawler, crawl, error)
        return
    await _wait_published(dependencies, stopped)
    if not stopped.is_set():
        publish(dependencies, crawler, crawl)


async def run_urls(
    dependencies: CrawlerDependencies,
    crawler: StoredCrawler,
    task: StoredCrawlerTask,
    stopped: asyncio.Event,
) -> None:
    """Visit the URLs of a task; an error of the whole task blocks the crawler."""
    from svc_notebook.service.crawl.frontier import crawl as visit_all

    config = current_config(dependencies.store, crawler)
    ledger = TaskLedger(dependencies.store, dependencies.tasks, crawler, task.id, config)

    async def visit() -> None:
        async with open_tools(dependencies, config) as (configuration, fetcher, extractors):
            await visit_all(
                configuration,
                ledger,
                fetcher=fetcher,
                extractors=extractors,
                stopped=stopped,
                whole=False,
                browser=dependencies.browser,
            )

    error = find_config_error(dependencies, config) or await _run_job(visit, stopped)
    if error and not stopped.is_set():
        block_urls(dependencies, crawler, task.id, f"URLs were not crawled: {error}")


@asynccontextmanager
async def open_tools(dependencies: CrawlerDependencies, config: Config) -> AsyncIterator[Tools]:
    """Open the fetcher and the extractors of a configuration."""
    from svc_notebook.service.crawl.transport.fetcher import Fetcher

    configuration = read_config(config)
    with dependencies.engines.borrow() as extractors:
        async with Fetcher(configuration, allow_private=dependencies.allow_private) as fetcher:
            yield configuration, fetcher, extractors


async def _run_job(work: Callable[[], Awaitable[None]], stopped: asyncio.Event) -> str:
    """Run a job; return why it failed, or an empty text. Retries while the disk fails."""
    while not stopped.is_set():
        try:
            await work()
        except SvcError as error:
            return str(error)
        except Exception as error:
            if not is_storage_failure(error):
                ERROR_LOG.write_traceback(error)
                return f"the crawl failed: {type(error).__name__}; see the service's output"
            ERROR_LOG.write(f"a crawl is waiting: {error}; {advise_on_storage(error)}")
            await sleep_unless_stopped(stopped, RETRY_SECONDS)
        else:
            return ""
    return ""


async def _wait_published(dependencies: CrawlerDependencies, stopped: asyncio.Event) -> None:
    """Wait until all writes so far are published."""
    last = dependencies.tasks.last
    while dependencies.tasks.published < last and not stopped.is_set():
        await sleep_unless_stopped(stopped, PUBLISH_POLL_SECONDS)


async def sleep_unless_stopped(stopped: asyncio.Event, seconds: float) -> None:
    """Sleep, but wake up when the job is stopped."""
    try:
        await asyncio.wait_for(stopped.wait(), seconds)
    except TimeoutError:
        return


async def try_url(dependencies: CrawlerDependencies, config: Config, url: str) -> CrawlTest:
    """Visit one URL; errors are part of the response."""
    from svc_notebook.service.crawl.page_processor import visit
    from svc_notebook.service.crawl.visits import PendingUrl

    began, steps = stamp_now(), ["waiting for a free slot"]
    try:
        async with asyncio.timeout(TRIAL_SECONDS), open_tools(dependencies, config) as tools:
            configuration, fetcher, extractors = tools
            pending = PendingUrl(url, seed=True)
            outcome = await visit(
                configuration,
                pending,
                fetcher=fetcher,
                extractors=extractors,
                on_step=steps.append,
                browser=dependencies.browser,
            )
            plain = None
            if configuration.rendering and configuration.rendering.applies(url):
                steps.append("visiting the page without a browser")
                plain = await visit(
                    replace(configuration, rendering=None, login=None),  # the session is kept
                    pending,
                    fetcher=fetcher,
                    extractors=extractors,
                )
    except TimeoutError:
        text = f"the page was not finished within {TRIAL_SECONDS} s; last step: {steps[-1]}"
        return _failed(began, "timeout", text)
    except SvcError as error:
        return _failed(began, "configuration_error", str(error))
    return _make_result(began, outcome, plain)


def _make_result(began: str, outcome: VisitOutcome, plain: VisitOutcome | None) -> CrawlTest:
    result: CrawlTest = {
        "startDate": began,
        "endDate": stamp_now(),
        "logs": [[line] for line in (*_lines(outcome), *_compare(outcome, plain))],
        "records": [_records(action_result) for action_result in outcome.yielded],
        "links": list(outcome.found),
        "externalData": _plain(outcome.external),
        "error": None,
    }
    if outcome.status != "DONE" or outcome.reason == "duplicate_object_id":
        result["error"] = {"code": outcome.reason, "message": outcome.readable}
    elif faults := [
        action_result.error for action_result in outcome.yielded if action_result.error
    ]:
        result["error"] = {"code": "extractor_error", "message": "; ".join(faults)}
    return result


def _records(yielded: ActionResult) -> dict[str, Any]:
    extracted = {"index": yielded.action, "type": "custom", "records": yielded.records}
    return {
        "indexName": yielded.index,
        "records": yielded.records,
        "recordsPerExtractor": [extracted],
    }


def _lines(outcome: VisitOutcome) -> Iterable[str]:
    yield f"Processing url '{outcome.url}'"
    yield from outcome.logs


def _compare(outcome: VisitOutcome, plain: VisitOutcome | None) -> Iterable[str]:
    """Describe what the page has with and without a browser, if the browser rendered it."""
    if plain is None:
        return
    for name, compared in (("without a browser", plain), ("with a browser", outcome)):
        if compared.page is None:
            yield f"{name}: {compared.reason}: {compared.readable}"
            continue
        records = sum(len(yielded.records) for yielded in compared.yielded)
        yield (
            f"{name}: {compared.page.body_bytes:,} bytes,"
            f" {format_count(compared.page.text_characters, 'character')} of text,"
            f" {format_count(len(compared.found), 'link')} to follow,"
            f" {format_count(records, 'record')}"
        )


def _plain(external: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: dict(data) if isinstance(data, Mapping) else data for name, data in external.items()
    }


def _failed(began: str, code: str, message: str) -> CrawlTest:
    return {
        "startDate": began,
        "endDate": stamp_now(),
        "logs": [],
        "records": [],
        "links": [],
        "externalData": {},
        "error": {"code": code, "message": message},
    }
