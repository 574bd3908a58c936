"""Words typed without blanks around indexed separators: they are adjacent, in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import Index
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus

SETTINGS = {"searchableAttributes": ["title", "note"], "separatorsToIndex": "@+/"}
ENGLISH = {"removeStopWords": ["en"]}


def find(texts: Sequence[str], query: str, **params: Any) -> list[str]:
    """Return the texts that a query matches, each in a record of its own."""
    synonyms = params.pop("synonyms", [])
    index = Index(SETTINGS | params.pop("settings", {}))
    index.put([{"objectID": text, "title": text} for text in texts])
    result = index.search(
        {"query": query, "hitsPerPage": 1000, **params},
        lambda ids: [{"objectID": text, "title": text} for text in ids],
        LanguageResources(Thesaurus(lambda: synonyms)),
    )
    return sorted(hit["objectID"] for hit in result.hits)


@pytest.mark.parametrize(
    ("query", "matching", "others"),
    [
        ("alice@wonder", ["alice@wonderland"], ["wonderland @ alice", "alice was @ wonderland"]),
        ("alicce@wonderland", ["alice@wonderland"], ["alice was @ wonderland"]),
        ("write alice@wonderland", ["alice@wonderland, write"], ["alice write @ wonderland"]),
        ("c++", ["C++ primer", "in c++"], ["c + primer +", "+ + c"]),
        ("c++ primer", ["C++ primer", "primer of C++"], ["+ c + primer"]),
        ("read/write-protected", ["protected read/write"], ["write/read protected"]),
        # Separators alone, and words with a blank between, are in any order.
        ("@+", ["+ @", "@+"], ["@"]),
        ("alice @wonderland", ["@wonderland alice"], ["wonderland @ alice"]),
        # An address has words with parts; inside of a sequence they take two positions.
        ("ann.lee@shop.example", ["ann.lee@shop.example"], ["shop.example @ ann.lee"]),
        ("to/ann.lee@shop", ["to/ann.lee@shop"], ["to/ann @ lee.shop", "to/ann.lee / @ shop"]),
        ("to/anna.leeds@shop", ["to/anna.leeds@shop", "to/annaleeds@shop"], ["to/leeds@shop"]),
    ],
)
def test_words_are_adjacent_in_their_order(
    query: str, matching: list[str], others: list[str]
) -> None:
    assert find([*matching, *others], query) == sorted(matching)


def test_a_sequence_is_within_one_attribute() -> None:
    index = Index(SETTINGS)
    index.put([{"objectID": "1", "title": "alice @", "note": "wonderland"}])

    def count(query: str) -> int:
        result = index.search({"query": query}, lambda ids: [{"objectID": name} for name in ids])
        return len(result.hits)

    assert count("alice@wonderland") == 0
    assert count("alice @ wonderland") == 1


@pytest.mark.parametrize(
    ("synonyms", "matching"),
    [
        (["c++", "cpp"], ["cpp primer"]),
        (["c++", "see plus plus"], ["see plus plus primer"]),
        (["c++ primer", "bjarne"], ["bjarne"]),
        (["primer", "lesson"], ["lesson of c++"]),
    ],
)
def test_synonyms_of_the_sequence_match(synonyms: list[str], matching: list[str]) -> None:
    entry = {"objectID": "s", "type": "synonym", "synonyms": synonyms}
    texts = [*matching, "c + primer +", "C++ primer"]

    assert find(texts, "c++ primer", synonyms=[entry]) == sorted([*matching, "C++ primer"])


def test_words_that_are_made_optional_need_not_be_adjacent() -> None:
    texts = ["wonderland @ alice", "alice"]

    assert find(texts, "alice@wonderland", removeWordsIfNoResults="allOptional") == sorted(texts)
    assert find(texts, "alice@wonderland", removeWordsIfNoResults="none") == []


def test_a_sequence_with_a_stop_word_has_no_order() -> None:
    texts = ["me@the beach", "beach @ me"]

    assert find(texts, "me@the/beach", settings=ENGLISH | {"separatorsToIndex": "@"}) == texts[::-1]


@pytest.mark.slow
def test_all_records_agree_with_a_search_by_hand() -> None:
    dice = Random(27)
    words = ["ab", "cd", "ef", "@", "+"]
    texts = sorted(
        {
            "".join(dice.choice(words) + dice.choice(["", "", " "]) for _ in range(6)).strip()
            for _ in range(300)
        }
    )
    settings = {"typoTolerance": False, "queryType": "prefixNone"}
    for _ in range(60):
        query = "".join(dice.choices(words, k=dice.randint(2, 4)))
        expected = [text for text in texts if contains(read(text), read(query))]

        assert find(texts, query, settings=settings) == sorted(expected), query


def read(text: str) -> list[str]:
    return re.findall("[a-z]+|[@+]", text)


def contains(text: list[str], query: list[str]) -> bool:
    """Return whether a text has the words of a query, adjacent unless all are separators."""
    if set("".join(query)) <= set("@+"):
        return set(query) <= set(text)
    return any(text[start : start + len(query)] == query for start in range(len(text)))
