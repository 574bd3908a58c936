"""Crawlers, the outcomes of their URLs, and domains, as DataFrames of fixed schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.core.api.shapes import UrlStatus
from svc_notebook.core.api.values import OneOrMany
from svc_notebook.data.client.crawlers import crawler_id, list_all
from svc_notebook.data.client.operations import every_entry
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import CRAWLED_URLS, CRAWLER_URLS, CRAWLERS, DEFAULTS, DOMAINS
from svc_notebook.errors import UNKNOWN_ENDPOINT_STATUSES, NotFound, Refused, UnexpectedAnswer

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

URLS_PER_PAGE = 10_000  # maximum of one call
DOMAINS_PER_PAGE = 100  # maximum of domains per page
# Two names are in use for the start of a crawl (api-notes, section 14).
BEGAN = ("lastReindexStartedAt", "lastReindexStartAt")


@remembered
async def read_crawlers(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the crawlers and their states; one call for each page, and one for each crawler."""
    listed = await list_all(client)
    details = [await client.get_crawler(entry["id"]) for entry in listed]
    rows = [_crawler_row(entry, facts) for entry, facts in zip(listed, details, strict=True)]
    return finished(typed(rows, CRAWLERS, DEFAULTS), {}, dtype_backend)


def _crawler_row(listed: Mapping[str, Any], facts: Mapping[str, Any]) -> Mapping[str, Any]:
    began = next((facts[name] for name in BEGAN if facts.get(name)), None)
    warnings = "; ".join(facts.get("warnings", ())) or None
    row = {**listed, **facts, "id": listed["id"], "lastReindexStartedAt": began}
    return {**row, "warnings": warnings}


@remembered
async def read_crawler_urls(
    client: AsyncClient,
    crawlers: OneOrMany,
    *,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Count the outcomes of the URLs of the last crawl of one or several crawlers."""
    named = [crawlers] if isinstance(crawlers, str) else [*crawlers]
    answers = [
        await client.crawler_url_stats(await crawler_id(client, crawler)) for crawler in named
    ]
    rows = [
        {"crawler": crawler, **entry}
        for crawler, answer in zip(named, answers, strict=True)
        for entry in answer["data"]
    ]
    return finished(typed(rows, CRAWLER_URLS, DEFAULTS), {"crawlers": named}, dtype_backend)


@remembered
async def read_crawled_urls(
    client: AsyncClient,
    crawlers: str | Sequence[str],
    *,
    status: UrlStatus | None = None,
    reason: str | None = None,
    limit: int | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the outcome of each URL of the last crawl of one or several crawlers of a local service.

    `status` (`"DONE"`, `"SKIPPED"` or `"FAILED"`) and `reason` filter them; all by default. `limit`
    is the maximum number of rows for one crawler. Rows are URLs in order of discovery: `referrer`
    is the URL that linked to it first, `depth` the number of links from a start URL, `time` the end
    of its visit. Raises `NotFound` if the service only counts URLs, as `read_crawler_urls` does.
    """
    named = [crawlers] if isinstance(crawlers, str) else [*crawlers]
    rows: list[Mapping[str, Any]] = []
    for crawler in named:
        urls = await _every_url(client, await crawler_id(client, crawler), status, reason, limit)
        rows += [{"crawler": crawler, **entry} for entry in urls]
    facts = {"crawlers": named, "status": status, "reason": reason}
    return finished(typed(rows, CRAWLED_URLS, DEFAULTS), facts, dtype_backend)


async def _every_url(
    client: AsyncClient,
    crawler: str,
    status: UrlStatus | None,
    reason: str | None,
    limit: int | None,
) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    after: int | None = 0
    while after is not None and (limit is None or len(rows) < limit):
        length = URLS_PER_PAGE if limit is None else min(limit - len(rows), URLS_PER_PAGE)
        try:
            page = await client.list_crawled_urls(
                crawler, status=status, reason=reason, after=after, length=length
            )
        except Refused as error:
            if error.status in UNKNOWN_ENDPOINT_STATUSES:
                raise NotFound(UNSUPPORTED, status=error.status, endpoint=error.endpoint) from error
            raise
        rows += page.get("urls", ())
        following = page.get("cursor")
        if following is not None and following <= after:
            raise UnexpectedAnswer(
                f"list_crawled_urls: the cursor {following} does not follow {after}; "
                f"{len(rows):,} URLs were read",
                endpoint="list_crawled_urls",
            )
        after = following
    return rows


UNSUPPORTED = (
    "this service does not list the outcomes of single URLs, because the API has no endpoint for "
    "that: `svc.read_crawler_urls` counts them, and a local service lists them: "
    "svc.connect('local')"
)


@remembered
async def read_domains(
    client: AsyncClient, *, app_id: str | None = None, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the domains that crawlers may visit: all, or those of one application."""
    rows = await every_entry(
        lambda page: client.list_domains(appId=app_id, itemsPerPage=DOMAINS_PER_PAGE, page=page),
        "items", total="total", first=1,
    )  # fmt: skip
    frame = typed([_domain_row(row) for row in rows], DOMAINS, DEFAULTS)
    return finished(frame, {"app_id": app_id}, dtype_backend)


def _domain_row(domain: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**domain, "verified": bool(domain.get("verified", domain.get("validated", False)))}
