"""Comparisons of runs: which queries differ, by how much, and the verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.comparison import compare
from svc_notebook.tuning.evaluation.ranked_lists import find_moves, find_overlaps
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.tables.tables import check_runs
from tests.conftest import examples
from tests.tuning.tables import judgments_of, run_of, without

JUDGED = judgments_of(lamp={"a": 3, "b": 1}, table={"t": 2}, chair={"c": 1}, odd={"o": 0})
BEFORE = run_of("before", lamp=["x", "a"], table=["t"], chair=["c"], odd=["o"])
AFTER = run_of("after", lamp=["a", "b", "y"], table=[], chair=["c"], odd=["o"])
rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def test_each_query_has_its_score_before_and_after() -> None:
    scores = compare(BEFORE, AFTER, JUDGED, "rr(rel=3)").scores

    lamp = scores[scores["query"] == "lamp"]
    assert lamp[["before", "after", "delta"]].to_numpy().tolist() == [[0.5, 1, 0.5]]


def test_the_verdict_counts_wins_ties_losses_and_what_is_left_out() -> None:
    row = compare(BEFORE, AFTER, JUDGED).test().iloc[0]

    assert row[["wins", "ties", "losses", "queries", "left_out"]].tolist() == [1, 1, 1, 3, 1]
    assert row["before"] + row["delta"] == pytest.approx(row["after"])
    assert row["low"] <= row["delta"] <= row["high"]
    assert row["p"] == row["p_holm"] == 1


def test_moves_have_the_ranks_of_every_hit() -> None:
    moves = compare(BEFORE, AFTER, JUDGED).moves

    lamp = moves[moves["query"] == "lamp"].set_index("objectID")
    assert lamp["kind"].to_dict() == {"a": "up", "x": "left", "b": "entered", "y": "entered"}
    assert lamp["moved"]["a"] == 1
    assert lamp["gain"].isna().to_dict() == {"a": False, "x": True, "b": False, "y": True}
    assert moves[moves["query"] == "table"]["kind"].tolist() == ["left"]


def test_the_same_seed_gives_the_same_verdict() -> None:
    rng = np.random.default_rng(5)
    names = [f"query {n}" for n in range(60)]
    judged = judgments_of(**{name: {"a": 3, "b": 1, "c": 2} for name in names})
    before, after = (
        run_of(run, **{name: list(rng.permutation(list("abc"))) for name in names})
        for run in ("before", "after")
    )

    one, again, other = (compare(before, after, judged, seed=s).test() for s in (1, 1, 2))

    pd.testing.assert_frame_equal(one, again)
    assert one["low"].item() != other["low"].item()


def test_several_runs_are_corrected_for_their_number() -> None:
    third = AFTER.assign(run="third")

    told = compare(BEFORE, pd.concat([AFTER, third]), JUDGED).test()

    assert told["run"].tolist() == ["after", "third"]
    assert (told["p_holm"] >= told["p"]).all()
    assert "p(Holm)" in repr(compare(BEFORE, [AFTER, third], JUDGED))


def test_runs_with_equal_names_get_unique_names() -> None:
    same = AFTER.assign(run="before")

    comparison = compare(BEFORE, [same, same], JUDGED)

    assert comparison.variants == ("before (2)", "before (3)")
    assert compare(BEFORE, {"plurals": same}, JUDGED).variants == ("plurals",)


def test_a_comparison_reads_as_what_was_measured_and_how() -> None:
    text = repr(compare(BEFORE, AFTER, JUDGED, ["ndcg@10", "p@1"], seed=4))

    for words in (
        "before → after: 4 queries", "W 1  T 1  L 1", "ideal cut at the same rank",
        "unjudged hits: no gain", "1 without a relevant judgment (left out)", "1 without hits",
        "sign-flip", "10,000 resamples, seed 4", "judged 0.88 → 0.89", "of them unjudged", "RBO",
    ):  # fmt: skip
        assert words in text


def test_html_of_a_comparison_is_escaped() -> None:
    bad = "<img src=x onerror=alert(1)>"
    before = run_of(bad, **{bad: ["x", "a"]})
    after = run_of(f"{bad}2", **{bad: ["a"]})

    html = compare(before, after, judgments_of(**{bad: {"a": 1}}))._repr_html_()

    assert "<img" not in html
    assert "&lt;img" in html
    assert "won most" in html


def test_failed_queries_are_counted_and_left_out() -> None:
    failed = AFTER.assign(error=np.where(AFTER["query"] == "table", "refused", ""))

    comparison = compare(BEFORE, failed, JUDGED)

    assert comparison.test()["left_out"].item() == 2
    assert "1 failed (left out)" in repr(comparison)


def test_weights_of_queries_count() -> None:
    queries = DataFrame({"query": ["lamp", "table", "chair"], "weight": [0.0, 0.0, 1.0]})

    assert compare(BEFORE, AFTER, JUDGED, queries=queries).test()["delta"].item() == 0


def test_a_run_against_itself_differs_in_nothing() -> None:
    comparison = compare(BEFORE, BEFORE, JUDGED)

    row = comparison.test().iloc[0]
    assert row[["delta", "wins", "losses"]].tolist() == [0, 0, 0]
    assert row["p"] == 1
    assert (comparison.moves["kind"] == "same").all()
    assert comparison.rbo["rbo"].tolist() == pytest.approx([1] * 4)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (pd.concat([BEFORE, AFTER]), AFTER, "`a` must contain one run, not 2"),
        (BEFORE, [], "`b` has no run"),
        (BEFORE.head(0), AFTER, "`a` has no query"),
        (BEFORE, without(AFTER, "query"), "need a column `query`"),
    ],
)
def test_what_cannot_be_compared_is_refused(a: Any, b: Any, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        compare(a, b, JUDGED)


@pytest.mark.slow
def test_a_comparison_is_written_to_one_file(tmp_path: Path) -> None:
    written = compare(BEFORE, AFTER, JUDGED).report(tmp_path / "report.html", title="Lamps & <b>")

    page = Path(written).read_text(encoding="utf-8")
    assert "Lamps &amp; &lt;b&gt;" in page
    assert "ndcg@10" in page


def test_no_resamples_are_refused() -> None:
    with pytest.raises(BadInput, match="`resamples`"):
        compare(BEFORE, AFTER, JUDGED, resamples=0)


@given(st.lists(st.tuples(rankings, rankings), min_size=1, max_size=30))
@settings(max_examples=examples(8), deadline=None)
def test_overlap_is_the_formula_of_its_authors(pairs: list[tuple[list[str], list[str]]]) -> None:
    old, new = (
        check_runs(run_of(name, **{f"q{n}": pair[side] for n, pair in enumerate(pairs)}))
        for side, name in enumerate(("a", "b"))
    )

    found = find_overlaps(old, new)["rbo"]

    assert found.tolist() == pytest.approx([overlap(*pair) for pair in pairs], abs=1e-12)


def overlap(one: list[str], other: list[str], p: float = 0.9) -> float:
    """Rank-biased overlap, extrapolated, for lists of different lengths: formula 32."""
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)
    if not n:
        return 1.0
    common = [len(set(short[:d]) & set(long[:d])) for d in range(n + 1)]
    total = sum(common[d] / d * p**d for d in range(1, n + 1))
    if s:
        total += sum(common[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    share = common[s] / s if s else 0.0
    return (1 - p) / p * total + ((common[n] - common[s]) / n + share) * p**n


def test_a_query_of_one_run_alone_is_no_move() -> None:
    moves = find_moves(check_runs(BEFORE), check_runs(run_of("b", lamp=["a"])), DataFrame(
        {"query": [], "filters": [], "objectID": [], "gain": []}, dtype="str"))  # fmt: skip

    assert moves["query"].unique().tolist() == ["lamp"]


def test_queries_without_a_row_score_zero_and_cause_a_warning() -> None:
    """150 queries, of which 25 find nothing in one run: the mean is over 150, not over 125."""
    names = [f"query {n}" for n in range(150)]
    judged = judgments_of(**{name: {"a": 3, "b": 1} for name in names})
    whole = run_of("whole", **{name: ["a", "b"] for name in names})
    part = run_of("part", **{name: ["b", "a"] for name in names[25:]})
    elsewhere = without(part, "nbHits")

    with pytest.warns(UserWarning, match=r"^25 of 150 queries have no row in `part`: without hits"):
        compared = compare(whole, elsewhere, judged)
    [row] = compared.test().to_dict("records")

    found = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))
    assert (row["queries"], row["left_out"], row["losses"]) == (150, 0, 150)
    assert row["after"] == pytest.approx(found * 125 / 150)
    assert "25 of 150 queries have no row in `part`: without hits, scored 0" in repr(compared)
    assert "part: 25 without hits" in repr(compared)
    assert "25 of 150 queries have no row" in compared._repr_html_()
    lost = compared.scores[compared.scores["after"] == 0]
    assert sorted(lost["query"]) == sorted(names[:25])
    assert compared.moves["kind"].value_counts()["left"] == 50
    assert (compared.rbo["rbo"] == 0).sum() == 25


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("counted", [True, False], ids=["nbHits", "hits alone"])
def test_a_missing_query_counts_the_same_in_either_run(swapped: bool, counted: bool) -> None:
    part = AFTER[AFTER["objectID"].notna()]
    one, other = (BEFORE, part) if counted else (without(BEFORE, "nbHits"), without(part, "nbHits"))
    before, after = (AFTER, BEFORE) if swapped else (BEFORE, AFTER)

    with pytest.warns(UserWarning, match="1 of 4 queries has no row in `after`"):
        compared = compare(other, one, JUDGED) if swapped else compare(one, other, JUDGED)
    row = compared.test().iloc[0]
    with_rows = compare(before, after, JUDGED).test().iloc[0]

    pd.testing.assert_series_equal(row, with_rows)


def test_the_expected_queries_can_be_given() -> None:
    run = run_of("own", lamp=["a"])

    with pytest.warns(UserWarning, match="1 of 2 queries has no row in `own`"):
        scores = evaluate(run, JUDGED, queries=["lamp", "table"])

    assert scores.set_index("query")["value"].to_dict() == {
        "lamp": pytest.approx(0.82, abs=0.01),
        "table": 0,
    }


def test_a_run_on_some_of_the_judged_queries_stays_a_run_on_some() -> None:
    """It says `nbHits`, as `tuning.run` does, which has a row for every query that it made."""
    scores = evaluate(run_of("own", lamp=["a"], table=[]), JUDGED)

    assert scores["query"].tolist() == ["lamp", "table"]
    assert scores.attrs["svc"]["judged_but_not_run"] == 2
