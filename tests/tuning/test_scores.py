"""Scores of runs: their rules, and the notes beside them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.scores import SCORES, evaluate, summary
from tests.tuning.tables import judgments_of, run_of, value_of

JUDGED = judgments_of(lamp={"a": 3, "b": 1, "c": 0}, table={"t": 2})


def test_a_query_without_hits_scores_nothing_and_stays() -> None:
    scores = evaluate(run_of(lamp=["a"], table=[]), JUDGED)

    assert value_of(scores, "table", "ndcg@10") == 0
    assert scores["n_hits"].tolist() == [1, 0]
    assert math.isnan(scores["judged_at_k"][1])


def test_a_query_that_failed_has_no_score_and_says_why() -> None:
    run = run_of(lamp=["a"], table=[]).assign(error=["", "filters: no such attribute"])

    scores = evaluate(run, JUDGED)

    assert math.isnan(value_of(scores, "table", "ndcg@10"))
    assert scores["error"][1] == "filters: no such attribute"
    assert summary(scores)[["queries", "failed", "without_hits"]].to_numpy().tolist() == [[1, 1, 0]]


def test_a_query_without_relevant_hits_is_counted_separately() -> None:
    judged = judgments_of(lamp={"a": 3}, table={"t": 0})

    told = summary(evaluate(run_of(lamp=["a"], table=["t"], chair=["x"]), judged))

    assert told[["mean", "queries", "without_relevant"]].to_numpy().tolist() == [[1, 1, 2]]


def test_query_text_keeps_its_case() -> None:
    judged = judgments_of(Lamp={"a": 1}, lamp={"b": 1})

    scores = evaluate(run_of(Lamp=["a"], lamp=["a"]), judged, "p@1")

    assert scores["value"].tolist() == [1, 0]


def test_the_same_words_under_other_filters_are_another_query() -> None:
    judged = judgments_of(lamp={"a": 1}).assign(filters="brand:x")
    run = pd.concat([run_of(lamp=["a"]), run_of(lamp=["a"]).assign(filters="brand:x")])

    scores = evaluate(run, judged, "p@1").set_index("filters")

    assert scores["n_relevant"].to_dict() == {"": 0, "brand:x": 1}
    assert scores["value"]["brand:x"] == 1


@pytest.mark.parametrize("grades", [{100: 3, 10: 2, 1: 1, 0: 0}])
def test_grades_that_are_gains_are_refused_where_each_doubles(grades: dict[float, float]) -> None:
    judged = judgments_of(lamp={"a": 100, "b": 10, "c": 1, "d": 0})
    run = run_of(lamp=list("bacd"))

    for name in ("ndcg_exp@10", "err@10"):
        with pytest.raises(BadInput, match=re.escape("gains={100: 3, 10: 2, 1: 1, 0: 0}")):
            evaluate(run, judged, name)
    graded = judgments_of(lamp={"a": 3, "b": 2, "c": 1, "d": 0})

    mapped = evaluate(run, judged, "ndcg_exp@10", gains=grades)

    assert mapped["value"].item() == evaluate(run, graded, "ndcg_exp@10")["value"].item()
    assert "100 as 3, 10 as 2" in mapped["definition"].item()
    evaluate(run, judged, "ndcg@10")


def test_a_part_of_that_scale_is_refused_too_and_ten_grades_are_not() -> None:
    run = run_of(lamp=["a"])

    with pytest.raises(BadInput, match="has an exponential gain"):
        evaluate(run, judgments_of(lamp={"a": 10, "b": 1}), "ndcg_exp@10")
    evaluate(run, judgments_of(lamp={"a": 10, "b": 7, "c": 1}), "ndcg_exp@10")


def test_equal_scores_keep_the_order_they_came_in() -> None:
    run = DataFrame({"query": "lamp", "objectID": ["c", "a", "b"], "score": [1.0, 1.0, 2.0]})

    scores = evaluate(run, JUDGED[JUDGED["query"] == "lamp"], "rr(rel=3)")

    assert scores["value"].item() == 1 / 3


def test_a_run_without_judged_hits_causes_a_warning() -> None:
    run = pd.concat([run_of("new", lamp=["x1", "x2"]), run_of("old", lamp=["a"])])

    with pytest.warns(UserWarning, match="none of the 2 hits of `new` is judged.*other objectIDs"):
        evaluate(run, JUDGED)


def test_unjudged_hits_count_nothing_are_left_out_or_bound_the_score() -> None:
    run = run_of(lamp=["x", "a"])

    zero, skip, bound = (evaluate(run, JUDGED, "ndcg@2", unjudged=how).iloc[0]
                         for how in ("zero", "skip", "bound"))  # fmt: skip

    ideal = 3 + 1 / math.log2(3)
    assert zero["value"] == pytest.approx(3 / math.log2(3) / ideal)
    assert skip["value"] == pytest.approx(3 / ideal)
    assert bound["value"] == zero["value"]
    assert bound["value"] + bound["residual"] == 1
    assert [one["judged_at_k"] for one in (zero, skip, bound)] == [0.5] * 3
    assert [one["definition"].split("; ")[-1] for one in (zero, skip, bound)] == [
        "unjudged hits: no gain", "unjudged hits: left out",
        "unjudged hits: no gain, residual if all were the best",
    ]  # fmt: skip


def test_rank_biased_precision_has_a_residual() -> None:
    run = run_of(lamp=["a", "x"]).assign(nbHits=[9, 9])
    ended = run_of(lamp=["a", "x"])

    known = evaluate(run, JUDGED, "rbp(0.5)").iloc[0]
    over = evaluate(ended, JUDGED, "rbp(0.5)").iloc[0]

    assert known["value"] == 0.5
    assert known["residual"] == pytest.approx(0.25 + 0.25)
    assert over["residual"] == pytest.approx(0.25)


def test_unrateable_zero_and_missing_are_three_things() -> None:
    judged = DataFrame(
        {"query": "lamp", "objectID": ["a", "b", "c"], "rating": [1.0, 0.0, None],
         "unrateable": [False, False, True]}
    )  # fmt: skip

    scores = evaluate(
        run_of(lamp=["c", "b", "x", "a"]), judged, ["judged@4", "rr"], unjudged="skip"
    )

    assert value_of(scores, "lamp", "judged@4") == 0.5
    assert value_of(scores, "lamp", "rr") == 1 / 2


def test_what_several_raters_say_is_averaged() -> None:
    one = judgments_of(lamp={"a": 3, "b": 2})
    judged = pd.concat([one.assign(rater="ada"), one.assign(rater="bob", rating=[0.0, 2.0])])

    scores = evaluate(run_of(lamp=["a", "b"]), judged, "ndcg@2")

    assert scores["value"].item() == pytest.approx((1.5 + 2 / np.log2(3)) / (2 + 1.5 / np.log2(3)))


def test_scores_have_the_columns_they_are_documented_to_have() -> None:
    scores = evaluate(run_of(lamp=["a"]), JUDGED, ["ndcg@10", "rbp"])
    empty = evaluate([], JUDGED)

    assert list(scores) == list(empty) == SCORES
    assert scores.attrs["svc"] == {
        "metrics": ["ndcg@10", "rbp(0.8)"], "unjudged": "zero", "gains": None, "relevant": 1.0,
        "best": 3.0, "judged_but_not_run": 1, "absent": {"run": 0},
    }  # fmt: skip
    assert summary(empty).empty


def test_queries_bring_what_they_count_and_where_they_belong() -> None:
    queries = DataFrame({"query": ["lamp", "table"], "weight": [3.0, 1.0],
                         "stratum": ["head", "tail"]})  # fmt: skip
    scores = evaluate(run_of(lamp=["a", "b"], table=[]), JUDGED, queries=queries)

    assert summary(scores)["mean"].item() == 0.75
    parts = summary(scores, by="stratum").set_index("stratum")["mean"]
    assert parts.to_dict() == {"head": 1.0, "tail": 0.0}


def test_runs_are_summarized_separately_in_order() -> None:
    runs = pd.concat([run_of("new", lamp=["b"]), run_of("old", lamp=["a"])])

    told = summary(evaluate(runs, JUDGED, ["ndcg@1", "p@1"]))

    assert told[["run", "metric", "mean"]].to_numpy().tolist() == [
        ["new", "ndcg@1", 1 / 3], ["new", "p@1", 1.0],
        ["old", "ndcg@1", 1.0], ["old", "p@1", 1.0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unjudged": "guess"}, "`unjudged` must be one of zero, skip, bound"),
        ({"gains": {3: 1}}, "does not contain the rating 0"),
        ({"gains": {3: -1, 1: 0, 0: 0, 2: 0}}, "0 or more"),
        ({"metrics": "ncdg@10"}, "did you mean `ndcg`"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        evaluate(run_of(lamp=["a"]), JUDGED, **options)


def test_scores_are_what_a_summary_takes() -> None:
    with pytest.raises(BadInput, match="the result of evaluate"):
        summary(JUDGED)
    with pytest.raises(BadInput, match="no column `strata`"):
        summary(evaluate(run_of(lamp=["a"]), JUDGED), by="strata")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gains": [1]}, "`gains` must be a dict"),
        ({"metrics": None}, "at least one metric"),
        ({"unjudged": ["zero"]}, "`unjudged` must be one of zero"),
        ({"relevant": 0}, "more than 0"),
        ({"relevant": "1"}, "more than 0"),
    ],
)
def test_options_of_another_kind_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        evaluate(run_of(lamp=["a"]), JUDGED, **options)
