"""Confidence intervals and tests by resampling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.tuning.statistics import bootstrap_means, holm, interval, sign_flip

SOME = np.random.default_rng(7).normal(0.1, 1, 300)
small = st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 1.0]), min_size=1, max_size=7)


@given(small)
def test_few_differences_are_tested_exactly(deltas: list[float]) -> None:
    moved = [delta for delta in deltas if delta]
    sums = [sum(s * d for s, d in zip(signs, moved, strict=True))
            for signs in itertools.product([1, -1], repeat=len(moved))]  # fmt: skip

    p = sign_flip(deltas)

    assert p == pytest.approx(sum(abs(s) >= abs(sum(moved)) - 1e-9 for s in sums) / len(sums))


def test_without_changes_the_p_value_is_one() -> None:
    assert sign_flip([0.0, 0.0]) == 1
    assert sign_flip([]) == 1


def test_sampled_flips_approximate_all_flips() -> None:
    deltas = SOME[:16]
    exact = sign_flip(deltas)

    drawn = sign_flip(np.concatenate([deltas, [1e-12] * 5]), resamples=20_000, seed=3)

    assert drawn == pytest.approx(exact, abs=0.02)


def test_a_difference_in_every_query_is_never_quite_certain() -> None:
    assert 0 < sign_flip(np.ones(100), resamples=1000) == pytest.approx(1 / 1001)


def test_an_interval_contains_the_mean_and_narrows_with_more_values() -> None:
    few, many = interval(SOME[:30]), interval(SOME)

    for mean, low, high in (few, many):
        assert low < mean < high
    assert many.high - many.low < few.high - few.low
    assert many.mean == pytest.approx(SOME.mean())


def test_an_interval_is_as_wide_as_theory_says() -> None:
    _, low, high = interval(SOME, resamples=20_000)

    assert high - low == pytest.approx(2 * 1.96 * SOME.std() / math.sqrt(len(SOME)), rel=0.05)


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    assert interval(SOME, seed=1) == interval(SOME, seed=1) != interval(SOME, seed=2)
    assert sign_flip(SOME, seed=1) == sign_flip(SOME, seed=1)


def test_a_weight_counts_like_so_many_of_the_same() -> None:
    assert interval([1.0, 0.0], weights=[3, 1]).mean == interval([1.0, 1.0, 1.0, 0.0]).mean
    assert interval([1.0, 9.0], weights=[1, 0]).mean == 1


def test_missing_values_do_not_count_and_one_has_no_interval() -> None:
    assert interval([1.0, math.nan]).mean == 1
    assert math.isnan(interval([1.0]).low)
    assert all(map(math.isnan, interval([])))


def test_many_queries_are_drawn_in_portions() -> None:
    means = bootstrap_means(np.ones(30_000), resamples=150)

    assert means.shape == (150,)
    assert (means == 1).all()


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(values: list[float]) -> None:
    corrected = holm(values)

    for p, own in zip(values, corrected, strict=True):
        assert p <= own <= min(1, p * len(values)) + 1e-12
    assert [corrected[i] for i in np.argsort(values, kind="stable")] == sorted(corrected)


def test_holm_is_the_textbooks() -> None:
    assert holm([0.01, 0.04, 0.03, math.nan])[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert math.isnan(holm([0.01, math.nan])[1])
    assert holm([]) == []


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, None])
def test_what_is_no_seed_is_refused(seed: int) -> None:
    with pytest.raises(BadInput, match="`seed`"):
        interval(SOME, seed=seed)
