"""Crawlers, how their URLs ended, and domains, as DataFrames of a fixed schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.api.texts import OneOrMany
from svc_notebook.client.crawlers import crawler_id, list_all
from svc_notebook.client.paging import every_entry
from svc_notebook.frames.columns import Backend, finished, typed
from svc_notebook.frames.origin import remembered
from svc_notebook.frames.schemas import CRAWLER_URLS, CRAWLERS, DEFAULTS, DOMAINS

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

PAGE = 100  # the most that a page of domains holds
# Two names are in use for when a crawl began (api-notes, section 14).
BEGAN = ("lastReindexStartedAt", "lastReindexStartAt")


@remembered
async def read_crawlers(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the crawlers and how each stands; one call for each page, and one for each crawler."""
    listed = await list_all(client)
    found = [await client.get_crawler(one["id"]) for one in listed]
    rows = [_crawler_row(one, facts) for one, facts in zip(listed, found, strict=True)]
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
    """Read how the URLs of a crawler's last crawl ended, or those of several, by names or ids."""
    named = [crawlers] if isinstance(crawlers, str) else [*crawlers]
    found = [await client.crawler_url_stats(await crawler_id(client, one)) for one in named]
    rows = [
        {"crawler": one, **entry}
        for one, answer in zip(named, found, strict=True)
        for entry in answer["data"]
    ]
    return finished(typed(rows, CRAWLER_URLS, DEFAULTS), {"crawlers": named}, dtype_backend)


@remembered
async def read_domains(
    client: AsyncClient, *, app_id: str | None = None, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the domains that crawlers may visit, all or those of one application."""
    rows = await every_entry(
        lambda page: client.list_domains(appId=app_id, itemsPerPage=PAGE, page=page),
        "items", total="total", first=1,
    )  # fmt: skip
    frame = typed([_domain_row(row) for row in rows], DOMAINS, DEFAULTS)
    return finished(frame, {"app_id": app_id}, dtype_backend)


def _domain_row(domain: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**domain, "verified": bool(domain.get("verified", domain.get("validated", False)))}
