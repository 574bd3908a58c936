"""Agreement of raters, compared with published figures, and the next judgments to collect."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.rater_agreement import agreement, next_to_judge
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.statistics import cohen, fleiss, krippendorff
from tests.tuning.tables import judgments_of, run_of, value_of

NAN = math.nan


def rated(**raters: list[float]) -> DataFrame:
    return pd.concat(
        [DataFrame({"query": "q", "objectID": [f"{n}" for n in range(len(given))],
                    "rating": given, "rater": name}) for name, given in raters.items()]
    )  # fmt: skip


def test_alpha_is_that_of_its_authors_example() -> None:
    """Krippendorff, Computing Krippendorff's alpha-reliability (2011), ordinal data: 0.815."""
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
            [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
        ]
    ).T

    assert krippendorff(table) == pytest.approx(0.815, abs=5e-4)


def test_kappa_of_two_is_the_textbooks() -> None:
    """20 and 15 agreements of 50, 5 and 10 disagreements: kappa 0.4."""
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15

    assert cohen(np.array(pairs, dtype=float), weighted=False) == pytest.approx(0.4)
    assert cohen(np.array(pairs, dtype=float), weighted=True) == pytest.approx(0.4)


def test_kappa_of_many_is_that_of_its_authors_example() -> None:
    """Fleiss (1971), as ten subjects and fourteen raters are usually told: 0.210."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    table = np.array([np.repeat(np.arange(5.0), row) for row in counts])

    assert fleiss(table) == pytest.approx(0.210, abs=5e-4)


def test_agreement_is_reported_for_each_pair_and_for_all_raters() -> None:
    told = agreement(rated(ada=[3, 2, 0], bob=[3, 1, 0], eve=[3, 2]))

    assert told["measure"].tolist() == [
        *["equal ratings", "Cohen's kappa", "Cohen's kappa, squared weights"] * 3,
        "Fleiss' kappa", "Krippendorff's alpha",
    ]  # fmt: skip
    first = told.iloc[0]
    assert first[["raters", "hits"]].tolist() == ["ada, bob", 3]
    assert first["value"] == pytest.approx(2 / 3)
    assert told["hits"].tolist()[-2:] == [2, 3]


def test_complete_agreement_is_one_and_a_single_grade_is_nan() -> None:
    told = agreement(rated(ada=[3, 2, 0], bob=[3, 2, 0]))["value"]
    same = agreement(rated(ada=[1, 1], bob=[1, 1]))["value"]
    apart = agreement(pd.concat([rated(ada=[1]), rated(bob=[1]).assign(query="other")]))["value"]

    assert told.tolist() == [1] * 4
    assert same.isna().tolist() == [False, True, True, True]
    assert apart.isna().all()


def test_one_rater_cannot_agree() -> None:
    with pytest.raises(BadInput, match="two raters or more"):
        agreement(rated(ada=[1, 2]))


JUDGED = judgments_of(lamp={"a": 3, "b": 1}, table={"t": 2})
BEFORE = run_of("before", lamp=["x", "a", "s"], table=["t", "y"])
AFTER = run_of("after", lamp=["a", "z", "s"], table=["t", "y"])


def test_what_is_judged_next_is_what_could_change_most() -> None:
    wanted = next_to_judge(BEFORE, AFTER, JUDGED)

    assert wanted["objectID"].tolist() == ["x", "z", "s", "y"]
    assert wanted["influence"].is_monotonic_decreasing
    assert wanted["influence"].tolist()[2:] == [0, 0]
    assert next_to_judge(BEFORE, AFTER, JUDGED, n=1)["objectID"].tolist() == ["x"]


def test_influence_bounds_what_a_judgment_does() -> None:
    wanted = next_to_judge(BEFORE, AFTER, JUDGED).iloc[0]
    more = pd.concat([JUDGED, judgments_of(lamp={"x": 3})])

    was, now = (
        [value_of(evaluate(run, judged), "lamp", "ndcg@10") for run in (BEFORE, AFTER)]
        for judged in (JUDGED, more)
    )

    changed = abs((now[1] - now[0]) - (was[1] - was[0]))
    assert changed <= wanted["influence"] + 1e-12


def test_what_cannot_be_rated_is_not_asked_again() -> None:
    judged = pd.concat(
        [JUDGED, DataFrame({"query": ["lamp"], "objectID": ["x"], "unrateable": [True]})]
    )

    assert "x" not in next_to_judge(BEFORE, AFTER, judged)["objectID"].tolist()


def test_without_a_judgment_all_is_wanted_and_nothing_of_runs_that_are_empty() -> None:
    assert len(next_to_judge(BEFORE, AFTER, [])) == 6
    assert next_to_judge(run_of("a", lamp=[]), run_of("b", lamp=[]), JUDGED).empty
    with pytest.raises(BadInput, match="1 or more"):
        next_to_judge(BEFORE, AFTER, JUDGED, n=0)
