"""Read the outcome of each URL of a crawl from its ledger, page by page."""

from __future__ import annotations

from datetime import UTC, datetime

from svc_notebook.api.shapes import CrawledUrl, UrlStatus
from svc_notebook.service.store import Store


def read_urls(
    store: Store,
    crawl: int,
    status: UrlStatus | None,
    reason: str | None,
    after: int,
    length: int,
) -> list[tuple[int, CrawledUrl]]:
    """Return up to `length` visited URLs with their places, after the place `after`.

    Sitemaps are included only if they failed, as in the statistics.
    """
    rows = store.read(
        "SELECT one.place, one.url, one.kind, one.status, one.category, one.reason, one.readable, "
        "one.depth, one.ended, other.url FROM crawl_urls AS one "
        "LEFT JOIN crawl_urls AS other ON other.place = one.referrer AND other.crawl = one.crawl "
        "WHERE one.crawl = ? AND one.place > ? AND one.status IS NOT NULL "
        "AND (one.kind = 'page' OR one.status = 'FAILED') "
        "AND one.status = coalesce(?, one.status) AND one.reason = coalesce(?, one.reason) "
        "ORDER BY one.place LIMIT ?",
        crawl,
        after,
        status,
        reason,
        length,
    )
    return [
        (
            place,
            {
                "url": url,
                "kind": kind,
                "status": ended_as,
                "category": category,
                "reason": why,
                "message": message,
                "depth": depth,
                "time": _write_time(ended),
                "referrer": referrer,
            },
        )
        for place, url, kind, ended_as, category, why, message, depth, ended, referrer in rows
    ]


def _write_time(seconds: float | None) -> str | None:
    """Format a time; URLs visited before the time was stored have none."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
