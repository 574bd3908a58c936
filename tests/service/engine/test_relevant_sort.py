"""A virtual replica sorts the relevant hits and drops the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import VIRTUAL, Index, SearchResult
from svc_notebook.service.engine.index.flatten import Record
from tests.service.engine import cases

CRITERIA = ["typo", "geo", "words", "filters", "proximity", "attribute", "exact"]
# What `_rankingInfo` tells of a criterion, lower for better.
TELLS: dict[str, Callable[[dict[str, Any]], int]] = {
    "typo": lambda info: info["nbTypos"],
    "words": lambda info: -info["words"],
    "filters": lambda info: -info["filters"],
    "proximity": lambda info: info["proximityDistance"],
    "attribute": lambda info: info["firstMatchedWord"] // 1000,
    "exact": lambda info: -info["nbExactWords"],
}


def search(index: Index, records: Mapping[str, Record], **params: Any) -> SearchResult:
    return index.search(params, lambda ids: [records[one] for one in ids])


def expect(hits: list[dict[str, Any]], ranking: list[str], strictness: int) -> list[dict[str, Any]]:
    """Read the definition off what an ordinary search tells of its hits."""
    criteria = [name for name in ranking if name in TELLS]
    steps = [tuple(TELLS[name](hit["_rankingInfo"]) for name in criteria) for hit in hits]
    best = sorted(set(steps))
    kept = best[: max(1, -(-len(best) * (100 - strictness) // 100))] if strictness else best
    return sorted(
        (hit for hit, step in zip(hits, steps, strict=True) if step in kept),
        key=lambda hit: -hit["price"],
    )


@pytest.mark.parametrize("seed", range(40))
def test_relevant_sort_follows_its_definition(seed: int) -> None:
    random = Random(seed)
    ranking = random.sample(CRITERIA, random.randint(2, 7))
    records = {
        str(number): {
            "objectID": str(number),
            "title": cases.make_text(random, 4),
            "body": cases.make_text(random, 9),
            "price": random.randint(1, 5),
        }
        for number in range(60)
    }
    settings: dict[str, Any] = {
        "searchableAttributes": ["title", "body"],
        "ranking": [*ranking, "custom"],
        "attributesForFaceting": ["price"],
        "paginationLimitedTo": 100,
    }
    primary = Index(settings)
    primary.put([*records.values()][:25])
    primary.put([*records.values()][25:])
    dear = Index(
        settings | {"customRanking": ["desc(price)"], VIRTUAL: True}, primary.segment_store
    )
    params: dict[str, Any] = {
        "query": " ".join(random.choices(cases.WORDS, k=random.randint(0, 3))),
        "optionalWords": random.sample(cases.WORDS, 9),
        "optionalFilters": random.choice([[], ["price:2<score=3>", "price:4"]]),
        "facets": ["price"],
        "hitsPerPage": 100,
        "getRankingInfo": True,
    }

    plain = search(primary, records, **params)
    for strictness in (0, 30, 65, 100):
        found = search(dear, records, **params, relevancyStrictness=strictness)

        asked = strictness if params["query"] else 0
        expected = expect(plain.hits, ranking, asked)
        told = f"seed {seed}: {ranking} {params} {strictness}"
        assert [hit["objectID"] for hit in found.hits] == [h["objectID"] for h in expected], told
        assert found.nbHits == plain.nbHits, told
        assert found.facets == plain.facets, told
        assert found.extra["nbSortedHits"] == len(expected), told
        assert found.extra["appliedRelevancyStrictness"] == strictness, told


SETTINGS = {"searchableAttributes": ["name", "text"], "customRanking": ["asc(price)"]}
LAMPS: list[Record] = [
    {"objectID": "1", "name": "lamp", "maker": "a", "price": 30},
    {"objectID": "2", "name": "lamp", "maker": "a", "price": 20},
    {"objectID": "3", "name": "lamp", "maker": "b", "price": 40},
    {"objectID": "4", "name": "shade", "text": "for a lamp", "maker": "c", "price": 1},
    {"objectID": "5", "name": "lump", "maker": "c", "price": 2},
]


def replica(**settings: Any) -> Index:
    index = Index(SETTINGS | settings | {VIRTUAL: True})
    index.put(LAMPS)
    return index


def found_in(index: Index, **params: Any) -> list[str]:
    return [h["objectID"] for h in search(index, {r["objectID"]: r for r in LAMPS}, **params).hits]


def test_by_default_only_the_most_relevant_hits_are_sorted() -> None:
    assert found_in(replica(), query="lamp") == ["2", "1", "3"]


def test_a_search_may_be_less_strict_than_the_settings() -> None:
    index = replica(relevancyStrictness=100)

    assert found_in(index, query="lamp", relevancyStrictness=50) == ["4", "2", "1", "3"]
    assert found_in(index, query="lamp", relevancyStrictness=0) == ["4", "5", "2", "1", "3"]


def test_without_words_everything_is_relevant() -> None:
    assert found_in(replica()) == ["4", "5", "2", "1", "3"]


def test_pages_and_groups_are_of_the_sorted_hits() -> None:
    index = replica(attributeForDistinct="maker", distinct=True)

    found = search(index, {r["objectID"]: r for r in LAMPS}, query="lamp", hitsPerPage=1)

    assert [hit["objectID"] for hit in found.hits] == ["2"]
    assert found.paging["nbPages"] == found.extra["nbSortedHits"] == 2
    assert found.nbHits == 3


def test_an_index_that_is_no_virtual_replica_sorts_everything() -> None:
    index = Index(SETTINGS | {"relevancyStrictness": 100})
    index.put(LAMPS)

    found = search(index, {r["objectID"]: r for r in LAMPS}, query="lamp")

    assert len(found.hits) == 5
    assert "nbSortedHits" not in found.extra
