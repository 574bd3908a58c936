"""Metrics, compared with another implementation, plain loops and known values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Judged, P, Qrel, R, ScoredDoc, nDCG
from pandas import DataFrame

from svc_notebook.tuning.evaluation.scores import evaluate, summary
from tests.conftest import examples
from tests.tuning.tables import judgments_of, run_of, value_of

# Most of these runs have found nothing that was judged, and are told so.
pytestmark = pytest.mark.filterwarnings("ignore:none of the")

IDS = "abcdefghij"
ratings = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), min_size=1)
rankings = st.lists(st.sampled_from(IDS), unique=True)
# Many queries at once, each with what is judged and what is found.
collections = st.lists(st.tuples(ratings, rankings), min_size=1, max_size=30).map(
    lambda pairs: {f"query {number}": pair for number, pair in enumerate(pairs)}
)
cutoffs = st.integers(1, 12)

few = settings(
    max_examples=examples(12), deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate)
)

Collection = Mapping[str, tuple[Mapping[str, int], Sequence[str]]]


def ours(collection: Collection, metrics: Sequence[str], **options: Any) -> dict[str, Any]:
    judged = judgments_of(**{query: given for query, (given, _) in collection.items()})
    runs = run_of("run", **{query: found for query, (_, found) in collection.items()})
    scores = evaluate(runs, judged, metrics, **options)
    return {query: {m: value_of(scores, query, m) for m in metrics} for query in collection}


def theirs(collection: Collection, measures: Sequence[Any]) -> dict[tuple[str, Any], float]:
    qrels = [
        Qrel(query, one, rating)
        for query, (given, _) in collection.items()
        for one, rating in given.items()
    ]
    run = [
        ScoredDoc(query, one, -float(rank))
        for query, (_, found) in collection.items()
        for rank, one in enumerate(found, 1)
    ]
    # One at a time: asked together, gains of one would go into the other.
    return {
        (told.query_id, measure): told.value
        for measure in measures
        for told in ir_measures.iter_calc([measure], qrels, run)
    }


def agree(
    collection: Collection, pairs: Mapping[str, Any], least: Mapping[str, int], **options: Any
) -> None:
    """Where anything is relevant both say the same; where nothing is, ours says that it is NaN."""
    own = ours(collection, list(pairs), **options)
    other = theirs(collection, list(pairs.values()))
    for query, (judged, found) in collection.items():
        for name, measure in pairs.items():
            value = own[query][name]
            if max(judged.values()) < least.get(name, 1):
                assert math.isnan(value)
            elif not found:
                assert value == 0
            else:
                assert value == pytest.approx(other[query, measure], abs=1e-12)


@given(collections, cutoffs, st.integers(1, 3))
@few
def test_metrics_are_those_of_ir_measures(collection: Collection, k: int, rel: int) -> None:
    pairs: dict[str, Any] = {
        f"ndcg@{k}": nDCG @ k, "ndcg": nDCG,
        f"ndcg_exp@{k}": nDCG(gains={1: 1, 2: 3, 3: 7}) @ k,
        f"p(rel={rel})@{k}": P(rel=rel) @ k, f"r(rel={rel})@{k}": R(rel=rel) @ k,
        f"rr(rel={rel})": RR(rel=rel), f"rr(rel={rel})@{k}": RR(rel=rel) @ k,
        f"ap(rel={rel})": AP(rel=rel), f"ap(rel={rel})@{k}": AP(rel=rel) @ k,
    }  # fmt: skip

    agree(collection, pairs, {name: rel for name in pairs if "rel" in name})


@given(collections, cutoffs)
@few
def test_leaving_out_unjudged_hits_is_that_of_trec_eval(collection: Collection, k: int) -> None:
    pairs: dict[str, Any] = {
        f"ndcg@{k}": nDCG(judged_only=True) @ k,
        f"p@{k}": P(judged_only=True) @ k,
        "ap": AP(judged_only=True),
        "rr": RR(judged_only=True),
    }
    kept = {query: (given, found) for query, (given, found) in collection.items()
            if not found or set(found) & set(given)}  # fmt: skip
    if kept:
        agree(kept, pairs, {}, unjudged="skip")


@given(collections, cutoffs)
@few
def test_the_judged_share_is_that_of_ir_measures(collection: Collection, k: int) -> None:
    own = ours(collection, [f"judged@{k}"])
    other = theirs(collection, [Judged @ k])

    for query, (_, found) in collection.items():
        value = own[query][f"judged@{k}"]
        assert value == other[query, Judged @ k] if found else math.isnan(value)


@pytest.mark.slow
@given(collections, cutoffs)
@few
def test_the_others_are_what_plain_loops_say(collection: Collection, k: int) -> None:
    best = max(max(given.values()) for given, _ in collection.values())
    if best == 0:
        return

    own = ours(collection, [f"err@{k}", "rbp(0.7)", "rbp(0.7,rel=2)"])

    for query, (judged, found) in collection.items():
        grades = [judged.get(one, 0) for one in found]
        if max(judged.values()) > 0:
            assert own[query][f"err@{k}"] == pytest.approx(err(grades[:k], best), abs=1e-12)
            rbp = sum(0.3 * 0.7**place * grade / best for place, grade in enumerate(grades))
            assert own[query]["rbp(0.7)"] == pytest.approx(rbp, abs=1e-12)
        if max(judged.values()) > 1:
            binary = sum(0.3 * 0.7**place for place, grade in enumerate(grades) if grade > 1)
            assert own[query]["rbp(0.7,rel=2)"] == pytest.approx(binary, abs=1e-12)


def err(grades: Sequence[int], best: int) -> float:
    """Expected reciprocal rank, by the book."""
    arrives, total = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stops = (2**grade - 1) / 2**best
        total += arrives * stops / rank
        arrives *= 1 - stops
    return total


@given(collections, st.sampled_from(["zero", "skip", "bound"]))
@few
def test_no_value_is_outside_of_its_range(collection: Collection, unjudged: Any) -> None:
    names = ["ndcg@5", "ndcg_exp@5", "ndcg", "p@5", "r@5", "rr", "ap", "err@5", "rbp", "judged@5"]
    judged = judgments_of(**{query: given for query, (given, _) in collection.items()})
    runs = run_of("run", **{query: found for query, (_, found) in collection.items()})

    scores = evaluate(runs, judged, names, unjudged=unjudged)

    known = scores["value"].dropna()
    assert ((known >= 0) & (known <= 1)).all()
    highest = (scores["value"] + scores["residual"]).dropna()
    assert (scores["residual"].dropna() >= -1e-12).all()
    assert (highest <= 1 + 1e-12).all()


@given(st.lists(ratings.filter(lambda given: max(given.values()) > 0), min_size=1, max_size=30))
@few
def test_the_best_order_is_one_exactly(judged: Sequence[Mapping[str, int]]) -> None:
    collection = {
        f"query {number}": (given, sorted(given, key=lambda one: -given[one]))
        for number, given in enumerate(judged)
    }

    own = ours(collection, ["ndcg@10", "ndcg_exp@10", "ndcg", "ap", "r"])

    assert {value for values in own.values() for value in values.values()} == {1.0}


def test_ndcg_in_closed_form() -> None:
    own = ours({"q": ({"a": 3, "b": 2, "c": 1}, ["c", "x", "a"])}, ["ndcg@3", "ndcg_exp@3"])["q"]

    log3 = math.log2(3)
    assert own["ndcg@3"] == pytest.approx((1 + 3 / 2) / (3 + 2 / log3 + 1 / 2))
    assert own["ndcg_exp@3"] == pytest.approx((1 + 7 / 2) / (7 + 3 / log3 + 1 / 2))


def test_the_others_in_closed_form() -> None:
    names = ["p@4", "r@4", "rr", "ap", "rbp(0.5)", "err(max=1)@4", "judged@4"]

    own = ours({"q": ({"a": 1, "b": 1, "n": 0}, ["n", "a", "x", "b"])}, names)["q"]

    assert own == {
        "p@4": 1 / 2, "r@4": 1, "rr": 1 / 2, "ap": (1 / 2 + 2 / 4) / 2,
        "rbp(0.5)": 1 / 2 * (1 / 2 + 1 / 8), "err(max=1)@4": 1 / 2 * 1 / 2 + 1 / 2 * 1 / 2 * 1 / 4,
        "judged@4": 3 / 4,
    }  # fmt: skip


def from_elsewhere(collection: Collection, name: str = "other") -> DataFrame:
    """A run as other tools write it: a row for each hit, and nothing else."""
    rows = [
        {"run": name, "query": query, "objectID": one, "score": -float(rank)}
        for query, (_, found) in collection.items()
        for rank, one in enumerate(found, 1)
    ]
    return DataFrame(rows, columns=["run", "query", "objectID", "score"])


@given(collections)
@few
@pytest.mark.filterwarnings("ignore:.*have no row in:UserWarning", "ignore:.*has no row in")
def test_the_mean_of_a_run_from_elsewhere_is_that_of_ir_measures(collection: Collection) -> None:
    """Its mean is over all judged queries, those that found nothing among them."""
    known = {query: pair for query, pair in collection.items() if max(pair[0].values()) > 0}
    run = from_elsewhere(known)
    if run.empty:
        return
    qrels = [
        Qrel(query, one, rating)
        for query, (given, _) in known.items()
        for one, rating in given.items()
    ]
    scored = [
        ScoredDoc(row["query"], row["objectID"], row["score"]) for row in run.to_dict("records")
    ]

    scores = evaluate(run, judgments_of(**{q: given for q, (given, _) in known.items()}))
    row = summary(scores, resamples=100).iloc[0]

    theirs = ir_measures.calc_aggregate([nDCG @ 10], qrels, scored)[nDCG @ 10]
    assert row["mean"] == pytest.approx(theirs, abs=1e-12)
    assert row["queries"] == len(known)
    assert row["without_hits"] == sum(not found for _, found in known.values())
    assert scores.attrs["svc"]["absent"] == {"other": row["without_hits"]}
