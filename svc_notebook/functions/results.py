"""Continue, repeat and complete the request that returned a DataFrame."""

from __future__ import annotations

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.declarations.declaration import public
from svc_notebook.session.connection import AnyClient, asynchronous


@public(endpoints=("search", "browse"), accessors=("df.svc.next_page",))
async def next_page(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read the page after the DataFrame of a search or a browse.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, or of `read_browse` with `chunksize`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The next page, with the columns of the first; empty after the last page.

    Raises
    ------
    BadInput
        If the DataFrame is not the result of a search or a browse, or comes from another
        application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", hitsPerPage=2)
    >>> svc.next_page(hits)["rank"].tolist()
    [3, 4]
    """
    return await frames.next_page(asynchronous(client), frame)


@public(endpoints=("search", "browse"), accessors=("df.svc.refresh",))
async def refresh(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Repeat the request that returned a DataFrame and return the new result.

    Parameters
    ----------
    frame : DataFrame
        Result of any function that reads from the service.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The new result, with the same columns; columns of attributes depend on the records.

    Raises
    ------
    BadInput
        If the DataFrame was not read from the service, or comes from another application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp")
    >>> hits = svc.refresh(hits)
    """
    return await frames.refresh(asynchronous(client), frame)


@public(endpoints=("browse",), accessors=("df.svc.browse",))
async def browse_all(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, `read_browse` or `read_records`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per record: `objectID` (str), then the attributes, without `rank`.

    Raises
    ------
    BadInput
        If the DataFrame was not read from one index, or comes from another application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "lamp", hitsPerPage=2)
    >>> len(svc.browse_all(hits))
    40
    """
    return await frames.browse_all(asynchronous(client), frame)
