"""Analytics as DataFrames: frequent queries and hits, and figures of each day with a date index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pandas as pd

from svc_notebook.core.api.shapes.analytics import TopSearchOrder
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import (
    CLICK_POSITIONS,
    CONVERSIONS,
    DEFAULTS,
    NO_CLICKS,
    NO_RESULTS,
    REVENUE,
    SEARCH_COUNTS,
    TOP_COUNTRIES,
    TOP_FILTERS,
    TOP_HITS,
    TOP_SEARCHES,
    USERS_COUNT,
    Schema,
)
from svc_notebook.errors import UnexpectedAnswer

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

POSITION_BOUNDS = 2  # the first and the last rank of a range
# The default values of figures that a service omits, and of rates of nothing.
_DEFAULTS = {**DEFAULTS, "Int64": None, "object": None}


class ReportOptions(TypedDict, total=False):
    """The days of a report, YYYY-MM-DD in UTC, the tags of its searches, and its dtypes."""

    since: str | None
    until: str | None
    tags: str | None
    dtype_backend: Backend | None


def _query(options: ReportOptions) -> dict[str, Any]:
    return {
        "startDate": options.get("since"),
        "endDate": options.get("until"),
        "tags": options.get("tags"),
    }


def _table(
    rows: list[dict[str, Any]], schema: Schema, index: str, options: ReportOptions
) -> pd.DataFrame:
    facts = {"index": index, **{name: options.get(name) for name in ("since", "until", "tags")}}
    return finished(typed(rows, schema, _DEFAULTS), facts, options.get("dtype_backend"))


def _query_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "query": row["search"], "frequency": row["count"], "revenue": _amounts(row)}


def _amounts(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: entry["revenue"] for name, entry in row.get("currencies", {}).items()}


def _join_days(*answers: tuple[Any, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Join the figures of several answers, each with its new names; the total has no date."""
    rows: dict[str, dict[str, Any]] = {"": {}}
    for answer, names in answers:
        for day in (answer, *answer["dates"]):
            row = rows.setdefault(day.get("date", ""), {"date": day.get("date", "")})
            row |= {name: day[member] for member, name in names.items()}
    return list(rows.values())


def _by_day(
    rows: list[dict[str, Any]], schema: Schema, index: str, options: ReportOptions
) -> pd.DataFrame:
    """Return a DataFrame with an index of days; the row without a date is the total."""
    totals = [row for row in rows if not row.get("date")]
    days = [row for row in rows if row.get("date")]
    frame = _table(days, schema, index, options)
    if totals:
        frame.attrs["svc"]["total"] = {
            name: value for name, value in totals[0].items() if name != "date"
        }
    return frame.set_index("date")


@remembered
async def read_top_searches(
    client: AsyncClient,
    index: str,
    *,
    order: TopSearchOrder = "searchCount",
    ascending: bool = False,
    limit: int = 1000,
    **options: Unpack[ReportOptions],
) -> pd.DataFrame:
    """Read the most frequent queries with their clicks, conversions and revenue."""
    answer = await client.get_top_searches(
        index, **_query(options), clickAnalytics=True, revenueAnalytics=True,
        orderBy=order, direction="asc" if ascending else "desc", limit=limit,
    )  # fmt: skip
    rows = [_query_row(row) for row in answer["searches"]]
    return _table(rows, TOP_SEARCHES, index, options)


@remembered
async def read_no_results(
    client: AsyncClient, index: str, *, limit: int = 1000, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Read the most frequent queries without hits."""
    answer = await client.get_searches_no_results(index, **_query(options), limit=limit)
    rows = [{**_query_row(row), "nbHits": 0} for row in answer["searches"]]
    return _table(rows, NO_RESULTS, index, options)


@remembered
async def read_no_clicks(
    client: AsyncClient, index: str, *, limit: int = 1000, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Read the most frequent queries whose hits were not clicked."""
    answer = await client.get_searches_no_clicks(index, **_query(options), limit=limit)
    rows = [_query_row(row) for row in answer["searches"]]
    return _table(rows, NO_CLICKS, index, options)


@remembered
async def read_top_hits(
    client: AsyncClient,
    index: str,
    *,
    search: str | None = None,
    limit: int = 1000,
    **options: Unpack[ReportOptions],
) -> pd.DataFrame:
    """Read the records that searches returned most often."""
    answer = await client.get_top_hits(
        index, **_query(options), search=search,
        clickAnalytics=True, revenueAnalytics=True, limit=limit,
    )  # fmt: skip
    rows = [
        {**row, "objectID": row["hit"], "frequency": row["count"], "revenue": _amounts(row)}
        for row in answer["hits"]
    ]
    return _table(rows, TOP_HITS, index, options)


@remembered
async def read_top_filters(
    client: AsyncClient,
    index: str,
    attributes: OneOrMany = (),
    *,
    search: str | None = None,
    limit: int = 1000,
    **options: Unpack[ReportOptions],
) -> pd.DataFrame:
    """Read the attributes that searches filtered by most often, or the filters by some of them."""
    names = list_texts(attributes, "attributes")
    query = {**_query(options), "search": search, "limit": limit}
    if names:
        answer = await client.get_top_filter_for_attribute(",".join(names), index, **query)
        entries: Any = answer["values"]
    else:
        entries = (await client.get_top_filter_attributes(index, **query))["attributes"]
    rows = [{**row, "frequency": row["count"]} for row in entries]
    return _table(rows, TOP_FILTERS, index, options)


@remembered
async def read_top_countries(
    client: AsyncClient, index: str, *, limit: int = 1000, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Read the countries with the most searches."""
    answer = await client.get_top_countries(index, **_query(options), limit=limit)
    rows = [{**row, "frequency": row["count"]} for row in answer["countries"]]
    return _table(rows, TOP_COUNTRIES, index, options)


@remembered
async def read_click_positions(
    client: AsyncClient, index: str, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Count the clicks by position."""
    answer = await client.get_click_positions(index, **_query(options))
    rows = []
    for row in answer["positions"]:
        if len(row["position"]) != POSITION_BOUNDS:
            raise UnexpectedAnswer(
                f"get_click_positions: a position has a first and a last rank, not "
                f"{row['position']}",
                endpoint="get_click_positions",
            )
        first, last = row["position"]
        rows.append(
            {"first": first, "last": None if last < 0 else last, "clickCount": row["clickCount"]}
        )
    return _table(rows, CLICK_POSITIONS, index, options)


@remembered
async def read_search_counts(
    client: AsyncClient, index: str, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Count the searches, users and searches without hits of each day."""
    query = _query(options)
    counts, users, unanswered = [
        await read(index, **query)
        for read in (client.get_searches_count, client.get_users_count, client.get_no_results_rate)
    ]
    rows = _join_days(
        (counts, {"count": "searchCount"}),
        (users, {"count": "userCount"}),
        (unanswered, {"noResultCount": "noResultCount", "rate": "noResultRate"}),
    )
    return _by_day(rows, SEARCH_COUNTS, index, options)


@remembered
async def read_users_count(
    client: AsyncClient, index: str, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Count the users who searched on each day."""
    counts = await client.get_users_count(index, **_query(options))
    rows = _join_days((counts, {"count": "userCount"}))
    return _by_day(rows, USERS_COUNT, index, options)


@remembered
async def read_conversions(
    client: AsyncClient, index: str, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Read the clicks, conversions and purchases of each day."""
    query = _query(options)
    clicks, positions, conversions, carts, purchases = [
        await read(index, **query)
        for read in (
            client.get_click_through_rate, client.get_average_click_position,
            client.get_conversion_rate, client.get_add_to_cart_rate, client.get_purchase_rate,
        )
    ]  # fmt: skip
    rows = _join_days(
        (clicks, {
            "trackedSearchCount": "trackedSearchCount", "clickCount": "clickCount",
            "rate": "clickThroughRate",
        }),
        (positions, {"average": "averageClickPosition"}),
        (conversions, {"conversionCount": "conversionCount", "rate": "conversionRate"}),
        (carts, {"addToCartCount": "addToCartCount", "rate": "addToCartRate"}),
        (purchases, {"purchaseCount": "purchaseCount", "rate": "purchaseRate"}),
    )  # fmt: skip
    return _by_day(rows, CONVERSIONS, index, options)


@remembered
async def read_revenue(
    client: AsyncClient, index: str, **options: Unpack[ReportOptions]
) -> pd.DataFrame:
    """Read the revenue of each day and currency."""
    answer = await client.get_revenue(index, **_query(options))
    rows = [
        {"date": day["date"], **row}
        for day in answer["dates"]
        for row in day["currencies"].values()
    ]
    return _by_day(rows, REVENUE, index, options)
