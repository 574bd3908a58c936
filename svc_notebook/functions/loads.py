"""Load rows from files, queries, DataFrames and dicts into an index."""

from __future__ import annotations

from typing import Unpack

from pandas import DataFrame

from svc_notebook import loading
from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.functions.frame_records import without_told
from svc_notebook.loading.options import IfExists
from svc_notebook.loading.sending.comparison import Missing
from svc_notebook.loading.sources.python_records import AsyncRows, Rows, awaited
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient, asynchronous

SIZE_OPTIONS = ("record_bytes", "batch_bytes")
FILE_OPTIONS = ("separator", "quote", "header", "encoding", "path")


class LoadOptions(loading.RowOptions, total=False):
    """Options of a load except its source and its index."""

    client: AnyClient | None
    progress: bool | None
    if_exists: IfExists
    min_share: float
    resume: bool
    verify: bool
    in_flight: int


def plan_or_result(result: loading.LoadResult) -> loading.LoadResult | loading.LoadPlan:
    """Return the plan of a dry run, else the result."""
    return result.plan if result.dry_run else result


@public(
    verb(
        "load",
        "load products.csv products --id sku",
        "load products.csv products --dry-run",
        "load 'data/*.parquet' products --if-exists replace",
        without=SIZE_OPTIONS,
        result=plan_or_result,
    ),
    endpoints=("batch",),
    accessors=("df.svc.push", "df.svc.delete"),
    bar="rows",
    stream="source",
    renamed={"least": "min_share"},
)
async def load(
    source: Source,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    min_share: float | None = None,
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

    Parameters
    ----------
    source : path, glob, URL, SQL query, DataFrame, Arrow table, dicts
        The rows to load.
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.
    if_exists : {'append', 'replace', 'fail', 'merge'}, default 'append'
        What to do with an existing index: add or overwrite records by objectID, replace all
        records, fail, or send only new and changed records.
    min_share : float from 0 to 1, default None
        With `replace`: the share of the old number of records that the new index must have;
        None refuses less than half, but only if rows were rejected.
    dry_run : bool, default False
        Send nothing; the result's `plan` describes the load.
    resume : bool, default False
        Continue an interrupted load of the same files.
    verify : bool, default False
        Read all records back; the result's `differences` lists the records that are not stored as
        sent.
    in_flight : int, default 4
        Number of batches sent at the same time; of partitions for a distributed load.
    on_progress : callable, default None
        Function that is called with the number of rows sent and the number of rows.

    Returns
    -------
    LoadResult
        Number of rows sent, published and rejected, in `sent`, `published` and `rejected_rows`; the
        rejected rows are in `rejected`. `complete` is whether every row is published.

    Raises
    ------
    BadInput
        If the source cannot be read or an option is not valid.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service does not publish what was sent.
    Stopped
        If the load is cancelled; `result` contains what was sent.

    Examples
    --------
    >>> svc.load([{"objectID": "1", "name": "blue lamp"}], "lamps").complete
    True
    """
    async with awaited(source, options, look=dry_run, resume=resume) as source:
        return await loading.load(
            asynchronous(client), without_told(source, options), index,
            if_exists=if_exists, min_share=min_share, dry_run=dry_run, resume=resume, verify=verify,
            in_flight=in_flight, on_progress=on_progress, **options,
        )  # fmt: skip


@public(accessors=("df.svc.plan",))
def plan(source: Source, index: str, **options: Unpack[loading.RowOptions]) -> loading.LoadPlan:
    """Describe what a load would do; nothing is sent.

    Parameters
    ----------
    source : path, glob, URL, SQL query, DataFrame, Arrow table, dicts
        The rows to load.
    index : str
        Name of the index.

    Returns
    -------
    LoadPlan
        Number of rows, columns with their types, where the objectIDs come from, and in `rejected`
        the rows that cannot be sent.

    Raises
    ------
    BadInput
        If the source cannot be read or an option is not valid.

    Examples
    --------
    >>> svc.plan([{"objectID": "1", "name": "blue lamp"}], "lamps").rows
    1
    """
    return loading.plan(without_told(source, options), index, **options)


@public(
    verb(
        "push",
        "push products --from df",
        "push products --from prices --action update",
        operands=("index",),
        without=(*SIZE_OPTIONS, *FILE_OPTIONS),
        variable="df",
        faces=("magic",),
    ),
    endpoints=("batch",),
    replaces={
        "add_object": "push",
        "put_object": "push",
        "partial_update_object": "push(action='update')",
        "batch_many": "push",
    },
    bar="rows",
    stream="df",
    renamed={"least": "min_share"},
)
async def push(
    df: AsyncRows,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Write the rows of a DataFrame, or dicts, to an index; return when they are published.

    Columns that a search added, such as `rank`, are not attributes; they are not sent unless
    `columns` names them.

    Parameters
    ----------
    df : DataFrame, dicts
        The rows to write; an asynchronous stream of dicts is accepted.
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.
    if_exists : {'append', 'replace', 'fail', 'merge'}, default 'append'
        What to do with an existing index; see `load`.
    min_share : float from 0 to 1, default None
        With `replace`: the share of the old number of records that the new index must have.
    verify : bool, default False
        Read all records back; the result's `differences` lists the records that are not stored as
        sent.
    in_flight : int, default 4
        Number of batches sent at the same time.
    on_progress : callable, default None
        Function that is called with the number of rows sent and the number of rows.

    Returns
    -------
    LoadResult
        As of `load`.

    Raises
    ------
    BadInput
        If a row or an option is not valid.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service does not publish what was sent.
    Stopped
        If the load is cancelled; `result` contains what was sent.

    Examples
    --------
    >>> hits = svc.search("products", "lamp")
    >>> svc.push(hits, "lamps").complete
    True
    """
    async with awaited(df, options) as df:
        return await loading.push(
            asynchronous(client), without_told(df, options), index,
            if_exists=if_exists, min_share=min_share, verify=verify, in_flight=in_flight,
            on_progress=on_progress, **options,
        )  # fmt: skip


@public(endpoints=("get_objects", "browse"), accessors=("df.svc.diff",))
async def diff_records(
    df: Rows,
    index: str,
    *,
    missing: Missing = "ignore",
    client: AnyClient | None = None,
    **options: Unpack[loading.RowOptions],
) -> DataFrame:
    """Compare a DataFrame's rows, or dicts, with the stored records; nothing is written.

    Parameters
    ----------
    df : DataFrame, dicts
        The rows to compare.
    index : str
        Name of the index.
    missing : {'ignore', 'report'}, default 'ignore'
        Whether stored records without a row are listed, last, with the state `missing`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per id: `objectID` (str), `state` (str: new, changed, unchanged or missing) and
        `attributes` (lists of those that differ). Rows that cannot be sent are left out and counted
        in `attrs["svc"]["rejected"]`.

    Raises
    ------
    BadInput
        If an argument or an option is not valid.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.diff_records([{"objectID": "1", "name": "green lamp"}], "lamps")["state"].tolist()
    ['changed']
    """
    return await loading.compare(
        asynchronous(client), without_told(df, options), index, missing=missing, **options
    )
