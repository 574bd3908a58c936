"""Crawlers and domains."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypedDict


class CrawlerCreated(TypedDict):
    """A crawler was made; `warnings` where it writes to an index that is another one's, too."""

    id: str
    warnings: NotRequired[list[str]]


class CrawlerTask(TypedDict):
    """A crawler took a task; `warnings` as when it is made."""

    taskId: str
    warnings: NotRequired[list[str]]


class CrawlerPage(TypedDict):
    """One page of crawlers."""

    items: list[dict[str, str]]
    itemsPerPage: int
    page: int
    total: int


class Crawler(TypedDict, total=False):
    """A crawler and how it stands."""

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
    """How many URLs ended in one way."""

    reason: str
    status: UrlStatus
    category: str
    readable: str
    count: int


class UrlStatistics(TypedDict):
    """How the URLs of the last crawl ended."""

    count: int
    data: list[UrlStatistic]


class CrawledUrl(TypedDict):
    """How one URL of the last crawl ended.

    `depth` counts the links from a start to it, `referrer` is the URL that named it first.
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
    """How the URLs of the last crawl ended, one by one; `cursor` is missing on the last page."""

    urls: Required[list[CrawledUrl]]
    cursor: int


class CrawlTest(TypedDict, total=False):
    """What trying one URL brought."""

    startDate: Required[str]
    endDate: Required[str]
    logs: list[Any]
    records: list[Any]
    links: list[str]
    externalData: dict[str, Any]
    error: dict[str, Any] | None


class CrawlerTaskState(TypedDict):
    """Whether a crawler's task is still to do."""

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
