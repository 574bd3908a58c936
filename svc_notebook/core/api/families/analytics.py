"""Endpoints of A/B tests, and those that return what was searched, clicked and bought."""

from __future__ import annotations

from typing import Annotated, Unpack

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.shapes.ab_tests import (
    ABTest,
    ABTestChange,
    ABTestConfiguration,
    ABTestEstimate,
    ABTestPage,
    EstimateConfiguration,
    Variants,
)
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
    Period,
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
from svc_notebook.core.api.values import Natural, Positive

ListLength = Annotated[int, Meta(ge=1, le=1000)]


class AnalyticsApi(Api, interface="analytics"):
    """The analytics interface.

    Days are those of UTC. `startDate` and `endDate` (YYYY-MM-DD) are part of the period; it ends
    today by default and has eight days. `tags` are analytics tags with AND and OR between them. The
    first variant of an A/B test is the control: searches of its index are divided by user token.
    """

    @endpoint("POST", "/2/abtests", acl="editSettings", repeatable=False)
    async def add_ab_tests(
        self,
        name: str,
        variants: Variants,
        endAt: str,
        configuration: ABTestConfiguration | None = None,
    ) -> ABTestChange:
        """Start an A/B test of two indices, or of search parameters on one index."""
        ...

    @endpoint("GET", "/2/abtests", acl="analytics")
    async def list_ab_tests(
        self,
        *,
        offset: Natural = 0,
        limit: Natural = 10,
        indexPrefix: str | None = None,
        indexSuffix: str | None = None,
    ) -> ABTestPage:
        """List A/B tests with their figures, newest first."""
        ...

    @endpoint("POST", "/2/abtests/estimate", acl="analytics", reads=True)
    async def estimate_ab_test(
        self, configuration: EstimateConfiguration, variants: Variants
    ) -> ABTestEstimate:
        """Estimate how many searches and days an A/B test needs, from the searches so far."""
        ...

    @endpoint("GET", "/2/abtests/{id}", acl="analytics")
    async def get_ab_test(self, id: Positive) -> ABTest:
        """Read an A/B test with its figures."""
        ...

    @endpoint("POST", "/2/abtests/{id}/stop", acl="editSettings")
    async def stop_ab_test(self, id: Positive) -> ABTestChange:
        """Stop an A/B test; its figures stay."""
        ...

    @endpoint("DELETE", "/2/abtests/{id}", acl="editSettings")
    async def delete_ab_test(self, id: Positive) -> ABTestChange:
        """Delete an A/B test; its searches stay counted."""
        ...

    @endpoint("GET", "/2/status", acl="analytics")
    async def get_analytics_status(self, index: str) -> AnalyticsStatus:
        """Return when the analytics of an index last changed."""
        ...

    @endpoint("GET", "/2/searches/count", acl="analytics")
    async def get_searches_count(self, index: str, **period: Unpack[Period]) -> SearchCount:
        """Count the searches, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches/noResultRate", acl="analytics")
    async def get_no_results_rate(self, index: str, **period: Unpack[Period]) -> NoResultRate:
        """Return the share of searches without hits, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches/noClickRate", acl="analytics")
    async def get_no_click_rate(self, index: str, **period: Unpack[Period]) -> NoClickRate:
        """Return the share of tracked searches without a click, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/clickThroughRate", acl="analytics")
    async def get_click_through_rate(
        self, index: str, **period: Unpack[Period]
    ) -> ClickThroughRate:
        """Return the share of tracked searches with a click, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/averageClickPosition", acl="analytics")
    async def get_average_click_position(
        self, index: str, **period: Unpack[Period]
    ) -> AverageClickPosition:
        """Return the mean position of clicks, in total and for each day."""
        ...

    @endpoint("GET", "/2/clicks/positions", acl="analytics")
    async def get_click_positions(self, index: str, **period: Unpack[Period]) -> ClickPositions:
        """Count the clicks by position."""
        ...

    @endpoint("GET", "/2/conversions/conversionRate", acl="analytics")
    async def get_conversion_rate(self, index: str, **period: Unpack[Period]) -> ConversionRate:
        """Return the share of tracked searches with a conversion, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/addToCartRate", acl="analytics")
    async def get_add_to_cart_rate(self, index: str, **period: Unpack[Period]) -> AddToCartRate:
        """Return the share of tracked searches with an added item, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/purchaseRate", acl="analytics")
    async def get_purchase_rate(self, index: str, **period: Unpack[Period]) -> PurchaseRate:
        """Return the share of tracked searches with a purchase, in total and for each day."""
        ...

    @endpoint("GET", "/2/conversions/revenue", acl="analytics")
    async def get_revenue(self, index: str, **period: Unpack[Period]) -> Revenue:
        """Return the revenue by currency, in total and for each day."""
        ...

    @endpoint("GET", "/2/users/count", acl="analytics")
    async def get_users_count(self, index: str, **period: Unpack[Period]) -> UserCount:
        """Count the users who searched, in total and for each day."""
        ...

    @endpoint("GET", "/2/searches", acl="analytics")
    async def get_top_searches(
        self,
        index: str,
        *,
        clickAnalytics: bool = False,
        revenueAnalytics: bool = False,
        orderBy: TopSearchOrder = "searchCount",
        direction: SortDirection = "desc",
        limit: ListLength = 10,
        offset: Natural = 0,
        **period: Unpack[Period],
    ) -> TopSearches:
        """List the most frequent queries."""
        ...

    @endpoint("GET", "/2/searches/noResults", acl="analytics")
    async def get_searches_no_results(
        self, index: str, *, limit: ListLength = 10, offset: Natural = 0, **period: Unpack[Period]
    ) -> UnansweredSearches:
        """List the most frequent queries without hits."""
        ...

    @endpoint("GET", "/2/searches/noClicks", acl="analytics")
    async def get_searches_no_clicks(
        self, index: str, *, limit: ListLength = 10, offset: Natural = 0, **period: Unpack[Period]
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
        limit: ListLength = 10,
        offset: Natural = 0,
        **period: Unpack[Period],
    ) -> TopHits:
        """List the records that searches returned most often."""
        ...

    @endpoint("GET", "/2/filters", acl="analytics")
    async def get_top_filter_attributes(
        self,
        index: str,
        *,
        search: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        **period: Unpack[Period],
    ) -> FilterAttributes:
        """List the attributes that searches filtered by most often."""
        ...

    @endpoint("GET", "/2/filters/noResults", acl="analytics")
    async def get_top_filters_no_results(
        self,
        index: str,
        *,
        search: str | None = None,
        limit: ListLength = 10,
        offset: Natural = 0,
        **period: Unpack[Period],
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
        limit: ListLength = 10,
        offset: Natural = 0,
        **period: Unpack[Period],
    ) -> FilterValues:
        """List the most frequent filters by one attribute, or several separated by commas."""
        ...

    @endpoint("GET", "/2/countries", acl="analytics")
    async def get_top_countries(
        self, index: str, *, limit: ListLength = 10, offset: Natural = 0, **period: Unpack[Period]
    ) -> CountryCounts:
        """List the countries with the most searches."""
        ...
