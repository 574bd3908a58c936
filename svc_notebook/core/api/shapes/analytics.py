"""Shapes of analytics: what was searched, clicked and bought, in total and for each day.

Rates and averages are null where nothing was counted that they could be computed of.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

FilterOperator = Literal[":", "<", "<=", "=", "!=", ">", ">="]
TopSearchOrder = Literal[
    "searchCount", "clickThroughRate", "conversionRate", "averageClickPosition"
]
SortDirection = Literal["asc", "desc"]


class Period(TypedDict, total=False):
    """The searches that analytics describe: those of some days, with some tags."""

    startDate: str | None
    endDate: str | None
    tags: str | None


class DailySearchCount(TypedDict):
    """The number of searches of a day."""

    date: str
    count: int


class SearchCount(TypedDict):
    """The number of searches."""

    count: int
    dates: list[DailySearchCount]


class UserCount(TypedDict):
    """The number of users who searched."""

    count: int
    dates: list[DailySearchCount]


class DailyNoResultRate(TypedDict):
    """The share of the searches of a day that have no hits."""

    date: str
    rate: float
    count: int
    noResultCount: int


class NoResultRate(TypedDict):
    """The share of searches that have no hits."""

    rate: float
    count: int
    noResultCount: int
    dates: list[DailyNoResultRate]


class DailyNoClickRate(TypedDict):
    """The share of the tracked searches of a day without a click."""

    date: str
    rate: float
    count: int
    noClickCount: int


class NoClickRate(TypedDict):
    """The share of tracked searches without a click."""

    rate: float
    count: int
    noClickCount: int
    dates: list[DailyNoClickRate]


class DailyClickThroughRate(TypedDict):
    """The share of the tracked searches of a day with a click."""

    date: str
    rate: float | None
    clickCount: int
    trackedSearchCount: int


class ClickThroughRate(TypedDict):
    """The share of tracked searches with a click."""

    rate: float | None
    clickCount: int
    trackedSearchCount: int
    dates: list[DailyClickThroughRate]


class DailyClickPosition(TypedDict):
    """The mean position of the clicks of a day."""

    date: str
    average: float | None
    clickCount: int


class AverageClickPosition(TypedDict):
    """The mean position of clicks."""

    average: float | None
    clickCount: int
    dates: list[DailyClickPosition]


class PositionClicks(TypedDict):
    """The number of clicks in a range of positions; -1 is the end of the hits."""

    position: list[int]
    clickCount: int


class ClickPositions(TypedDict):
    """The number of clicks by position."""

    positions: list[PositionClicks]


class DailyConversionRate(TypedDict):
    """The share of the tracked searches of a day with a conversion."""

    date: str
    rate: float | None
    conversionCount: int
    trackedSearchCount: int


class ConversionRate(TypedDict):
    """The share of tracked searches with a conversion."""

    rate: float | None
    conversionCount: int
    trackedSearchCount: int
    dates: list[DailyConversionRate]


class DailyAddToCartRate(TypedDict):
    """The share of the tracked searches of a day of which a hit was put into a cart."""

    date: str
    rate: float | None
    addToCartCount: int
    trackedSearchCount: int


class AddToCartRate(TypedDict):
    """The share of tracked searches of which a hit was put into a cart."""

    rate: float | None
    addToCartCount: int
    trackedSearchCount: int
    dates: list[DailyAddToCartRate]


class DailyPurchaseRate(TypedDict):
    """The share of the tracked searches of a day of which a hit was bought."""

    date: str
    rate: float | None
    purchaseCount: int
    trackedSearchCount: int


class PurchaseRate(TypedDict):
    """The share of tracked searches of which a hit was bought."""

    rate: float | None
    purchaseCount: int
    trackedSearchCount: int
    dates: list[DailyPurchaseRate]


class CurrencyRevenue(TypedDict):
    """The revenue in one currency."""

    currency: str
    revenue: float


class DailyRevenue(TypedDict):
    """The revenue of a day by currency."""

    date: str
    currencies: dict[str, CurrencyRevenue]


class Revenue(TypedDict):
    """The revenue of purchases by currency."""

    currencies: dict[str, CurrencyRevenue]
    dates: list[DailyRevenue]


class TopSearch(TypedDict):
    """A query with its figures: those of clicks and of revenue are there on request."""

    search: str
    count: int
    nbHits: int
    trackedSearchCount: NotRequired[int]
    clickCount: NotRequired[int]
    clickThroughRate: NotRequired[float | None]
    averageClickPosition: NotRequired[float | None]
    clickPositions: NotRequired[list[PositionClicks]]
    conversionCount: NotRequired[int]
    conversionRate: NotRequired[float | None]
    addToCartCount: NotRequired[int]
    addToCartRate: NotRequired[float | None]
    purchaseCount: NotRequired[int]
    purchaseRate: NotRequired[float | None]
    currencies: NotRequired[dict[str, CurrencyRevenue]]


class TopSearches(TypedDict):
    """The most frequent queries."""

    searches: list[TopSearch]


class UnansweredSearch(TypedDict):
    """A query without hits; `withFilterCount` are its searches with filters."""

    search: str
    count: int
    withFilterCount: int


class UnansweredSearches(TypedDict):
    """The most frequent queries without hits."""

    searches: list[UnansweredSearch]


class UnclickedSearch(TypedDict):
    """A query without clicks; `count` are its tracked searches."""

    search: str
    count: int
    nbHits: int


class UnclickedSearches(TypedDict):
    """The most frequent queries without clicks."""

    searches: list[UnclickedSearch]


class TopHit(TypedDict):
    """A record with the number of searches that returned it, and on request its figures."""

    hit: str
    count: int
    trackedHitCount: NotRequired[int]
    clickCount: NotRequired[int]
    clickThroughRate: NotRequired[float | None]
    conversionCount: NotRequired[int]
    conversionRate: NotRequired[float | None]
    addToCartCount: NotRequired[int]
    addToCartRate: NotRequired[float | None]
    purchaseCount: NotRequired[int]
    purchaseRate: NotRequired[float | None]
    currencies: NotRequired[dict[str, CurrencyRevenue]]


class TopHits(TypedDict):
    """The records that searches returned most often."""

    hits: list[TopHit]


class FilterAttribute(TypedDict):
    """An attribute with the number of searches that filtered by it."""

    attribute: str
    count: int


class FilterAttributes(TypedDict):
    """The attributes that searches filtered by most often."""

    attributes: list[FilterAttribute]


class FilterPart(TypedDict):
    """A filter of a search."""

    attribute: str
    operator: FilterOperator
    value: str


class FilterValue(FilterPart):
    """A filter with the number of searches that had it."""

    count: int


class FilterValues(TypedDict):
    """The most frequent filters by an attribute."""

    values: list[FilterValue]


class UnansweredFilters(TypedDict):
    """The filters that searches without hits had together."""

    count: int
    values: list[FilterPart]


class UnansweredFilterList(TypedDict):
    """The most frequent filters of searches without hits."""

    values: list[UnansweredFilters] | None


class CountryCount(TypedDict):
    """A country with the number of its searches."""

    country: str
    count: int


class CountryCounts(TypedDict):
    """The countries with the most searches."""

    countries: list[CountryCount]


class AnalyticsStatus(TypedDict):
    """The time of the last change of an index's analytics, or null."""

    updatedAt: str | None
