"""Visits of a crawl: URLs to visit, outcomes, and the interface of the store that keeps both.

Each reason of an outcome has a status, a category and a message for users. Failures also have
reasons such as `timeout` and `dns_error` (`FAILURES`), or `http_404` for an HTTP status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal, Protocol


class FetchFailure(Exception):
    """A failed visit; `reason` is the key in statistics."""

    def __init__(self, reason: str, readable: str) -> None:
        super().__init__(readable)
        self.reason = reason
        self.readable = readable


Status = Literal["DONE", "SKIPPED", "FAILED"]
Category = Literal["fetch", "extraction", "indexing", "success"]


@dataclass(frozen=True)
class ActionResult:
    """The result of one action on a page; `action` is its index in the configuration."""

    action: int
    index: str  # the full name: indexPrefix + indexName
    records: list[dict[str, Any]] = field(default_factory=list)
    logs: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Remembered:
    """What an earlier crawl kept of a URL to skip it while unchanged.

    `fingerprint` is a hash of everything besides the page that affects the records.
    """

    etag: str | None
    modified: str | None
    fingerprint: str
    found: tuple[str, ...] = ()
    yielded: tuple[ActionResult, ...] = ()


@dataclass(frozen=True)
class ReadPage:
    """The size of a page that was read, as the browser returned it if it was rendered."""

    body_bytes: int
    text_characters: int
    is_rendered: bool


@dataclass(frozen=True)
class VisitOutcome:
    """The outcome of visiting one URL.

    `found` are the URLs to visit next, `remember` is kept for the next crawl.
    """

    url: str
    depth: int
    status: Status
    category: Category
    reason: str
    readable: str
    yielded: tuple[ActionResult, ...] = ()
    found: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()  # sitemaps listed in a sitemap or robots.txt
    logs: tuple[str, ...] = ()
    remember: Remembered | None = None
    page: ReadPage | None = None
    external: Mapping[str, Any] = field(default_factory=dict)  # the page's `dataSources`

    @property
    def records(self) -> dict[str, list[dict[str, Any]]]:
        """The records to index, by full index name; a failed page has none.

        `yielded` still contains what its extractors returned.
        """
        if self.status != "DONE":
            return {}
        by_index: dict[str, list[dict[str, Any]]] = {}
        for yielded in self.yielded:
            by_index.setdefault(yielded.index, []).extend(yielded.records)
        return by_index


REASONS: dict[str, tuple[Status, Category, str]] = {
    "success": ("DONE", "success", "The page was read and has records"),
    "not_modified": ("DONE", "success", "The page has not changed: its records are kept"),
    "duplicate_object_id": (
        "DONE",
        "indexing",
        "Records of the page share an objectID: the last of them was kept",
    ),
    "sitemap": ("DONE", "success", "The sitemap was read"),
    "excluded": ("SKIPPED", "fetch", "An exclusion pattern matches the URL"),
    "forbidden_by_robotstxt": ("SKIPPED", "fetch", "The site's robots.txt forbids the URL"),
    "http_redirect": ("SKIPPED", "fetch", "The URL redirects to another one"),
    "unsupported_file_type": ("SKIPPED", "fetch", "No action processes files of this type"),
    "canonical": ("SKIPPED", "extraction", "The page names another URL as its canonical one"),
    "noindex": ("SKIPPED", "extraction", "The page forbids indexing (noindex)"),
    "no_action_matched": ("SKIPPED", "extraction", "The page was visited for its links only"),
    "selectors_not_matched": ("SKIPPED", "extraction", "No action's selectors match the page"),
    "no_records": ("SKIPPED", "extraction", "The extractors returned no record for the page"),
}
# The general message of each failure; a URL's own message is more specific.
FAILURES: dict[str, str] = {
    "broken_file": "The file is broken",
    "connection_refused": "The host refuses the connection",
    "dns_error": "The host name is unknown",
    "extractor_error": "An extractor failed on the page",
    "internal_error": "The crawler failed (internal error)",
    "invalid_body": "The body cannot be decompressed",
    "invalid_object_id": "The objectID of a record is neither text nor a number",
    "invalid_record": "A record cannot be stored",
    "invalid_sitemap": "It is not a sitemap",
    "login_refused": "The login failed",
    "missing_object_id": "A record has no objectID",
    "network_error": "The connection failed",
    "page_too_big": "The body is larger than a page may be",
    "private_address": "The host is on this machine or its network",
    "protected": "The file is protected by a password",
    "reading_timed_out": "Parsing the page took too long",
    "record_too_big": "A record exceeds the size limit of an index",
    "rendering_failed": "The browser could not render the page",
    "rendered_incomplete": "Requests of the rendered page failed: its earlier records are kept",
    "rendering_timed_out": "The scripts of the page did not end in time",
    "robotstxt_unavailable": "The site's robots.txt cannot be read",
    "timeout": "The response was not complete in time",
    "tls_error": "The host has no valid certificate",
    "too_large": "Parsing the page took too much memory",
    "too_many_redirects": "Too many consecutive redirects",
    "truncated_body": "The body is truncated",
    "unsupported_encoding": "The encoding of the body is not supported",
    "unsupported_file_format": "Files of this format cannot be read",
}


def describe_reason(reason: str) -> str:
    """Return the general message of a reason."""
    if reason in REASONS:
        return REASONS[reason][2]
    if reason.startswith("http_") and reason[5:].isdigit():
        return refuse_status(int(reason[5:])).readable
    return FAILURES.get(reason, reason.replace("_", " "))


def refuse_status(status: int) -> FetchFailure:
    """Return the failure for an HTTP status without a page."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "unknown"
    return FetchFailure(f"http_{status}", f"The server answers {status} ({phrase})")


Kind = Literal["page", "sitemap"]


@dataclass(frozen=True)
class PendingUrl:
    """A URL to visit; `depth` is the number of links from a start URL.

    A seed comes from the configuration or a sitemap and may be deeper than `maxDepth`. `hops` is
    the number of consecutive redirects to it; `referrer` is the URL that named it first.
    """

    url: str
    depth: int = 0
    kind: Kind = "page"
    seed: bool = False
    hops: int = 0
    referrer: str | None = None


class UrlLedger(Protocol):
    """The URLs of one crawl: each is either waiting or settled for good.

    A URL is identified by its text alone; a sitemap and a page never have the same URL.
    """

    def waiting(self, n: int) -> list[PendingUrl]:
        """Return the first `n` unsettled URLs, by depth, then in insertion order."""
        ...

    def add(self, new_urls: Iterable[PendingUrl], *, limit: int | None = None) -> None:
        """Queue unknown URLs while fewer than `limit` pages are known."""
        ...

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        new_urls: Iterable[PendingUrl],
        *,
        limit: int | None = None,
    ) -> None:
        """Store outcomes with their records, and queue the URLs they found, atomically.

        A settled URL is not changed.
        """
        ...

    def remembered(self, url: str) -> Remembered | None:
        """Return what the last whole crawl kept for revalidating a URL, None if nothing."""
        ...
