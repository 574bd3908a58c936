"""Results of an A/B test: the figures of its variants, and how certain their differences are.

Users are assigned, not searches, and the searches of a user resemble each other. The variance of
a rate is therefore that of a ratio of sums over users.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from svc_notebook.core.api.shapes.ab_tests import (
    CurrencyFigures,
    EffectMetric,
    FilterEffects,
    MinimumEffect,
    VariantFigures,
    compute_sample_sizes,
)
from svc_notebook.service.analytics.ab_tests import StoredTest
from svc_notebook.service.analytics.figures import (
    GROUPS,
    HAS_REVENUE,
    Figures,
    Selection,
    rate,
    read_outcomes,
    summarize,
)
from svc_notebook.service.store import Store

# A user with more tracked searches than the mean and this number of standard deviations is left
# out as an outlier; larger purchases than this percentile of both variants are reduced to it.
OUTLIER_DEVIATIONS, PURCHASE_PERCENTILE = 7, 95
# The searches of each rate that have such an outcome.
_COUNTERS: Mapping[EffectMetric, Callable[[Figures], int]] = {
    "clickThroughRate": lambda figures: figures.clicked,
    "conversionRate": lambda figures: figures.converted,
    "addToCartRate": lambda figures: figures.added,
    "purchaseRate": lambda figures: figures.bought,
}
_SIGNIFICANCES: Mapping[str, EffectMetric] = {
    "clickSignificance": "clickThroughRate",
    "conversionSignificance": "conversionRate",
    "addToCartSignificance": "addToCartRate",
    "purchaseSignificance": "purchaseRate",
}


class _UserFigures(NamedTuple):
    """The searches of a user in a variant: those with an empty query, or the others."""

    variant: int
    user: str
    empty: bool
    figures: Figures


class _Purchase(NamedTuple):
    variant: int
    user: str
    currency: str
    amount: float


class Results(NamedTuple):
    """The figures of the variants in their order, and the significance of each difference."""

    variants: list[VariantFigures]
    significances: dict[str, Any]


def evaluate(store: Store, test: StoredTest) -> Results:
    """Return the results of a test."""
    selection = Selection.of_test(test.indices[0], test.id)
    kept = _read_figures(store, selection)
    configuration: Mapping[str, Any] = test.configuration
    effects: list[FilterEffects] = [{} for _ in test.variants]
    for name, select in (("emptySearch", _select_empty), ("outliers", _select_outliers)):
        if configuration.get(name, {}).get("exclude", True):
            excluded = select(kept)
            kept = _exclude(kept, excluded, name, effects)
    users = [_by_user(kept, number) for number, _ in enumerate(test.variants, 1)]
    purchases = _read_purchases(store, selection, kept)
    effect = test.configuration.get("minimumDetectableEffect")
    # The members are joined from three dicts.
    variants = [
        cast("VariantFigures", {**fields, **_describe(figures.values()), "filterEffects": filtered})
        for fields, figures, filtered in zip(test.variants, users, effects, strict=True)
    ]
    sizes = effect and _sample_sizes(test, users[0].values(), effect)
    for number, variant in enumerate(variants):
        variant.setdefault("description", "")
        if purchases:
            variant["currencies"] = _describe_revenue(purchases, number + 1)
        if sizes:
            variant["estimatedSampleSize"] = sizes[number]
    return Results(variants, _significances(users, purchases))


def _read_figures(store: Store, selection: Selection) -> list[_UserFigures]:
    return [
        _UserFigures(variant, user, bool(empty), figures)
        for key, figures in summarize(store, selection, "variant_user").items()
        for variant, user, empty in (msgspec.json.decode(str(key)),)
    ]


def _select_empty(parts: Sequence[_UserFigures]) -> set[_UserFigures]:
    return {part for part in parts if part.empty}


def _select_outliers(parts: Sequence[_UserFigures]) -> set[_UserFigures]:
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for part in parts:
        counts[part.variant, part.user] += part.figures.tracked
    tracked = np.array([count for count in counts.values() if count], np.float64)
    if not len(tracked):
        return set()
    limit = tracked.mean() + OUTLIER_DEVIATIONS * tracked.std()
    return {part for part in parts if counts[part.variant, part.user] > limit}


def _exclude(
    parts: Sequence[_UserFigures],
    excluded: set[_UserFigures],
    name: str,
    effects: Sequence[FilterEffects],
) -> list[_UserFigures]:
    """Return the other parts, and note per variant what was excluded."""
    kept = [part for part in parts if part not in excluded]
    users = {(part.variant, part.user) for part in kept}
    for number, filtered in enumerate(effects, 1):
        removed = [part for part in excluded if part.variant == number]
        gone = {part.user for part in removed if (number, part.user) not in users}
        counts = {
            "usersCount": len(gone),
            "trackedSearchesCount": sum(part.figures.tracked for part in removed),
        }
        # `name` is one of the two members of the effects.
        filtered.update(cast("FilterEffects", {name: counts}))
    return kept


def _by_user(parts: Iterable[_UserFigures], variant: int) -> dict[str, Figures]:
    users: dict[str, list[Figures]] = defaultdict(list)
    for part in parts:
        if part.variant == variant:
            users[part.user].append(part.figures)
    return {user: Figures.total(figures) for user, figures in users.items()}


def _describe(users: Iterable[Figures]) -> dict[str, Any]:
    listed = list(users)
    total = Figures.total(listed)
    return {
        "searchCount": total.searches,
        "trackedSearchCount": total.tracked,
        "userCount": len(listed),
        "trackedUserCount": sum(figures.tracked > 0 for figures in listed),
        "noResultCount": total.unanswered,
        "clickCount": total.clicks,
        "averageClickPosition": rate(total.positions, total.clicks),
        "conversionCount": total.conversions,
        "addToCartCount": total.additions,
        "purchaseCount": total.purchases,
        **{metric: rate(count(total), total.tracked) for metric, count in _COUNTERS.items()},
    }


def _read_purchases(
    store: Store, selection: Selection, kept: Iterable[_UserFigures]
) -> dict[str, list[_Purchase]]:
    """Return the purchases by currency, of the searches that count."""
    counted = {(part.variant, part.user, part.empty) for part in kept}
    rows = read_outcomes(
        store, selection, f"{GROUPS['variant_user']}, o.currency, sum(o.revenue)",
        HAS_REVENUE,
        "1, 2, o.event",
    )  # fmt: skip
    purchases: dict[str, list[_Purchase]] = defaultdict(list)
    for key, currency, amount in rows:
        variant, user, empty = msgspec.json.decode(key)
        if (variant, user, bool(empty)) in counted:
            purchases[currency].append(_Purchase(variant, user, currency, amount))
    return purchases


def _reduce(purchases: Sequence[_Purchase]) -> list[_Purchase]:
    """Reduce the largest purchases to a percentile of all."""
    limit = float(np.percentile([purchase.amount for purchase in purchases], PURCHASE_PERCENTILE))
    return [purchase._replace(amount=min(purchase.amount, limit)) for purchase in purchases]


def _describe_revenue(
    purchases: Mapping[str, Sequence[_Purchase]], variant: int
) -> dict[str, CurrencyFigures]:
    return {
        currency: _describe_currency(
            currency,
            [purchase.amount for purchase in listed if purchase.variant == variant],
            [purchase.amount for purchase in _reduce(listed) if purchase.variant == variant],
        )
        for currency, listed in sorted(purchases.items())
    }


def _describe_currency(
    currency: str, amounts: Sequence[float], reduced: Sequence[float]
) -> CurrencyFigures:
    return {
        "currency": currency,
        "revenue": sum(amounts),
        "mean": float(np.mean(reduced)) if reduced else 0.0,
        "standardDeviation": float(np.std(reduced)) if reduced else 0.0,
        "winsorizedAmount": sum(amounts) - sum(reduced),
    }


def _sample_sizes(
    test: StoredTest, control: Iterable[Figures], effect: MinimumEffect
) -> list[int] | None:
    """Return the searches that each variant needs; None while the control has no rate."""
    total = Figures.total(control)
    observed = rate(_COUNTERS[effect["metric"]](total), total.tracked)
    return estimate_sizes(test.variants, observed, effect["size"]) if observed else None


def estimate_sizes(
    variants: Sequence[Mapping[str, Any]], observed: float, size: float
) -> list[int] | None:
    """Return the searches that each variant needs; None for a change to 100 % or more."""
    changed = observed * (1 + size)
    if not 0 < changed < 1:
        return None
    control, other = (variant["trafficPercentage"] for variant in variants)
    return compute_sample_sizes(observed, changed, other / control)


def measure_rate(store: Store, selection: Selection, metric: EffectMetric) -> tuple[int, int]:
    """Return how many searches have an outcome, and how many are tracked."""
    total = summarize(store, selection, "all").get("", Figures())
    return _COUNTERS[metric](total), total.tracked


def _significances(
    users: Sequence[Mapping[str, Figures]], purchases: Mapping[str, Sequence[_Purchase]]
) -> dict[str, Any]:
    tracked = [[figures.tracked for figures in group.values()] for group in users]
    significances: dict[str, Any] = {}
    for name, metric in _SIGNIFICANCES.items():
        count = _COUNTERS[metric]
        outcomes = [[count(figures) for figures in group.values()] for group in users]
        significances[name] = compare_ratios(outcomes, tracked)
    revenues = {}
    for currency, listed in purchases.items():
        significance = compare_ratios(_sum_amounts(users, listed), tracked)
        if significance is not None:
            revenues[currency] = significance
    return significances | ({"revenueSignificance": revenues} if revenues else {})


def _sum_amounts(
    users: Sequence[Mapping[str, Figures]], purchases: Sequence[_Purchase]
) -> list[list[float]]:
    """Return the amount that each user of each variant has spent."""
    amounts: list[dict[str, float]] = [defaultdict(float) for _ in users]
    for purchase in _reduce(purchases):
        amounts[purchase.variant - 1][purchase.user] += purchase.amount
    return [
        [spent.get(user, 0.0) for user in group]
        for spent, group in zip(amounts, users, strict=True)
    ]


def compare_ratios(
    numerators: Sequence[Sequence[float]], denominators: Sequence[Sequence[int]]
) -> float | None:
    """Return 1 minus the p value of the difference of two ratios of sums over users.

    The test is two-sided, with the normal distribution; None where it cannot be computed.
    """
    ratios, variance = [], 0.0
    for parts, wholes in zip(numerators, denominators, strict=True):
        total, users = sum(wholes), sum(whole > 0 for whole in wholes)
        if users < 2:  # a variance needs two
            return None
        ratio = sum(parts) / total
        residuals = np.asarray(parts, np.float64) - ratio * np.asarray(wholes, np.float64)
        variance += float(residuals @ residuals) / total**2 * users / (users - 1)
        ratios.append(ratio)
    if not variance:
        return None
    return math.erf(abs(ratios[1] - ratios[0]) / math.sqrt(2 * variance))
