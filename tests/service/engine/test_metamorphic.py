"""Relations between two searches of the same records that hold for any records."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus
from tests.service.engine import cases

SEEDS = range(10)
QUERIES = 10
OPEN, CLOSE = "\ue000", "\ue001"


class Shop:
    """A generated index with its records and synonyms."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.settings = cases.make_settings(self.random)
        made = [cases.make_record(self.random, number) for number in range(40)]
        self.records = {record["objectID"]: record for record in made}
        self.synonyms = cases.make_synonyms(self.random)
        self.knowledge = LanguageResources(Thesaurus(lambda: self.synonyms))
        self.index = Index(self.settings)
        self.index.put(made)

    def params(self) -> dict[str, Any]:
        """Ask for anything; all hits come, none for others of its group."""
        params = cases.make_params(self.random, self.settings, self.synonyms)
        return params | {"page": 0, "hitsPerPage": 1000, "distinct": 0}

    def search(self, params: Mapping[str, Any], index: Index | None = None) -> SearchResult:
        """Search."""
        return (index or self.index).search(
            params, lambda ids: [self.records[name] for name in ids], self.knowledge
        )

    def ids(self, params: Mapping[str, Any]) -> set[str]:
        """Return the objectIDs of all hits."""
        return {hit["objectID"] for hit in self.search(params).hits}


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_records_changes_nothing(seed: int) -> None:
    shop = Shop(seed)
    other = Index(shop.settings)
    for record in shop.random.sample([*shop.records.values()], len(shop.records)):
        other.put([record])

    for _ in range(QUERIES):
        params = shop.params()
        assert shop.search(params) == shop.search(params, other), params


@pytest.mark.parametrize("seed", SEEDS)
def test_a_further_word_that_is_optional_loses_no_hit(seed: int) -> None:
    shop = Shop(seed)

    for _ in range(QUERIES):
        params = shop.params() | {"removeWordsIfNoResults": "none", "advancedSyntax": False}
        # The last word is a beginning, and neighbours may be written as one: the new word is first.
        params |= {"typoTolerance": False, "query": cases.make_query(shop.random)}
        given = params.get("optionalWords", [])
        more = {"query": f"cabinetry {params['query']}", "optionalWords": [*given, "cabinetry"]}
        if params["query"]:
            assert shop.ids(params) <= shop.ids(params | more), params


@pytest.mark.parametrize("seed", SEEDS)
def test_words_that_become_optional_lose_no_hit(seed: int) -> None:
    shop = Shop(seed)

    for _ in range(QUERIES):
        params = shop.params() | {"removeWordsIfNoResults": "none", "typoTolerance": True}
        words = params["query"].replace('"', " ").replace("-", " ").split()
        assert shop.ids(params) <= shop.ids(params | {"optionalWords": words}), params


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stricter_filter_adds_no_hit(seed: int) -> None:
    shop = Shop(seed)

    for _ in range(QUERIES):
        params = shop.params() | {"removeWordsIfNoResults": "none", "typoTolerance": True}
        loose = cases.make_filter(shop.random)
        strict = loose + cases.make_filter(shop.random)
        fewer, more = (params | {"filters": cases.write_filter(f) or None} for f in (strict, loose))
        assert shop.ids(fewer) <= shop.ids(more), fewer


@pytest.mark.parametrize("seed", SEEDS)
def test_a_highlight_without_its_marks_is_the_text(seed: int) -> None:
    shop = Shop(seed)
    marks = {"highlightPreTag": OPEN, "highlightPostTag": CLOSE, "attributesToHighlight": ["*"]}

    for _ in range(QUERIES):
        for hit in shop.search(shop.params() | marks).hits:
            leaves = hit.get("_highlightResult", {})
            for name in leaves.keys() & {"title", "body"}:
                assert leaves[name]["value"].replace(OPEN, "").replace(CLOSE, "") == hit[name]


@pytest.mark.parametrize("seed", SEEDS)
def test_precomputation_changes_nothing(seed: int) -> None:
    shop = Shop(seed)
    asked = [shop.params() | make_page(shop.random) for _ in range(QUERIES)]
    before = list(map(shop.search, asked))

    shop.index.warm(shop.knowledge)

    assert list(map(shop.search, asked)) == before


def make_page(random: Random) -> dict[str, Any]:
    """Ask for little of much: that is when orders known ahead are read."""
    page = {"page": random.choice([0, 0, 1, 5]), "hitsPerPage": random.choice([0, 1, 2, 3])}
    optional = [cases.make_term(random, "facet") for _ in range(random.choice([0, 1, 2]))]
    scored = [f"{term['path']}:{term['value']}<score={term['score']}>" for term in optional]
    return page | {"query": random.choice(["", "", "a"]), "optionalFilters": scored}
