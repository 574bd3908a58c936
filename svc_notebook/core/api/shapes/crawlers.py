"""Shapes of crawlers, crawled URLs and domains."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypedDict


class CrawlerCreated(TypedDict):
    """Response to a new crawler; `warnings` if another crawler writes to the same index."""

    id: str
    warnings: NotRequired[list[str]]


class CrawlerTask(TypedDict):
    """Response to a request to a crawler; `warnings` as in `CrawlerCreated`."""

    taskId: str
    warnings: NotRequired[list[str]]


class CrawlerPage(TypedDict):
    """One page of crawlers."""

    items: list[dict[str, str]]
    itemsPerPage: int
    page: int
    total: int


class Crawler(TypedDict, total=False):
    """A crawler and its state."""

    id: Required[str]
    name: Required[str]
    createdAt: Required[str]
    updatedAt: Required[str]
    running: Required[bool]
    reindexing: Required[bool]
    blocked: Required[bool]
    lastReindexStartedAt: str | None
    lastReindexStartAt: str | None
    lastReindexEndedAt: str | None
    blockingTaskId: str
    blockingError: str
    warnings: list[str]
    config: dict[str, Any]


UrlStatus = Literal["DONE", "SKIPPED", "FAILED"]


class UrlStatistic(TypedDict):
    """The number of URLs with one outcome."""

    reason: str
    status: UrlStatus
    category: str
    readable: str
    count: int


class UrlStatistics(TypedDict):
    """The numbers of URLs of the last crawl by outcome."""

    count: int
    data: list[UrlStatistic]


class CrawledUrl(TypedDict):
    """The outcome of one URL of the last crawl.

    `depth` is the number of links from a start URL to it; `referrer` is the first URL that linked
    it.
    """

    url: str
    kind: Literal["page", "sitemap"]
    status: UrlStatus
    category: str
    reason: str
    message: str
    depth: int
    time: str | None
    referrer: str | None


class CrawledUrls(TypedDict, total=False):
    """The outcomes of URLs of the last crawl; the last page has no `cursor`."""

    urls: Required[list[CrawledUrl]]
    cursor: int


class CrawlTest(TypedDict, total=False):
    """The result of a test of one URL."""

    startDate: Required[str]
    endDate: Required[str]
    logs: list[Any]
    records: list[Any]
    links: list[str]
    externalData: dict[str, Any]
    error: dict[str, Any] | None


class CrawlerTaskState(TypedDict):
    """Whether a crawler's task is pending."""

    pending: bool


class Domain(TypedDict):
    """A registered domain."""

    appId: str
    domain: str
    verified: bool
    validated: NotRequired[bool]


class DomainPage(TypedDict):
    """One page of domains."""

    items: list[Domain]
    itemsPerPage: int
    page: int
    total: int
