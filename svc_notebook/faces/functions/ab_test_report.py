"""The report of an A/B test: its rates with intervals, and the verdict so far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from statistics import NormalDist
from typing import Any, NamedTuple

from pandas import DataFrame, Timestamp, to_datetime

from svc_notebook.core.api.shapes.ab_tests import ABTest, EffectMetric, VariantFigures
from svc_notebook.data import plots
from svc_notebook.tuning.statistics import holm

MAX_P_VALUE = 0.05
# The seconds of a day, and the minimum days over which searches per day are computed.
DAY_SECONDS, MIN_DAYS = 86_400, 1 / 24
Z_95 = NormalDist().inv_cdf(1 - MAX_P_VALUE / 2)
# Members with the significance of each rate.
RATES: Mapping[EffectMetric, str] = {
    "clickThroughRate": "clickSignificance",
    "conversionRate": "conversionSignificance",
    "addToCartRate": "addToCartSignificance",
    "purchaseRate": "purchaseSignificance",
}
COLUMNS = {
    "metric": "str",
    **{
        f"{name}{end}": "float64"
        for name in ("control", "variant", "change")
        for end in ("", "_low", "_high")
    },
    "p": "float64",
    "significant": "bool",
}


class _Mean(NamedTuple):
    """The mean of a quantity of tracked searches, its variance and their number."""

    value: float
    variance: float
    searches: int


@dataclass(frozen=True, eq=False, repr=False)
class ABTestReport:
    """The result of an A/B test so far; `print` it for its verdict.

    `metrics` has a row for each rate and each currency: `metric` (str), `control` and `variant`
    (float64: a share of tracked searches, or the revenue of such a search), `change` (float64,
    relative), each with the limits of its 95 % interval (`control_low`, `control_high`, ...), `p`
    (float64) and `significant` (bool: p is below 5 % after Holm's correction for several metrics).
    `variants` has a row for each variant: `index` (str), `trafficPercentage` (int64), the counts of
    searches, users, clicks, conversions and purchases (int64), and how many `outlierUsers` and
    `emptySearches` (int64) are left out.
    """

    id: int
    name: str
    status: str
    created: Timestamp | None
    ends: Timestamp | None
    read: Timestamp
    metrics: DataFrame
    variants: DataFrame
    searches_needed: int | None

    @property
    def days_left(self) -> int:
        """The days until the test ends; 0 if it has ended."""
        if self.status != "active" or self.ends is None:
            return 0
        return max(0, math.ceil((self.ends - self.read).total_seconds() / DAY_SECONDS))

    @property
    def searches_left(self) -> int | None:
        """The tracked searches that the configured effect still needs; None without an effect."""
        if self.searches_needed is None:
            return None
        return max(0, self.searches_needed - int(self.variants["trackedSearchCount"].sum()))

    @property
    def verdict(self) -> str:
        """The verdict on the figures, in a sentence."""
        tracked = int(self.variants["trackedSearchCount"].sum())
        if not tracked:
            return (
                "Nothing can be compared yet: no search with `clickAnalytics` has taken part. "
                "Searches take part by a `userToken`"
            )
        changes = self.metrics[self.metrics["significant"]]
        if changes.empty:
            return f"No difference is certain after {tracked:,} searches"
        return f"The variant has {_join(map(_describe_change, changes.to_dict('records')))}"

    @property
    def outlook(self) -> str:
        """The remaining duration of the test, in a sentence."""
        if self.status != "active":
            return f"The test is {self.status}"
        days = f"{self.days_left:,} more day{'s' * (self.days_left != 1)}"
        if not self.searches_left:
            return f"It runs {days}; decide at its end, because each earlier look may mislead"
        age = self.read - (self.created or self.read)
        days_run = age.total_seconds() / DAY_SECONDS
        rate = self.variants["trackedSearchCount"].sum() / max(days_run, MIN_DAYS)
        days_needed = max(1, round(self.searches_left / rate)) if rate else None
        needed = f"about {days_needed:,} days" if days_needed else "none of which was made yet"
        return (
            f"It runs {days}; the configured effect needs {self.searches_left:,} more searches, "
            f"{needed}{' at the present rate' if days_needed else ''}"
        )

    def __repr__(self) -> str:
        return f"{self._headline()}\n{self.verdict}.\n{self.outlook}."

    def _headline(self) -> str:
        names = [
            f"{row['index']} ({row['trafficPercentage']} %, {row['trackedSearchCount']:,} tracked "
            f"searches of {row['userCount']:,} users)"
            for row in self.variants.to_dict("records")
        ]
        return f"A/B test {self.id}, {self.name}: {' against '.join(names)}"

    def _repr_html_(self) -> str:
        table = self.metrics.to_html(index=False, float_format="{:.4g}".format, na_rep="")
        lines = [f"<b>{escape(self._headline())}</b>", *map(escape, (self.verdict, self.outlook))]
        return "".join(f"<p>{line}</p>" for line in lines) + table

    def plot(self, *, axes: Any = None) -> plots.Plot:
        """Draw the relative change of each metric with its interval."""
        return plots.plot_ab_test(self.metrics, axes=axes)


def build_report(test: ABTest) -> ABTestReport:
    """Return the report of a test as the service describes it."""
    sizes = [variant.get("estimatedSampleSize") for variant in test["variants"]]
    return ABTestReport(
        test["abTestID"],
        test["name"],
        test["status"],
        _read_time(test["createdAt"]),
        _read_time(test["endAt"]),
        Timestamp(datetime.now(UTC)),
        _build_metrics(test),
        DataFrame([_describe_variant(variant) for variant in test["variants"]]),
        sum(size or 0 for size in sizes) if all(sizes) and sizes else None,
    )


def _read_time(text: str) -> Timestamp | None:
    moment = to_datetime(text, utc=True, errors="coerce")
    return moment if isinstance(moment, Timestamp) else None


_COUNTS = (
    "searchCount", "trackedSearchCount", "userCount", "trackedUserCount", "noResultCount",
    "clickCount", "conversionCount", "addToCartCount", "purchaseCount",
)  # fmt: skip


def _describe_variant(variant: VariantFigures) -> dict[str, Any]:
    figures: Mapping[str, Any] = variant
    effects: Mapping[str, Any] = variant.get("filterEffects") or {}
    return {
        "index": variant["index"],
        "trafficPercentage": variant["trafficPercentage"],
        **{name: figures[name] or 0 for name in _COUNTS},
        "outlierUsers": effects.get("outliers", {}).get("usersCount", 0),
        "emptySearches": effects.get("emptySearch", {}).get("trackedSearchesCount", 0),
    }


def _build_metrics(test: ABTest) -> DataFrame:
    rows = [_compare(*parts) for parts in _list_metrics(test)] if _is_tracked(test) else []
    for row, corrected in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["significant"] = corrected < MAX_P_VALUE  # NaN is never significant
    return DataFrame(rows, columns=[*COLUMNS]).astype(COLUMNS)


def _is_tracked(test: ABTest) -> bool:
    variants = test["variants"]
    return len(variants) > 1 and all(variant["trackedSearchCount"] for variant in variants)


def _list_metrics(test: ABTest) -> Iterator[tuple[str, list[_Mean], float | None]]:
    answer: Mapping[str, Any] = test
    for metric, member in RATES.items():
        yield metric, [_rate_of(v, metric) for v in test["variants"]], answer.get(member)
    significances = test.get("revenueSignificance") or {}
    currencies = {name for v in test["variants"] for name in v.get("currencies") or ()}
    for currency in sorted(currencies):
        means = [_revenue_of(variant, currency) for variant in test["variants"]]
        yield f"revenue {currency}", means, significances.get(currency)


def _rate_of(variant: VariantFigures, metric: EffectMetric) -> _Mean:
    share = variant[metric] or 0.0
    return _Mean(share, share * (1 - share), variant["trackedSearchCount"] or 0)


def _revenue_of(variant: VariantFigures, currency: str) -> _Mean:
    """Return the revenue of a tracked search, from that of purchases after their reduction."""
    searches = variant["trackedSearchCount"] or 0
    entry = (variant.get("currencies") or {}).get(currency)
    if entry is None:
        return _Mean(0.0, 0.0, searches)
    value = (entry["revenue"] - entry["winsorizedAmount"]) / searches
    squares = value * (entry["mean"] + entry["standardDeviation"] ** 2 / (entry["mean"] or 1))
    return _Mean(value, squares - value**2, searches)


def _compare(metric: str, means: Sequence[_Mean], significance: float | None) -> dict[str, Any]:
    """Return a row of `metrics`."""
    control, variant = means[:2]
    errors = [math.sqrt(max(mean.variance, 0) / mean.searches) for mean in means]
    difference, error = variant.value - control.value, math.hypot(*errors[:2])
    widening = _widening_of(significance, difference, error)
    row: dict[str, Any] = {"metric": metric}
    row["p"] = math.nan if significance is None else 1 - significance
    for name, mean, deviation in zip(("control", "variant"), means, errors, strict=False):
        reach = Z_95 * deviation * widening
        row |= {
            name: mean.value,
            f"{name}_low": max(0.0, mean.value - reach),
            f"{name}_high": mean.value + reach,
        }
    reach = Z_95 * error * widening
    for end, value in (("", 0.0), ("_low", -reach), ("_high", reach)):
        base = control.value
        row[f"change{end}"] = (difference + value) / base if base else math.nan
    return row


def _widening_of(significance: float | None, difference: float, error: float) -> float:
    """Return the factor by which intervals are widened until they agree with the p value.

    The searches of a user resemble each other. The service takes account of that in the p value.
    """
    if significance is None or not 0 < significance < 1 or not error or not difference:
        return 1.0
    z = NormalDist().inv_cdf((1 + significance) / 2)
    return max(1.0, abs(difference) / z / error) if z else 1.0


def _describe_change(row: Mapping[Any, Any]) -> str:
    direction = "higher" if row["variant"] > row["control"] else "lower"
    change = "" if math.isnan(row["change"]) else f"{row['change']:+.1%}, "
    return f"a {direction} {row['metric']} ({change}p = {row['p']:.2g})"


def _join(parts: Iterator[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
