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
    """List the indices.

    `client` is the current client by default. `dtype_backend` (`numpy_nullable` or `pyarrow`,
    default None) sets the dtypes as in pandas. Returns a row for each index: `name` (str),
    `entries`, `dataSize`, `fileSize` (int64, sizes in bytes), `createdAt`, `updatedAt` (UTC times),
    `lastBuildTimeS` (int64, seconds), `numberOfPendingTasks` (int64), `pendingTask` (bool),
    `primary` (str) and `replicas` (lists).
    """
    return await frames.read_indices(asynchronous(client), dtype_backend=dtype_backend)


async def read_settings(index: str, *, client: AnyClient | None = None) -> DataFrame:
    """Read an index's settings: a row for each that is set.

    `client` is the current client by default. Returns `setting` (str) and `value` (object).
    """
    return await frames.read_settings(asynchronous(client), index)


async def read_logs(
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> DataFrame:
    """Read logged requests, the newest first.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. By
    default the newest ten requests of every type are returned. Returns a row for each request:
    `timestamp` (UTC), `method`, `url`, `answer_code`, `processing_time_ms` (int64, milliseconds),
    `ip`, `index`, `query_params`, `query_nb_hits` and others.
    """
    return await frames.read_logs(asynchronous(client), dtype_backend=dtype_backend, **options)


async def read_synonyms(
    index: str,
    query: str = "",
    *,
    type: str = "",  # noqa: A002
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read an index's synonyms, or those that `query` finds.

    `type` is a synonym type, or several; all by default. `client` is the current client by default;
    `dtype_backend` sets the dtypes as in pandas. Returns a row for each synonym: `objectID`,
    `type`, `synonyms`, `input`, `word`, `corrections`, `placeholder`, `replacements`. The type
    determines which columns have a value.
    """
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
    """Read an index's rules, or those that match `query`, `context` and `enabled`.

    All three default to no restriction. `client` is the current client by default; `dtype_backend`
    sets the dtypes as in pandas. Returns a row for each rule: `objectID`, `description`, `enabled`
    (bool), `conditions`, `consequence`, `validity`, `tags`, `scope`.
    """
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
    """Read the application's keys, or the keys of one index; `*` reads those of every index.

    Keys are masked to their first characters, because tables are often saved; `reveal` (default
    False) returns them whole. `client` is the current client by default; `dtype_backend` sets the
    dtypes as in pandas. Returns a row for each key: `value`, `description`, `acl`, `index` (empty
    for a key of the application), `indexes`, `createdAt` (UTC), `validity` (seconds left, 0 for
    unlimited), `maxHitsPerQuery`, `maxQueriesPerIPPerHour`, `queryParameters`, `referers`.
    """
    return await frames.read_keys(
        asynchronous(client), index, reveal=reveal, dtype_backend=dtype_backend
    )


async def read_clusters(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the clusters and the number of records and users on each.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `clusterName` (str), `nbRecords`, `nbUserIDs`, `dataSize` (int64, size in bytes).
    """
    return await frames.read_clusters(asynchronous(client), dtype_backend=dtype_backend)


async def read_users(
    query: str = "",
    *,
    cluster: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the users and their clusters: all, or those that `query` finds, on `cluster` if given.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `userID`, `clusterName` (str), `nbRecords`, `dataSize` (int64, size in bytes).
    """
    return await frames.read_users(
        asynchronous(client), query, cluster=cluster, dtype_backend=dtype_backend
    )


async def read_top_users(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read each cluster's users with the most records; `rank` counts from 1 in each cluster.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `clusterName`, `rank`, `userID`, `nbRecords`, `dataSize`.
    """
    return await frames.read_top_users(asynchronous(client), dtype_backend=dtype_backend)


async def read_sources(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the networks from which requests are allowed; an empty table allows all networks.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `source` and `description` (str).
    """
    return await frames.read_sources(asynchronous(client), dtype_backend=dtype_backend)


async def read_dictionary(
    dictionary: DictionaryName,
    query: str = "",
    *,
    language: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the entries of `stopwords`, `plurals` or `compounds`, standard entries included.

    `query` (default "") and `language` (default all) restrict them. `client` is the current client
    by default; `dtype_backend` sets the dtypes as in pandas. Returns a row for each entry:
    `objectID`, `language`, `word` (stop words, compounds), `words` (plurals), `decomposition`
    (compounds), `state`, `type`.
    """
    return await frames.read_dictionary(
        asynchronous(client), dictionary, query, language=language, dtype_backend=dtype_backend
    )


async def read_languages(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the number of custom entries that each language has in each dictionary.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `language` (str), `stopwords`, `plurals`, `compounds` (Int64, missing without such a
    dictionary).
    """
    return await frames.read_languages(asynchronous(client), dtype_backend=dtype_backend)


async def read_tasks(
    tasks: Tasks,
    *,
    index: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read whether tasks are published; tasks are numbers, or responses of writes, as in `wait`.

    `index` is the index of tasks that do not name theirs; a task of the application has none.
    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `taskID` (int64), `index` (str) and `status` (str).
    """
    return await frames.read_tasks(
        asynchronous(client), tasks, index=index, dtype_backend=dtype_backend
    )


async def read_crawlers(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the crawlers and their states.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    a row for each crawler: `id`, `name`, `createdAt`, `updatedAt`, `running`, `reindexing`,
    `blocked` (bool), `lastReindexStartedAt`, `lastReindexEndedAt`, `blockingTaskId`,
    `blockingError`, `warnings`.
    """
    return await frames.read_crawlers(asynchronous(client), dtype_backend=dtype_backend)


async def read_crawler_urls(
    crawlers: OneOrMany,
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Count the outcomes of the URLs of the last crawl of one or several crawlers.

    `crawlers` are names or ids. `client` is the current client by default; `dtype_backend` sets the
    dtypes as in pandas. Returns `crawler`, `category`, `status`, `reason`, `readable` (str),
    `count` (int64).
    """
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
    """Read the outcome of each URL of the last crawl of one or several crawlers.

    `crawlers` are names or ids. `status` is `DONE`, `SKIPPED` or `FAILED`, `reason` one that
    `read_crawler_urls` counts; all by default. `limit` is the maximum number of rows for one
    crawler, by default without limit. `client` is the current client by default; `dtype_backend`
    sets the dtypes as in pandas. Returns a row for each URL: status, category, reason, message,
    depth (links from a start URL), time and referrer (the URL that linked to it first). Only a
    local service keeps this; raises `NotFound` elsewhere.
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
    """Read the domains that crawlers may visit: all, or those of the application `app_id`.

    `client` is the current client by default; `dtype_backend` sets the dtypes as in pandas. Returns
    `appId`, `domain` (str), `verified` (bool).
    """
    return await frames.read_domains(
        asynchronous(client), app_id=app_id, dtype_backend=dtype_backend
    )


async def next_page(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read the page after the DataFrame of a search or a browse; empty after the last page.

    `client` is the current client by default; raises `BadInput` for a DataFrame that no reader
    returned, and for a client of another application.
    """
    return await frames.next_page(asynchronous(client), frame)


async def refresh(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Repeat the request that returned a DataFrame and return the new result.

    `client` is the current client by default; raises `BadInput` for a DataFrame that no reader
    returned, and for a client of another application.
    """
    return await frames.refresh(asynchronous(client), frame)


async def browse_all(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit.

    `client` is the current client by default; raises `BadInput` for a DataFrame that no reader
    returned, and for a client of another application.
    """
    return await frames.browse_all(asynchronous(client), frame)


async def count_values(
    index: str,
    facet: str,
    values: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the records that have each of these values of a facet.

    The count is exact for every value, however rare. `values` is a list or Series; each distinct
    value is counted once. `client` is the current client by default. Returns `value` (str) and
    `count` (int64); raises `BadInput` for a missing value.
    """
    return await frames.count_values(asynchronous(client), index, facet, values, **params)
