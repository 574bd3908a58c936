"""Every function as a coroutine function; `svc.aio` is this module.

`client` is the current client unless it is given, of either kind.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Unpack, overload

from pandas import DataFrame

from svc_notebook import bulk, frames
from svc_notebook.api.parameters import SearchOptions, SearchParams, Settings
from svc_notebook.bulk.loading import OnProgress
from svc_notebook.bulk.options import IfExists
from svc_notebook.bulk.source import Source
from svc_notebook.client import AsyncClient
from svc_notebook.client.waiting import Tasks
from svc_notebook.errors import NotFound
from svc_notebook.frames.columns import Backend
from svc_notebook.verbs.clients import AnyClient, asynchronous
from svc_notebook.verbs.listing import (
    read_clusters,
    read_dictionary,
    read_indices,
    read_keys,
    read_languages,
    read_logs,
    read_rules,
    read_settings,
    read_sources,
    read_synonyms,
    read_top_users,
    read_users,
)
from svc_notebook.verbs.removing import (
    clear_index,
    copy_index,
    delete_records,
    drop_index,
    move_index,
)

__all__ = [
    "clear_index",
    "copy_index",
    "delete_records",
    "drop_index",
    "load",
    "move_index",
    "push",
    "read_browse",
    "read_clusters",
    "read_dictionary",
    "read_facet_values",
    "read_facets",
    "read_indices",
    "read_keys",
    "read_languages",
    "read_logs",
    "read_records",
    "read_rules",
    "read_settings",
    "read_sources",
    "read_synonyms",
    "read_top_users",
    "read_users",
    "search",
    "search_many",
    "settings",
    "wait",
    "whoami",
]


async def load(
    source: Source,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    dry_run: bool = False,
    resume: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[bulk.RowOptions],
) -> bulk.LoadResult:
    """Load a path, glob, URL, SQL query or DataFrame into an index; done when all is published.

    With `dry_run` nothing is sent; the result's `plan` tells what would be.
    """
    return await bulk.load(
        asynchronous(client), source, index,
        if_exists=if_exists, dry_run=dry_run, resume=resume, in_flight=in_flight,
        on_progress=on_progress, **options,
    )  # fmt: skip


async def push(
    df: DataFrame,
    index: str,
    *,
    client: AnyClient | None = None,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[bulk.RowOptions],
) -> bulk.LoadResult:
    """Write a DataFrame's rows to an index, and wait until they are published."""
    return await bulk.push(
        asynchronous(client), df, index,
        in_flight=in_flight, on_progress=on_progress, **options,
    )  # fmt: skip


async def wait(
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,  # noqa: ASYNC109 - what is left is told when it passes
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> int:
    """Wait until tasks are published; return how many there were.

    A task is its number, the answer of a write, or several of these.
    """
    return await asynchronous(client).wait(
        tasks, index=index, timeout=timeout, on_progress=on_progress
    )


async def search(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    ranking: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Search an index: a row for each hit, with `rank` and `objectID` first.

    `ranking` adds the value of each criterion, `highlight` the attributes with their matches
    marked. What was found beside the hits is in `attrs["svc"]`.
    """
    return await frames.search(
        asynchronous(client), index, query,
        ranking=ranking, highlight=highlight, columns=columns, dtype_backend=dtype_backend,
        **params,
    )  # fmt: skip


async def search_many(
    index: str,
    queries: Iterable[str],
    *,
    client: AnyClient | None = None,
    ranking: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Run many searches of one index; one long frame whose first column is `query`."""
    return await frames.search_many(
        asynchronous(client), index, queries,
        ranking=ranking, highlight=highlight, columns=columns, dtype_backend=dtype_backend,
        **params,
    )  # fmt: skip


@overload
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame: ...
@overload
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> AsyncIterator[DataFrame]: ...
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame | AsyncIterator[DataFrame]:
    """Read every record of an index that passes the filters.

    With `chunksize`, an iterator of frames of so many rows, of which one is held at a time.
    """
    if chunksize is None:
        return await frames.read_browse(
            asynchronous(client), index, columns=columns, dtype_backend=dtype_backend, **params
        )
    return frames.browse_chunks(
        asynchronous(client), index, chunksize,
        columns=columns, dtype_backend=dtype_backend, **params,
    )  # fmt: skip


async def read_records(
    index: str,
    ids: Sequence[Any],
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read records in the order of their ids; one that is not there is a row without values."""
    return await frames.read_records(
        asynchronous(client), index, ids, columns=columns, dtype_backend=dtype_backend
    )


async def read_facets(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the values of `facets`, all by default, among what a search finds."""
    return await frames.read_facets(asynchronous(client), index, query, **params)


async def read_facet_values(
    index: str,
    facet: str,
    text: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame:
    """Search the values of one facet."""
    return await frames.read_facet_values(asynchronous(client), index, facet, text, **params)


async def settings(
    index: str, *, client: AnyClient | None = None, **changes: Unpack[Settings]
) -> DataFrame:
    """Show an index's settings; or change some, `None` resetting one, and tell what changed.

    A change is waited for until it is published.
    """
    if not changes:
        return await read_settings(index, client=client)
    own = asynchronous(client)
    before = await _settings_of(own, index)
    await own.wait(dict(await own.set_settings(index, changes)), index=index)
    after = await _settings_of(own, index)
    return _compared(changes, before, after)


async def _settings_of(client: AsyncClient, index: str) -> Settings:
    try:
        return await client.get_settings(index)
    except NotFound:
        return {}  # the change will make the index


def _compared(changes: Settings, before: Settings, after: Settings) -> DataFrame:
    rows = [(name, before.get(name), after.get(name)) for name in changes]
    return DataFrame(rows, columns=["setting", "before", "after"], dtype=object)


async def whoami(*, client: AnyClient | None = None) -> dict[str, Any]:
    """Say which service is used, by which application, and what its key may do."""
    own = asynchronous(client)
    connection = own.connection
    known = {"address": connection.address, "application": connection.app_id}
    try:
        key = await own.get_key(connection.api_key.reveal())
    except NotFound:
        return known | {"rights": ["admin"]}  # what is no key among keys, and yet a key
    return known | {"rights": key["acl"], "description": key.get("description", "")}
