"""Handlers that return figures of counted searches, in total and for each day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, Unpack, cast

from svc_notebook.core.api import AnalyticsApi
from svc_notebook.core.api.shapes.analytics import (
    AddToCartRate,
    AnalyticsStatus,
    AverageClickPosition,
    ClickPositions,
    ClickThroughRate,
    ConversionRate,
    NoClickRate,
    NoResultRate,
    Period,
    PurchaseRate,
    Revenue,
    SearchCount,
    UserCount,
)
from svc_notebook.service.analytics.figures import (
    Figures,
    Selection,
    count_positions,
    count_users,
    describe_positions,
    rate,
    sum_revenue,
    summarize,
    total_revenue,
)
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.service import RequestContext

R = TypeVar("R")


def select(
    call: RequestContext, index: str, period: Period, search: str | None = None
) -> Selection:
    """Return the selected searches, after those in memory are written."""
    call.caller.require("analytics", [index])
    selected = Selection.of(index, period, search)
    call.service.search_counts.flush()
    return selected


def _daily(
    shape: type[R],
    call: RequestContext,
    index: str,
    period: Period,
    describe: Callable[[Figures], dict[str, Any]],
) -> R:
    """Return the figures in total and for each day; a day without searches has zeros."""
    selected = select(call, index, period)
    days = summarize(call.service.store, selected, "day")
    total = describe(Figures.total(days.values()))
    dates = [{"date": name, **describe(days.get(day, Figures()))} for day, name in selected.dates()]
    return cast(R, {**total, "dates": dates})


@serves(AnalyticsApi.get_analytics_status)
def get_analytics_status(call: RequestContext, index: str) -> AnalyticsStatus:
    """Return the time of the last counted search of an index."""
    call.caller.require("analytics", [index])
    call.service.search_counts.flush()
    [[last]] = call.service.store.read("SELECT max(time) FROM counted WHERE index_name = ?", index)
    moment = datetime.fromtimestamp(last / 1000, UTC) if last else None
    return {
        "updatedAt": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if moment
        else None
    }


@serves(AnalyticsApi.get_searches_count)
def get_searches_count(call: RequestContext, index: str, **period: Unpack[Period]) -> SearchCount:
    """Return the number of searches."""
    return _daily(SearchCount, call, index, period, lambda f: {"count": f.searches})


@serves(AnalyticsApi.get_no_results_rate)
def get_no_results_rate(call: RequestContext, index: str, **period: Unpack[Period]) -> NoResultRate:
    """Return the share of searches without hits."""
    return _daily(NoResultRate, call, index, period, lambda f: {
        "rate": rate(f.unanswered, f.searches) or 0.0,
        "count": f.searches,
        "noResultCount": f.unanswered,
    })  # fmt: skip


@serves(AnalyticsApi.get_no_click_rate)
def get_no_click_rate(call: RequestContext, index: str, **period: Unpack[Period]) -> NoClickRate:
    """Return the share of tracked searches without a click."""
    return _daily(NoClickRate, call, index, period, lambda f: {
        "rate": rate(f.tracked - f.clicked, f.tracked) or 0.0,
        "count": f.tracked,
        "noClickCount": f.tracked - f.clicked,
    })  # fmt: skip


@serves(AnalyticsApi.get_click_through_rate)
def get_click_through_rate(
    call: RequestContext, index: str, **period: Unpack[Period]
) -> ClickThroughRate:
    """Return the share of tracked searches with a click."""
    return _daily(ClickThroughRate, call, index, period, lambda f: {
        "rate": rate(f.clicked, f.tracked),
        "clickCount": f.clicks,
        "trackedSearchCount": f.tracked,
    })  # fmt: skip


@serves(AnalyticsApi.get_average_click_position)
def get_average_click_position(
    call: RequestContext, index: str, **period: Unpack[Period]
) -> AverageClickPosition:
    """Return the mean position of clicks."""
    return _daily(AverageClickPosition, call, index, period, lambda f: {
        "average": rate(f.positions, f.clicks), "clickCount": f.clicks,
    })  # fmt: skip


@serves(AnalyticsApi.get_conversion_rate)
def get_conversion_rate(
    call: RequestContext, index: str, **period: Unpack[Period]
) -> ConversionRate:
    """Return the share of tracked searches with a conversion."""
    return _daily(ConversionRate, call, index, period, lambda f: {
        "rate": rate(f.converted, f.tracked),
        "conversionCount": f.conversions,
        "trackedSearchCount": f.tracked,
    })  # fmt: skip


@serves(AnalyticsApi.get_add_to_cart_rate)
def get_add_to_cart_rate(
    call: RequestContext, index: str, **period: Unpack[Period]
) -> AddToCartRate:
    """Return the share of tracked searches with an added item."""
    return _daily(AddToCartRate, call, index, period, lambda f: {
        "rate": rate(f.added, f.tracked),
        "addToCartCount": f.additions,
        "trackedSearchCount": f.tracked,
    })  # fmt: skip


@serves(AnalyticsApi.get_purchase_rate)
def get_purchase_rate(call: RequestContext, index: str, **period: Unpack[Period]) -> PurchaseRate:
    """Return the share of tracked searches with a purchase."""
    return _daily(PurchaseRate, call, index, period, lambda f: {
        "rate": rate(f.bought, f.tracked),
        "purchaseCount": f.purchases,
        "trackedSearchCount": f.tracked,
    })  # fmt: skip


@serves(AnalyticsApi.get_users_count)
def get_users_count(call: RequestContext, index: str, **period: Unpack[Period]) -> UserCount:
    """Return the number of users; one who searched on several days counts once in total."""
    selected = select(call, index, period)
    store = call.service.store
    daily = count_users(store, selected, "day")
    return {
        "count": count_users(store, selected, "all").get("", 0),
        "dates": [{"date": name, "count": daily.get(day, 0)} for day, name in selected.dates()],
    }


@serves(AnalyticsApi.get_revenue)
def get_revenue(call: RequestContext, index: str, **period: Unpack[Period]) -> Revenue:
    """Return the revenue of purchases."""
    selected = select(call, index, period)
    revenues = sum_revenue(call.service.store, selected, "day")
    return {
        "currencies": total_revenue(revenues.values()),
        "dates": [
            {"date": name, "currencies": revenues.get(day, {})} for day, name in selected.dates()
        ],
    }


@serves(AnalyticsApi.get_click_positions)
def get_click_positions(
    call: RequestContext, index: str, **period: Unpack[Period]
) -> ClickPositions:
    """Return the number of clicks in each range of positions."""
    selected = select(call, index, period)
    counts = count_positions(call.service.store, selected, "all")
    return {"positions": counts.get("", describe_positions())}
