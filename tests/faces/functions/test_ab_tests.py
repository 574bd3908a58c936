"""The estimate of an A/B test has the power that it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput

TRIALS = 20_000


def share_detected(sizes: list[int], rates: list[float], significance: float = 0.05) -> float:
    """Simulate tests of two proportions; returns the share with a significant difference."""
    from scipy import stats

    chance = np.random.default_rng(3)
    counts = [chance.binomial(size, rate, TRIALS) for size, rate in zip(sizes, rates, strict=True)]
    first, second = counts[0] / sizes[0], counts[1] / sizes[1]
    pooled = (counts[0] + counts[1]) / sum(sizes)
    error = np.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1]))
    return float((2 * stats.norm.sf(abs(first - second) / error) < significance).mean())


@pytest.mark.slow
def test_a_change_is_detected_as_often_as_promised() -> None:
    cases: list[tuple[float, float, dict[str, Any]]] = [
        (0.2, 0.05, {}),
        (0.2, -0.05, {"traffic": 10}),
        (0.02, 0.3, {"power": 0.95}),
        (0.6, 0.1, {"significance": 0.01, "traffic": 80}),
    ]
    for rate, effect, options in cases:
        estimate = svc.estimate_ab_test(rate, effect, **options)
        sizes, level = estimate["sampleSizes"], options.get("significance", 0.05)

        power = options.get("power", 0.8)
        assert share_detected(sizes, estimate["rates"], level) == pytest.approx(power, abs=0.015)
        assert share_detected(sizes, [rate, rate], level) == pytest.approx(level, abs=0.006)
        assert sizes[1] / sum(sizes) == pytest.approx(options.get("traffic", 50) / 100, abs=1e-3)


def test_the_duration_follows_from_the_searches_of_a_day() -> None:
    estimate = svc.estimate_ab_test(0.2, 0.05, searches_per_day=2000)

    assert estimate["durationDays"] == -(-sum(estimate["sampleSizes"]) // 2000) == 26
    assert estimate["summary"] == (
        "25,583 searches of the control and 25,583 of the variant detect a change from 20.00% to "
        "21.00%, after 26 days"
    )
    assert svc.estimate_ab_test(0.2, 0.05)["durationDays"] is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((0, 0.1), "`rate` must be between 0 and 1, not 0"),
        ((0.2, 0), "`effect` 0 changes the rate"),
        ((0.6, 0.7), "from 0.6 to 1.02"),
        ((0.2, 0.1, {"traffic": 100}), "`traffic` must be between 0 and 100, not 100"),
        ((0.2, 0.1, {"searches_per_day": 0}), "`searches_per_day` must be more than 0"),
    ],
)
def test_an_impossible_test_is_refused(arguments: Any, reason: str) -> None:
    rate, effect, *options = arguments
    with pytest.raises(BadInput) as raised:
        svc.estimate_ab_test(rate, effect, **(options[0] if options else {}))

    assert reason in str(raised.value)
