"""Few queries, ratings below 1 and hits that hardly moved are said to be what they are."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks.simulations import simulate_search
from svc_notebook import tuning
from svc_notebook.errors import BadInput
from svc_notebook.tuning.statistics import max_sign_flips, sign_flip, t_interval, t_quantile
from svc_notebook.tuning.tables.schema import relevant_from
from tests.tuning.tables import judgments_of, run_of


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 19, 100, 999])
@pytest.mark.parametrize("probability", [0.9, 0.975, 0.995])
def test_quantiles_are_those_of_scipy(freedom: int, probability: float) -> None:
    from scipy import stats

    expected = stats.t.ppf(probability, freedom)

    assert t_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("count", [2, 3, 7, 40])
def test_the_t_interval_is_that_of_scipy(count: int) -> None:
    from scipy import stats

    values = np.random.default_rng(count).normal(0.1, 0.2, count)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)

    found = t_interval([*values, np.nan])
    weighted = t_interval(values, weights=np.full(count, 7.0))

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert weighted == pytest.approx(found)
    assert np.isnan(t_interval(values[:1]).low)
    assert np.isnan(t_interval([]).mean)


@pytest.mark.slow
def test_few_differing_queries_are_said_to_be_few() -> None:
    from scipy import stats

    names = [f"q{n}" for n in range(30)]
    judged = judgments_of(**{name: {"a": 1, "b": 0} for name in names})
    before = run_of("before", **{name: ["b", "a"] for name in names})
    few = run_of("few", **{name: ["ba", "ab"][n < 5] for n, name in enumerate(names)})
    many = run_of("many", **{name: ["ba", "ab"][n < 25] for n, name in enumerate(names)})

    one, other = (tuning.compare(before, run, judged) for run in (few, many))

    assert "only 5 queries differ in ndcg@10, which is little evidence" in repr(one)
    assert "; t interval [" in repr(one)
    assert "little evidence" in one._repr_html_()
    assert "little evidence" not in repr(other)
    row = one.test().iloc[0]
    deltas = one.scores["delta"].to_numpy()
    expected = stats.ttest_1samp(deltas, 0).confidence_interval(0.95)
    assert (row["t_low"], row["t_high"]) == pytest.approx((expected.low, expected.high))
    assert row["t_high"] - row["t_low"] > row["high"] - row["low"]


@pytest.mark.parametrize("metric", ["p@5", "r@5", "rr@10", "ap"])
def test_ratings_from_clicks_need_a_limit_or_grades(metric: str) -> None:
    judged = judgments_of(q={"a": 0.31, "b": 0.02})
    found = run_of(q=["b", "a"])

    with pytest.raises(BadInput, match=r"the best here is 0.31, .* relevant=0.15 or .* grades=3"):
        tuning.evaluate(found, judged, metric)

    assert tuning.evaluate(found, judged, metric, relevant=0.15)["value"].notna().all()
    assert tuning.evaluate(found, judged, "ndcg@10")["value"].notna().all()
    nothing = judgments_of(q={"a": 0, "b": 0})
    assert tuning.evaluate(found, nothing, metric)["value"].isna().all()


def test_the_least_relevant_rating_follows_the_scale() -> None:
    assert relevant_from(judgments_of(q={"a": 3, "b": 0})) == 1
    assert relevant_from(judgments_of(q={"a": 0.3, "b": 0})) == pytest.approx(0.15)
    assert relevant_from(judgments_of(q={"a": float("nan")})) == 1


def shown(moved: int) -> pd.DataFrame:
    """Impressions of three hits, `moved` of 1,000 of each at another position."""
    rows = [
        ("q", hit, position, 1000 - moved if position == home else moved, 50)
        for home, hit in enumerate("abc", 1)
        for position in (home, home % 3 + 1)
    ]
    return pd.DataFrame(rows, columns=["query", "objectID", "position", "impressions", "clicks"])


def test_a_position_model_warns_if_hits_hardly_moved() -> None:
    with pytest.warns(UserWarning, match=r"only 2.0% of the impressions are at another position"):
        judged = tuning.clicks.judgments(
            shown(20).assign(clicks=[30, 2, 20, 2, 10, 2]), model="pbm"
        )

    assert judged.attrs["svc"]["moved_share"] == pytest.approx(0.02)


def test_a_position_model_warns_if_it_has_not_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    from svc_notebook.tuning.clicks import models

    monkeypatch.setattr(models, "MAX_EM_ITERATIONS", 1)

    with pytest.warns(UserWarning, match="has not converged after 1 round"):
        judged = tuning.clicks.judgments(shown(400), model="pbm")

    assert not judged.attrs["svc"]["converged"]


def test_a_position_model_with_moved_hits_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged = tuning.clicks.judgments(shown(400), model="pbm")

    assert judged.attrs["svc"]["converged"]
    assert judged.attrs["svc"]["moved_share"] == pytest.approx(0.4)


@pytest.mark.slow
@pytest.mark.parametrize("count", [26, 60])
def test_a_search_among_changes_without_effect_proposes_hardly_any(count: int) -> None:
    runs = 120

    proposed = sum(bool(simulate_search(seed, count).best) for seed in range(runs))

    # 5 % of 120 are 6; more than 11 have a probability below 2 % at 5 %.
    assert proposed <= 11


@pytest.mark.slow
def test_a_search_mostly_proposes_the_change_that_has_an_effect() -> None:
    best = [simulate_search(seed, 60, 0.12).best for seed in range(20)]

    assert sum(change.get("ignorePlurals") is True for change in best) >= 16


def test_a_search_of_few_queries_names_the_judgments_to_add() -> None:
    search = simulate_search(3, 3, 0.1)

    assert search.best == search.change == {}
    assert "not enough to choose: 3 tune queries" in repr(search)
    assert search.evidence
    assert (search.evidence.more_queries or 0) >= 34  # 17 more tune queries are half of these
    assert f"judge about {search.evidence.more_queries:,} more queries" in repr(search)


def test_signs_at_random_correct_for_the_number_of_variants() -> None:
    rng = np.random.default_rng(5)
    alone = rng.normal(0.08, 0.2, 30)
    several = np.array([alone, *rng.normal(0, 0.2, (40, 30))])

    one, _ = max_sign_flips(alone[None], 0.05)
    many, critical = max_sign_flips(several, 0.05)

    assert one == pytest.approx(sign_flip(alone) / 2, abs=0.01)
    assert many > 3 * one
    assert 2.5 < critical < 3.5
    few, _ = max_sign_flips(np.array([[0.1, 0.1, 0.1]]), 0.05)
    assert few == 1 / 8
    assert max_sign_flips(np.zeros((2, 5)), 0.05)[0] == 1
