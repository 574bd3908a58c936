"""The functions of `aio` for those who do not await: each runs on the portal."""

from __future__ import annotations

import os
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, TypeVar, Unpack, overload

from pandas import DataFrame

from svc_notebook import loading
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.api.texts import OneOrMany
from svc_notebook.client import Progress, background_loop
from svc_notebook.client.background_loop import behind_bar, blocking
from svc_notebook.client.crawlers import OnCount
from svc_notebook.client.tasks import Tasks
from svc_notebook.errors import unchained
from svc_notebook.frames.browse import BrowsePosition
from svc_notebook.frames.columns import Backend
from svc_notebook.functions import aio
from svc_notebook.functions.curated_lists import Done
from svc_notebook.functions.frame_records import without_told
from svc_notebook.functions.hit_renderer import show
from svc_notebook.functions.keys import explain_key, get_remaining_validity, secured_key
from svc_notebook.functions.signatures import spell_out
from svc_notebook.loading.exports.export import Include
from svc_notebook.loading.options import IfExists
from svc_notebook.loading.sources.python_records import Rows, at_hand
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient

__all__ = [
    "add_key", "add_source", "assign_users", "browse_all", "call", "cancel_crawler_task",
    "clear_entries", "clear_index", "clear_rules", "clear_synonyms", "configure_crawler",
    "copy_index", "count_values", "crawl_urls", "crawler_task", "create_crawler",
    "delete_entries", "delete_key", "delete_records", "delete_rules", "delete_source",
    "delete_synonyms", "delete_user_events", "dictionary_settings", "diff_records",
    "diff_settings", "drop_index", "explain", "explain_key", "export", "export_entries",
    "export_rules", "export_synonyms", "get_crawler", "get_key", "get_remaining_validity",
    "get_rule", "get_synonym",
    "get_user", "hide", "load", "move_index", "move_user", "next_page", "pause_crawler",
    "pending_users", "pin", "plan", "push", "read_browse", "read_clusters", "read_crawled_urls",
    "read_crawler_urls",
    "read_crawlers", "read_dask", "read_dictionary", "read_domains", "read_events",
    "read_facet_values",
    "read_facets", "read_indices", "read_keys", "read_languages", "read_logs", "read_records",
    "read_rules", "read_searches", "read_settings", "read_sources", "read_synonyms", "read_tasks",
    "read_top_users", "read_users", "read_writes", "refresh", "reindex_crawler", "remove_user",
    "rename_crawler", "replace_entries", "replace_records", "replace_rules", "replace_sources",
    "replace_synonyms", "reset_settings", "restore_key", "run_crawler", "save_entries",
    "save_rules", "save_synonyms", "search", "search_many", "secured_key", "send_events",
    "set_settings", "settings", "show", "show_search", "try_url", "unhide", "unpin",
    "update_key", "wait", "whoami",
]  # fmt: skip

R = TypeVar("R")


class LoadOptions(loading.RowOptions, total=False):
    """What a load takes besides what it loads and where to."""

    client: AnyClient | None
    progress: bool | None
    if_exists: IfExists
    least: float
    resume: bool
    verify: bool
    in_flight: int


add_key = blocking(aio.add_key)
add_source = blocking(aio.add_source)
assign_users = blocking(aio.assign_users)
browse_all = blocking(aio.browse_all)
call = blocking(aio.call)
cancel_crawler_task = blocking(aio.cancel_crawler_task)
clear_entries = blocking(aio.clear_entries)
clear_index = blocking(aio.clear_index)
clear_rules = blocking(aio.clear_rules)
clear_synonyms = blocking(aio.clear_synonyms)
configure_crawler = blocking(aio.configure_crawler)
copy_index = blocking(aio.copy_index)
count_values = blocking(aio.count_values)
create_crawler = blocking(aio.create_crawler)
delete_entries = blocking(aio.delete_entries)
delete_key = blocking(aio.delete_key)
delete_records = blocking(aio.delete_records)
delete_rules = blocking(aio.delete_rules)
delete_source = blocking(aio.delete_source)
delete_synonyms = blocking(aio.delete_synonyms)
delete_user_events = blocking(aio.delete_user_events)
dictionary_settings = blocking(aio.dictionary_settings)
diff_records = blocking(aio.diff_records)
diff_settings = blocking(aio.diff_settings)
drop_index = blocking(aio.drop_index)
explain = blocking(aio.explain)
export_entries = blocking(aio.export_entries)
export_rules = blocking(aio.export_rules)
export_synonyms = blocking(aio.export_synonyms)
get_crawler = blocking(aio.get_crawler)
get_key = blocking(aio.get_key)
get_rule = blocking(aio.get_rule)
get_synonym = blocking(aio.get_synonym)
get_user = blocking(aio.get_user)
hide = blocking(aio.hide)
move_index = blocking(aio.move_index)
move_user = blocking(aio.move_user)
next_page = blocking(aio.next_page)
pause_crawler = blocking(aio.pause_crawler)
pending_users = blocking(aio.pending_users)
pin = blocking(aio.pin)
read_clusters = blocking(aio.read_clusters)
read_crawled_urls = blocking(aio.read_crawled_urls)
read_crawler_urls = blocking(aio.read_crawler_urls)
read_crawlers = blocking(aio.read_crawlers)
read_dask = blocking(aio.read_dask)
read_dictionary = blocking(aio.read_dictionary)
read_domains = blocking(aio.read_domains)
read_events = blocking(aio.read_events)
read_facet_values = blocking(aio.read_facet_values)
read_facets = blocking(aio.read_facets)
read_indices = blocking(aio.read_indices)
read_keys = blocking(aio.read_keys)
read_languages = blocking(aio.read_languages)
read_logs = blocking(aio.read_logs)
read_records = blocking(aio.read_records)
read_rules = blocking(aio.read_rules)
read_searches = blocking(aio.read_searches)
read_settings = blocking(aio.read_settings)
read_sources = blocking(aio.read_sources)
read_synonyms = blocking(aio.read_synonyms)
read_tasks = blocking(aio.read_tasks)
read_top_users = blocking(aio.read_top_users)
read_users = blocking(aio.read_users)
read_writes = blocking(aio.read_writes)
refresh = blocking(aio.refresh)
remove_user = blocking(aio.remove_user)
rename_crawler = blocking(aio.rename_crawler)
replace_entries = blocking(aio.replace_entries)
replace_rules = blocking(aio.replace_rules)
replace_sources = blocking(aio.replace_sources)
replace_synonyms = blocking(aio.replace_synonyms)
reset_settings = blocking(aio.reset_settings)
restore_key = blocking(aio.restore_key)
run_crawler = blocking(aio.run_crawler)
save_entries = blocking(aio.save_entries)
save_rules = blocking(aio.save_rules)
save_synonyms = blocking(aio.save_synonyms)
search = blocking(aio.search)
search_many = blocking(aio.search_many)
send_events = blocking(aio.send_events)
set_settings = blocking(aio.set_settings)
settings = blocking(aio.settings)
show_search = blocking(aio.show_search)
try_url = blocking(aio.try_url)
unhide = blocking(aio.unhide)
unpin = blocking(aio.unpin)
update_key = blocking(aio.update_key)
whoami = blocking(aio.whoami)


@unchained
def load(
    source: Source,
    index: str,
    *,
    client: AnyClient | None = None,
    progress: bool | None = None,
    if_exists: IfExists = "append",
    least: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int = 4,
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
      progress : boolean, default None
          draw a progress bar; None draws one in notebooks and terminals

    Returns a `LoadResult`: rows sent, published and rejected. Raises `BadInput` for a wrong source
    or option, `CallFailed` or `TaskFailed` if the service refuses, `Stopped` (with `result`) if
    cancelled.
    """
    with at_hand(source, options, look=dry_run, resume=resume) as source:
        return behind_bar(
            lambda tell: aio.load(
                source, index, client=client, if_exists=if_exists, least=least, dry_run=dry_run,
                resume=resume, verify=verify, in_flight=in_flight, on_progress=tell, **options,
            ),
            Progress(unit="rows", label=index, shown=progress),
        )  # fmt: skip


@unchained
def plan(source: Source, index: str, **options: Unpack[loading.RowOptions]) -> loading.LoadPlan:
    """Tell what a load would do; nothing is sent."""
    return loading.plan(without_told(source, options), index, **options)


@unchained
def push(
    df: Rows,
    index: str,
    *,
    client: AnyClient | None = None,
    progress: bool | None = None,
    if_exists: IfExists = "append",
    least: float | None = None,
    verify: bool = False,
    in_flight: int = 4,
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
      progress : boolean, default None
          draw a progress bar; None draws one in notebooks and terminals

    Returns a `LoadResult` and raises as `load` does.
    """
    with at_hand(df, options) as df:
        return behind_bar(
            lambda tell: aio.push(
                df, index, client=client, if_exists=if_exists, least=least, verify=verify,
                in_flight=in_flight, on_progress=tell, **options,
            ),
            Progress(unit="rows", label=index, shown=progress),
        )  # fmt: skip


@unchained
def export(
    index: str,
    path: str | os.PathLike[str],
    *,
    client: AnyClient | None = None,
    progress: bool | None = None,
    query: str = "",
    columns: Sequence[str] | None = None,
    beside: Sequence[Include] = (),
    resume: bool = False,
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
      progress : boolean, default None
          draw a progress bar; None draws one in notebooks and terminals

    Returns an `Export`: the paths, the number of rows, and the `dtype` by which a load reads the
    file. Raises `BadInput` for a wrong argument, `Stopped` if cancelled.
    """
    return behind_bar(
        lambda tell: aio.export(
            index, path, client=client, query=query, columns=columns, beside=beside,
            resume=resume, on_progress=tell, **params,
        ),
        Progress(unit="records", label=index, shown=progress),
    )  # fmt: skip


@unchained
def replace_records(
    index: str,
    source: Source,
    *,
    least: float = 0.5,
    skip_rejected: bool = False,
    client: AnyClient | None = None,
    progress: bool | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Replace an index's records by a file's or a DataFrame's; its settings and the like stay.

    Nothing changes if anything goes wrong, if a row cannot be sent, or if less than the share
    `least` of the number of old records would be there.
    """
    with at_hand(source, options) as source:
        return behind_bar(
            lambda tell: aio.replace_records(
                index, source, least=least, skip_rejected=skip_rejected, client=client,
                on_progress=tell, **options,
            ),
            Progress(unit="rows", label=index, shown=progress),
        )  # fmt: skip


def wait(
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,
    client: AnyClient | None = None,
    progress: bool | None = None,
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
      progress : boolean, default None
          draw a progress bar; None draws one in notebooks and terminals

    Returns the number of tasks. Raises `TaskFailed` with the remaining tasks at the timeout.
    """
    return behind_bar(
        lambda tell: aio.wait(tasks, index=index, timeout=timeout, client=client, on_progress=tell),
        Progress(unit="tasks", label="published", shown=progress),
    )


def reindex_crawler(
    crawler: str,
    *,
    wait: bool = False,
    timeout: float | None = None,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> Done:
    """Start a whole crawl, or start it again; `wait` until its records are live, behind a bar.

    A crawl that was waited for tells how many URLs were done, skipped and failed.
    """
    return _behind_count(
        lambda tell: aio.reindex_crawler(
            crawler, wait=wait, timeout=timeout, client=client, on_progress=tell
        ),
        Progress(unit="URLs", label=crawler, shown=progress),
    )


def crawl_urls(
    crawler: str,
    urls: OneOrMany,
    *,
    save: bool | None = None,
    wait: bool = False,
    timeout: float | None = None,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> Done:
    """Crawl URLs now, a column of them for one; `wait` until they are done.

    `save` says whether later crawls visit them, too.
    """
    return _behind_count(
        lambda tell: aio.crawl_urls(
            crawler, urls, save=save, wait=wait, timeout=timeout, client=client, on_progress=tell
        ),
        Progress(unit="URLs", label=crawler, shown=progress),
    )


def crawler_task(
    crawler: str,
    task: str,
    *,
    wait: bool = False,
    timeout: float | None = 600,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> Done:
    """Say whether a crawler's task is still to do; or wait until it is done, behind a bar."""
    return _behind_count(
        lambda tell: aio.crawler_task(
            crawler, task, wait=wait, timeout=timeout, client=client, on_progress=tell
        ),
        Progress(unit="URLs", label=crawler, shown=progress),
    )


def _behind_count(begin: Callable[[OnCount], Coroutine[Any, Any, R]], bar: Progress) -> R:
    """Run what tells how far it is, though not of how much, and draw that."""
    with bar:
        return background_loop.run(begin(bar.update), on_tick=bar.draw)


@overload
def read_browse(
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
def read_browse(
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
) -> Iterator[DataFrame]: ...
def read_browse(
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
) -> DataFrame | Iterator[DataFrame]:
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
        whole = aio.read_browse(
            index, client=client, columns=columns,
            cursor=cursor, flatten=flatten, dtype_backend=dtype_backend, extra=extra, **params,
        )  # fmt: skip
        return background_loop.run(whole)
    chunks = aio.read_browse(
        index, client=client, columns=columns, chunksize=chunksize,
        cursor=cursor, flatten=flatten, dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    return _each(background_loop.run(chunks))


def _each(chunks: AsyncIterator[R]) -> Iterator[R]:
    done = object()
    while (chunk := background_loop.run(_next_or(chunks, done))) is not done:
        yield chunk  # type: ignore[misc]


async def _next_or(chunks: AsyncIterator[R], otherwise: object) -> R | object:
    return await anext(chunks, otherwise)


for _name in __all__:
    spell_out(globals()[_name])
