"""Test one URL with a configuration: return what it yields, and store nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from svc_notebook.core.api.shapes import CrawlTest
from svc_notebook.errors import SvcError
from svc_notebook.service.crawlers.crawler import Config
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.work import open_tools
from svc_notebook.service.indices.published_index import stamp_now

if TYPE_CHECKING:
    from svc_notebook.service.crawl.outcomes import ActionResult, VisitOutcome

# Less than the response timeout of clients.
TRIAL_SECONDS = 25


async def try_url(dependencies: CrawlerDependencies, config: Config, url: str) -> CrawlTest:
    """Visit one URL; errors are part of the response."""
    from svc_notebook.service.crawl.ledger import PendingUrl
    from svc_notebook.service.crawl.page_processor import visit

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
            f" {compared.page.text_characters:,} characters of text,"
            f" {len(compared.found):,} links to follow, {records:,} records"
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
