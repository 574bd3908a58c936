"""Handlers that create, run and inspect crawlers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from svc_notebook.core.api import CrawlerApi
from svc_notebook.core.api.shapes import (
    CrawledUrls,
    Crawler,
    CrawlerCreated,
    CrawlerPage,
    CrawlerTask,
    CrawlerTaskState,
    CrawlTest,
    DomainPage,
    UrlStatistics,
    UrlStatus,
)
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.service import RequestContext

T = TypeVar("T")


@serves(CrawlerApi.create_crawler)
def create_crawler(call: RequestContext, name: str, config: dict[str, Any]) -> CrawlerCreated:
    """Create a crawler, initially paused."""
    made: CrawlerCreated = {"id": call.service.crawlers.create(name, config)}
    if warnings := call.service.crawlers.warnings(made["id"]):
        made["warnings"] = warnings
    return made


@serves(CrawlerApi.list_crawlers)
def list_crawlers(
    call: RequestContext,
    *,
    itemsPerPage: int = 20,
    page: int = 1,
    name: str | None = None,
    appId: str | None = None,
) -> CrawlerPage:
    """List the crawlers whose names contain `name`."""
    text = (name or "").casefold()
    matching = [
        crawler for crawler in call.service.crawlers.all() if text in crawler.name.casefold()
    ]
    items = [
        {"id": crawler.id, "name": crawler.name} for crawler in matching if _is_own(call, appId)
    ]
    shown = _take_page(items, itemsPerPage, page)
    return {"items": shown, "itemsPerPage": itemsPerPage, "page": page, "total": len(items)}


@serves(CrawlerApi.get_crawler)
def get_crawler(call: RequestContext, crawler: str, *, withConfig: bool = False) -> Crawler:
    """Return the state of a crawler, with both names for the start of its last crawl."""
    crawlers = call.service.crawlers
    stored = crawlers.find(crawler)
    result: Crawler = {
        "id": stored.id,
        "name": stored.name,
        "createdAt": stored.created,
        "updatedAt": stored.updated,
        "running": bool(stored.running),
        "reindexing": crawlers.is_reindexing(stored),
        "blocked": stored.blocked,
        "lastReindexStartedAt": stored.began,
        "lastReindexStartAt": stored.began,
        "lastReindexEndedAt": stored.ended,
    }
    if stored.blocking_task is not None:
        result["blockingTaskId"] = stored.blocking_task
        result["blockingError"] = stored.blocking_error or ""
    if warnings := crawlers.warnings(stored.id):
        result["warnings"] = warnings
    if withConfig:
        result["config"] = crawlers.config(stored)
    return result


@serves(CrawlerApi.delete_crawler)
def delete_crawler(call: RequestContext, crawler: str) -> dict[str, Any]:
    """Delete a crawler; its crawl ends, and its indices stay."""
    return {"deletedAt": call.service.crawlers.delete(crawler)}


@serves(CrawlerApi.update_crawler)
def update_crawler(
    call: RequestContext,
    crawler: str,
    name: str | None = None,
    config: dict[str, Any] | None = None,
) -> CrawlerTask:
    """Change the name or the configuration of a crawler."""
    return _task_response(call, crawler, call.service.crawlers.update(crawler, name, config))


@serves(CrawlerApi.update_crawler_config)
def update_crawler_config(
    call: RequestContext, crawler: str, config: dict[str, Any]
) -> CrawlerTask:
    """Change top-level properties of the configuration."""
    return _task_response(call, crawler, call.service.crawlers.configure(crawler, config))


@serves(CrawlerApi.run_crawler)
def run_crawler(call: RequestContext, crawler: str) -> CrawlerTask:
    """Resume a crawler; a crawler with a schedule waits for its next scheduled crawl."""
    return _task_response(call, crawler, call.service.crawlers.run(crawler))


@serves(CrawlerApi.pause_crawler)
def pause_crawler(call: RequestContext, crawler: str) -> CrawlerTask:
    """Pause a crawler after its current pages."""
    return {"taskId": call.service.crawlers.pause(crawler)}


@serves(CrawlerApi.reindex_crawler)
def reindex_crawler(call: RequestContext, crawler: str) -> CrawlerTask:
    """Start a whole crawl, replacing a running one."""
    return _task_response(call, crawler, call.service.crawlers.reindex(crawler))


@serves(CrawlerApi.crawler_url_stats)
def crawler_url_stats(call: RequestContext, crawler: str) -> UrlStatistics:
    """Count the URLs of the last crawl by outcome."""
    data = call.service.crawlers.statistics(crawler)
    return {"count": sum(row["count"] for row in data), "data": data}


@serves(CrawlerApi.list_crawled_urls)
def list_crawled_urls(
    call: RequestContext,
    crawler: str,
    *,
    status: UrlStatus | None = None,
    reason: str | None = None,
    after: int = 0,
    length: int = 1000,
) -> CrawledUrls:
    """Return the outcome of each URL of the last crawl, in order of discovery."""
    rows = call.service.crawlers.urls(crawler, status, reason, after, length)
    page: CrawledUrls = {"urls": [url for _, url in rows]}
    return {**page, "cursor": rows[-1][0]} if len(rows) == length else page


@serves(CrawlerApi.crawl_urls)
def crawl_urls(
    call: RequestContext, crawler: str, urls: list[str], save: bool | None = None
) -> CrawlerTask:
    """Crawl URLs now."""
    return {"taskId": call.service.crawlers.crawl(crawler, urls, save)}


@serves(CrawlerApi.test_crawler_url)
def try_crawler_url(
    call: RequestContext, crawler: str, url: str, config: dict[str, Any] | None = None
) -> CrawlTest:
    """Test one URL without storing anything."""
    return call.service.crawlers.test(crawler, url, config)


@serves(CrawlerApi.get_crawler_task)
def get_crawler_task(call: RequestContext, crawler: str, task_id: str) -> CrawlerTaskState:
    """Return whether a crawler's task is pending."""
    return {"pending": call.service.crawlers.is_pending(crawler, task_id)}


@serves(CrawlerApi.cancel_crawler_task)
def cancel_crawler_task(call: RequestContext, crawler: str, task_id: str) -> dict[str, Any]:
    """Cancel the task that blocks a crawler."""
    call.service.crawlers.cancel(crawler, task_id)
    return {}


@serves(CrawlerApi.list_domains)
def list_domains(
    call: RequestContext, *, appId: str | None = None, itemsPerPage: int = 20, page: int = 1
) -> DomainPage:
    """List the domains of the crawlers' start URLs; ownership is not verified."""
    app_id = call.service.keyring.facts["appId"]
    named = call.service.crawlers.domains() if _is_own(call, appId) else []
    return {
        "items": [
            {"appId": app_id, "domain": domain, "verified": True, "validated": True}
            for domain in _take_page(named, itemsPerPage, page)
        ],
        "itemsPerPage": itemsPerPage,
        "page": page,
        "total": len(named),
    }


def _task_response(call: RequestContext, crawler: str, task: str) -> CrawlerTask:
    """Return a task's id and the crawler's warnings."""
    warnings = call.service.crawlers.warnings(crawler)
    return {"taskId": task, "warnings": warnings} if warnings else {"taskId": task}


def _is_own(call: RequestContext, app_id: str | None) -> bool:
    """Return whether `app_id` is this service's application; true if it is not given."""
    return not app_id or app_id == call.service.keyring.facts["appId"]


def _take_page(items: Sequence[T], size: int, page: int) -> list[T]:
    return list(items[(page - 1) * size : page * size])
