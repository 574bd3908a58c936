"""Handlers that return figures of counted searches, in total and for each day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

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


def select(
    call: RequestContext,
    index: str,
    start: str | None,
    end: str | None,
    tags: str | None,
    search: str | None = None,
) -> Selection:
    """Return the selected searches, after those in memory are written."""
    call.caller.require("analytics", [index])
    selected = Selection.of(index, start, end, tags, search)
    call.service.search_counts.flush()
    return selected


def _daily(
    call: RequestContext,
    selected: Selection,
    describe: Callable[[Figures], dict[str, Any]],
) -> dict[str, Any]:
    """Return the figures in total and for each day; a day without searches has zeros."""
    days = summarize(call.service.store, selected, "day")
    return {
        **describe(Figures.total(days.values())),
        "dates": [
            {"date": name, **describe(days.get(day, Figures()))} for day, name in selected.dates()
        ],
    }


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
def get_searches_count(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> SearchCount:
    """Return the number of searches."""
    selected = select(call, index, startDate, endDate, tags)
    return cast("SearchCount", _daily(call, selected, lambda f: {"count": f.searches}))


@serves(AnalyticsApi.get_no_results_rate)
def get_no_results_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> NoResultRate:
    """Return the share of searches without hits."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "NoResultRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.unanswered, f.searches) or 0.0,
                "count": f.searches,
                "noResultCount": f.unanswered,
            },
        ),
    )


@serves(AnalyticsApi.get_no_click_rate)
def get_no_click_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> NoClickRate:
    """Return the share of tracked searches without a click."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "NoClickRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.tracked - f.clicked, f.tracked) or 0.0,
                "count": f.tracked,
                "noClickCount": f.tracked - f.clicked,
            },
        ),
    )


@serves(AnalyticsApi.get_click_through_rate)
def get_click_through_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> ClickThroughRate:
    """Return the share of tracked searches with a click."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "ClickThroughRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.clicked, f.tracked),
                "clickCount": f.clicks,
                "trackedSearchCount": f.tracked,
            },
        ),
    )


@serves(AnalyticsApi.get_average_click_position)
def get_average_click_position(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> AverageClickPosition:
    """Return the mean position of clicks."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "AverageClickPosition",
        _daily(
            call,
            selected,
            lambda f: {"average": rate(f.positions, f.clicks), "clickCount": f.clicks},
        ),
    )


@serves(AnalyticsApi.get_conversion_rate)
def get_conversion_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> ConversionRate:
    """Return the share of tracked searches with a conversion."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "ConversionRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.converted, f.tracked),
                "conversionCount": f.conversions,
                "trackedSearchCount": f.tracked,
            },
        ),
    )


@serves(AnalyticsApi.get_add_to_cart_rate)
def get_add_to_cart_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> AddToCartRate:
    """Return the share of tracked searches with an added item."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "AddToCartRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.added, f.tracked),
                "addToCartCount": f.additions,
                "trackedSearchCount": f.tracked,
            },
        ),
    )


@serves(AnalyticsApi.get_purchase_rate)
def get_purchase_rate(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> PurchaseRate:
    """Return the share of tracked searches with a purchase."""
    selected = select(call, index, startDate, endDate, tags)
    return cast(
        "PurchaseRate",
        _daily(
            call,
            selected,
            lambda f: {
                "rate": rate(f.bought, f.tracked),
                "purchaseCount": f.purchases,
                "trackedSearchCount": f.tracked,
            },
        ),
    )


@serves(AnalyticsApi.get_users_count)
def get_users_count(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> UserCount:
    """Return the number of users; one who searched on several days counts once in total."""
    selected = select(call, index, startDate, endDate, tags)
    store = call.service.store
    daily = count_users(store, selected, "day")
    return {
        "count": count_users(store, selected, "all").get("", 0),
        "dates": [{"date": name, "count": daily.get(day, 0)} for day, name in selected.dates()],
    }


@serves(AnalyticsApi.get_revenue)
def get_revenue(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> Revenue:
    """Return the revenue of purchases."""
    selected = select(call, index, startDate, endDate, tags)
    revenues = sum_revenue(call.service.store, selected, "day")
    return {
        "currencies": total_revenue(revenues.values()),
        "dates": [
            {"date": name, "currencies": revenues.get(day, {})} for day, name in selected.dates()
        ],
    }


@serves(AnalyticsApi.get_click_positions)
def get_click_positions(
    call: RequestContext,
    index: str,
    *,
    startDate: str | None = None,
    endDate: str | None = None,
    tags: str | None = None,
) -> ClickPositions:
    """Return the number of clicks in each range of positions."""
    selected = select(call, index, startDate, endDate, tags)
    counts = count_positions(call.service.store, selected, "all")
    return {"positions": counts.get("", describe_positions())}
