"""A search over variants finds the best, and reports its score on other queries."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook import tuning
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput, Stopped
from svc_notebook.tuning.variants.running_search import RunningSearch
from svc_notebook.tuning.variants.spaces import (
    AS_IT_IS,
    SAMPLERS,
    Result,
    Space,
    Variant,
    budget_of,
    count_variants,
    find_accepted,
    is_gain,
    rungs,
)
from tests.tuning.shop import changes_of, client

__all__ = ["client"]

_NUMBERS = itertools.count(1)
WORDS = ["lamp", "table", "sofa", "chair", "shelf", "mirror", "clock", "vase", "carpet", "desk"]
SPACE: dict[str, list[Any]] = {
    "customRanking": [None, ["desc(good)"], ["asc(good)"]],
    "ignorePlurals": [False, ["en"]],
}
BUILT = {"searchableAttributes": [["name"], ["brand"]]}


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def house(client: Client) -> str:
    """An index in which what is better stands last, and half of the queries are plurals."""
    index = f"house-{next(_NUMBERS)}"
    records = [
        {"objectID": f"{word}-{n}", "name": word, "brand": "Acme", "good": n}
        for word in WORDS
        for n in range(4)
    ]
    client.replace_all(index, records)
    client.wait(
        client.set_settings(index, {"searchableAttributes": ["name"], "typoTolerance": False}),
        index=index,
    )
    return index


QUERIES = [f"{word}s" if n % 2 else word for n, word in enumerate(WORDS)]
JUDGMENTS: list[dict[str, Any]] = [
    {"query": query, "objectID": f"{word}-{good}", "rating": float(good)}
    for query, word in zip(QUERIES, WORDS, strict=True)
    for good in range(4)
]
MARKED = [{**row, "split": "tune"} for row in JUDGMENTS]


def indices(client: Client, start: str) -> list[str]:
    return [i["name"] for i in client.list_indices()["items"] if i["name"].startswith(start)]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.sampled(2)
def test_every_sampler_finds_what_is_best(house: str, sampler: str) -> None:
    before = tuning.snapshot(house).hash

    found = tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2, sampler=sampler)

    assert found.best == {"customRanking": ["desc(good)"], "ignorePlurals": ["en"]}
    assert found.test()["after"][0] == pytest.approx(1)
    assert found.test()["tune_delta"][0] > 0
    assert found.trace["queries"].sum() <= found.plan.budget
    assert tuning.snapshot(house).hash == before
    assert changes_of(house) == []


@pytest.mark.slow
def test_what_no_parameter_can_say_is_tried_on_one_copy_that_is_dropped(
    house: str, client: Client
) -> None:
    space = {**SPACE, **BUILT, "synonyms": [None, [{"objectID": "s", "type": "synonym",
             "synonyms": ["lamps", "lamp"]}]]}  # fmt: skip

    found = tuning.search(house, space, judgments=JUDGMENTS, seed=2)

    trace = found.trace[1:]
    by_brand = trace["searchableAttributes"].map(str) == "['brand']"
    assert (trace.loc[by_brand, "score"] == 0).all()
    assert found.change["settings"]["customRanking"] == ["desc(good)"]
    assert indices(client, house) == [house]


@pytest.mark.slow
def test_each_variant_is_measured_as_if_it_were_alone(house: str) -> None:
    space = {**BUILT, "customRanking": SPACE["customRanking"]}
    found = tuning.search(house, space, judgments=JUDGMENTS, seed=2)

    assert found.holdout
    held = set(found.holdout.long["query"])
    tuned = [query for query in QUERIES if query not in held]
    for _, row in found.trace[1:].iterrows():
        choice = {name: row[name] for name in space}
        alone = tuning.impact(house, choice, tuned, JUDGMENTS)
        assert alone.comparison
        assert alone.comparison.test()["after"][0] == pytest.approx(row["score"])


@pytest.mark.slow
def test_what_is_found_can_be_looked_at_and_applied(house: str) -> None:
    found = tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2)

    promised = tuning.impact(house, found.change, judgments=JUDGMENTS, seed=2)
    tuning.apply(house, found.change)

    again = tuning.measure(house, JUDGMENTS)
    assert promised.comparison
    assert again["mean"][0] == pytest.approx(promised.comparison.test()["after"][0])


@pytest.mark.slow
def test_only_the_tune_queries_choose(house: str) -> None:
    marked = [
        {"query": query, "split": "holdout" if n < 4 else "tune"} for n, query in enumerate(QUERIES)
    ]

    found = tuning.search(house, SPACE, marked, JUDGMENTS)

    assert found.holdout
    assert set(found.holdout.long["query"]) == set(QUERIES[:4])
    assert (found.plan.tune, found.plan.holdout) == (6, 4)


@pytest.mark.slow
def test_a_search_without_improvement_is_reported(house: str, client: Client) -> None:
    best: Any = {"customRanking": ["desc(good)"], "ignorePlurals": ["en"]}
    client.wait(client.set_settings(house, best), index=house)

    found = tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2)

    assert found.best == found.change == {}
    assert "no variant was better" in repr(found)
    with pytest.raises(BadInput, match="nothing better"):
        found.test()


@pytest.mark.slow
def test_a_variant_that_lowers_a_guarded_query_is_refused(house: str) -> None:
    # For this query, what is better stands first already.
    rows = [
        {"query": "lamp", "objectID": f"lamp-{good}", "rating": float(3 - good)}
        for good in range(4)
    ]
    judged = [*(row for row in JUDGMENTS if row["query"] != "lamp"), *rows]

    free = tuning.search(house, SPACE, judgments=judged, seed=2)
    found = tuning.search(house, SPACE, judgments=judged, seed=2, guard=["lamp"])

    assert free.best["customRanking"] == ["desc(good)"]
    assert found.best.get("customRanking") != ["desc(good)"]
    assert {each.query for each in found.losses} == {"lamp"}
    assert all(each.after < each.before for each in found.losses)
    assert "refused by the guard: customRanking" in repr(found)
    assert "lowers 'lamp'" in repr(found)
    assert found.trace.equals(free.trace)
    for guard in (["sofa lamp"], []):
        with pytest.raises(BadInput, match="guard"):
            tuning.search(house, SPACE, judgments=judged, guard=guard)


@pytest.mark.slow
def test_a_stopped_search_resumes(
    house: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, asked = tmp_path / "trials.jsonl", []

    def stop_at_third(done: int, total: int) -> None:
        asked.append(done)
        if len(asked) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_telling(house, notes, stop_at_third)
    lines = notes.read_bytes().count(b"\n")
    notes.write_bytes(notes.read_bytes() + b"torn")

    found = tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2, notes=notes)

    assert lines == 4
    assert found.trace.equals(tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2).trace)
    assert notes.read_bytes().count(b"\n") == 1 + len(found.trace)


def run_telling(index: str, notes: Path, tell: Callable[[int, int], None]) -> None:
    background_loop.run(
        tuning.aio.search(index, SPACE, judgments=JUDGMENTS, seed=2, notes=notes, on_progress=tell)
    )


def test_a_stop_returns_the_result_so_far_and_drops_the_copy(house: str, client: Client) -> None:
    async def search_and_stop() -> None:
        def stop(done: int, total: int) -> None:
            if done > 20:
                task.cancel()

        space = {**BUILT, **SPACE}
        task = asyncio.ensure_future(
            tuning.aio.search(house, space, judgments=JUDGMENTS, seed=2, on_progress=stop)
        )
        await task

    with pytest.raises(Stopped, match=r"stopped after \d trials; pass `notes`") as stopped:
        background_loop.run(search_and_stop())

    found: Any = stopped.value.result
    assert 3 <= len(found.trace) < 13
    assert indices(client, house) == [house]


@pytest.mark.slow
def test_notes_of_another_search_are_refused(house: str, tmp_path: Path) -> None:
    notes = tmp_path / "trials.jsonl"
    tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2, notes=notes)

    with pytest.raises(BadInput, match="another search"):
        tuning.search(house, SPACE, judgments=JUDGMENTS, notes=notes, seed=1)


def test_a_plan_reports_the_number_of_searches() -> None:
    plan = tuning.plan_search(SPACE, judgments=JUDGMENTS, seed=2, sampler="random", budget=28)

    assert (plan.variants, plan.space, plan.tune, plan.budget) == (3, 6, 7, 28)
    assert "3 of 6 variants: at most 28 searches on 7 queries" in repr(plan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {}}, "a space is a dict"),
        ({"space": {"ignorPlurals": [True]}}, "did you mean `ignorePlurals`"),
        ({"space": {"ignorePlurals": True}}, "a list of values"),
        ({"space": {"ignorePlurals": [7]}}, "ignorePlurals"),
        ({"space": {"hitsPerPage": [7]}}, "does not affect"),
        ({"space": {"rules": [[{"objectID": "x"}]]}}, "rules"),
        ({"sampler": "gird"}, "did you mean `grid`"),
        ({"budget": 3}, "the whole grid takes"),
        ({"budget": 3, "sampler": "random"}, "or more"),
        ({"holdout": 1.5}, "between 0 and 1"),
        ({"judgments": None}, "needs judgments"),
        ({"judgments": JUDGMENTS[:8]}, "too few"),
        ({"judgments": MARKED}, "none of the .* queries is marked `holdout` in the column `split`"),
        ({"metric": "ndgc@10"}, "ndcg"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_searched_is_refused_before_anything_is_sent(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        tuning.search("nowhere", **{"space": SPACE, "judgments": JUDGMENTS, **options})


@pytest.mark.slow
def test_a_search_is_drawn(house: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    found = tuning.search(house, SPACE, judgments=JUDGMENTS, seed=2, sampler="halving")

    axes = found.plot()

    assert "tune queries" in axes[0].get_title(loc="left")
    assert len(axes[1].get_xticks()) == len(found.finalists)
    axes[0].figure.clear()


spaces = st.dictionaries(
    st.sampled_from(["typoTolerance", "ignorePlurals", "distinct", "searchableAttributes"]),
    st.just([True, False]) | st.just([None]), min_size=1,
).map(lambda given: {name: [["a"], ["b"]] if name[0] == "s" else each
                     for name, each in given.items()})  # fmt: skip


@given(spaces, st.sampled_from(list(SAMPLERS)), st.integers(2, 60), st.integers(0, 500),
       st.randoms())  # fmt: skip
def test_a_sampler_stays_within_its_budget(
    given: Any, name: str, tune: int, more: int, chance: Any
) -> None:
    space = Space(given, [Variant({"ignorePlurals": "start"})] if more % 2 else [])
    budget = budget_of(name, space, tune, None if name == "grid" else 2 * tune + more)
    sampler = SAMPLERS[name](space, tune, budget, 0)

    spent, seen = tune, {AS_IT_IS.key}  # the index as it is
    trial = next(sampler, None)
    while trial is not None:
        spent += trial.queries * ((trial.variant.key, trial.queries) != (AS_IT_IS.key, tune))
        seen.add(trial.variant.key)
        assert 1 <= trial.queries <= tune
        try:
            values: list[float | None] = [chance.random() for _ in range(trial.queries)]
            trial = sampler.send(Result({}, values, None, 0))
        except StopIteration:
            trial = None

    assert spent <= budget
    if name in ("grid", "random"):
        assert len(seen) == 1 + count_variants(name, space, tune, budget)


def test_a_descent_begins_with_values_that_help_only_together() -> None:
    values = {"ignorePlurals": [False, True], "distinct": [False, True], "typoTolerance": [True]}
    both = {"ignorePlurals": True, "distinct": True}

    tried = {}
    for start in ({}, both):
        space = Space(values, [Variant(start)])
        sampler = SAMPLERS["coordinate"](space, 10, 200, 0)
        tried[len(start)] = [next(sampler).variant]
        with suppress(StopIteration):
            while True:
                last = dict(tried[len(start)][-1].choices)
                together = all(last.get(name) is True for name in both)
                score = float(together) if together else -float(any(last.values()))
                tried[len(start)].append(sampler.send(Result({}, [score] * 10, None, 0)).variant)

    assert Variant(both) not in tried[0]
    assert tried[2][1] == Variant(both)
    assert {**both, "typoTolerance": True} in [dict(each.choices) for each in tried[2]]


def test_a_descent_keeps_no_gain_below_the_standard_error() -> None:
    noise, gain, smaller = "prefixAll", "prefixNone", "prefixLast"
    scores = {
        "": [0.5] * 10,
        noise: [0.0, 1.0] * 4 + [0.5, 0.6],
        gain: [0.6, 0.5] * 5,
        smaller: [0.6, 0.5] * 4 + [0.6, 0.6],
    }

    def result_of(variant: Variant) -> Result:
        values: list[float | None] = [*scores[variant.choices.get("queryType", "")]]
        return Result(dict(variant.choices), values, None, 0)

    sampler = SAMPLERS["coordinate"](Space({"queryType": [noise, gain]}), 10, 200, 0)
    seen = [result_of(next(sampler).variant)]
    with suppress(StopIteration):
        while True:
            seen.append(result_of(sampler.send(seen[-1]).variant))

    assert [each.variant for each in seen] == [{}, {"queryType": noise}, {"queryType": gain}]
    assert seen[1].mean > seen[0].mean
    assert find_accepted(seen) == [seen[2], seen[0]]
    more = result_of(Variant({"queryType": smaller}))
    assert more.mean > seen[2].mean
    assert find_accepted([*seen, more]) == [seen[2], seen[0]]


@pytest.mark.parametrize(
    ("sampler", "first"), [("coordinate", "prefixNone"), ("grid", "prefixLast")]
)
def test_finalists_of_a_descent_begin_with_what_it_kept(sampler: str, first: str) -> None:
    job: Any = SimpleNamespace(tune=range(10), plan=SimpleNamespace(sampler=sampler))
    search = RunningSearch(job, cast(Any, None), cast(Any, None), None, {})
    values: dict[str, list[float | None]] = {
        "prefixNone": [0.6, 0.5] * 5,
        "prefixLast": [*[0.6, 0.5] * 4, 0.6, 0.6],
    }
    search.results[AS_IT_IS.key, 10] = Result({}, [0.5] * 10, None, 0)
    for name, scores in values.items():
        tried = Variant({"queryType": name})
        search.results[tried.key, 10] = Result(dict(tried.choices), scores, None, 0)

    found = search.finalists(3)

    assert len(found) == 2
    assert found[0].choices == {"queryType": first}


@pytest.mark.parametrize(
    ("before", "after", "gain"),
    [
        ([0.5], [0.6], True),
        ([0.5], [0.5], False),
        ([0.5, 0.5], [0.6, 0.6], True),
        ([0.5, 0.5], [0.4, 0.4], False),
        ([0.0, 0.0, 0.0, 0.0], [1.0, -0.5, 0.0, 0.0], False),
        ([None, 0.5, 0.5], [0.9, 0.6, 0.6], True),
        ([None, None], [0.1, 0.1], True),
    ],
)
def test_a_gain_exceeds_the_error_of_the_difference(
    before: list[float | None], after: list[float | None], gain: bool
) -> None:
    assert is_gain(Result({}, before, None, 0), Result({}, after, None, 0)) is gain


@given(st.integers(1, 500), st.integers(1, 200))
def test_halving_ends_with_all_queries(count: int, tune: int) -> None:
    steps = rungs(count, tune)

    assert steps[-1][1] == tune
    assert [n for n, _ in steps] == sorted((n for n, _ in steps), reverse=True)
    assert math.isclose(steps[0][0], count)


def test_a_space_is_numbered_as_it_is_listed() -> None:
    space = Space({**SPACE, **BUILT})

    assert [space[n].key for n in range(len(space))] == [each.key for each in space]
    assert next(iter(space.values)) == "searchableAttributes"
    assert len({each.key for each in space.draw(5, seed=1)}) == 5
