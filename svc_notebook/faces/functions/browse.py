"""Read and export records; continue, repeat and complete the request of a DataFrame."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Unpack, overload

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.data import frames, loading
from svc_notebook.data.client import OnProgress
from svc_notebook.data.declarations import accessor, public, verb
from svc_notebook.data.frames import Backend, BrowsePosition
from svc_notebook.data.loading import Include
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions.empty_search import warn_of_searches
from svc_notebook.faces.functions.records import ids_in, warn_of_columns


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
@public(
    verb(
        "browse",
        "browse products",
        "browse products --filters brand:Acme --columns name,price",
        without=("chunksize", "cursor", "query"),
        spread=SearchOptions,
    ),
    endpoints=("browse",),
    replaces={"get_browse": "read_browse"},
)
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

    Parameters
    ----------
    chunksize : int, default None
        Number of rows of each DataFrame; None reads all records into one DataFrame.
    cursor : str, default the beginning
        Position to resume at: `attrs["svc"]["next"]` of a chunk.

    Returns
    -------
    DataFrame or iterator of DataFrame
        One row per record: `objectID` (str), then the attributes. With `chunksize`, an iterator
        of DataFrames, of which one is in memory at a time.

    Raises
    ------
    BadInput
        If a search parameter is unknown or has a wrong type.
    NotFound
    CursorRepeated
        If the service repeats a cursor, so that the browse cannot end.

    Examples
    --------
    >>> lamps = svc.read_browse("products", filters="category:Lighting", columns=["name", "price"])
    >>> lamps.shape
    (40, 3)
    >>> sum(len(chunk) for chunk in svc.read_browse("products", chunksize=100))
    240
    """
    if chunksize is None:
        aio = asynchronous(client)
        records = await frames.read_browse(
            aio, index,
            columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
            extra=extra, **params,
        )  # fmt: skip
        await warn_of_columns(aio, index, records, columns, params)
        await warn_of_searches(aio, index, records, params)
        return records
    return frames.browse_chunks(
        asynchronous(client), index, chunksize,
        columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
        extra=extra, **params,
    )  # fmt: skip


@public()
async def read_dask(
    index: str,
    *,
    by: str | None = None,
    npartitions: int = 8,
    divisions: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    dtype: Mapping[str, Any] | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchParams],
) -> Any:
    """Return an index as a Dask DataFrame; its partitions are read when they are computed.

    Parameters
    ----------
    by : str, default None
        Attribute that partitions the index: a facet, or a numeric attribute; each record
        has one value. None divides the pages of a browse, whatever the records contain.
    npartitions : int, default 8
        Number of partitions, up to 10,000.
    divisions : list of float, default None
        Bounds of the ranges of a numeric attribute; None divides the range of a facet evenly,
        and finds those of another attribute in some of the records.
    columns : list of str, default those of the first records of each partition
        Attributes to return.
    dtype : dict, default those of the first records of each partition
        Dtypes by column.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per record: `objectID` (str), then the attributes. Computing a partition
        raises `BadInput` if its number of records has changed since the call.

    Raises
    ------
    BadInput
        If the attribute cannot partition the index.
    NotFound

    Examples
    --------
    >>> products = svc.read_dask("products", by="category", npartitions=2)
    >>> len(products)
    240
    """
    return await loading.read_dask(
        asynchronous(client), index,
        by=by, npartitions=npartitions, divisions=divisions, columns=columns, dtype=dtype,
        **params,
    )  # fmt: skip


@public(
    verb("get", "get products 17 18", "get products sku-1 --columns name,price", variable="ids"),
    endpoints=("get_objects",),
    replaces={"get_object": "read_records"},
    accessors=(
        accessor("df.svc.records", "ids", index="index", column="objectID"),
        accessor("series.svc.records", "ids", index="index"),
    ),
)
async def read_records(
    index: str,
    ids: Sequence[Any],
    *,
    client: AnyClient | None = None,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read records by objectID, in the order of the ids.

    Parameters
    ----------
    ids : list, Series or DataFrame with a column `objectID`
        objectIDs of the records.

    Returns
    -------
    DataFrame
        One row per stored record: `objectID` (str), then the attributes. Ids without a record
        cause a warning; `attrs["svc"]["missing"]` lists them.

    Raises
    ------
    BadInput
        If an id is not valid.
    NotFound

    Examples
    --------
    >>> svc.read_records("products", ["MUG-001", "LMP-001"], columns=["name"])
      objectID                     name
    0  MUG-001   Grand stoneware mug...
    1  LMP-001  Classic brass desk lamp
    >>> hits = svc.search("products", "desk lamp", columns=["name"])
    >>> hits.head(1).svc.records(columns=["price"])
      objectID  price
    0  LMP-001   23.9
    """
    aio = asynchronous(client)
    records = await frames.read_records(
        aio, index, ids_in(ids), columns=columns, flatten=flatten, dtype_backend=dtype_backend,
    )  # fmt: skip
    await warn_of_columns(aio, index, records, columns)
    return records


@public(
    verb(
        "export",
        "export products products.parquet",
        "export products cheap.csv.gz --filters 'price < 10' --include settings,synonyms,rules",
    ),
    endpoints=("browse",),
    bar="records",
    renamed={"beside": "include"},
)
async def export(
    index: str,
    path: str | os.PathLike[str],
    *,
    client: AnyClient | None = None,
    query: str = "",
    columns: Sequence[str] | None = None,
    include: Sequence[Include] = (),
    resume: bool = False,
    spreadsheet_safe: bool = False,
    on_progress: OnProgress | None = None,
    **params: Unpack[SearchOptions],
) -> loading.Export:
    """Write every record of an index that passes the filters to a file.

    The suffix of the file determines the format: Parquet, NDJSON, CSV or TSV. The file appears
    when it is complete.

    Parameters
    ----------
    path : path
        File to write; an existing file is replaced.
    query : str, default ""
        Query that the records match; "" matches every record.
    columns : list of str, default all attributes
        Attributes to write.
    include : list of {'settings', 'synonyms', 'rules'}, default none
        Further parts to write, as JSON files next to the file.
    resume : bool, default False
        Resume an interrupted export.
    spreadsheet_safe : bool, default False
        Write texts of CSV and TSV so that a spreadsheet does not run them as formulas: `'` before
        texts that begin with `=`, `+`, `-` or `@`, and control characters as escapes. Such a
        file is for reading; `load` would load the texts that were changed.

    Returns
    -------
    Export
        The paths, the number of rows, and the `dtype` with which `load` reads the file.

    Raises
    ------
    BadInput
        If the suffix is not supported or an argument is wrong.
    NotFound
    Stopped
        If the export is cancelled.

    Examples
    --------
    >>> exported = svc.export("products", "lamps.ndjson", filters="category:Lighting")
    >>> exported.rows
    40
    """
    return await loading.export(
        asynchronous(client), index, path,
        query=query, columns=columns, include=include, resume=resume,
        spreadsheet_safe=spreadsheet_safe,
        on_progress=on_progress, **params,
    )  # fmt: skip


@public(endpoints=("search", "browse"), accessors=(accessor("df.svc.next_page", "frame"),))
async def next_page(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read the page after the DataFrame of a search or a browse.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, or of `read_browse` with `chunksize`.

    Returns
    -------
    DataFrame
        The next page, with the columns of the first; empty after the last page.

    Raises
    ------
    BadInput
        If the DataFrame is not the result of a search or a browse, or comes from another
        application.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", hitsPerPage=2)
    >>> hits.svc.next_page()["rank"].tolist()
    [3, 4]
    """
    return await frames.next_page(asynchronous(client), frame)


@public(endpoints=("search", "browse"), accessors=(accessor("df.svc.refresh", "frame"),))
async def refresh(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Repeat the request that returned a DataFrame and return the new result.

    Parameters
    ----------
    frame : DataFrame
        Result of any function that reads from the service.

    Returns
    -------
    DataFrame
        The new result, with the same columns; columns of attributes depend on the records.

    Raises
    ------
    BadInput
        If the DataFrame was not read from the service, or comes from another application.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp")
    >>> hits = hits.svc.refresh()
    """
    return await frames.refresh(asynchronous(client), frame)


@public(endpoints=("browse",), accessors=(accessor("df.svc.browse", "frame"),))
async def browse_all(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, `read_browse` or `read_records`.

    Returns
    -------
    DataFrame
        One row per record: `objectID` (str), then the attributes, without `rank`.

    Raises
    ------
    BadInput
        If the DataFrame was not read from one index, or comes from another application.

    Examples
    --------
    >>> hits = svc.search("products", "lamp", hitsPerPage=2)
    >>> len(hits.svc.browse())
    40
    """
    return await frames.browse_all(asynchronous(client), frame)
