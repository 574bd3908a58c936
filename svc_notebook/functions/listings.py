"""Coroutine functions that list indices, settings, keys, logs and other content of a service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack, cast, get_args

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.api.shapes import DictionaryName, UrlStatus
from svc_notebook.api.texts import OneOrMany
from svc_notebook.client.tasks import Tasks
from svc_notebook.errors import BadInput
from svc_notebook.frames.columns import Backend
from svc_notebook.frames.records import LogOptions
from svc_notebook.session.connection import AnyClient, asynchronous


async def read_indices(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """List the indices."""
    return await frames.read_indices(asynchronous(client), dtype_backend=dtype_backend)


async def read_settings(index: str, *, client: AnyClient | None = None) -> DataFrame:
    """Read an index's settings: a row for each that is set."""
    return await frames.read_settings(asynchronous(client), index)


async def read_logs(
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> DataFrame:
    """Read logged requests, the newest first."""
    return await frames.read_logs(asynchronous(client), dtype_backend=dtype_backend, **options)


async def read_synonyms(
    index: str,
    query: str = "",
    *,
    type: str = "",  # noqa: A002
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read an index's synonyms, or those that `query` finds; `type` may name several."""
    return await frames.read_synonyms(
        asynchronous(client), index, query, type=type, dtype_backend=dtype_backend
    )


async def read_rules(
    index: str,
    query: str = "",
    *,
    context: str | None = None,
    enabled: bool | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read an index's rules, or those that `query`, a context or `enabled` choose."""
    return await frames.read_rules(
        asynchronous(client), index, query,
        context=context, enabled=enabled, dtype_backend=dtype_backend,
    )  # fmt: skip


async def read_keys(
    index: str | None = None,
    *,
    reveal: bool = False,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the application's keys, or one index's; `*` stands for every index.

    A key shows its first characters only, for a table is soon saved; `reveal` shows all.
    """
    return await frames.read_keys(
        asynchronous(client), index, reveal=reveal, dtype_backend=dtype_backend
    )


async def read_clusters(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the clusters and what they hold."""
    return await frames.read_clusters(asynchronous(client), dtype_backend=dtype_backend)


async def read_users(
    query: str = "",
    *,
    cluster: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read which cluster holds which user: all, or those that `query` finds on a cluster."""
    return await frames.read_users(
        asynchronous(client), query, cluster=cluster, dtype_backend=dtype_backend
    )


async def read_top_users(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read each cluster's users with the most records; `rank` counts from 1 in each."""
    return await frames.read_top_users(asynchronous(client), dtype_backend=dtype_backend)


async def read_sources(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the networks that may call; none listed means that all may."""
    return await frames.read_sources(asynchronous(client), dtype_backend=dtype_backend)


async def read_dictionary(
    dictionary: DictionaryName,
    query: str = "",
    *,
    language: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the entries of `stopwords`, `plurals` or `compounds`, standard ones among them."""
    return await frames.read_dictionary(
        asynchronous(client), dictionary, query, language=language, dtype_backend=dtype_backend
    )


async def read_languages(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read how many entries of one's own each language has in each dictionary."""
    return await frames.read_languages(asynchronous(client), dtype_backend=dtype_backend)


async def read_tasks(
    tasks: Tasks,
    *,
    index: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read whether tasks are published; they are numbers, or answers of writes, as in `wait`."""
    return await frames.read_tasks(
        asynchronous(client), tasks, index=index, dtype_backend=dtype_backend
    )


async def read_crawlers(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the crawlers and how each stands."""
    return await frames.read_crawlers(asynchronous(client), dtype_backend=dtype_backend)


async def read_crawler_urls(
    crawlers: OneOrMany,
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read how the URLs of a crawler's last crawl ended, or those of several crawlers."""
    return await frames.read_crawler_urls(
        asynchronous(client), crawlers, dtype_backend=dtype_backend
    )


async def read_crawled_urls(
    crawlers: str | Sequence[str],
    *,
    status: str | None = None,
    reason: str | None = None,
    limit: int | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read how each URL of a crawler's last crawl ended, or those of several crawlers.

    `status` is `DONE`, `SKIPPED` or `FAILED`, `reason` one that `read_crawler_urls` counts; all
    unless given. `limit` is the most rows of one crawler. Returns a row for each URL: status,
    category, reason, message, depth (links from a start), time and referrer (the URL that named it
    first). A local service alone keeps this; raises `NotFound` elsewhere.
    """
    return await frames.read_crawled_urls(
        asynchronous(client),
        crawlers,
        status=_url_status(status),
        reason=reason,
        limit=limit,
        dtype_backend=dtype_backend,
    )


def _url_status(written: str | None) -> UrlStatus | None:
    for status in get_args(UrlStatus):
        if written and written.upper() == status:
            return cast(UrlStatus, status)
    if written is None:
        return None
    raise BadInput(f"`status` is DONE, SKIPPED or FAILED, not {written!r}")


async def read_domains(
    *,
    app_id: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the domains that crawlers may visit, all or those of one application."""
    return await frames.read_domains(
        asynchronous(client), app_id=app_id, dtype_backend=dtype_backend
    )


async def next_page(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read the page after a frame that a search or a browse gave; empty after the last."""
    return await frames.next_page(asynchronous(client), frame)


async def refresh(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read again what a frame holds."""
    return await frames.refresh(asynchronous(client), frame)


async def browse_all(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read every record that the search behind a frame finds, beyond what pages reach."""
    return await frames.browse_all(asynchronous(client), frame)


async def count_values(
    index: str,
    facet: str,
    values: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the records that have each of these values of a facet: `value`, `count`."""
    return await frames.count_values(asynchronous(client), index, facet, values, **params)
