"""Judgments from clicks: computed by hand for a few, simulated for the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pandas import DataFrame

import svc_notebook as svc
from svc_notebook.errors import BadInput, BadRecord
from svc_notebook.tuning import clicks
from tests.conftest import examples

EMPTY = {"queryID": "", "objectIDs": None, "positions": None, "objectData": None}


def shown(*rows: tuple[str, str, int, int]) -> DataFrame:
    """Impressions: session, object, position, clicked; all of one query."""
    frame = DataFrame(rows, columns=["session", "objectID", "position", "clicked"])
    return frame.assign(query="fox", clicked=frame["clicked"].astype(bool))


def rated(frame: DataFrame, **options: Any) -> dict[str, Any]:
    judged = clicks.judgments(frame, minimum=1, **options)
    return {row["objectID"]: pytest.approx(row["rating"]) for row in judged.to_dict("records")}


# Two sessions saw a, b, c in this order, a third saw c first.
SEEN = shown(
    ("s1", "a", 1, 1), ("s1", "b", 2, 0), ("s1", "c", 3, 0),
    ("s2", "a", 1, 0), ("s2", "b", 2, 1), ("s2", "c", 3, 0),
    ("s3", "c", 1, 1), ("s3", "b", 2, 1), ("s3", "a", 3, 0),
)  # fmt: skip


def test_ctr_is_clicks_per_impression() -> None:
    assert rated(SEEN, model="ctr") == {"a": 1 / 3, "b": 2 / 3, "c": 1 / 3}


def test_a_smoothed_ctr_leans_towards_the_rate_of_all() -> None:
    mean = 4 / 9

    assert rated(SEEN, model="ctr", smoothing=3) == {
        "a": (1 + 3 * mean) / 6, "b": (2 + 3 * mean) / 6, "c": (1 + 3 * mean) / 6,
    }  # fmt: skip


def test_dctr_begins_with_an_even_chance() -> None:
    assert rated(SEEN, model="dctr") == {"a": 2 / 5, "b": 3 / 5, "c": 2 / 5}


def test_coec_compares_with_what_is_usual_at_the_positions() -> None:
    # Of three impressions each, position 1 was clicked twice, 2 twice, 3 never.
    expected = {"a": 4 / 3, "b": 2, "c": 2 / 3}

    assert rated(SEEN, model="coec") == {"a": 1 / (4 / 3), "b": 2 / 2, "c": 1 / (2 / 3)}
    judged = clicks.judgments(SEEN, minimum=1)
    assert dict(zip(judged["objectID"], judged["expected"], strict=True)) == pytest.approx(expected)


def test_what_is_only_shown_where_nobody_clicks_has_no_coec() -> None:
    low = shown(("s1", "a", 1, 1), ("s1", "z", 9, 0))

    assert rated(low, model="coec") == {"a": 1}
    assert rated(low, model="coec", smoothing=1) == {"a": 1, "z": 1}


def test_sdbn_looks_down_to_the_last_click() -> None:
    # Looked at: a in s1; a, b in s2; c, b in s3. Last clicks: a, b, b.
    assert rated(SEEN, model="sdbn", smoothing=0) == {"a": 1 / 2 * 1, "b": 1 * 1, "c": 0}
    assert rated(SEEN, model="sdbn") == {
        "a": (1 + 1) / (2 + 2) * (1 + 1) / (1 + 2),
        "b": (2 + 1) / (2 + 2) * (2 + 1) / (2 + 2),
        "c": (1 + 1) / (1 + 2) * (0 + 1) / (1 + 2),
    }


def test_sdbn_takes_a_session_without_a_click_for_looked_at_whole() -> None:
    judged = clicks.judgments(shown(("s", "a", 1, 0), ("s", "b", 2, 0)), model="sdbn", minimum=1)

    assert judged["attractiveness"].tolist() == pytest.approx([1 / 3, 1 / 3])


def test_pbm_has_the_product_of_its_two_factors() -> None:
    # Rates 0.6 and 0.3 at the first position, half of that at the second.
    cells = DataFrame(
        [("a", 1, 1000, 600), ("b", 1, 1000, 300), ("a", 2, 1000, 300), ("b", 2, 1000, 150)],
        columns=["objectID", "position", "impressions", "clicks"],
    ).assign(query="fox")

    judged = clicks.judgments(cells, model="pbm", smoothing=0)

    assert judged["rating"].tolist() == pytest.approx([0.6, 0.3], abs=1e-3)
    told = judged.attrs["svc"]["examination"]
    assert told == pytest.approx({1: 1, 2: 0.5}, abs=1e-3)


def simulate(
    click: Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray], seed: int
) -> tuple[DataFrame, DataFrame]:
    """Sessions over ten queries of eight hits in changing order, and how good each hit is."""
    dice = np.random.default_rng(seed)
    good = dice.uniform(0.05, 0.9, (10, 8))
    sessions, hits = 12_000, good.shape[1]
    query = dice.integers(0, len(good), sessions)
    order = dice.permuted(np.tile(np.arange(hits), (sessions, 1)), axis=1)
    clicked = click(dice, good[query[:, None], order], np.arange(1, hits + 1))
    frame = DataFrame(
        {
            "session": np.repeat(np.arange(sessions), hits),
            "query": np.repeat([f"q{n}" for n in query], hits),
            "objectID": [f"d{n}" for n in order.ravel()],
            "position": np.tile(np.arange(1, hits + 1), sessions),
            "clicked": clicked.ravel(),
        }
    )
    rows = [(f"q{q}", f"d{d}", good[q, d]) for q in range(10) for d in range(hits)]
    return frame, DataFrame(rows, columns=["query", "objectID", "good"])


def by_position(dice: np.random.Generator, good: Any, places: Any) -> Any:
    """Look at each position with a chance of its own, and click what is good."""
    return dice.random(good.shape) < good / places**0.7


def by_cascade(dice: np.random.Generator, good: Any, places: Any) -> Any:
    """Look from the top down, click what is good, and stop once satisfied, half of the times."""
    attracted = dice.random(good.shape) < good
    ends = attracted & (dice.random(good.shape) < 0.5)
    before = np.cumsum(ends, axis=1) - ends
    return attracted & (before == 0)


def joined(judged: DataFrame, truth: DataFrame) -> DataFrame:
    return judged.merge(truth, on=["query", "objectID"], validate="one_to_one")


def test_pbm_recovers_attractiveness_and_examination() -> None:
    frame, truth = simulate(by_position, seed=1)

    judged = clicks.judgments(frame, model="pbm")

    both = joined(judged, truth)
    assert len(both) == len(truth)
    assert (both["rating"] - both["good"]).abs().mean() < 0.02
    told = judged.attrs["svc"]["examination"]
    assert [told[k] for k in range(1, 9)] == pytest.approx(np.arange(1, 9) ** -0.7, abs=0.03)


def test_sdbn_recovers_attractiveness_and_satisfaction() -> None:
    frame, truth = simulate(by_cascade, seed=2)

    both = joined(clicks.judgments(frame, model="sdbn"), truth)

    assert (both["attractiveness"] - both["good"]).abs().mean() < 0.03
    often = both[both["clicks"] > 200]
    # A last hit that is clicked ends its session satisfied or not.
    assert often["satisfaction"].mean() == pytest.approx(0.5, abs=0.15)


# No hit links the positions 1 and 8 with the others, so that one factor stays open.
@pytest.mark.filterwarnings("ignore:the model pbm has not converged")
@pytest.mark.parametrize("model", ["coec", "pbm"])
def test_the_rank_bias_that_misleads_ctr_is_taken_out(model: Any) -> None:
    """A good hit that the index puts low most of the time, and a bad one that it puts first."""
    rows = [
        ("good", 8, 900), ("good", 1, 100), ("bad", 1, 900), ("bad", 8, 100),
        *((f"d{k}", k, 1000) for k in range(2, 8)), *((f"d{k}", 9 - k, 500) for k in range(2, 8)),
    ]  # fmt: skip
    chance = {"good": 0.6, "bad": 0.3}
    frame = DataFrame(rows, columns=["objectID", "position", "impressions"]).assign(query="fox")
    attracted = frame["objectID"].map(chance).fillna(0.4)
    frame["clicks"] = frame["impressions"] * attracted / frame["position"]

    misled, right = (
        clicks.judgments(frame, model=each).set_index("objectID")["rating"]
        for each in ("ctr", model)
    )

    assert misled["good"] < misled["bad"]
    assert right["good"] > right["bad"]


def test_hits_that_never_moved_are_no_food_for_pbm() -> None:
    fixed = shown(("s1", "a", 1, 1), ("s1", "b", 2, 0), ("s2", "a", 1, 1), ("s2", "b", 2, 0))

    with pytest.raises(BadInput, match="cannot separate relevance from position; use coec"):
        clicks.judgments(fixed, model="pbm", minimum=1)


@settings(max_examples=examples(30), deadline=None)
@pytest.mark.filterwarnings("ignore:the model pbm has not converged", "ignore:only .* position")
@given(data=st.data(), model=st.sampled_from(sorted(clicks.MODELS)))
def test_ratings_are_judgments_whatever_was_clicked(data: Any, model: Any) -> None:
    order = st.permutations(["a", "b", "c"])
    sessions = data.draw(st.lists(st.tuples(order, st.sets(st.integers(0, 2))), min_size=2))
    rows = [
        (f"s{number}", each, place + 1, int(place in hit))
        for number, (ids, hit) in enumerate(sessions)
        for place, each in enumerate(ids)
    ]
    moved = any(ids != sessions[0][0] for ids, _ in sessions)
    known = model != "coec" or any(hit for _, hit in sessions)
    assume((moved or model != "pbm") and known)

    judged = clicks.judgments(shown(*rows), model=model, minimum=1)

    assert judged["rating"].between(0, 1 if model != "coec" else np.inf).all()
    assert (judged["source"] == "click").all()
    assert judged["impressions"].eq(len(sessions)).all()


def test_rows_added_up_count_as_their_rows() -> None:
    keys = ["query", "objectID", "position"]
    counts = SEEN.groupby(keys, as_index=False).agg(
        clicks=("clicked", "sum"), impressions=("clicked", "size")
    )

    for model in ("ctr", "dctr", "coec", "pbm"):
        assert rated(counts, model=model) == rated(SEEN, model=model)
    with pytest.raises(BadInput, match="give a column `session`"):
        rated(counts, model="sdbn")


@pytest.mark.parametrize(
    ("grades", "wanted"),
    [(2, [1, 2, 1]), (4, [2, 4, 2]), ([0.5], [0, 1, 0]), ([0.1, 1 / 3, 0.9], [2, 2, 2])],
)
def test_ratings_become_grades(grades: Any, wanted: list[float]) -> None:
    judged = clicks.judgments(SEEN, model="ctr", minimum=1, grades=grades)

    assert judged["rating"].tolist() == wanted


def test_the_best_of_each_query_has_the_best_grade_and_no_click_has_none() -> None:
    more = SEEN.assign(query="owl", clicked=[False] * 8 + [True])
    never = SEEN.assign(query="bat", clicked=False)

    judged = clicks.judgments(pd.concat([SEEN, more, never]), model="ctr", minimum=1, grades=3)

    best = judged.groupby("query")["rating"].max().to_dict()
    assert best == {"fox": 3, "owl": 3, "bat": 0}


def test_rare_pairs_are_left_out_and_no_remaining_pair_is_an_error() -> None:
    frame = pd.concat([SEEN, shown(("s9", "rare", 1, 1))])

    judged = clicks.judgments(frame, model="ctr", minimum=2)

    assert judged["objectID"].tolist() == ["a", "b", "c"]
    assert judged.attrs["svc"]["left_out"] == 1
    with pytest.raises(BadInput, match=r"the maximum is 3; collect more .*minimum=3"):
        clicks.judgments(SEEN)


def search(name: str, ids: list[str], **members: Any) -> dict[str, Any]:
    return {
        "timestamp": pd.Timestamp("2026-01-01", tz="UTC"), "queryID": name, "index": "films",
        "query": "fox", "params": "query=fox", "userToken": "me", "nbHits": 9, "first": 1,
        "objectIDs": ids, **members,
    }  # fmt: skip


def event(query: str, *ids: str, **members: Any) -> dict[str, Any]:
    return {"eventType": "click", **EMPTY, "queryID": query, "objectIDs": [*ids], **members}


def test_events_are_joined_to_what_their_searches_showed() -> None:
    searches = DataFrame(
        [
            search("s1", ["a", "b"]),
            search("s2", ["b", "c"], first=21, params='query=fox&facetFilters=["kind:x y"]'),
            search("s3", []),
        ]
    )
    events = DataFrame(
        [
            event("s1", "b"), event("s1", "b"), event("s2", "c", "b"), event("", "a"),
            event("s1", "a", eventType="view"), event("s1", "z"), event("gone", "a"),
            {**event("s1"), "objectIDs": None},
        ]
    )  # fmt: skip

    joined = clicks.impressions(events, searches)

    told = joined.drop(columns=["timestamp", "query"]).to_numpy().tolist()
    assert told == [
        ["s1", "", "a", 1, False],
        ["s1", "", "b", 2, True],
        ["s2", 'kind:"x y"', "b", 21, True],
        ["s2", 'kind:"x y"', "c", 22, True],
    ]
    assert joined.attrs["svc"] == {"action": "click", "counted": 3, "without": 1, "unmatched": 2}


def test_what_was_bought_counts_by_the_search_of_each_item() -> None:
    searches = DataFrame([search("s1", ["a", "b"]), search("s2", ["b"])])
    data = [{"queryID": "s1", "price": 3}, {"queryID": "s2"}]
    events = DataFrame(
        [event("", "a", "b", eventType="conversion", objectData=data), event("s1", "b")]
    )

    bought = clicks.impressions(events, searches, action="conversion")

    assert bought["clicked"].tolist() == [True, False, True]


def test_searches_typed_on_the_way_are_left_out() -> None:
    start = pd.Timestamp("2026-01-01", tz="UTC")
    times = [0, 0.4, 0.8, 9.0]
    searches = DataFrame(
        [
            search(f"s{n}", ["a"], timestamp=start + pd.Timedelta(seconds=each))
            for n, each in enumerate(times)
        ]
        + [search("other", ["a"], userToken="")]
    )
    events = DataFrame([event("s1", "a")])

    def sessions(settle: float) -> list[str]:
        return clicks.impressions(events, searches, settle=settle)["session"].tolist()

    assert sessions(0) == ["s0", "s1", "s2", "s3", "other"]
    assert sessions(3) == ["s1", "s2", "s3", "other"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": 0}, "row 0, `position`: positions start at 1"),
        ({"position": 1.5}, "positions must be whole numbers"),
        ({"position": "first"}, "expected a number"),
        ({"clicked": 2}, "more clicks than impressions"),
        ({"clicked": -1}, "clicks must be 0 or more"),
    ],
)
def test_impressions_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRecord, match=message):
        clicks.judgments(SEEN.drop(columns=[*change]).assign(**change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "sdnb"}, "did you mean `sdbn`"),
        ({"smoothing": -1}, "`smoothing` must be 0 or more"),
        ({"grades": 0}, "1 or more"),
        ({"grades": [2, 1]}, "limits in ascending order"),
    ],
)
def test_an_invalid_option_is_refused(options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        clicks.judgments(SEEN, minimum=1, **options)


def test_a_table_without_impressions_is_refused_with_advice() -> None:
    with pytest.raises(BadInput, match=r"need a column `position`.*clicks.impressions"):
        clicks.judgments(SEEN.drop(columns="position"))
    with pytest.raises(BadInput, match="`clicks` and `impressions`"):
        clicks.judgments(SEEN.drop(columns="clicked"))
    with pytest.raises(BadInput, match=r"svc\.read_searches"):
        clicks.judgments(DataFrame([event("s", "a")]), DataFrame({"queryID": ["s"]}))


def test_positions_have_raw_and_corrected_rates() -> None:
    frame, _ = simulate(by_position, seed=3)

    rows = clicks.positions(frame)

    assert rows["impressions"].sum() == len(frame)
    assert rows["ctr"].is_monotonic_decreasing
    # Every position holds the same mixture of hits: looked at alike, they are clicked alike.
    assert rows["corrected"].max() / rows["corrected"].min() < 1.15


def test_positions_are_drawn_with_their_values() -> None:
    mpl.use("agg")
    from matplotlib.figure import Figure

    own = Figure().subplots()
    frame, _ = simulate(by_position, seed=3)

    axis = clicks.plot_positions(frame, top=5, axes=own)

    assert axis[0] is own
    assert len(axis.patches) == 5
    assert len(axis.texts) == 10
    assert "96,000" in axis.get_title("left") or "impressions" in axis.get_title("left")
    empty = clicks.plot_positions(frame.head(0), axes=Figure().subplots())
    assert [text.get_text() for text in empty.texts] == ["no impressions"]


def test_clicks_are_found_at_the_face() -> None:
    assert svc.tuning.clicks is clicks
