"""All functions as coroutine functions; `svc.aio` is this module.

`client` defaults to the current client; a synchronous and an asynchronous client are both accepted.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Unpack, overload

from pandas import DataFrame

from svc_notebook import frames, loading
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.api.texts import OneOrMany
from svc_notebook.client.tasks import OnProgress, Tasks
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
from svc_notebook.loading.exports.export import Include
from svc_notebook.loading.options import IfExists
from svc_notebook.loading.sending.comparison import Missing
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
    """Load a path, glob, URL, SQL query, DataFrame or dicts into an index; return when published.

    Dicts can be one dict, a list, or a stream. A stream is consumed in another thread; an
    asynchronous stream is consumed in the caller's event loop.

    Parameters:

      source : path, glob, URL, SQL query, DataFrame, Arrow table, dicts
          the rows to load
      index : string
          name of the index
      client : client, default the current client
      if_exists : `append` `replace` `fail` `merge`, default 'append'
          what to do with an existing index: add or overwrite records by objectID, replace all
          records, fail, or send only new and changed records
      least : number from 0 to 1, default None
          with `replace`: the share of the old number of records that the new index must have;
          None refuses less than half, but only if rows were rejected
      dry_run : boolean, default False
          send nothing; the result's `plan` describes the load
      resume : boolean, default False
          continue an interrupted load of the same files
      verify : boolean, default False
          read all records back; the result's `differences` lists the records that are not stored as
          sent
      in_flight : integer, default 4
          number of batches sent at the same time; of partitions for a distributed load
      on_progress : function of (rows sent, rows), default None

    Returns a `LoadResult`: rows sent, published and rejected. Raises `BadInput` for a wrong source
    or option, `CallFailed` or `TaskFailed` if the service refuses, `Stopped` (with `result`) if
    cancelled.
    """
    async with awaited(source, options, look=dry_run, resume=resume) as source:
        return await loading.load(
            asynchronous(client), without_told(source, options), index,
            if_exists=if_exists, min_share=least, dry_run=dry_run, resume=resume, verify=verify,
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
    """Write the rows of a DataFrame, or dicts, to an index; return when they are published.

    Columns that a search added, such as `rank`, are not attributes; they are not sent unless
    `columns` names them.

    Parameters:

      df : DataFrame, dicts
          the rows to write; an asynchronous stream of dicts is accepted
      index : string
          name of the index
      client : client, default the current client
      if_exists : `append` `replace` `fail` `merge`, default 'append'
          what to do with an existing index; see `load`
      least : number from 0 to 1, default None
          with `replace`: the share of the old number of records that the new index must have
      verify : boolean, default False
          read all records back; the result's `differences` lists the records that are not stored as
          sent
      in_flight : integer, default 4
          number of batches sent at the same time
      on_progress : function of (rows sent, rows), default None

    Returns a `LoadResult` and raises as `load` does.
    """
    async with awaited(df, options) as df:
        return await loading.push(
            asynchronous(client), without_told(df, options), index,
            if_exists=if_exists, min_share=least, verify=verify, in_flight=in_flight,
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
    """Compare a DataFrame's rows, or dicts, with the stored records; nothing is written.

    Parameters:

      df : DataFrame, dicts
          the rows to compare
      index : string
          name of the index
      missing : `ignore` `report`, default 'ignore'
          whether stored records without a row are listed, last, with the state `missing`
      client : client, default the current client

    Returns a DataFrame with a row for each id: `objectID` (str), `state` (str: new, changed or
    unchanged) and `attributes` (lists: those that differ). Rows that cannot be sent are left out
    and counted in `attrs["svc"]["rejected"]`. Raises `BadInput` for a wrong argument.
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
    beside: Sequence[Include] = (),
    resume: bool = False,
    on_progress: OnProgress | None = None,
    **params: Unpack[SearchOptions],
) -> loading.Export:
    """Write every record that passes the filters to a file; its name determines the format.

    The formats are Parquet, NDJSON, CSV and TSV. The file appears when it is complete.

    Parameters:

      index : string
          name of the index
      path : path
          the file to write; an existing file is replaced
      client : client, default the current client
      query : string, default ""
          export only the records that match it
      columns : list of string, default all attributes
          attributes to export
      beside : list of `settings` `synonyms` `rules`, default none
          what else to write, as JSON files next to the file
      resume : boolean, default False
          continue an interrupted export
      on_progress : function of (records fetched, records), default None

    Returns an `Export`: the paths, the number of rows, and the `dtype` by which a load reads the
    file. Raises `BadInput` for a wrong argument, `Stopped` if cancelled.
    """
    return await loading.export(
        asynchronous(client), index, path,
        query=query, columns=columns, include=beside, resume=resume,
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
    """Wait until tasks are published.

    Parameters:

      tasks : task
          a task number, the response of a write, or several of these
      index : string, default None
          the index of tasks that do not name theirs
      timeout : seconds, default 600
          None waits without limit
      client : client, default the current client
      on_progress : function of (tasks published, tasks), default None

    Returns the number of tasks. Raises `TaskFailed` with the remaining tasks at the timeout.
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

    Parameters:

      index : string
          name of the index
      query : string, default ""
          "" matches every record
      client : client, default the current client
      criteria : boolean, default False
          add a column for the value of each ranking criterion
      highlight : boolean, default False
          add `highlighted.X` for each attribute X, with its matches marked
      columns : list of string, default all attributes
          attributes to return
      flatten : boolean, default False
          give each member of an object its own column, such as `size.width`
      dtype_backend : `numpy_nullable` `pyarrow`, default None
          the dtypes of the result, as in pandas
      extra : dict, default None
          parameters that are sent without validation: `extra={"newParameter": 1}`

    Returns a DataFrame: `rank` (from 1), `objectID` (str), then the attributes; `attrs["svc"]`
    contains index, query, parameters and the rest of the response, such as `nbHits`.
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
    """Run many searches of one index; return one long DataFrame whose first column is `query`.

    Parameters:

      index : string
          name of the index
      queries : string or list of string
          the queries, one search for each
      client : client, default the current client
      criteria : boolean, default False
          add a column for the value of each ranking criterion
      highlight : boolean, default False
          add `highlighted.X` for each attribute X, with its matches marked
      columns : list of string, default all attributes
          attributes to return
      flatten : boolean, default False
          give each member of an object its own column, such as `size.width`
      dtype_backend : `numpy_nullable` `pyarrow`, default None
          the dtypes of the result, as in pandas
      extra : dict, default None
          parameters that are sent without validation: `extra={"newParameter": 1}`

    Returns a DataFrame with a row for each hit: `query`, `rank` (Int64, from 1), `objectID`, then
    the attributes. A query without hits has one row in which only `query` has a value.
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

    Parameters:

      index : string
          name of the index
      client : client, default the current client
      columns : list of string, default all attributes
          attributes to return
      chunksize : integer, default None
          rows of each DataFrame; None reads all records into one DataFrame
      cursor : cursor, default the beginning
          where to resume: `attrs["svc"]["next"]` of a chunk
      flatten : boolean, default False
          give each member of an object its own column, such as `size.width`
      dtype_backend : `numpy_nullable` `pyarrow`, default None
          the dtypes of the result, as in pandas
      extra : dict, default None
          parameters that are sent without validation: `extra={"newParameter": 1}`

    Returns a DataFrame: `objectID` (str), then the attributes. With `chunksize`, returns an
    iterator of DataFrames, of which one is in memory at a time.
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
    """Return an index as a Dask DataFrame; its partitions are read when they are computed.

    Parameters:

      index : string
          name of the index
      by : string
          the attribute that partitions the index: a facet, or a number; one value for each record
      npartitions : integer, default 8
          number of partitions
      divisions : list of number, default None
          bounds of the ranges of a numeric attribute; None divides its span evenly
      columns : list of string, default those of the first records of each partition
          attributes to return
      dtype : dict, default those of the first records of each partition
          dtypes by column
      client : client, default the current client

    Raises `BadInput` if the index cannot be partitioned by the attribute.
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
    """Read records in the order of their ids: one row for each stored record.

    Parameters:

      index : string
          name of the index
      ids : list, Series or DataFrame with a column `objectID`
          the objectIDs
      client : client, default the current client
      columns : list of string, default all attributes
          attributes to return
      flatten : boolean, default False
          give each member of an object its own column, such as `size.width`
      dtype_backend : `numpy_nullable` `pyarrow`, default None
          the dtypes of the result, as in pandas

    Returns a DataFrame: `objectID` (str), then the attributes. Ids without a record cause a warning
    and are listed in `attrs["svc"]["missing"]`.
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
    """Count the values of facets, by default of all facets, among the hits of a search.

    Parameters:

      index : string
          name of the index
      query : string, default ""
          "" matches every record
      client : client, default the current client
      extra : dict, default None
          parameters that are sent without validation: `extra={"newParameter": 1}`

    Returns a DataFrame: `facet` (str), `value` (str), `count` (int64). Minimum, maximum, mean and
    sum of numeric facets are in `attrs["svc"]["facets_stats"]`.
    """
    return await frames.read_facets(asynchronous(client), index, query, extra=extra, **params)


async def read_facet_values(
    index: str,
    facet: str,
    text: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame:
    """Search the values of one facet.

    Parameters:

      index : string
          name of the index
      facet : string
          name of the facet
      text : string, default ""
          what the values must match
      client : client, default the current client

    Returns a DataFrame: `value` (str), `highlighted` (str, with matches marked), `count` (int64).
    """
    return await frames.read_facet_values(asynchronous(client), index, facet, text, **params)


for _name in __all__:
    spell_out(globals()[_name])
