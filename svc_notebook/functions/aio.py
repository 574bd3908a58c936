"""All functions as coroutine functions; `svc.aio` is this module.

`client` defaults to the current client; a synchronous and an asynchronous client are both
accepted.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Unpack, overload

from pandas import DataFrame

from svc_notebook import frames, loading
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.api.texts import OneOrMany
from svc_notebook.client.tasks import Tasks
from svc_notebook.frames.browse import BrowsePosition
from svc_notebook.frames.columns import Backend
from svc_notebook.functions.crawlers import (
    cancel_crawler_task,
    configure_crawler,
    crawl_urls,
    crawler_task,
    create_crawler,
    get_crawler,
    pause_crawler,
    reindex_crawler,
    rename_crawler,
    run_crawler,
    try_url,
)
from svc_notebook.functions.dictionaries import (
    clear_entries,
    delete_entries,
    dictionary_settings,
    export_entries,
    replace_entries,
    save_entries,
)
from svc_notebook.functions.endpoint_calls import call
from svc_notebook.functions.events import (
    delete_user_events,
    read_events,
    read_searches,
    send_events,
)
from svc_notebook.functions.explanation import explain
from svc_notebook.functions.frame_records import ids_in, warn_of_columns, without_told
from svc_notebook.functions.hit_renderer import show_search
from svc_notebook.functions.keys import (
    add_key,
    delete_key,
    get_key,
    restore_key,
    update_key,
    whoami,
)
from svc_notebook.functions.listings import (
    browse_all,
    count_values,
    next_page,
    read_clusters,
    read_crawled_urls,
    read_crawler_urls,
    read_crawlers,
    read_dictionary,
    read_domains,
    read_indices,
    read_keys,
    read_languages,
    read_logs,
    read_rules,
    read_settings,
    read_sources,
    read_synonyms,
    read_tasks,
    read_top_users,
    read_users,
    refresh,
)
from svc_notebook.functions.pins import hide, pin, unhide, unpin
from svc_notebook.functions.records import (
    clear_index,
    copy_index,
    delete_records,
    drop_index,
    move_index,
    replace_records,
)
from svc_notebook.functions.settings import diff_settings, reset_settings, set_settings, settings
from svc_notebook.functions.signatures import spell_out
from svc_notebook.functions.sources import add_source, delete_source, replace_sources
from svc_notebook.functions.synonyms_and_rules import (
    clear_rules,
    clear_synonyms,
    delete_rules,
    delete_synonyms,
    export_rules,
    export_synonyms,
    get_rule,
    get_synonym,
    replace_rules,
    replace_synonyms,
    save_rules,
    save_synonyms,
)
from svc_notebook.functions.tasks import read_writes
from svc_notebook.functions.users import (
    assign_users,
    get_user,
    move_user,
    pending_users,
    remove_user,
)
from svc_notebook.loading.exports.export import Beside
from svc_notebook.loading.options import IfExists
from svc_notebook.loading.sending.comparison import Missing
from svc_notebook.loading.sending.load import OnProgress
from svc_notebook.loading.sources.python_records import AsyncRows, Rows, awaited
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient, asynchronous

__all__ = [
    "add_key", "add_source", "assign_users", "browse_all", "call", "cancel_crawler_task",
    "clear_entries", "clear_index", "clear_rules", "clear_synonyms", "configure_crawler",
    "copy_index", "count_values", "crawl_urls", "crawler_task", "create_crawler",
    "delete_entries", "delete_key", "delete_records", "delete_rules", "delete_source",
    "delete_synonyms", "delete_user_events", "dictionary_settings", "diff_records",
    "diff_settings", "drop_index", "explain", "export", "export_entries", "export_rules",
    "export_synonyms", "get_crawler", "get_key", "get_rule", "get_synonym", "get_user", "hide",
    "load", "move_index", "move_user", "next_page", "pause_crawler", "pending_users", "pin", "push",
    "read_browse", "read_clusters", "read_crawled_urls",
    "read_crawler_urls", "read_crawlers", "read_dask",
    "read_dictionary", "read_domains", "read_events", "read_facet_values", "read_facets",
    "read_indices",
    "read_keys", "read_languages", "read_logs", "read_records", "read_rules", "read_searches",
    "read_settings",
    "read_sources", "read_synonyms", "read_tasks", "read_top_users", "read_users",
    "read_writes", "refresh", "reindex_crawler", "remove_user", "rename_crawler",
    "replace_entries", "replace_records", "replace_rules", "replace_sources",
    "replace_synonyms", "reset_settings", "restore_key", "run_crawler", "save_entries",
    "save_rules", "save_synonyms", "search", "search_many", "send_events", "set_settings",
    "settings", "show_search", "try_url", "unhide", "unpin", "update_key", "wait", "whoami",
]  # fmt: skip


async def load(
    source: Source,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    least: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Load a path, glob, URL, SQL query, DataFrame or dicts into an index; done when published.

    Dicts may be one, a list of them, or a stream, which is gone through in another thread; an
    asynchronous stream is gone through here.

    With `dry_run` nothing is sent; the result's `plan` tells what would be. With `verify` all is
    read back, and `differences` tells what is not stored as it was sent.
    """
    async with awaited(source, options, look=dry_run, resume=resume) as source:
        return await loading.load(
            asynchronous(client), without_told(source, options), index,
            if_exists=if_exists, least=least, dry_run=dry_run, resume=resume, verify=verify,
            in_flight=in_flight, on_progress=on_progress, **options,
        )  # fmt: skip


async def push(
    df: AsyncRows,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    least: float | None = None,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Write the rows of a DataFrame, or dicts, to an index, and wait until they are published.

    What a search told about its hits, `rank` and the like, is no attribute and stays behind,
    unless `columns` names it.
    """
    async with awaited(df, options) as df:
        return await loading.push(
            asynchronous(client), without_told(df, options), index,
            if_exists=if_exists, least=least, verify=verify, in_flight=in_flight,
            on_progress=on_progress, **options,
        )  # fmt: skip


async def diff_records(
    df: Rows,
    index: str,
    *,
    missing: Missing = "ignore",
    client: AnyClient | None = None,
    **options: Unpack[loading.RowOptions],
) -> DataFrame:
    """Compare a DataFrame's rows, or dicts, with what is stored: `objectID`, `state`, `attributes`.

    `state` is new, changed or unchanged, of each id that the rows have; `attributes` are those that
    differ. With `missing="report"` the records that no row has come last, their state `missing`.
    """
    return await loading.compare(
        asynchronous(client), without_told(df, options), index, missing=missing, **options
    )


async def export(
    index: str,
    path: str | os.PathLike[str],
    *,
    client: AnyClient | None = None,
    query: str = "",
    columns: Sequence[str] | None = None,
    beside: Sequence[Beside] = (),
    resume: bool = False,
    on_progress: OnProgress | None = None,
    **params: Unpack[SearchOptions],
) -> loading.Export:
    """Write every record that passes the filters to a file whose name says its format.

    Parquet, NDJSON, CSV or TSV; it appears when it is whole. `beside` writes settings, synonyms
    and rules next to it.
    """
    return await loading.export(
        asynchronous(client), index, path,
        query=query, columns=columns, beside=beside, resume=resume,
        on_progress=on_progress, **params,
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
    criteria: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Search an index: a row for each hit, with `rank` and `objectID` first.

    `criteria` adds the value of each criterion, `highlight` the attributes with their matches
    marked, `flatten` gives each member of an object its own column. `extra` is sent beside the
    parameters, unchecked: `extra={"newParameter": 1}`. What was found beside the hits is in
    `attrs["svc"]`.
    """
    own = asynchronous(client)
    found = await frames.search(
        own, index, query,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(own, index, found, columns, params)
    return found


async def search_many(
    index: str,
    queries: OneOrMany,
    *,
    client: AnyClient | None = None,
    criteria: bool = False,
    highlight: bool = False,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Run many searches of one index; one long frame whose first column is `query`.

    A row for each hit, and for a query without hits one row: its `query`, the rest missing.
    """
    own = asynchronous(client)
    found = await frames.search_many(
        own, index, queries,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(own, index, found, columns, params)
    return found


@overload
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: None = None,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame: ...
@overload
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> AsyncIterator[DataFrame]: ...
async def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int | None = None,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame | AsyncIterator[DataFrame]:
    """Read every record of an index that passes the filters.

    With `chunksize`, an iterator of frames of so many rows, of which one is held at a time; each
    says in `attrs["svc"]["next"]` where the one after it begins, and `cursor` takes that. `flatten`
    gives each member of an object its own column, `size.width`.
    """
    if chunksize is None:
        own = asynchronous(client)
        found = await frames.read_browse(
            own, index,
            columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
            extra=extra, **params,
        )  # fmt: skip
        await warn_of_columns(own, index, found, columns, params)
        return found
    return frames.browse_chunks(
        asynchronous(client), index, chunksize,
        columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
        extra=extra, **params,
    )  # fmt: skip


async def read_dask(
    index: str,
    *,
    by: str,
    npartitions: int = 8,
    divisions: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    dtype: Mapping[str, Any] | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchParams],
) -> Any:
    """Give an index as a Dask DataFrame; its partitions are read when they are computed.

    It is divided `by` a facet's values or the ranges of a number, cut at `divisions` if given.
    Columns and dtypes are those of the first records of each part, unless `columns` and `dtype`
    say otherwise.
    """
    return await loading.read_dask(
        asynchronous(client), index,
        by=by, npartitions=npartitions, divisions=divisions, columns=columns, dtype=dtype,
        **params,
    )  # fmt: skip


async def read_records(
    index: str,
    ids: Sequence[Any],
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read records in the order of their ids: a row for each that is there, and for no other.

    Ids that are not there are warned of, and listed in `attrs["svc"]["missing"]`.
    """
    own = asynchronous(client)
    found = await frames.read_records(
        own, index, ids_in(ids), columns=columns, flatten=flatten, dtype_backend=dtype_backend,
    )  # fmt: skip
    await warn_of_columns(own, index, found, columns)
    return found


async def read_facets(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the values of `facets`, all by default, among what a search finds."""
    return await frames.read_facets(asynchronous(client), index, query, extra=extra, **params)


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


for _name in __all__:
    spell_out(globals()[_name])
