"""The arithmetic of A/B tests, which needs no service."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypedDict

from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput


class Estimate(TypedDict):
    """The number of searches that an A/B test needs, and its duration."""

    rates: list[float]
    sampleSizes: list[int]
    durationDays: int | None
    summary: str


@public(
    verb(
        "abtests estimate",
        "abtests estimate 0.2 0.05 --searches-per-day 2000",
        names={"searches_per_day": "searches-per-day"},
        profile=False,
    ),
)
def estimate_ab_test(
    rate: float,
    effect: float,
    *,
    searches_per_day: float | None = None,
    traffic: float = 50,
    power: float = 0.8,
    significance: float = 0.05,
) -> Estimate:
    """Estimate how many searches and days an A/B test needs to detect a change of a rate.

    The estimate is that of a two-sided test of two proportions. Nothing is sent.

    Parameters
    ----------
    rate : float
        Rate of the control, such as its click-through rate: between 0 and 1.
    effect : float
        Smallest relative change to detect: 0.05 is 5 % more, -0.05 is 5 % less.
    searches_per_day : float, default None
        Searches of both variants in a day that the rate is computed of; None estimates no
        duration.
    traffic : float, default 50
        Percentage of the searches that the variant receives; the control receives the others.
    power : float, default 0.8
        Probability that a change of this size is detected.
    significance : float, default 0.05
        Probability that a change is reported although there is none.

    Returns
    -------
    dict
        `rates` (of control and variant), `sampleSizes` (searches of control and variant),
        `durationDays` (int or None) and `summary` (str).

    Raises
    ------
    BadInput
        If a rate or a share is out of range, or the effect is 0.

    Examples
    --------
    >>> svc.estimate_ab_test(0.2, 0.05, searches_per_day=2000)["durationDays"]
    26
    """
    changed = rate * (1 + effect)
    _check_shares(
        {"rate": rate, "traffic": traffic / 100, "power": power, "significance": significance}
    )
    if not (effect and 0 < changed < 1):
        raise BadInput(
            f"`effect` {effect:g} changes the rate from {rate:g} to {changed:g}; it must change it "
            "to another value between 0 and 1"
        )
    sizes = _sample_sizes(rate, changed, traffic / (100 - traffic), power, significance)
    days = _days(sum(sizes), searches_per_day)
    change = f"a change from {rate:.2%} to {changed:.2%}"
    summary = (
        f"{sizes[0]:,} searches of the control and {sizes[1]:,} of the variant detect {change}"
    )
    if days is not None:
        summary += f", after {days:,} day{'s' * (days != 1)}"
    return {
        "rates": [rate, changed],
        "sampleSizes": sizes,
        "durationDays": days,
        "summary": summary,
    }


def _check_shares(shares: dict[str, float]) -> None:
    for name, share in shares.items():
        if not 0 < share < 1:
            unit = "0 and 100" if name == "traffic" else "0 and 1"
            given = share * 100 if name == "traffic" else share
            raise BadInput(f"`{name}` must be between {unit}, not {given:g}")


def _sample_sizes(
    first: float, second: float, ratio: float, power: float, significance: float
) -> list[int]:
    """Return the sizes of both samples; `ratio` is the second divided by the first."""
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


def _days(searches: int, searches_per_day: float | None) -> int | None:
    if searches_per_day is None:
        return None
    if searches_per_day <= 0:
        raise BadInput(f"`searches_per_day` must be more than 0, not {searches_per_day:g}")
    return math.ceil(searches / searches_per_day)
