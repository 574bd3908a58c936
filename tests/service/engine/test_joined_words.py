"""Words around periods and apostrophes, and words typed together or apart, through the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.index.storage import MANIFEST
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus


def make_index(texts: Sequence[str], settings: Mapping[str, Any] | None = None) -> Index:
    facets = {"attributesForFaceting": ["searchable(title)"]}
    index = Index({"searchableAttributes": ["title"], **facets, **(settings or {})})
    index.put([{"objectID": text, "title": text} for text in texts])
    return index


def search(texts: Sequence[str], query: str, **params: Any) -> SearchResult:
    settings = params.pop("settings", None)
    synonyms = params.pop("_synonyms", [])
    resources = LanguageResources(Thesaurus(lambda: synonyms))
    return make_index(texts, settings).search(
        {"query": query, "getRankingInfo": True, **params},
        lambda ids: [{"objectID": text, "title": text} for text in ids],
        resources,
    )


def found(texts: Sequence[str], query: str, **params: Any) -> list[str]:
    return [hit["objectID"] for hit in search(texts, query, **params).hits]


def marked(text: str, query: str, **params: Any) -> dict[str, Any]:
    [hit] = search([text], query, **params).hits
    leaf: dict[str, Any] = hit["_highlightResult"]["title"]
    return leaf


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("L'eau de parfum", "eau"),
        ("L\u2019eau de parfum", "eau de parfum"),
        ("L'eau de parfum", "l'eau"),
        ("Huile d'olive vierge", "olive"),
        ("Dell'acqua minerale", "acqua"),
        ("Musée d'Orsay", "orsay"),
        ("Musée d'Orsay", "musee dorsay"),
        ("O'Reilly Media", "reilly"),
        ("O'Reilly Media", "oreilly"),
        ("O'Reilly Media", "o reilly"),
        ("T-shirt", "tshirt"),
        ("E-bike", "ebike"),
        ("X-ray", "xray"),
        ("V-neck", "vneck"),
        ("E-mail", "email"),
        ("U.S.A.", "usa"),
        ("D.N.A. test", "dna"),
        ("Ph.D. thesis", "phd"),
        ("U.S. Army", "us army"),
        ("U.S. Army", "u.s. army"),
        ("m.55", "m55"),
        ("rock'n'roll", "rock n roll"),
        ("rock n roll", "rock'n'roll"),
        ("rock'n'roll", "rocknroll"),
        ("rocknroll", "rock'n'roll"),
        ("AB1234X", "ab 1234 x"),
        ("hello.world", "hello"),
        ("hello.world", "world"),
        ("hello.world", "helloworld"),
        ("hello world", "hello.world"),
        ("don't stop", "dont"),
        ("don't stop", "don t stop"),
        ("Women's shoes", "women shoes"),
        ("Booking.com", "booking com"),
        ("5.mm drill", "5 mm"),
        ("2.5 inch", "2.5"),
        ("5mm drill", "5 mm"),
    ],
)
def test_a_query_finds_words_around_periods_and_apostrophes(text: str, query: str) -> None:
    assert found([text], query) == [text]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("L'eau de parfum", '"l"'),
        ("B.C.E.", '"c"'),
        ("rock'n'roll", '"n"'),
        ("wait...what", '"waitwhat"'),
        ("2.5 inch", '"25"'),
    ],
)
def test_short_parts_and_separated_words_are_not_indexed_together(text: str, query: str) -> None:
    assert found([text], query, advancedSyntax=True) == []


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("L'eau de parfum", "eau", "L'<em>eau</em> de parfum"),
        ("L'eau de parfum", "l'eau", "<em>L'eau</em> de parfum"),
        ("L'eau de parfum", "leau parfum", "<em>L'eau</em> de <em>parfum</em>"),
        ("L'eau de parfum", "l", "<em>L</em>'eau de parfum"),
        ("Achetez d'occasion", "occ", "Achetez d'<em>occ</em>asion"),
        ("hello.world", "hello world", "<em>hello.world</em>"),
        ("hello.world", "helloworld", "<em>hello.world</em>"),
        ("hello.world", "hellow", "<em>hello.w</em>orld"),
        ("U.S. Army", "us army", "<em>U.S</em>. <em>Army</em>"),
        ("Je chante rock'n'roll", "rock n roll", "Je chante <em>rock'n'roll</em>"),
        ("T-shirt", "tshirt", "<em>T</em>-<em>shirt</em>"),
        ("Crème brûlée d\u2019été", "ete", "Crème brûlée d\u2019<em>été</em>"),
        ("AB1234X", "ab 1234 x", "<em>AB1234X</em>"),
    ],
)
def test_what_is_found_is_highlighted(text: str, query: str, expected: str) -> None:
    assert marked(text, query)["value"] == expected


@pytest.mark.parametrize(
    ("text", "query", "full"),
    [
        ("L'eau", "l'eau", True),
        ("L'eau", "eau", False),
        ("hello.world", "hello world", True),
        ("hello.world", "world", False),
        ("hello.world and", "hello world", False),
    ],
)
def test_a_text_is_fully_highlighted_if_no_letter_is_outside(
    text: str, query: str, full: bool
) -> None:
    assert marked(text, query)["fullyHighlighted"] is full


def test_a_snippet_counts_a_joined_word_by_its_places() -> None:
    text = "one two three d'olive vierge extra et d'autres"

    [hit] = search([text], "olive", attributesToSnippet=["title:3"]).hits

    assert hit["_snippetResult"]["title"]["value"] == "…three d'<em>olive</em> vierge…"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("L'eau de parfum", "eau de parfum"),
        ("L'eau de parfum", "l'eau de parfum"),
        ("Achetez l'eau", "achetez eau"),
        ("Achetez l'eau", "achetez l'eau"),
        ("love hello.world now", "love helloworld"),
        ("love hello.world now", "helloworld now"),
        ("love hello.world now", "love hello"),
        ("love hello.world now", "hello world"),
        ("love hello.world now", "world now"),
    ],
)
def test_a_word_and_its_parts_are_next_to_both_neighbours(text: str, query: str) -> None:
    [hit] = search([text], query).hits

    assert hit["_rankingInfo"]["proximityDistance"] == len(query.split()) - 1
    assert hit["_rankingInfo"]["nbTypos"] == 0


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ('"l\'eau de parfum"', ["L'eau de parfum"]),
        ('"eau de parfum"', ["L'eau de parfum", "Eau de parfum"]),
        ("\"love rock'n'roll music\"", ["Love rock'n'roll music"]),
        ('"love rocknroll"', ["Love rock'n'roll music"]),
        ('"rocknroll music"', ["Love rock'n'roll music"]),
        ('-"l\'eau"', ["Love rock'n'roll music", "Eau de parfum"]),
        ("-eau", ["Love rock'n'roll music"]),
        ("-l'eau parfum", ["Eau de parfum"]),
    ],
)
def test_phrases_and_exclusions_know_joined_words(query: str, texts: list[str]) -> None:
    records = ["L'eau de parfum", "Eau de parfum", "Love rock'n'roll music"]

    assert sorted(found(records, query, advancedSyntax=True)) == sorted(texts)


@pytest.mark.parametrize(
    ("query", "mode", "exact"),
    [
        ("loreal", "attribute", 1),
        ("l'oreal", "attribute", 1),
        ("oreal", "attribute", 0),
        ("oreal", "word", 1),
        ("lore", "attribute", 0),
    ],
)
def test_a_joined_word_is_a_whole_attribute_and_its_part_is_not(
    query: str, mode: str, exact: int
) -> None:
    [hit] = search(["L'Oréal"], query, exactOnSingleWordQuery=mode).hits

    assert hit["_rankingInfo"]["nbExactWords"] == exact


def test_synonyms_apply_to_joined_words_and_find_them() -> None:
    synonyms = [
        {"objectID": "1", "type": "synonym", "synonyms": ["U.S.", "America"]},
        {"objectID": "2", "type": "onewaysynonym", "input": "perfume", "synonyms": ["l'eau"]},
    ]
    texts = ["U.S. Army", "America today", "L'eau"]

    assert found(texts, "america", _synonyms=synonyms) == ["America today", "U.S. Army"]
    assert found(texts, "u.s.", _synonyms=synonyms) == ["America today", "U.S. Army"]
    assert found(texts, "perfume", _synonyms=synonyms) == ["L'eau"]


@pytest.mark.parametrize("query", ["orsay", "d'orsay", "dors", "musee orsay"])
def test_facet_values_are_found_by_parts_of_words(query: str) -> None:
    index = make_index(["Musée d'Orsay", "Louvre"])

    hits = index.facet_values("title", query, {}, 10).hits

    assert [hit["value"] for hit in hits] == ["Musée d'Orsay"]


def test_a_word_is_split_after_one_to_twelve_letters() -> None:
    texts = ["a bcdef", "abcdefghijkl mnop", "abcdefghijklm nop"]

    assert found(texts, "abcdef", queryType="prefixNone") == ["a bcdef"]
    assert found(texts, "abcdefghijklmnop") == ["abcdefghijkl mnop"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("a b c", ["abc"]), ("ab c", ["abc"]), ("a b d c", []), ("c a b", [])],
)
def test_all_words_of_a_query_are_joined_in_their_order(query: str, expected: list[str]) -> None:
    assert found(["abc"], query) == expected


@pytest.mark.parametrize(
    "params",
    [
        {"typoTolerance": False},
        {"disableTypoToleranceOnAttributes": ["title"]},
        {"settings": {"disableTypoToleranceOnWords": ["1234"]}},
    ],
    ids=str,
)
def test_words_are_not_joined_where_typos_are_off(params: dict[str, Any]) -> None:
    assert found(["AB1234X"], "ab 1234 x", **params) == []


def test_a_joined_query_costs_one_typo() -> None:
    [hit] = search(["AB1234X"], "ab 1234 x").hits

    assert hit["_rankingInfo"]["nbTypos"] == 1
    assert hit["_rankingInfo"]["proximityDistance"] == 2


def test_files_of_the_earlier_format_are_not_loaded(tmp_path: Path) -> None:
    index = make_index(["L'eau"])
    index.save(tmp_path, 7)
    manifest = msgspec.json.decode((tmp_path / MANIFEST).read_bytes())
    assert Index.load(tmp_path, index.settings) is not None

    earlier = msgspec.json.encode({**manifest, "format": 3})
    (tmp_path / MANIFEST).write_bytes(earlier)

    assert Index.load(tmp_path, index.settings) is None
