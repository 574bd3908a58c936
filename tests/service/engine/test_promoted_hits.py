"""Promoted hits have their positions on every page, hidden ones are on none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.service.engine import Index
from svc_notebook.service.engine.ranking.promoted_hits import Pin, Pins
from svc_notebook.service.engine.ranking.search_plan import WORD_CRITERIA
from svc_notebook.service.engine.response.search import SearchResult
from tests.conftest import examples
from tests.service.engine.cases import make_params, make_record, make_settings

COLOURS = ["red", "blue", "green"]
RECORDS: list[dict[str, Any]] = [
    {
        "objectID": str(number),
        "title": "lamp" if number % 3 else "desk",
        "rank": number,
        "colour": COLOURS[number % 3],
        "brand": f"b{number % 4}",
    }
    for number in range(12)
]
BY_ID = {record["objectID"]: record for record in RECORDS}
SETTINGS: dict[str, Any] = {
    "searchableAttributes": ["title"],
    "attributesForFaceting": ["colour", "searchable(brand)", "afterDistinct(title)"],
    "customRanking": ["asc(rank)"],
    "attributeForDistinct": "brand",
}


def fetch(ids: Sequence[str]) -> list[Mapping[str, Any] | None]:
    return [BY_ID.get(name) for name in ids]


def make_index(*cuts: int) -> Index:
    index = Index(SETTINGS)
    edges = [0, *sorted(cuts), len(RECORDS)]
    for start, end in pairwise(edges):
        index.put(RECORDS[start:end])
    return index


def search(index: Index, pins: Pins, **params: Any) -> SearchResult:
    return index.search(params, fetch, pins=pins)


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


# ------------------------------------------------------------------------ the same, by brute force


def expected(pins: Pins, params: Mapping[str, Any]) -> list[list[str]]:
    """All hits in order, each with those of its group that follow it."""
    shown = [record for record in RECORDS if record["objectID"] not in pins.hidden]
    others = [r for r in shown if params["query"] in r["title"] and passes(r, params)]
    others.sort(key=lambda record: record["rank"])
    most = params.get("distinct", 0)
    wanted: list[tuple[str, int]] = []
    for pin in pins.promoted:
        place = pin.position
        for name in pin.ids:
            record = next((r for r in shown if r["objectID"] == name), None)
            taken = [BY_ID[one] for one, _ in wanted]
            if record is None or record in taken or not passes(record, pins.within):
                continue
            if most and record["brand"] in [one["brand"] for one in taken]:
                continue
            if passes(record, params) or not pin.filtered:
                wanted.append((name, place))
                place += 1
    slots: dict[int, str] = {}
    for name, place in wanted:
        while place in slots:
            place += 1
        slots[place] = name
    rest = [r["objectID"] for r in others if r["objectID"] not in slots.values()]
    if not most:
        return [[name] for name in laid_out(slots, rest)]
    led = {BY_ID[name]["brand"] for name in slots.values()}
    leaders = []
    for name in rest:
        if BY_ID[name]["brand"] not in led:
            led.add(BY_ID[name]["brand"])
            leaders.append(name)
    return [
        [name, *[r for r in rest if r != name and same_brand(r, name)]][:most]
        for name in laid_out(slots, leaders)
    ]


def laid_out(slots: Mapping[int, str], rest: list[str]) -> list[str]:
    left, waiting, placed = list(rest), dict(sorted(slots.items())), list[str]()
    while left or waiting:
        if len(placed) in waiting:
            placed.append(waiting.pop(len(placed)))
        elif left:
            placed.append(left.pop(0))
        else:
            placed.append(waiting.pop(next(iter(waiting))))
    return placed


def same_brand(one: str, other: str) -> bool:
    return bool(BY_ID[one]["brand"] == BY_ID[other]["brand"])


def passes(record: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    _, _, colour = params.get("filters", "").partition(":")
    return not colour or record["colour"] == colour


NAMES = st.sampled_from([*BY_ID, "missing"])
PINS = st.builds(
    Pins,
    promoted=st.lists(
        st.builds(
            Pin,
            st.lists(NAMES, min_size=1, max_size=3).map(tuple),
            st.one_of(st.integers(0, 14), st.just(10**30)),
            st.booleans(),
        ),
        max_size=4,
    ).map(tuple),
    hidden=st.frozensets(NAMES, max_size=2),
    within=st.sampled_from([{}, {"filters": "colour:red"}]),
)
FILTERS = st.sampled_from([{}, {"filters": "colour:blue"}])


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(
    PINS,
    FILTERS,
    st.sampled_from(["", "lamp", "desk"]),
    st.sampled_from([0, 1, 2, 3]),
    st.integers(1, 5),
    st.lists(st.integers(1, 11), max_size=2),
)
def test_pages_of_any_size_make_up_the_whole_list(
    pins: Pins, filters: dict[str, Any], query: str, distinct: int, size: int, cuts: list[int]
) -> None:
    index = make_index(*cuts)
    params = {"query": query, "distinct": distinct, **filters}
    groups = expected(pins, params)

    pages = [search(index, pins, **params, hitsPerPage=size, page=number) for number in range(13)]
    window = search(index, pins, **params, offset=size, length=size)

    assert [name for page in pages for name in ids(page)] == [name for g in groups for name in g]
    assert [ids(page) for page in pages] == [
        [name for group in groups[start : start + size] for name in group]
        for start in range(0, 13 * size, size)
    ]
    assert {page.nbHits for page in pages} == {len(groups)}
    assert ids(window) == ids(pages[1])


@settings(max_examples=examples(60), deadline=None)
@given(PINS, FILTERS, st.sampled_from(["", "lamp", "desk"]), st.sampled_from([0, 1]))
def test_facets_count_the_returned_records(
    pins: Pins, filters: dict[str, Any], query: str, distinct: int
) -> None:
    params = {"query": query, **filters}
    first = [group[0] for group in expected(pins, {**params, "distinct": distinct})]
    matching = [name for [name] in expected(Pins(hidden=pins.hidden), params)]
    every = list({*matching, *first})

    found = search(make_index(5), pins, **params, distinct=distinct, facets=["*"])
    values = make_index(5).facet_values(
        "brand", "", {**params, "distinct": distinct}, 10, pins=pins
    )

    assert found.facets == {
        "colour": counted(every, "colour"),
        "brand": counted(every, "brand"),
        "title": counted(first, "title"),
    }
    assert {hit["value"]: hit["count"] for hit in values.hits} == found.facets["brand"]


def counted(names: list[str], path: str) -> dict[str, int]:
    values = [BY_ID[name][path] for name in names]
    return {value: values.count(value) for value in values}


# --------------------------------------------------------------------------------- what hits tell


def test_a_promoted_hit_is_flagged_and_highlighted() -> None:
    pins = Pins((Pin(("0", "4"), 0),))

    found = search(make_index(6), pins, query="lamp", hitsPerPage=3, getRankingInfo=True)

    infos = [hit["_rankingInfo"] for hit in found.hits]
    assert ids(found) == ["0", "4", "1"]
    assert [info.get("promoted") for info in infos] == [True, True, None]
    assert [info["words"] for info in infos] == [0, 1, 1]
    assert infos[0] | {"promoted": True, "userScore": 4} == infos[1] | {
        "words": 0, "nbExactWords": 0, "textScore": 0,
    }  # fmt: skip
    marked = [hit["_highlightResult"]["title"]["value"] for hit in found.hits]
    assert marked == ["desk", "<em>lamp</em>", "<em>lamp</em>"]


@pytest.mark.parametrize("tolerance", ["min", "strict"])
def test_a_promoted_hit_stays_however_strict_the_query(tolerance: str) -> None:
    found = search(
        make_index(), Pins((Pin(("0",), 1),)), query="lampp", typoTolerance=tolerance, hitsPerPage=2
    )

    assert ids(found) == ["1", "0"]


def test_words_are_removed_whether_or_not_something_is_promoted() -> None:
    pins = Pins((Pin(("0",), 0),))

    found = search(
        make_index(), pins, query="lamp nowhere", removeWordsIfNoResults="lastWords", hitsPerPage=2
    )

    assert ids(found) == ["0", "1"]
    assert found.nbHits == 9


def test_many_records_promoted_to_one_position_are_placed_fast() -> None:
    pins = Pins(tuple(Pin(tuple(str(n) for n in range(100)), 0) for _ in range(300)))

    assert ids(search(make_index(), pins, query="")) == list(BY_ID)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(40))
def test_pins_leave_all_other_hits_as_they_are(seed: int) -> None:
    random = Random(seed)
    records = {f"{n}": {**make_record(random, n), "objectID": f"{n}"} for n in range(30)}
    index = Index(make_settings(random))
    for start in range(0, 30, 12):
        index.put(list(records.values())[start : start + 12])
    promoted = random.sample(sorted(records), 4)
    pins = Pins((Pin(tuple(promoted[1:]), 1), Pin((promoted[0],), 0)))
    for _ in range(5):
        params = {**make_params(random, index.settings), "hitsPerPage": 100, "page": 0}
        params["distinct"] = 0

        plain = index.search(params, lambda ids: [records[name] for name in ids])
        pinned = index.search(params, lambda ids: [records[name] for name in ids], pins=pins)

        before = {hit["objectID"]: hit for hit in plain.hits}
        after = {hit["objectID"]: hit for hit in pinned.hits}
        assert after.keys() == before.keys() | set(promoted)
        assert pinned.nbHits == len(after)
        assert [name for name in after if name not in promoted] == [
            name for name in before if name not in promoted
        ]
        assert list(after)[:4] == promoted
        for name, hit in after.items():
            info = {key: value for key, value in hit["_rankingInfo"].items() if key != "promoted"}
            assert ("promoted" in hit["_rankingInfo"]) == (name in promoted)
            assert name not in before or info == before[name]["_rankingInfo"]
            assert name in before or {info[key] for key in WORD_CRITERIA} == {0}
