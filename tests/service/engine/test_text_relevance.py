"""Textual relevance: it breaks ties, and ranks on request, the same for every history of writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS, Pin, Pins

SETTINGS = {"searchableAttributes": ["unordered(title)", "unordered(body)"]}
RERANKED = {"enableReRanking": True}


def make_index(records: Mapping[str, Any], settings: Mapping[str, Any] = SETTINGS) -> Index:
    index = Index(settings)
    index.put([to_record(name, value) for name, value in records.items()])
    return index


def to_record(name: str, value: Any) -> dict[str, Any]:
    return {"objectID": name, **({"title": value} if isinstance(value, str) else value)}


def find(index: Index, query: str, pins: Pins = NO_PINS, /, **params: Any) -> SearchResult:
    return index.search({"query": query, **params}, fetch, pins=pins)


def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"objectID": name} for name in ids]


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


# ------------------------------------------------------------------------------------- the score


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param("lamp and lamp", "lamp and shade", id="frequency"),
        pytest.param("oak lamp", "oak lamp of a long text", id="length"),
    ],
)
def test_equal_hits_are_ordered_by_textual_relevance(better: str, worse: str) -> None:
    index = make_index({"a": worse, "b": better, "c": "oak"})

    assert ids(find(index, "lamp ")) == ["b", "a"]


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    index = make_index({"a": "lamp", "b": "oak", "c": "lamp", "d": "lamp"})

    found = find(index, "lamp oak", optionalWords=["lamp", "oak"])

    assert ids(found) == ["b", "a", "c", "d"]


def test_an_earlier_attribute_counts_more() -> None:
    index = make_index({
        "a": {"title": "shade", "body": "lamp"}, "b": {"title": "lamp", "body": "shade"},
    }, {"searchableAttributes": ["title", "body"], "ranking": ["typo"]})  # fmt: skip

    assert ids(find(index, "lamp")) == ["b", "a"]


def test_the_score_is_that_of_the_formula() -> None:
    index = make_index({"a": "red lamp red", "b": "lamp", "c": "oak"})

    [hit] = find(index, "red ", getRankingInfo=True).hits

    rarity, frequency = math.log(1 + 2.5 / 1.5), 2 / (0.25 + 0.75 * 3 / (5 / 3))
    expected = rarity * frequency / (frequency + 1.2)
    assert hit["_rankingInfo"]["textScore"] == pytest.approx(expected, abs=5e-5)


def test_a_synonym_that_two_variants_find_counts_once() -> None:
    index = make_index({"a": "lamps", "b": "lamps"}, {**SETTINGS, "ignorePlurals": ["en"]})

    scores = [
        hit["_rankingInfo"]["textScore"]
        for params in ({}, {"ignorePlurals": False, "queryType": "prefixNone"})
        for hit in find(index, "lamps", getRankingInfo=True, **params).hits
    ]

    assert len(set(scores)) == 1


def test_the_words_of_placeholders_have_no_length_of_their_own() -> None:
    plain, marked = (make_index({"a": f"lamp {text}", "b": "oak"}) for text in ("50 w", "<50 w>"))

    scores = [find(index, "lamp ", getRankingInfo=True).hits[0] for index in (plain, marked)]

    assert scores[0] == scores[1]


# ------------------------------------------------------------------- what ties are, and are not


def test_without_words_equal_hits_are_ordered_by_id() -> None:
    index = make_index({"b": "lamp", "a": "lamp lamp", "c": "oak"})

    assert ids(find(index, "")) == ["a", "b", "c"]


def test_a_browse_orders_equal_records_by_id() -> None:
    index = make_index({"b": "lamp", "a": "lamp of a long text", "c": "oak"})

    assert index.order({"query": "lamp"})[:] == ["a", "b"]
    assert ids(find(index, "lamp ")) == ["b", "a"]


def test_ties_come_after_custom_ranking_and_after_the_sort_of_a_replica() -> None:
    records = {
        "a": {"title": "lamp of a long text", "price": 1}, "b": {"title": "lamp of", "price": 2},
        "c": {"title": "lamp of a longer long text", "price": 2},
    }  # fmt: skip
    custom = make_index(records, {**SETTINGS, "customRanking": ["asc(price)"]})
    replica = make_index(records, {**SETTINGS, "ranking": ["desc(price)", "typo"]})
    virtual = make_index(records, {
        **SETTINGS, "customRanking": ["desc(price)"], "_virtual": True, "relevancyStrictness": 0,
    })  # fmt: skip

    assert ids(find(custom, "lamp ")) == ["a", "b", "c"]
    assert ids(find(replica, "lamp ")) == ["b", "c", "a"]
    assert ids(find(virtual, "lamp ")) == ["b", "c", "a"]


def test_the_most_relevant_of_equal_hits_leads_its_group() -> None:
    records = {
        name: {"title": text, "kind": kind}
        for name, text, kind in [
            ("a", "lamp of a long text", "x"),
            ("b", "lamp", "x"),
            ("c", "lamp of text", "y"),
        ]
    }
    index = make_index(records, {**SETTINGS, "attributeForDistinct": "kind"})

    assert ids(find(index, "lamp ", distinct=1)) == ["b", "c"]
    assert ids(find(index, "lamp ", distinct=2)) == ["b", "a", "c"]


def test_promoted_hits_keep_their_positions() -> None:
    index = make_index({"a": "lamp of a long text", "b": "lamp", "c": "oak", "d": "lamp of text"})

    assert ids(find(index, "lamp ", Pins((Pin(("c",), 1),)))) == ["b", "c", "d", "a"]


def test_filters_do_not_change_scores() -> None:
    records = {str(n): {"title": f"lamp {'oak ' * n}", "kind": "xy"[n % 2]} for n in range(6)}
    index = make_index(records, {**SETTINGS, "attributesForFaceting": ["kind"]})

    every, some = (
        {
            hit["objectID"]: hit["_rankingInfo"]["textScore"]
            for hit in find(index, "oak ", **params, getRankingInfo=True).hits
        }
        for params in ({}, {"filters": "kind:x"})
    )

    assert some
    assert some == {name: every[name] for name in some}


def test_scores_do_not_depend_on_records_that_a_key_may_not_see() -> None:
    settings = {**SETTINGS, "attributesForFaceting": ["tenant"]}
    own = {"a": {"title": "red lamp", "tenant": "x"}, "b": {"title": "oak", "tenant": "x"}}
    others = {str(n): {"title": f"lamp {'of ' * n}", "tenant": "y"} for n in range(9)}
    within = {"filters": "tenant:x"}
    pins = Pins(within=within)

    alone, together = (
        find(make_index(records, settings), "lamp ", pins, **within, getRankingInfo=True).hits
        for records in (own, own | others)
    )

    assert alone == together


# ----------------------------------------------------------------- the same for every history


WORDS = ["lamp", "lamps", "oak", "red", "table", "of", "shade", "lampshade", "reed"]
QUERIES = ["lamp", "red oak", "lapm table", "of lamp shade", "o", "lamp red table oak shade"]


def make_records(random: Random, count: int) -> dict[str, dict[str, Any]]:
    def text(most: int) -> str:
        return " ".join(random.choices(WORDS, k=random.randint(0, most)))

    return {
        str(n): {"objectID": str(n), "title": text(3), "body": [text(9), text(4)]}
        for n in range(count)
    }


def read_all(index: Index, **params: Any) -> list[list[Any]]:
    asked = {"getRankingInfo": True, "hitsPerPage": 1000, **params}
    return [find(index, query, optionalWords=query.split(), **asked).hits for query in QUERIES]


@pytest.mark.parametrize("params", [{}, RERANKED], ids=["ties", "re-ranking"])
def test_the_same_records_have_the_same_order_whatever_was_written_before(
    params: dict[str, Any], tmp_path: Path
) -> None:
    random = Random(3)
    records = make_records(random, 700)
    at_once = make_index(records)
    expected = read_all(at_once, **params)

    grown = Index(SETTINGS)
    old = make_records(random, 900)
    names = list(old)
    random.shuffle(names)
    for start in range(0, 900, 45):
        grown.put([old[name] for name in names[start : start + 45]])
    grown.delete([name for name in old if name not in records])
    for start in range(0, 700, 150):
        grown.put(list(records.values())[start : start + 150])
    assert len(grown.segment_store.readers) > 1
    assert read_all(grown, **params) == expected

    grown.save(tmp_path, 1)
    loaded = Index.load(tmp_path, SETTINGS)
    assert loaded is not None
    assert read_all(loaded[0], **params) == expected
    grown.compact()
    assert len(grown.segment_store.readers) == 1
    assert read_all(grown, **params) == expected


@pytest.mark.sampled(quick=1)
@pytest.mark.parametrize("params", [{}, RERANKED, {"distinct": 1}], ids=str)
def test_pages_are_parts_of_one_order(params: dict[str, Any]) -> None:
    records = make_records(Random(5), 300)
    settings = {**SETTINGS, "attributeForDistinct": "title"}
    index = make_index(records, settings)
    index.put(list(make_records(Random(6), 40).values()))

    for query in QUERIES:
        everything = ids(find(index, query, hitsPerPage=1000, **params))
        pages = [ids(find(index, query, hitsPerPage=7, page=page, **params)) for page in range(50)]
        assert [name for page in pages for name in page] == everything


# ------------------------------------------------------------------------------------ re-ranking


NEAR = {"near": "lamp oak and a lot of other words in a text", "far": "oak shade lamp"}


def test_re_ranking_is_off_unless_it_is_set() -> None:
    index = make_index(NEAR, {"searchableAttributes": ["title"]})
    on = make_index(NEAR, {"searchableAttributes": ["title"], **RERANKED})

    assert ids(find(index, "lamp oak ")) == ["near", "far"]
    assert ids(find(index, "lamp oak ", **RERANKED)) == ["far", "near"]
    assert ids(find(on, "lamp oak ")) == ["far", "near"]
    assert ids(find(on, "lamp oak ", enableReRanking=False)) == ["near", "far"]


def test_re_ranking_comes_after_the_criteria_before_those_about_positions() -> None:
    records = {
        "typo": {"title": "lapm", "sold": 9}, "two": {"title": "lamp shade of oak", "sold": 3},
        "one": {"title": "lamp", "sold": 1},
    }  # fmt: skip
    index = make_index(records, {**SETTINGS, "customRanking": ["desc(sold)"], **RERANKED})
    asked = {"optionalWords": ["shade"]}

    assert ids(find(index, "lamp shade", **asked)) == ["two", "one", "typo"]
    first = find(index, "lamp shade", **asked, ranking=["custom", "attribute", "typo"])
    assert ids(first) == ["typo", "two", "one"]


def test_re_ranking_moves_only_the_hits_that_its_filter_selects() -> None:
    records = {
        str(n): {"title": f"lamp {'oak ' * n}", "kind": "xxyx"[n % 4], "sold": n} for n in range(8)
    }
    settings = {
        **SETTINGS, "attributesForFaceting": ["kind"], "ranking": ["typo", "attribute", "custom"],
        "customRanking": ["desc(sold)"],
    }  # fmt: skip
    index = make_index(records, settings)
    plain = ids(find(index, "lamp "))
    assert plain == ["7", "6", "5", "4", "3", "2", "1", "0"]

    some = {**RERANKED, "reRankingApplyFilter": "kind:x"}

    assert ids(find(index, "lamp ", **RERANKED)) == plain[::-1]
    assert ids(find(index, "lamp ", **some)) == ["0", "6", "1", "3", "4", "2", "5", "7"]
    assert ids(find(index, "lamp ", **some, hitsPerPage=3, page=1)) == ["3", "4", "2"]
    assert ids(find(index, "", **some)) == plain


def test_a_filter_of_re_ranking_that_cannot_be_read_is_refused() -> None:
    index = make_index(NEAR)

    with pytest.raises(BadInput, match="reRankingApplyFilter"):
        find(index, "lamp", **RERANKED, reRankingApplyFilter="no filter")


def test_a_ranking_that_names_the_score_is_refused() -> None:
    with pytest.raises(BadInput, match="expected asc"):
        Index({"ranking": ["typo", "text"]})
