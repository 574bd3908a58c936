"""Endpoints that create, run and inspect crawlers."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.families.events import PageLength
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
from svc_notebook.core.api.values import Natural, Positive

PageSize = Annotated[int, Meta(ge=1, le=100)]
Urls = Annotated[list[str], Meta(max_length=50)]


class CrawlerApi(Api, interface="crawler"):
    """The crawler interface; only the local service has the endpoints below `/local`."""

    @endpoint("POST", "/api/1/crawlers", acl="crawler", repeatable=False)
    async def create_crawler(self, name: str, config: dict[str, Any]) -> CrawlerCreated:
        """Create a crawler."""
        ...

    @endpoint("GET", "/api/1/crawlers", acl="crawler")
    async def list_crawlers(
        self,
        *,
        itemsPerPage: PageSize = 20,
        page: Positive = 1,
        name: str | None = None,
        appId: str | None = None,
    ) -> CrawlerPage:
        """List the crawlers, one page at a time; pages are numbered from 1."""
        ...

    @endpoint("GET", "/api/1/crawlers/{crawler}", acl="crawler")
    async def get_crawler(self, crawler: str, *, withConfig: bool = False) -> Crawler:
        """Read the state of a crawler."""
        ...

    @endpoint("PATCH", "/api/1/crawlers/{crawler}", acl="crawler")
    async def update_crawler(
        self, crawler: str, name: str | None = None, config: dict[str, Any] | None = None
    ) -> CrawlerTask:
        """Change the name or the configuration of a crawler."""
        ...

    @endpoint("PATCH", "/api/1/crawlers/{crawler}/config", acl="crawler")
    async def update_crawler_config(
        self, crawler: str, config: Body[dict[str, Any]]
    ) -> CrawlerTask:
        """Replace top-level properties of a crawler's configuration."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/run", acl="crawler")
    async def run_crawler(self, crawler: str) -> CrawlerTask:
        """Resume a crawler; a crawler with a schedule waits for its next scheduled crawl."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/pause", acl="crawler")
    async def pause_crawler(self, crawler: str) -> CrawlerTask:
        """Pause a crawler."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/reindex", acl="crawler")
    async def reindex_crawler(self, crawler: str) -> CrawlerTask:
        """Start a whole crawl; a running one is restarted."""
        ...

    @endpoint("GET", "/api/1/crawlers/{crawler}/stats/urls", acl="crawler")
    async def crawler_url_stats(self, crawler: str) -> UrlStatistics:
        """Count the URLs of the last crawl by outcome."""
        ...

    @endpoint("GET", "/local/1/crawlers/{crawler}/urls", acl="crawler")
    async def list_crawled_urls(
        self,
        crawler: str,
        *,
        status: UrlStatus | None = None,
        reason: str | None = None,
        after: Natural = 0,
        length: PageLength = 1000,
    ) -> CrawledUrls:
        """Read the outcome of each URL of the last crawl; only the local service has this endpoint.

        `after` is the cursor of the previous page.
        """
        ...

    @endpoint("DELETE", "/local/1/crawlers/{crawler}", acl="crawler")
    async def delete_crawler(self, crawler: str) -> dict[str, Any]:
        """Delete a crawler, but not its indices; only the local service has this endpoint."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/urls/crawl", acl="crawler")
    async def crawl_urls(self, crawler: str, urls: Urls, save: bool | None = None) -> CrawlerTask:
        """Crawl up to 50 URLs now."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/test", acl="crawler")
    async def test_crawler_url(
        self, crawler: str, url: str, config: dict[str, Any] | None = None
    ) -> CrawlTest:
        """Test one URL without storing anything."""
        ...

    @endpoint("GET", "/api/1/crawlers/{crawler}/tasks/{task_id}", acl="crawler")
    async def get_crawler_task(self, crawler: str, task_id: str) -> CrawlerTaskState:
        """Return whether a crawler's task is pending."""
        ...

    @endpoint("POST", "/api/1/crawlers/{crawler}/tasks/{task_id}/cancel", acl="crawler")
    async def cancel_crawler_task(self, crawler: str, task_id: str) -> dict[str, Any]:
        """Cancel the task that blocks a crawler."""
        ...

    @endpoint("GET", "/api/1/domains", acl="crawler")
    async def list_domains(
        self, *, appId: str | None = None, itemsPerPage: PageSize = 20, page: Positive = 1
    ) -> DomainPage:
        """List the registered domains."""
        ...
