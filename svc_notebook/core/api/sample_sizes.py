"""Sizes of two samples whose rates are compared."""

from __future__ import annotations

import math
from statistics import NormalDist


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
