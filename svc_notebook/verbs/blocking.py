"""The functions of `aio` for those who do not await: each runs on the portal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, Unpack, overload

from pandas import DataFrame

from svc_notebook import bulk
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.bulk import plan
from svc_notebook.bulk.options import IfExists
from svc_notebook.bulk.source import Source
from svc_notebook.client import Progress, portal
from svc_notebook.client.waiting import OnProgress, Tasks
from svc_notebook.errors import BadOption
from svc_notebook.frames.columns import Backend
from svc_notebook.verbs import aio
from svc_notebook.verbs.clients import AnyClient

__all__ = [
    "clear_index", "copy_index", "delete_records", "drop_index", "load", "move_index", "plan",
    "push", "read_browse", "read_clusters", "read_dictionary", "read_facet_values",
    "read_facets", "read_indices", "read_keys", "read_languages", "read_logs", "read_records",
    "read_rules", "read_settings", "read_sources", "read_synonyms", "read_top_users",
    "read_users", "search", "search_many", "settings", "wait", "whoami",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")


class LoadOptions(bulk.RowOptions, total=False):
    """What a load takes besides what it loads and where to."""

    client: AnyClient | None
    progress: bool | None
    if_exists: IfExists
    resume: bool
    in_flight: int


def blocking(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """Make the twin of a coroutine function that returns when the result is there."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return portal.run(function(*args, **kwargs))

    return call


clear_index = blocking(aio.clear_index)
copy_index = blocking(aio.copy_index)
delete_records = blocking(aio.delete_records)
drop_index = blocking(aio.drop_index)
move_index = blocking(aio.move_index)
read_clusters = blocking(aio.read_clusters)
read_dictionary = blocking(aio.read_dictionary)
read_facet_values = blocking(aio.read_facet_values)
read_facets = blocking(aio.read_facets)
read_indices = blocking(aio.read_indices)
read_keys = blocking(aio.read_keys)
read_languages = blocking(aio.read_languages)
read_logs = blocking(aio.read_logs)
read_records = blocking(aio.read_records)
read_rules = blocking(aio.read_rules)
read_settings = blocking(aio.read_settings)
read_sources = blocking(aio.read_sources)
read_synonyms = blocking(aio.read_synonyms)
read_top_users = blocking(aio.read_top_users)
read_users = blocking(aio.read_users)
search = blocking(aio.search)
search_many = blocking(aio.search_many)
settings = blocking(aio.settings)
whoami = blocking(aio.whoami)


def load(
    source: Source,
    index: str,
    *,
    client: AnyClient | None = None,
    progress: bool | None = None,
    if_exists: IfExists = "append",
    dry_run: bool = False,
    resume: bool = False,
    in_flight: int = 4,
    **options: Unpack[bulk.RowOptions],
) -> bulk.LoadResult:
    """Load a path, glob, URL, SQL query or DataFrame into an index; done when all is published.

    With `dry_run` nothing is sent; the result's `plan` tells what would be. `progress` draws a
    bar, by default in notebooks and terminals.
    """
    return _behind_bar(
        lambda tell: aio.load(
            source, index, client=client, if_exists=if_exists, dry_run=dry_run, resume=resume,
            in_flight=in_flight, on_progress=tell, **options,
        ),
        Progress(unit="rows", label=index, shown=progress),
    )  # fmt: skip


def load_or_plan(
    source: Source,
    index: str,
    *,
    dry_run: bool = False,
    **options: Unpack[LoadOptions],
) -> bulk.LoadResult | bulk.Plan:
    """Load, or with `dry_run` only tell what would be loaded."""
    result = load(source, index, dry_run=dry_run, **options)
    return result.plan if dry_run else result


def facets_or_values(
    index: str,
    query: str = "",
    *,
    facet: str | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count facet values among what a search finds, or look for words in the values of one."""
    if facet is None:
        return read_facets(index, query, client=client, **params)
    return read_facet_values(index, facet, query, client=client, **params)


def users_or_top(
    query: str = "",
    *,
    cluster: str | None = None,
    top: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """List the users, or with `top` those with the most records."""
    if not top:
        return read_users(query, cluster=cluster, client=client)
    if query or cluster:
        raise BadOption("`--top` is of all users of every cluster; leave the rest out")
    return read_top_users(client=client)


def push(
    df: DataFrame,
    index: str,
    *,
    client: AnyClient | None = None,
    progress: bool | None = None,
    in_flight: int = 4,
    **options: Unpack[bulk.RowOptions],
) -> bulk.LoadResult:
    """Write a DataFrame's rows to an index, and wait until they are published."""
    return _behind_bar(
        lambda tell: aio.push(
            df, index, client=client, in_flight=in_flight, on_progress=tell, **options
        ),
        Progress(unit="rows", label=index, shown=progress),
    )


def wait(
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> int:
    """Wait until tasks are published, behind one bar; return how many there were.

    A task is its number, the answer of a write, or several of these.
    """
    return _behind_bar(
        lambda tell: aio.wait(tasks, index=index, timeout=timeout, client=client, on_progress=tell),
        Progress(unit="tasks", label="published", shown=progress),
    )


def _behind_bar(begin: Callable[[OnProgress], Coroutine[Any, Any, R]], bar: Progress) -> R:
    with bar:
        return portal.run(begin(bar.tell), on_tick=bar.draw)


@overload
def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame: ...
@overload
def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> Iterator[DataFrame]: ...
def read_browse(
    index: str,
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    chunksize: int | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame | Iterator[DataFrame]:
    """Read every record of an index that passes the filters.

    With `chunksize`, an iterator of frames of so many rows, of which one is held at a time.
    """
    if chunksize is None:
        return portal.run(
            aio.read_browse(
                index, client=client, columns=columns, dtype_backend=dtype_backend, **params
            )
        )
    chunks = portal.run(
        aio.read_browse(
            index, client=client, columns=columns, chunksize=chunksize,
            dtype_backend=dtype_backend, **params,
        )
    )  # fmt: skip
    return _each(chunks)


def _each(chunks: AsyncIterator[R]) -> Iterator[R]:
    done = object()
    while (chunk := portal.run(_next_or(chunks, done))) is not done:
        yield chunk  # type: ignore[misc]


async def _next_or(chunks: AsyncIterator[R], otherwise: object) -> R | object:
    return await anext(chunks, otherwise)
