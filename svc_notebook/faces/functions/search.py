"""Search an index, and count the values of facets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.attributes import name_attributes
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.values import OneOrMany
from svc_notebook.core.terminal import warn_user
from svc_notebook.data import frames
from svc_notebook.data.client import FACETS, AsyncClient, read_facet_entries
from svc_notebook.data.declarations import accessor, accessor_only, public, verb, verb_only
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, SvcError
from svc_notebook.faces.functions.empty_search import (
    warn_of_counts,
    warn_of_search,
    warn_of_searches,
)
from svc_notebook.faces.functions.records import warn_of_columns


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
    """Search an index and return one row per hit.

    Parameters
    ----------
    criteria : bool, default False
        Add a column for the value of each ranking criterion.
    highlight : bool, default False
        Add a column `highlighted.X` for each attribute X, in which matches are marked.

    Returns
    -------
    DataFrame
        One row per hit: `rank` (int64, from 1), `objectID` (str), then the attributes.
        `attrs["svc"]` contains the index, the query, the parameters and the rest of the
        response, such as `nbHits`.

    Raises
    ------
    BadInput
        If a search parameter is unknown or has a wrong type.
    NotFound

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", columns=["name", "price"], hitsPerPage=2)
    >>> hits
       rank objectID                     name  price
    0     1  LMP-001  Classic brass desk lamp   23.9
    1     2  LMP-003     Nordic oak desk lamp   34.9
    >>> hits.attrs["svc"]["nbHits"]
    10
    """
    aio = asynchronous(client)
    hits = await frames.search(
        aio, index, query,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(aio, index, hits, columns, params)
    await warn_of_search(aio, index, query, hits, {**params, **(extra or {})})
    return hits


@public(
    verb(
        "multi-search", "multi-search products lamp 'oak table' --hitsPerPage 3", variable="queries"
    ),
    endpoints=("search_many",),
    accessors=(accessor("series.svc.search", "queries"),),
    like=search.__doc__,
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
    """Run several searches of one index and return their hits in one DataFrame.

    Parameters
    ----------
    queries : str or list of str
        Queries, one search for each.

    Returns
    -------
    DataFrame
        One row per hit: `query` (str), `rank` (Int64, from 1), `objectID` (str), then the
        attributes. A query without hits has one row in which only `query` has a value.

    Examples
    --------
    >>> hits = svc.search_many("products", ["mug", "desk lamp"], columns=["name"], hitsPerPage=2)
    >>> hits[["query", "rank", "objectID"]]
           query  rank objectID
    0        mug     1  MUG-001
    1        mug     2  MUG-002
    2  desk lamp     1  LMP-001
    3  desk lamp     2  LMP-003
    >>> queries = pd.Series(["mug", "desk lamp"])
    >>> queries.svc.search("products", hitsPerPage=1)["objectID"].tolist()
    ['MUG-001', 'LMP-001']
    """
    aio = asynchronous(client)
    hits = await frames.search_many(
        aio, index, queries,
        criteria=criteria, highlight=highlight, columns=columns, flatten=flatten,
        dtype_backend=dtype_backend, extra=extra, **params,
    )  # fmt: skip
    await warn_of_columns(aio, index, hits, columns, params)
    await warn_of_searches(aio, index, hits, params)
    return hits


@public(endpoints=("search",), like=search.__doc__)
async def read_facets(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the values of facets among the hits of a search.

    Returns
    -------
    DataFrame
        One row per facet and value, by default of all facets: `facet` and `value` (str) and
        `count` (int64). `attrs["svc"]["facets_stats"]` contains minimum, maximum, mean and sum
        of numeric facets.

    Examples
    --------
    >>> svc.read_facets("products", "lamp", facets=["category"])
          facet      value  count
    0  category   Lighting     20
    1  category  Furniture     10
    2  category     Travel     10
    """
    aio = asynchronous(client)
    counts = await frames.read_facets(aio, index, query, extra=extra, **params)
    await warn_of_counts(aio, index, query, counts, params)
    return counts


@public(endpoints=("search_facet",), like=search.__doc__)
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
    facet : str
        Name of the facet, which the settings declare `searchable`.
    text : str, default ""
        Words or word prefixes that a value contains; "" matches every value.

    Returns
    -------
    DataFrame
        One row per value: `value` and `highlighted` (str, with matches marked) and `count`
        (int64).

    Examples
    --------
    >>> svc.read_facet_values("products", "brand", "nor")
         value         highlighted  count
    0  Norrvik  <em>Nor</em>rvik     30
    """
    aio = asynchronous(client)
    values = await frames.read_facet_values(aio, index, facet, text, **params)
    await warn_of_searches(aio, index, values, params)
    return values


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
    query : str, default ""
        Words to search for; the name of a facet alone counts the values of this facet among the
        hits of the filters, unless `facets` is given.
    facet : str, default None
        Search the values of this facet.

    Returns
    -------
    DataFrame
        As of `read_facets`, or with `facet` of `read_facet_values`.
    """
    if facet is not None:
        return await read_facet_values(index, facet, query, client=client, **params)
    if "facets" not in params and await _is_facet(asynchronous(client), index, query.strip()):
        facets = query.split()
        warn_user(f"`{facets[0]}` is a facet: its values are counted; facets='*' searches the word")
        query, params = "", {**params, "facets": facets}
    return await read_facets(index, query, client=client, **params)


async def _is_facet(client: AsyncClient, index: str, name: str) -> bool:
    """Return whether an index counts an attribute; False if the key may not read its settings."""
    with suppress(SvcError):
        return bool(name) and name in name_attributes(
            {FACETS: [*await read_facet_entries(client, index)]}
        )
    return False


@public(endpoints=("search_many",))
async def count_values(
    index: str,
    facet: str,
    values: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the records that have each of the given values of a facet.

    The count is exact for every value, also for rare ones.

    Parameters
    ----------
    facet : str
        Name of the facet.
    values : list or Series
        Values to count; each distinct value is counted once.

    Returns
    -------
    DataFrame
        One row per distinct value, in the given order: `value` (str) and `count` (int64).

    Raises
    ------
    BadInput
        If a value is missing or is not a scalar.
    NotFound

    Examples
    --------
    >>> svc.count_values("products", "brand", ["Norrvik", "Casavela"])
          value  count
    0   Norrvik     30
    1  Casavela     30
    """
    aio = asynchronous(client)
    counts = await frames.count_values(aio, index, facet, values, **params)
    await warn_of_searches(aio, index, counts[counts["count"] > 0], {**params, "facets": [facet]})
    return counts


@accessor_only(accessor("series.svc.facet", "values"), endpoints=("search_many",))
async def count_column_values(
    values: Any,
    index: str,
    facet: str | None = None,
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the records that have each of these values of a facet.

    Parameters
    ----------
    values : Series
        Values to count; missing ones are left out.
    facet : str, default the name of the column
        Name of the facet.

    Returns
    -------
    DataFrame
        One row per distinct value: `value` (str) and `count` (int64).

    Raises
    ------
    BadInput
        If the facet is not known.
    NotFound

    Examples
    --------
    >>> brands = pd.Series(["Norrvik", "Casavela"], name="brand")
    >>> brands.svc.facet("products")
          value  count
    0   Norrvik     30
    1  Casavela     30
    """
    name = facet or values.name
    if not isinstance(name, str):
        raise BadInput(
            "the Series has no facet as its name; pass it: series.svc.facet(index, 'brand')"
        )
    return await count_values(index, name, values.dropna(), client=client, **params)
