"""Endpoints that return what was searched, clicked and bought."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.core.api.declaration import endpoint
from svc_notebook.core.api.families.ab_tests import ABTestEndpoints
from svc_notebook.core.api.integers import Natural
from svc_notebook.core.api.shapes.analytics import (
    AddToCartRate,
    AnalyticsStatus,
    AverageClickPosition,
    ClickPositions,
    ClickThroughRate,
    ConversionRate,
    CountryCounts,
    FilterAttributes,
    FilterValues,
    NoClickRate,
    NoResultRate,
    PurchaseRate,
    Revenue,
    SearchCount,
    SortDirection,
    TopHits,
    TopSearches,
    TopSearchOrder,
    UnansweredFilterList,
    UnansweredSearches,
    UnclickedSearches,
    UserCount,
)

ListLength = Annotated[int, Meta(ge=1, le=1000)]


class AnalyticsApi(ABTestEndpoints, interface="analytics"):
    """The analytics interface.

    Days are those of UTC. `startDate` and `endDate` (YYYY-MM-DD) are part of the period; it ends
    today by default and has eight days. `tags` are analytics tags with AND and OR between them.
    """

    @endpoint("GET", "/2/status", acl="analytics")
    async def get_analytics_status(self, index: str) -> AnalyticsStatus:
        """Return when the analytics of an index last changed."""
        ...

    @endpoint("GET", "/2/searches/count", acl="analytics")
    async def get_searches_count(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> SearchCount:
        """Count the searches, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches/noResultRate", acl="analytics")
    async def get_no_results_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> NoResultRate:
        """Return the share of searches without hits, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches/noClickRate", acl="analytics")
    async def get_no_click_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> NoClickRate:
        """Return the share of tracked searches without a click, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/clickThroughRate", acl="analytics")
    async def get_click_through_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> ClickThroughRate:
        """Return the share of tracked searches with a click, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/averageClickPosition", acl="analytics")
    async def get_average_click_position(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> AverageClickPosition:
        """Return the mean position of clicks, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/positions", acl="analytics")
    async def get_click_positions(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> ClickPositions:
        """Count the clicks by position."""
        ...

    @endpoint("GET", "/2/conversions/conversionRate", acl="analytics")
    async def get_conversion_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> ConversionRate:
        """Return the share of tracked searches with a conversion, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/addToCartRate", acl="analytics")
    async def get_add_to_cart_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> AddToCartRate:
        """Return the share of tracked searches with an added item, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/purchaseRate", acl="analytics")
    async def get_purchase_rate(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> PurchaseRate:
        """Return the share of tracked searches with a purchase, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/revenue", acl="analytics")
    async def get_revenue(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> Revenue:
        """Return the revenue by currency, in total and for each day."""
        ...

    @endpoint("GET", "/2/users/count", acl="analytics")
    async def get_users_count(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        tags: str | None = None,
    ) -> UserCount:
        """Count the users who searched, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches", acl="analytics")
    async def get_top_searches(
        self,
        index: str,
        *,
        clickAnalytics: bool = False,
        revenueAnalytics: bool = False,
        startDate: str | None = None,
        endDate: str | None = None,
        orderBy: TopSearchOrder = "searchCount",
        direction: SortDirection = "desc",
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> TopSearches:
        """List the most frequent queries."""
        ...

    @endpoint("GET", "/2/searches/noResults", acl="analytics")
    async def get_searches_no_results(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> UnansweredSearches:
        """List the most frequent queries without hits."""
        ...

    @endpoint("GET", "/2/searches/noClicks", acl="analytics")
    async def get_searches_no_clicks(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> UnclickedSearches:
        """List the most frequent queries without clicks."""
        ...

    @endpoint("GET", "/2/hits", acl="analytics")
    async def get_top_hits(
        self,
        index: str,
        *,
        search: str | None = None,
        clickAnalytics: bool = False,
        revenueAnalytics: bool = False,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> TopHits:
        """List the records that searches returned most often."""
        ...

    @endpoint("GET", "/2/filters", acl="analytics")
    async def get_top_filter_attributes(
        self,
        index: str,
        *,
        search: str | None = None,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> FilterAttributes:
        """List the attributes that searches filtered by most often."""
        ...

    @endpoint("GET", "/2/filters/noResults", acl="analytics")
    async def get_top_filters_no_results(
        self,
        index: str,
        *,
        search: str | None = None,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> UnansweredFilterList:
        """List the most frequent filters of searches without hits."""
        ...

    @endpoint("GET", "/2/filters/{attribute}", acl="analytics")
    async def get_top_filter_for_attribute(
        self,
        attribute: str,
        index: str,
        *,
        search: str | None = None,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> FilterValues:
        """List the most frequent filters by one attribute, or several separated by commas."""
        ...

    @endpoint("GET", "/2/countries", acl="analytics")
    async def get_top_countries(
        self,
        index: str,
        *,
        startDate: str | None = None,
        endDate: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        tags: str | None = None,
    ) -> CountryCounts:
        """List the countries with the most searches."""
        ...
