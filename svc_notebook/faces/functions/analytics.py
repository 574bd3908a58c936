"""Read analytics: what was searched, clicked and bought, of hosted and local services."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack

from pandas import DataFrame

from svc_notebook.core.api.shapes.analytics import TopSearchOrder
from svc_notebook.core.api.values import OneOrMany
from svc_notebook.data import frames
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.functions.events import Moment, read_moment


class AnalyticsOptions(TypedDict, total=False):
    """The days of a report, the tags of its searches, the client and the dtypes."""

    since: Moment | None
    until: Moment | None
    tags: str | None
    client: AnyClient | None
    dtype_backend: Backend | None


async def _read_report(
    read: Callable[..., Awaitable[DataFrame]],
    index: str,
    options: AnalyticsOptions,
    **more: Any,
) -> DataFrame:
    """Read a report of the days, in UTC, that `since` and `until` name."""
    return await read(
        asynchronous(options.get("client")), index, since=read_day(options.get("since"), "since"),
        until=read_day(options.get("until"), "until"), tags=options.get("tags"),
        dtype_backend=options.get("dtype_backend"), **more,
    )  # fmt: skip


def read_day(given: Moment | None, name: str) -> str | None:
    """Return the day of a time or of an age such as `7d`, in UTC; raises `BadInput`."""
    milliseconds = read_moment(given, name)
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


@public(
    verb("analytics searches", "analytics searches products --since 30d"),
    endpoints=("get_top_searches",),
)
async def read_top_searches(
    index: str,
    *,
    order: TopSearchOrder = "searchCount",
    ascending: bool = False,
    limit: int = 1000,
    **options: Unpack[AnalyticsOptions],
) -> DataFrame:
    """Read the most frequent queries with their clicks, conversions and revenue.

    Parameters
    ----------
    order : {'searchCount', ...}, default 'searchCount'
        Figure by which the 1,000 most frequent queries are sorted: `searchCount`,
        `clickThroughRate`, `conversionRate` or `averageClickPosition`.
    ascending : bool, default False
        Sort the lowest values first.

    Returns
    -------
    DataFrame
        One row per query: `query` (str), `frequency` (int64, searches), `nbHits` (int64, of its
        last search), `trackedSearchCount` (int64, searches with `clickAnalytics`), `clickCount`
        (int64), `clickThroughRate` and `averageClickPosition` (float64), `conversionCount` (int64),
        `conversionRate` (float64), `addToCartCount` (int64), `addToCartRate` (float64),
        `purchaseCount` (int64), `purchaseRate` (float64) and `revenue` (object, a dict of amounts
        by currency). A rate of nothing is missing.

    Examples
    --------
    >>> top = svc.read_top_searches("products", since="30d")
    >>> sample = svc.tuning.sample_queries(top, 20) if len(top) else top
    """
    return await _read_report(
        frames.read_top_searches, index, options, order=order, ascending=ascending, limit=limit
    )


@public(
    verb("analytics no-results", "analytics no-results products --since 30d"),
    endpoints=("get_searches_no_results",),
)
async def read_no_results(
    index: str, *, limit: int = 1000, **options: Unpack[AnalyticsOptions]
) -> DataFrame:
    """Read the most frequent queries without hits.

    Returns
    -------
    DataFrame
        One row per query: `query` (str), `frequency` (int64, searches without hits), `nbHits`
        (int64, always 0) and `withFilterCount` (int64, those of them that had filters).

    Examples
    --------
    >>> unanswered = svc.read_no_results("products", since="7d")
    >>> unanswered[["query", "frequency"]].head()
    """
    return await _read_report(frames.read_no_results, index, options, limit=limit)


@public(
    verb("analytics no-clicks", "analytics no-clicks products --since 30d"),
    endpoints=("get_searches_no_clicks",),
)
async def read_no_clicks(
    index: str, *, limit: int = 1000, **options: Unpack[AnalyticsOptions]
) -> DataFrame:
    """Read the most frequent queries whose hits were not clicked.

    Returns
    -------
    DataFrame
        One row per query: `query` (str), `frequency` (int64, searches with `clickAnalytics`) and
        `nbHits` (int64, of its last search).

    Examples
    --------
    >>> unclicked = svc.read_no_clicks("products", since="7d")["query"].tolist()
    """
    return await _read_report(frames.read_no_clicks, index, options, limit=limit)


@public(
    verb("analytics hits", "analytics hits products --since 30d"),
    endpoints=("get_top_hits",),
)
async def read_top_hits(
    index: str,
    *,
    search: str | None = None,
    limit: int = 1000,
    **options: Unpack[AnalyticsOptions],
) -> DataFrame:
    """Read the records that searches returned most often.

    Parameters
    ----------
    search : str, default None
        Query whose searches count; None counts those of all queries.

    Returns
    -------
    DataFrame
        One row per record: `objectID` (str), `frequency` (int64, searches that returned it),
        `trackedHitCount` (int64, those of them with `clickAnalytics`), `clickCount` (int64),
        `clickThroughRate` (float64), `conversionCount` (int64), `conversionRate` (float64),
        `addToCartCount` (int64), `addToCartRate` (float64), `purchaseCount` (int64),
        `purchaseRate` (float64) and `revenue` (object, a dict of amounts by currency).

    Examples
    --------
    >>> svc.read_top_hits("products", search="lamp")[["objectID", "frequency"]].head()
    """
    return await _read_report(frames.read_top_hits, index, options, search=search, limit=limit)


@public(
    verb("analytics filters", "analytics filters products --since 30d"),
    endpoints=(
        "get_top_filter_attributes",
        "get_top_filter_for_attribute",
    ),
    like=read_top_hits.__doc__,
)
async def read_top_filters(
    index: str,
    attributes: OneOrMany = (),
    *,
    search: str | None = None,
    limit: int = 1000,
    **options: Unpack[AnalyticsOptions],
) -> DataFrame:
    """Read the attributes that searches filtered by most often, or the filters by some of them.

    Parameters
    ----------
    attributes : str or list of str, default ()
        Attributes whose filters are read; without any, the attributes themselves are.

    Returns
    -------
    DataFrame
        One row per attribute or filter: `attribute` (str), `operator` and `value` (str, empty
        for an attribute) and `frequency` (int64, searches).

    Examples
    --------
    >>> svc.read_top_filters("products", "brand", since="7d")[["value", "frequency"]]
    """
    return await _read_report(
        frames.read_top_filters, index, options, attributes=attributes, search=search, limit=limit
    )


@public(
    verb("analytics countries", "analytics countries products --since 30d"),
    endpoints=("get_top_countries",),
)
async def read_top_countries(
    index: str, *, limit: int = 1000, **options: Unpack[AnalyticsOptions]
) -> DataFrame:
    """Read the countries with the most searches.

    Returns
    -------
    DataFrame
        One row per country: `country` (str, its code) and `frequency` (int64, searches).

    Examples
    --------
    >>> countries = svc.read_top_countries("products", since="7d")["country"].tolist()
    """
    return await _read_report(frames.read_top_countries, index, options, limit=limit)


@public(
    verb("analytics positions", "analytics positions products --since 30d"),
    endpoints=("get_click_positions",),
)
async def read_click_positions(index: str, **options: Unpack[AnalyticsOptions]) -> DataFrame:
    """Count the clicks by position.

    Returns
    -------
    DataFrame
        One row per range of positions: `first` (int64), `last` (Int64, missing in the last
        range) and `clickCount` (int64).

    Examples
    --------
    >>> clicks = svc.read_click_positions("products", since="7d")["clickCount"].sum()
    """
    return await _read_report(frames.read_click_positions, index, options)


@public(
    verb("analytics counts", "analytics counts products --since 30d"),
    endpoints=(
        "get_searches_count",
        "get_users_count",
        "get_no_results_rate",
    ),
)
async def read_search_counts(index: str, **options: Unpack[AnalyticsOptions]) -> DataFrame:
    """Count the searches, users and searches without hits of each day.

    Returns
    -------
    DataFrame
        One row per day, by `date` (datetime64[us, UTC], the index): `searchCount`, `userCount` and
        `noResultCount` (int64) and `noResultRate` (float64). `attrs["svc"]["total"]` has the
        figures of the whole period.

    Examples
    --------
    >>> days = svc.read_search_counts("products", since="30d")
    >>> weekly = days["searchCount"].resample("W").sum()
    """
    return await _read_report(frames.read_search_counts, index, options)


@public(
    verb("analytics users", "analytics users products --since 30d"),
    endpoints=("get_users_count",),
)
async def read_users_count(index: str, **options: Unpack[AnalyticsOptions]) -> DataFrame:
    """Count the users who searched on each day.

    Returns
    -------
    DataFrame
        One row per day, by `date` (datetime64[us, UTC], the index): `userCount` (int64).
        `attrs["svc"]["total"]` has the number of users of the whole period.

    Examples
    --------
    >>> users = svc.read_users_count("products", since="7d").attrs["svc"]["total"]["userCount"]
    """
    return await _read_report(frames.read_users_count, index, options)


@public(
    verb("analytics conversions", "analytics conversions products --since 30d"),
    endpoints=(
        "get_conversion_rate",
        "get_click_through_rate",
        "get_average_click_position",
        "get_add_to_cart_rate",
        "get_purchase_rate",
    ),
    # The complement of the click-through rate.
    replaces={"get_no_click_rate": "read_conversions"},
)
async def read_conversions(index: str, **options: Unpack[AnalyticsOptions]) -> DataFrame:
    """Read the clicks, conversions and purchases of each day.

    Returns
    -------
    DataFrame
        One row per day, by `date` (datetime64[us, UTC], the index): `trackedSearchCount` (int64,
        searches with `clickAnalytics`), `clickCount` (int64), `clickThroughRate` and
        `averageClickPosition` (float64), `conversionCount` (int64), `conversionRate` (float64),
        `addToCartCount` (int64), `addToCartRate` (float64), `purchaseCount` (int64) and
        `purchaseRate` (float64). A rate of nothing is missing. `attrs["svc"]["total"]` has the
        figures of the whole period.

    Examples
    --------
    >>> days = svc.read_conversions("products", since="30d")
    >>> days[["clickThroughRate", "conversionRate"]].tail(7)
    """
    return await _read_report(frames.read_conversions, index, options)


@public(
    verb("analytics revenue", "analytics revenue products --since 30d"),
    endpoints=("get_revenue",),
)
async def read_revenue(index: str, **options: Unpack[AnalyticsOptions]) -> DataFrame:
    """Read the revenue of each day and currency.

    Returns
    -------
    DataFrame
        One row per day with purchases and currency, by `date` (datetime64[us, UTC], the index):
        `currency` (str) and `revenue` (float64).

    Examples
    --------
    >>> revenue = svc.read_revenue("products", since="30d").groupby("currency")["revenue"].sum()
    """
    return await _read_report(frames.read_revenue, index, options)
