"""Shapes of A/B tests: variants, configuration, figures of each variant, and sizes of samples.

A rate is null if nothing was counted from which it can be computed.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from svc_notebook.core.api.parameters import SearchParams

# The vendor tests one variant against the control.
VARIANTS_PER_TEST = 2

Share = Annotated[int, Meta(ge=1, le=99)]

EffectMetric = Literal["clickThroughRate", "conversionRate", "addToCartRate", "purchaseRate"]

ABTestStatus = Literal["active", "stopped", "expired", "failed"]


class VariantFields(TypedDict, total=False):
    """An index, or an index with search parameters, and the percentage of users that search it."""

    index: Required[str]
    trafficPercentage: Required[Share]
    description: str
    customSearchParameters: SearchParams


Variants = Annotated[
    list[VariantFields], Meta(min_length=VARIANTS_PER_TEST, max_length=VARIANTS_PER_TEST)
]


class Exclusion(TypedDict, total=False):
    """Whether some searches are left out of the figures."""

    exclude: bool


class MinimumEffect(TypedDict):
    """The smallest relative change of a rate that a test must detect."""

    size: Annotated[float, Meta(gt=0)]
    metric: EffectMetric


class ABTestConfiguration(TypedDict, total=False):
    """Which searches the figures leave out, and which change a test must detect."""

    outliers: Exclusion
    emptySearch: Exclusion
    minimumDetectableEffect: MinimumEffect
    featureFilters: dict[str, bool]


class EstimateConfiguration(ABTestConfiguration):
    """The configuration of an estimate, which needs the change to detect."""

    minimumDetectableEffect: Required[MinimumEffect]  # type: ignore[misc]


class CurrencyFigures(TypedDict):
    """The revenue in one currency.

    `mean` and `standardDeviation` are those of purchases after the highest ones were reduced, by
    `winsorizedAmount` in total.
    """

    currency: str
    revenue: float
    mean: float
    standardDeviation: float
    winsorizedAmount: float


class Excluded(TypedDict):
    """The users and the tracked searches that were left out."""

    usersCount: int
    trackedSearchesCount: int


class FilterEffects(TypedDict, total=False):
    """The users and searches that the figures of a variant leave out."""

    outliers: Excluded
    emptySearch: Excluded


class VariantFigures(TypedDict):
    """A variant with the searches, clicks and purchases of its users."""

    index: str
    trafficPercentage: int
    description: str
    customSearchParameters: NotRequired[dict[str, Any]]
    searchCount: int | None
    trackedSearchCount: int | None
    userCount: int | None
    trackedUserCount: int | None
    noResultCount: int | None
    clickCount: int
    clickThroughRate: float | None
    averageClickPosition: float | None
    conversionCount: int
    conversionRate: float | None
    addToCartCount: int
    addToCartRate: float | None
    purchaseCount: int
    purchaseRate: float | None
    currencies: NotRequired[dict[str, CurrencyFigures]]
    estimatedSampleSize: NotRequired[int]
    filterEffects: NotRequired[FilterEffects | None]


class ABTest(TypedDict):
    """An A/B test; with a significance of 0.95 or more, the difference is unlikely to be chance."""

    abTestID: int
    name: str
    status: ABTestStatus
    createdAt: str
    updatedAt: str
    endAt: str
    stoppedAt: str | None
    variants: list[VariantFigures]
    configuration: NotRequired[ABTestConfiguration]
    clickSignificance: NotRequired[float | None]
    conversionSignificance: NotRequired[float | None]
    addToCartSignificance: NotRequired[float | None]
    purchaseSignificance: NotRequired[float | None]
    revenueSignificance: NotRequired[dict[str, float] | None]


class ABTestPage(TypedDict):
    """A/B tests, newest first; `total` is their number on all pages."""

    abtests: list[ABTest] | None
    count: int
    total: int


class ABTestChange(TypedDict):
    """The response to a change of an A/B test."""

    abTestID: int
    index: str
    taskID: int


class ABTestEstimate(TypedDict):
    """The number of searches that each variant needs, and the days until they are made."""

    durationDays: NotRequired[int]
    sampleSizes: NotRequired[list[int]]


def compute_sample_sizes(
    first: float,
    second: float,
    ratio: float,
    power: float = 0.8,
    significance: float = 0.05,
) -> list[int]:
    """Return how many searches with two rates show that these differ.

    `ratio` is the number of searches with the second rate, divided by that with the first.
    """
    normal = NormalDist()
    pooled = (first + ratio * second) / (1 + ratio)
    without_change = math.sqrt(pooled * (1 - pooled) * (1 + 1 / ratio))
    with_change = math.sqrt(first * (1 - first) + second * (1 - second) / ratio)
    distance = (
        normal.inv_cdf(1 - significance / 2) * without_change
        + normal.inv_cdf(power) * with_change
    )  # fmt: skip
    size = (distance / (first - second)) ** 2
    return [math.ceil(size), math.ceil(size * ratio)]
