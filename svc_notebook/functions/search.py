"""Search an index, and count the values of facets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.api.texts import OneOrMany
from svc_notebook.declarations.declaration import public, verb, verb_only
from svc_notebook.frames.columns import Backend
from svc_notebook.functions.frame_records import warn_of_columns
from svc_notebook.session.connection import AnyClient, asynchronous


@public(
    verb(
        "search",
        "search products blue lamp",
        'search products lamp --filters "price < 50" --facets brand --criteria',
        spread=SearchParams,
    ),
    endpoints=("search",),
    replaces={"get_search": "search"},
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

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        "" matches every record.
    client : Client or AsyncClient, default the current client
        Client to use.
    criteria : bool, default False
        Add a column for the value of each ranking criterion.
    highlight : bool, default False
        Add `highlighted.X` for each attribute X, with its matches marked.
    columns : list of str, default all attributes
        Attributes to return.
    flatten : bool, default False
        Give each member of an object its own column, such as `size.width`.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        The dtypes of the result, as in pandas.
    extra : dict, default None
        Parameters that are sent without validation: `extra={"newParameter": 1}`.

    Returns
    -------
    DataFrame
        One row per hit: `rank` (int64, from 1) and `objectID` (str), then the attributes.
        `attrs["svc"]` contains the index, the query, the parameters and the rest of the response,
        such as `nbHits`.

    Raises
    ------
    BadInput
        If an argument or a search parameter is not valid.
    NotFound
        If there is no such index.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "lamp", filters="price < 50", hitsPerPage=3)
    >>> hits[["rank", "objectID", "name"]]
    """
    own = asynchronous(client)
    found = await frames.search(
        own, index, query,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(own, index, found, columns, params)
    return found


@public(
    verb(
        "multi-search", "multi-search products lamp 'oak table' --hitsPerPage 3", variable="queries"
    ),
    endpoints=("search_many",),
    accessors=("series.svc.search",),
)
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

    Parameters
    ----------
    index : str
        Name of the index.
    queries : string or list of str
        The queries, one search for each.
    client : Client or AsyncClient, default the current client
        Client to use.
    criteria : bool, default False
        Add a column for the value of each ranking criterion.
    highlight : bool, default False
        Add `highlighted.X` for each attribute X, with its matches marked.
    columns : list of str, default all attributes
        Attributes to return.
    flatten : bool, default False
        Give each member of an object its own column, such as `size.width`.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        The dtypes of the result, as in pandas.
    extra : dict, default None
        Parameters that are sent without validation: `extra={"newParameter": 1}`.

    Returns
    -------
    DataFrame
        One row per hit: `query` (str), `rank` (Int64, from 1) and `objectID` (str), then the
        attributes. A query without hits has one row, in which only `query` has a value.

    Raises
    ------
    BadInput
        If an argument or a search parameter is not valid.
    NotFound
        If there is no such index.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search_many("products", ["lamp", "mug"], hitsPerPage=3)
    >>> hits.groupby("query")["objectID"].count()
    """
    own = asynchronous(client)
    found = await frames.search_many(
        own, index, queries,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(own, index, found, columns, params)
    return found


@public(endpoints=("search",))
async def read_facets(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the values of facets, by default of all facets, among the hits of a search.

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        "" matches every record.
    client : Client or AsyncClient, default the current client
        Client to use.
    extra : dict, default None
        Parameters that are sent without validation: `extra={"newParameter": 1}`.

    Returns
    -------
    DataFrame
        One row per value: `facet` (str), `value` (str), `count` (int64). Minimum, maximum, mean and
        sum of numeric facets are in `attrs["svc"]["facets_stats"]`.

    Raises
    ------
    BadInput
        If an argument or a search parameter is not valid.
    NotFound
        If there is no such index.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_facets("products", "lamp", facets=["brand"])
    """
    return await frames.read_facets(asynchronous(client), index, query, extra=extra, **params)


@public(endpoints=("search_facet",))
async def read_facet_values(
    index: str,
    facet: str,
    text: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchParams],
) -> DataFrame:
    """Search the values of one facet.

    Parameters
    ----------
    index : str
        Name of the index.
    facet : str
        Name of the facet.
    text : str, default ""
        What the values must match.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per value: `value` (str), `highlighted` (str, with matches marked), `count` (int64).

    Raises
    ------
    BadInput
        If an argument or a search parameter is not valid.
    NotFound
        If there is no such index.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_facet_values("products", "brand", "ac")
    """
    return await frames.read_facet_values(asynchronous(client), index, facet, text, **params)


@verb_only(
    verb(
        "facets",
        'facets products lamp --facets brand,color --filters "price < 50"',
        "facets products co --in brand",
        names={"facet": "in"},
    ),
    endpoints=("search", "search_facet"),
)
async def facets_or_values(
    index: str,
    query: str = "",
    *,
    facet: str | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the values of facets among the hits of a search, or search the values of one facet.

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        Words to search for.
    facet : str, default None
        Search the values of this facet.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        As of `read_facets`, or with `facet` of `read_facet_values`.
    """
    if facet is None:
        return await read_facets(index, query, client=client, **params)
    return await read_facet_values(index, facet, query, client=client, **params)
