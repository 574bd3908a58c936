"""Handlers that list the most frequent queries, hits, filters and countries."""

from __future__ import annotations

from typing import Unpack

from svc_notebook.core.api import AnalyticsApi
from svc_notebook.core.api.shapes.analytics import (
    CountryCounts,
    FilterAttributes,
    FilterValues,
    Period,
    SortDirection,
    TopHits,
    TopSearches,
    TopSearchOrder,
    UnansweredFilterList,
    UnansweredSearches,
    UnclickedSearches,
)
from svc_notebook.service.analytics.top_lists import (
    Details,
    Slice,
    list_countries,
    list_filter_attributes,
    list_filter_values,
    list_hits,
    list_searches,
    list_unanswered,
    list_unanswered_filters,
    list_unclicked,
)
from svc_notebook.service.handlers.analytics import select
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.service import RequestContext


@serves(AnalyticsApi.get_top_searches)
def get_top_searches(
    call: RequestContext,
    index: str,
    *,
    clickAnalytics: bool = False,
    revenueAnalytics: bool = False,
    orderBy: TopSearchOrder = "searchCount",
    direction: SortDirection = "desc",
    limit: int = 10,
    offset: int = 0,
    **period: Unpack[Period],
) -> TopSearches:
    """Return the most frequent queries."""
    selected = select(call, index, period)
    page, details = Slice(limit, offset), Details(clickAnalytics, revenueAnalytics)
    searches = list_searches(call.service.store, selected, page, details, orderBy, direction)
    return {"searches": searches}


@serves(AnalyticsApi.get_searches_no_results)
def get_searches_no_results(
    call: RequestContext, index: str, *, limit: int = 10, offset: int = 0, **period: Unpack[Period]
) -> UnansweredSearches:
    """Return the most frequent queries without hits."""
    selected = select(call, index, period)
    rows = list_unanswered(call.service.store, selected, Slice(limit, offset))
    return {"searches": rows}


@serves(AnalyticsApi.get_searches_no_clicks)
def get_searches_no_clicks(
    call: RequestContext, index: str, *, limit: int = 10, offset: int = 0, **period: Unpack[Period]
) -> UnclickedSearches:
    """Return the most frequent queries without clicks."""
    selected = select(call, index, period)
    rows = list_unclicked(call.service.store, selected, Slice(limit, offset))
    return {"searches": rows}


@serves(AnalyticsApi.get_top_hits)
def get_top_hits(
    call: RequestContext,
    index: str,
    *,
    search: str | None = None,
    clickAnalytics: bool = False,
    revenueAnalytics: bool = False,
    limit: int = 10,
    offset: int = 0,
    **period: Unpack[Period],
) -> TopHits:
    """Return the records that searches returned most often."""
    selected = select(call, index, period, search)
    rows = list_hits(
        call.service.store,
        selected,
        Slice(limit, offset),
        Details(clickAnalytics, revenueAnalytics),
    )
    return {"hits": rows}


@serves(AnalyticsApi.get_top_filter_attributes)
def get_top_filter_attributes(
    call: RequestContext,
    index: str,
    *,
    search: str | None = None,
    limit: int = 10,
    offset: int = 0,
    **period: Unpack[Period],
) -> FilterAttributes:
    """Return the attributes that most searches filtered by."""
    selected = select(call, index, period, search)
    rows = list_filter_attributes(call.service.store, selected, Slice(limit, offset))
    return {"attributes": rows}


@serves(AnalyticsApi.get_top_filters_no_results)
def get_top_filters_no_results(
    call: RequestContext,
    index: str,
    *,
    search: str | None = None,
    limit: int = 10,
    offset: int = 0,
    **period: Unpack[Period],
) -> UnansweredFilterList:
    """Return the filters that most searches without hits had."""
    selected = select(call, index, period, search)
    rows = list_unanswered_filters(call.service.store, selected, Slice(limit, offset))
    return {"values": rows}


@serves(AnalyticsApi.get_top_filter_for_attribute)
def get_top_filter_for_attribute(
    call: RequestContext,
    attribute: str,
    index: str,
    *,
    search: str | None = None,
    limit: int = 10,
    offset: int = 0,
    **period: Unpack[Period],
) -> FilterValues:
    """Return the most frequent filters by an attribute, or several."""
    selected = select(call, index, period, search)
    rows = list_filter_values(
        call.service.store, selected, Slice(limit, offset), attribute.split(",")
    )
    return {"values": rows}


@serves(AnalyticsApi.get_top_countries)
def get_top_countries(
    call: RequestContext, index: str, *, limit: int = 10, offset: int = 0, **period: Unpack[Period]
) -> CountryCounts:
    """Return the countries with the most searches."""
    selected = select(call, index, period)
    rows = list_countries(call.service.store, selected, Slice(limit, offset))
    return {"countries": rows}
