"""Stems as a further way in which a word is found, only where it is turned on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.text.inflections import ALGORITHMS, find_stemmer
from svc_notebook.service.engine.text.lexicon import Dictionaries, LanguageResources, Lexicon

TEXTS = ["painting", "painted walls", "a paint", "painter", "pain", "malen", "male"]
RECORDS = [{"objectID": str(n), "name": text} for n, text in enumerate(TEXTS)]
STEMS = {"ignorePlurals": True, "alternativesAsExact": ["ignorePlurals", "ignoreConjugations"]}
SETTINGS = {"searchableAttributes": ["name"]}


def make_index(**settings: Any) -> Index:
    index = Index(SETTINGS | settings)
    index.put(RECORDS[:3])
    index.put(RECORDS[3:])
    return index


def find(
    index: Index, query: str, resources: LanguageResources | None = None, /, **params: Any
) -> SearchResult:
    asked = {"query": query, "queryType": "prefixNone", "typoTolerance": False, **params}
    return index.search(asked, fetch, resources or LanguageResources())


def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [RECORDS[int(name)] for name in ids]


def texts(found: SearchResult) -> set[str]:
    return {hit["name"] for hit in found.hits}


def test_words_with_the_same_stem_are_found_only_on_request() -> None:
    index = make_index()

    assert texts(find(index, "paint")) == {"a paint"}
    assert texts(find(index, "paint", ignorePlurals=True)) == {"a paint"}
    only_listed = {"alternativesAsExact": ["ignoreConjugations"]}
    assert texts(find(index, "paint", **only_listed)) == {"a paint"}
    assert texts(find(index, "paint", **STEMS)) == {"painting", "painted walls", "a paint"}


def test_settings_turn_stems_on() -> None:
    index = make_index(**STEMS)
    index.warm(LanguageResources())

    assert texts(find(index, "paintings")) == {"painting", "painted walls", "a paint"}


@pytest.mark.parametrize(
    ("query", "languages", "found"),
    [
        ("malen", ["de"], {"malen", "male"}),
        ("malen", ["en"], {"malen"}),
        ("malen", ["zu"], {"malen"}),
        ("painted", ["en"], {"painting", "painted walls", "a paint"}),
    ],
)
def test_the_languages_are_those_of_plurals(
    query: str, languages: list[str], found: set[str]
) -> None:
    assert texts(find(make_index(), query, **STEMS | {"ignorePlurals": languages})) == found


def test_stems_count_as_exact_and_are_highlighted() -> None:
    found = find(make_index(), "paint walls", **STEMS, getRankingInfo=True)

    [hit] = found.hits
    assert hit["_rankingInfo"]["nbExactWords"] == 2
    assert hit["_rankingInfo"]["proximityDistance"] == 1
    assert hit["_highlightResult"]["name"]["value"] == "<em>painted</em> <em>walls</em>"


def test_quoted_words_and_turned_off_standard_words_have_no_stems() -> None:
    off = LanguageResources(
        lexicon=Lexicon(lambda: Dictionaries({}, {"plurals": frozenset({"en"})}))
    )

    assert texts(find(make_index(), '"paint"', **STEMS, advancedSyntax=True)) == {"a paint"}
    assert texts(find(make_index(), "paint", off, **STEMS)) == {"a paint"}


def test_a_word_counts_once_in_the_score_however_it_is_found() -> None:
    index = make_index()

    plain, stemmed = (
        find(index, "pain", getRankingInfo=True, **params).hits[0]["_rankingInfo"]["textScore"]
        for params in ({}, STEMS)
    )

    assert plain == stemmed


def test_every_language_has_a_stemmer() -> None:
    assert all(find_stemmer(language) for language in ALGORITHMS)
