"""Load rows from files, queries, DataFrames and dicts into an index."""

from __future__ import annotations

from os import PathLike
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.data import loading
from svc_notebook.data.client import OnProgress
from svc_notebook.data.declarations import accessor, accessor_only, public, verb
from svc_notebook.data.loading import (
    DEFAULT_DISTINCT,
    DEFAULT_UNDO_ROWS,
    Accept,
    AsyncRows,
    CompareWith,
    IfExists,
    Missing,
    Rows,
    Source,
    awaited,
)
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.records import check_column, record_columns

SIZE_OPTIONS = ("record_bytes", "batch_bytes")
FILE_OPTIONS = (
    "separator", "quote", "header", "header_rows", "strict", "skip", "comment", "encoding",
    "decimal", "thousands", "dates", "path", "sheet",
)  # fmt: skip


def plan_or_result(result: loading.LoadResult) -> loading.LoadResult | loading.LoadPlan:
    """Return the plan of a dry run, else the result."""
    return result.plan if result.dry_run else result


@public(
    verb(
        "load",
        "load products.csv products --id sku",
        "load products.csv products --dry-run",
        "load 'data/*.parquet' products --if-exists replace",
        summary="Load a file, URL or SQL query into an index; done when every row is published",
        help={"source": "path, glob, URL or SQL query"},
        without=SIZE_OPTIONS,
        result=plan_or_result,
    ),
    endpoints=("batch",),
    accessors=(accessor("df.svc.push", "source"), accessor("ddf.svc.push", "source")),
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
    in_flight: int | None = None,
    on_progress: OnProgress | None = None,
    plan: loading.LoadPlan | PathLike[str] | str | Any = None,
    accept: Accept | None = None,
    per_second: int | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    cursor: str | None = None,
    reset_cursor: bool = False,
    set_distinct: bool = False,
    compare_with: CompareWith = "index",
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Load a path, glob, URL, SQL query, DataFrame or dicts into an index; return when published.

    Dicts can be one dict, a list, or a stream. A stream is consumed in another thread; an
    asynchronous stream is consumed in the caller's event loop.

    Parameters
    ----------
    source : path, glob, URL, list of these, SQL query, DataFrame, Arrow table, relation or dicts
        Rows to load: a file (CSV, JSON, Parquet, Excel, XML, SQLite, others) here or at a URL
        (`https://`, `s3://`, `gs://`, `az://`, others of fsspec), several files of one format, an
        open file such as `io.StringIO`, or data of pandas, Polars, DuckDB, Ibis or Arrow.
    if_exists : {'append', 'replace', 'fail', 'merge', 'sync'}, default 'append'
        What to do with an existing index: add or overwrite records by objectID, replace all
        records, fail, send only new and changed records, or do that and delete the records
        without a row.
    min_share : float, default None
        With `replace` and `sync`, minimum number of new records, as a share from 0 to 1 of the
        number of previous records; None requires half of 1,000 records or more, and of any number
        if rows were rejected.
    dry_run : bool, default False
        Send nothing; the `plan` of the result describes the load.
    resume : bool, default False
        Resume an interrupted load of the same files, or of the same Dask DataFrame.
    verify : bool, default False
        Read all records back; the `differences` of the result list the records that are not
        stored as sent.
    in_flight : int, default None
        Number of concurrent batches, 4 by default and up to 1,024; for a distributed load, of
        concurrent partitions, by default as many as the workers have threads.
    plan : LoadPlan, path or pandera schema, default None
        Plan, or file of a saved plan, whose options are used and whose columns the source must
        have; other options take precedence.
    accept : {'plan'}, default None
        Load with all options that the plan of the source proposes.
    per_second : int, default None
        Maximum number of rows to send in a second; None does not limit them.
    cursor : str, default None
        Column such as `updated_at`: only rows whose value is at least the highest one of the last
        finished load of this source into this index are sent, and those without a value. `files`
        sends the rows of the new and changed files of a pattern.
    reset_cursor : bool, default False
        Send all rows, and remember the highest value again.
    compare_with : {'index', 'hashes'}, default 'index'
        With `merge` and `sync`, compare the rows with all stored records, which are read, or with
        the hashes that the last such load kept on this machine: changes that others made since
        are noticed only if they change the number of records.
    set_distinct : bool, default False
        With `split`, set `attributeForDistinct` to the attribute that all parts of a text share,
        and `distinct`, so that a search shows one hit of them.

    Returns
    -------
    LoadResult
        The number of rows sent, published and rejected; `rejected` is a DataFrame of the
        rejected rows.

    Raises
    ------
    BadInput
        If the source or an option is wrong.
    TaskFailed
        If the service does not publish the records within 600 seconds.
    Stopped
        If the load is cancelled; its `result` contains what was loaded.

    Examples
    --------
    >>> result = svc.load("products.csv", "products", id="sku")
    >>> result.published, result.rejected_rows
    (240, 0)
    >>> svc.load("SELECT * FROM 'products.csv' WHERE price < 50", "products", if_exists="replace")
    >>> svc.samples.products().svc.push("products", id="sku").published
    240
    """
    if set_distinct and not options.get("split"):
        raise BadInput("`set_distinct` needs `split`, the column whose texts are split")
    async with awaited(source, options, look=dry_run, resume=resume) as source:
        result = await loading.load(
            asynchronous(client), record_columns(source, options), index,
            if_exists=if_exists, min_share=min_share, dry_run=dry_run, resume=resume, verify=verify,
            in_flight=in_flight, on_progress=on_progress, plan=plan, accept=accept,
            per_second=per_second, undo_rows=undo_rows, cursor=cursor,
            reset_cursor=reset_cursor, compare_with=compare_with, **options,
        )  # fmt: skip
    if set_distinct and not dry_run:
        from svc_notebook.faces.functions.settings import set_settings  # with the journal: slow

        attribute = options.get("distinct", DEFAULT_DISTINCT)
        await set_settings(
            index, {"attributeForDistinct": attribute, "distinct": True}, client=client
        )
    return result


@public(
    accessors=(accessor("df.svc.plan", "source"), accessor("ddf.svc.plan", "source")),
    like=load.__doc__,
)
def plan(source: Source, index: str, **options: Unpack[loading.RowOptions]) -> loading.LoadPlan:
    """Return the plan of a load; nothing is sent.

    Returns
    -------
    LoadPlan
        The columns with their types, the objectIDs, a sample of the records, and the rejected
        rows.

    Raises
    ------
    BadInput
        If the source or an option is wrong.

    Examples
    --------
    >>> plan = svc.plan("products.csv", "products")
    >>> plan.rows, plan.ids
    (240, 'column `sku`')
    >>> svc.samples.products().svc.plan("products", id="sku").rows
    240
    """
    return loading.plan(record_columns(source, options), index, **options)


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
    like=load.__doc__,
)
async def push(
    df: AsyncRows,
    index: str,
    *,
    client: AnyClient | None = None,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    verify: bool = False,
    in_flight: int | None = None,
    on_progress: OnProgress | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Send the rows of a DataFrame, or dicts, to an index; return when they are published.

    Columns that a search added, such as `rank`, are not sent unless `columns` names them.

    Parameters
    ----------
    df : DataFrame or dicts
        Rows to send; an asynchronous stream of dicts is accepted too.
    in_flight : int, default 4
        Number of concurrent batches.

    Raises
    ------
    BadInput
        If the rows or an option are wrong.
    TaskFailed
        If the service does not publish the records within 600 seconds.
    Stopped
        If the load is cancelled; its `result` contains what was loaded.

    Examples
    --------
    >>> cheap = svc.samples.products().query("price < 50")
    >>> svc.push(cheap, "cheap", id="sku", if_exists="replace").published
    158
    """
    async with awaited(df, options) as df:
        return await loading.push(
            asynchronous(client), record_columns(df, options), index,
            if_exists=if_exists, min_share=min_share, verify=verify, in_flight=in_flight,
            on_progress=on_progress, undo_rows=undo_rows, **options,
        )  # fmt: skip


@public(
    endpoints=("get_objects", "browse"), accessors=(accessor("df.svc.diff", "df", index="index"),)
)
async def diff_records(
    df: Rows,
    index: str,
    *,
    missing: Missing = "ignore",
    client: AnyClient | None = None,
    **options: Unpack[loading.RowOptions],
) -> DataFrame:
    """Compare the rows of a DataFrame, or dicts, with the stored records; nothing is written.

    Parameters
    ----------
    df : DataFrame or dicts
        Rows to compare.
    missing : {'ignore', 'report'}, default 'ignore'
        Whether to list stored records without a row, last, with the state `missing`.

    Returns
    -------
    DataFrame
        One row per objectID: `objectID` (str), `state` (str, `new`, `changed`, `unchanged` or
        `missing`) and `attributes` (object, the list of those that differ). Rows that cannot be
        sent are omitted; `attrs["svc"]["rejected"]` is their number.

    Raises
    ------
    BadInput
        If the rows or an option are wrong.

    Examples
    --------
    >>> products = svc.samples.products()
    >>> products.loc[0, "price"] = 19.9
    >>> svc.diff_records(products, "products", id="sku").query("state == 'changed'")
      objectID    state attributes
    0  LMP-001  changed    [price]
    >>> svc.read_browse("products").svc.diff()["state"].unique().tolist()
    ['unchanged']
    """
    return await loading.compare(
        asynchronous(client), record_columns(df, options), index, missing=missing, **options
    )


@accessor_only(
    accessor("df.svc.delete", "df", index="index"), accessor("ddf.svc.delete", "df"), bar="rows"
)
async def delete_rows(
    df: Any,
    index: str,
    *,
    id: str = "objectID",  # noqa: A002 - as in `load`
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> loading.LoadResult:
    """Delete the records of the rows.

    Parameters
    ----------
    df : DataFrame
        Rows whose records to delete.
    id : str, default 'objectID'
        Column of the objectIDs.

    Returns
    -------
    LoadResult
        The number of deletions sent and published.

    Raises
    ------
    BadInput
        If no index is known, or the column does not exist.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp")
    >>> hits.svc.delete().published
    10
    """
    check_column(df, id)
    return await load(
        df, index, id=id, columns=[], action="delete", client=client, on_progress=on_progress
    )


@public(
    verb(
        "replace",
        "replace products products.csv --id sku",
        "replace products products.parquet --min-share 0.9 --yes",
        help={"source": "path, glob, URL or SQL query"},
        without=(*SIZE_OPTIONS, *FILE_OPTIONS, "action", "operations", "replace_records"),
        names={"source": "file"},
        variable="source",
        destructive="replace all records of {index}",
    ),
    endpoints=("batch", "operate_index"),
    bar="rows",
    stream="source",
    renamed={"least": "min_share"},
)
async def replace_records(
    index: str,
    source: Source,
    *,
    min_share: float = 0.5,
    skip_rejected: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Replace all records of an index with those of a source.

    The new records are loaded into a temporary index with the settings, synonyms and rules of
    the index, which then replaces it. Nothing changes if the load fails.

    Parameters
    ----------
    source : path, glob, URL, list of these, SQL query, DataFrame, Arrow table or dicts
        New records.
    min_share : float, default 0.5
        Minimum number of new records, as a share from 0 to 1 of the number of previous
        records.
    skip_rejected : bool, default False
        Replace the records although some rows of the source are rejected.

    Returns
    -------
    LoadResult
        The number of rows sent, published and rejected.

    Raises
    ------
    BadInput
        If the source or an option is wrong, a row is rejected, or there are too few new
        records.
    TaskFailed
        If the service does not publish the records within 600 seconds.
    Stopped
        If the load is cancelled.

    Examples
    --------
    >>> cheap = svc.samples.products().query("price < 50")
    >>> svc.replace_records("products", cheap, id="sku", min_share=0.2).published
    158
    """
    if not 0 <= min_share <= 1:
        raise BadInput(f"`min_share` must be a share from 0 to 1, not {min_share!r}")
    async with awaited(source, options) as given:
        rows = record_columns(given, options)
        return await loading.load(
            asynchronous(client), rows, index, if_exists="replace", min_share=min_share,
            on_progress=on_progress, skip_rejected=skip_rejected, **options,
        )  # fmt: skip
