"""Languages: stop words, word forms, compounds, scripts, and similar queries."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import Index
from svc_notebook.service.engine.query.options import add_implied
from svc_notebook.service.engine.response.search import SearchResult
from svc_notebook.service.engine.text.compounds import Splitter
from svc_notebook.service.engine.text.inflections import standard_forms
from svc_notebook.service.engine.text.lexicon import (
    Dictionaries,
    LanguageResources,
    Lexicon,
    standard_stops,
)
from svc_notebook.service.engine.text.word_forms import FormTable, standard_table

TITLES = {
    "1": "The mouse of the house",
    "2": "Mice and men",
    "3": "Hundehütte",
    "4": "Eine Hütte für den Hund",
    "5": "すし",
    "6": "スシ",
    "7": "House",
}
RECORDS = [{"objectID": name, "title": title} for name, title in TITLES.items()]
KENNEL = {"language": "de", "word": "Hundehütte", "decomposition": ["Hund", "Hütte"]}
OWN = {"compounds": [KENNEL]}
OFF = {"compounds": frozenset({"de"})}


def search(
    query: str = "",
    own: Mapping[str, Any] = OWN,
    settings: Mapping[str, Any] | None = None,
    **p: Any,
) -> SearchResult:
    index = Index({"searchableAttributes": ["title"], **(settings or {})})
    index.put(RECORDS)
    by_name = {record["objectID"]: record for record in RECORDS}
    knowledge = LanguageResources(lexicon=Lexicon(lambda: Dictionaries(own, OFF)))
    params = {"query": query, "getRankingInfo": True, **p}
    return index.search(params, lambda ids: [by_name[name] for name in ids], knowledge)


def ids(found: SearchResult) -> list[str]:
    return sorted(hit["objectID"] for hit in found.hits)


def marked(found: SearchResult) -> dict[str, str]:
    return {hit["objectID"]: hit["_highlightResult"]["title"]["value"] for hit in found.hits}


def exact(found: SearchResult) -> dict[str, int]:
    return {hit["objectID"]: hit["_rankingInfo"]["nbExactWords"] for hit in found.hits}


@pytest.mark.parametrize(
    ("query", "params", "parsed"),
    [
        ("the mouse of", {}, "the mouse of"),
        ("the mouse", {"removeStopWords": False}, "the mouse"),
        ("the mouse", {"removeStopWords": True}, "mouse"),
        ("the mouse", {"removeStopWords": "true"}, "mouse"),
        ("the mouse", {"removeStopWords": True, "queryLanguages": ["fr"]}, "the mouse"),
        ("the mouse", {"removeStopWords": ["en"], "queryLanguages": ["fr"]}, "mouse"),
        ("le mouse", {"removeStopWords": True}, "mouse"),
        ("le mouse", {"removeStopWords": True, "indexLanguages": ["en"]}, "le mouse"),
        # What is typed as a beginning may become another word.
        ("mouse of the", {"removeStopWords": ["en"]}, "mouse the"),
        ("mouse of the", {"removeStopWords": ["en"], "queryType": "prefixNone"}, "mouse"),
        ("the mouse", {"removeStopWords": ["en"], "queryType": "prefixAll"}, "the mouse"),
        # A query of nothing but stop words is looked for as it is.
        ("of the", {"removeStopWords": ["en"], "queryType": "prefixNone"}, "of the"),
        ('"of the" a mouse', {"removeStopWords": ["en"], "advancedSyntax": True}, "of the mouse"),
    ],
)
def test_stop_words_are_left_out(query: str, params: dict[str, Any], parsed: str) -> None:
    settings = {name: params.pop(name) for name in ("indexLanguages",) if name in params}

    assert search(query, settings=settings, **params).parsed_query == parsed


def test_an_excluded_stop_word_stays_excluded() -> None:
    params: dict[str, Any] = {"removeStopWords": ["en"], "advancedSyntax": True}

    assert ids(search("house -the", **params)) == ["7"]


def test_an_optional_phrase_counts_without_its_stop_words() -> None:
    params: dict[str, Any] = {"removeStopWords": ["en"], "optionalWords": ["lamp of the house"]}

    assert ids(search("lamp of the house mouse", **params)) == ["1"]


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({}, ["1"]),
        ({"ignorePlurals": True}, ["1", "2"]),
        ({"ignorePlurals": "true"}, ["1", "2"]),
        ({"ignorePlurals": ["en"]}, ["1", "2"]),
        ({"ignorePlurals": True, "queryLanguages": ["fr"]}, ["1"]),
        ({"ignorePlurals": ["en"], "queryLanguages": ["fr"]}, ["1", "2"]),
    ],
)
def test_other_forms_of_a_word_are_found(params: dict[str, Any], found: list[str]) -> None:
    assert ids(search("mouse", **params)) == found


@pytest.mark.parametrize(("kinds", "count"), [(["ignorePlurals"], 1), ([], 0)])
def test_another_form_is_exact_on_request(kinds: list[str], count: int) -> None:
    found = search("mouse men", ignorePlurals=["en"], alternativesAsExact=kinds)

    assert exact(found) == {"2": 1 + count}


def test_the_form_in_the_text_is_marked() -> None:
    assert marked(search("mouse", ignorePlurals=["en"])) == {
        "1": "The <em>mouse</em> of the house",
        "2": "<em>Mice</em> and men",
    }


def test_a_form_of_several_words_is_found_as_a_phrase() -> None:
    own = {"plurals": [{"language": "en", "words": ["rodent", "mice and men"]}]}

    assert ids(search("rodent", own, ignorePlurals=["en"])) == ["2"]


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize(
    ("word", "language", "others"),
    [
        ("leaves", "en", {"leaf", "leave"}),
        ("saw", "en", {"saws"}),
        ("gas", "en", {"gases"}),
        ("iphone", "en", {"iphones"}),
        ("chevaux", "fr", {"cheval"}),
        ("cheval", "fr", {"chevaux"}),
        ("flor", "es", {"flores"}),
        ("huizen", "nl", {"huis"}),
    ],
)
def test_standard_forms_are_known_both_ways(word: str, language: str, others: set[str]) -> None:
    assert others <= {*standard_forms(word, language)}
    assert all(word in standard_forms(other, language) for other in others)


@pytest.mark.parametrize(
    ("word", "language", "other"),
    [("see", "en", "saw"), ("walk", "en", "walking"), ("porte", "fr", "portons")],
)
def test_conjugated_verbs_are_not_plurals(word: str, language: str, other: str) -> None:
    assert other not in standard_forms(word, language)


def test_an_unknown_language_has_no_words() -> None:
    assert standard_stops("../etc") == frozenset()
    assert standard_table("../etc").forms("word") == []
    assert standard_forms("word", "../etc") == ()


@pytest.mark.parametrize("word", ["computer", "tv", "big", "hell", "ring", "c"])
def test_common_search_words_are_not_stop_words(word: str) -> None:
    assert word not in standard_stops("en")


def test_a_table_of_forms_that_was_saved_is_the_same(tmp_path: Any) -> None:
    table = FormTable.of([("mice", 0), ("mouse", 0), ("mouse", 1), ("mousse", 1)])
    path = tmp_path / "new" / "forms.npz"

    table.save(path)

    kept = FormTable.load(path)
    assert kept
    assert kept.forms("mouse") == table.forms("mouse") == ["mice", "mouse", "mousse"]
    assert FormTable.load(tmp_path / "none.npz") is None
    path.write_bytes(path.read_bytes()[:100])
    assert FormTable.load(path) is None


IN_GERMAN = {"decompoundedAttributes": {"de": ["title"]}}


@pytest.mark.parametrize(
    ("query", "found"),
    [("hütte", ["3", "4"]), ("hüt", ["3", "4"]), ("hund", ["3", "4"]), ("ütte", [])],
)
def test_a_part_of_a_compound_is_found(query: str, found: list[str]) -> None:
    assert ids(search(query, settings=IN_GERMAN, typoTolerance=False)) == found


def test_a_part_matches_only_in_decompounded_attributes() -> None:
    assert ids(search("hütte", settings={"decompoundedAttributes": {"de": ["text"]}})) == ["4"]
    assert ids(search("hütte", settings={"decompoundedAttributes": {"nl": ["title"]}})) == ["4"]
    rigid = {**IN_GERMAN, "disablePrefixOnAttributes": ["title"]}
    assert ids(search("hüt", settings=rigid, typoTolerance=False)) == []


def test_a_compound_is_marked_as_a_whole() -> None:
    assert marked(search("hütte", settings=IN_GERMAN))["3"] == "<em>Hundehütte</em>"


def test_a_part_of_a_compound_is_not_exact() -> None:
    found = search("hütte hund", settings=IN_GERMAN)

    assert exact(found) == {"3": 0, "4": 2}


def test_the_parts_of_a_compound_match_anywhere_in_a_record() -> None:
    found = search("hundehütte", queryLanguages=["de"])

    assert marked(found) == {
        "3": "<em>Hundehütte</em>",
        "4": "Eine <em>Hütte</em> für den <em>Hund</em>",
    }


@pytest.mark.parametrize(
    "params", [{}, {"queryLanguages": ["nl"]}, {"queryLanguages": ["de"], "decompoundQuery": False}]
)
def test_a_compound_of_a_query_is_split_only_on_request(params: dict[str, Any]) -> None:
    assert ids(search("hundehütte", **params)) == ["3"]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("boekenkast", [("boeken", "kast"), ("boek", "kast")]),
        ("kast", []),
        ("boekenkastdeur", [("boeken", "kast", "deur"), ("boek", "kast", "deur")]),
        ("xyzkast", []),
    ],
)
def test_compounds_are_split_into_known_words(word: str, parts: list[tuple[str, ...]]) -> None:
    assert Splitter("nl").readings(word) == parts


def test_a_custom_atom_is_a_part_of_longer_words() -> None:
    own = {"boekenkast": (), "lampje": ("lamp", "je")}

    assert Splitter("nl", own).readings("boekenkast") == []
    assert Splitter("nl", own).readings("boekenkastdeur") == [("boekenkast", "deur")]
    assert Splitter("nl", own).readings("lampje") == [("lamp", "je")]


IN_KANA = {"attributesToTransliterate": ["title"]}


@pytest.mark.parametrize("query", ["すし", "スシ", "sushi"])
def test_kana_are_found_in_either_script_and_by_latin_letters(query: str) -> None:
    assert ids(search(query, settings=IN_KANA)) == ["5", "6"]


def test_transliteration_is_off_by_default() -> None:
    assert ids(search("すし")) == ["5"]
    assert ids(search("sushi")) == []


def test_a_similar_query_requires_no_word_and_ranks_by_matched_words() -> None:
    found = search("never", similarQuery="the mouse of a house", queryLanguages=["en"])

    assert [hit["objectID"] for hit in found.hits] == ["1", "7"]
    assert found.parsed_query == "mouse house"
    assert ids(search(similarQuery="hous", queryLanguages=["en"], typoTolerance=False)) == []


@pytest.mark.parametrize(
    ("query", "kind", "counts"),
    [("of", "word", 0), ("the", "word", 0), ("mouse", "word", 1), ("mouse", "attribute", 0)],
)
def test_a_stop_word_alone_is_not_exact(query: str, kind: str, counts: int) -> None:
    found = search(query, exactOnSingleWordQuery=kind, queryLanguages=["en"])

    assert exact(found)["1"] == counts


def test_natural_languages_set_only_unset_parameters() -> None:
    given = {"naturalLanguages": ["en"], "ignorePlurals": False, "ruleContexts": ["shop"]}

    assert add_implied(given) == {
        **given,
        "removeStopWords": ["en"],
        "removeWordsIfNoResults": "allOptional",
        "ruleContexts": ["shop", "natural_language"],
        "analyticsTags": ["natural_language"],
    }
    assert add_implied({"query": "x"}) == {"query": "x"}


SYLLABLES = ["foo", "bar", "baz", "qux", "abc"]
WORDS = ["".join(pair) for pair in itertools.product(SYLLABLES, SYLLABLES)] + SYLLABLES


@pytest.mark.parametrize("seed", range(12))
def test_results_equal_those_of_a_scan_of_all_records(seed: int) -> None:
    """Words stop, bend and are put together by entries of one's own, at random."""
    random = Random(seed)
    own = make_own(random)
    records = [
        {"objectID": f"{n:02}", "title": " ".join(random.choices(WORDS, k=4))} for n in range(60)
    ]
    index = Index({"decompoundedAttributes": {"de": ["title"]}, "typoTolerance": False})
    index.put(records)
    off = {name: frozenset({"de"}) for name in own}
    knowledge = LanguageResources(lexicon=Lexicon(lambda: Dictionaries(own, off)))

    for _ in range(20):
        query = random.choices(WORDS, k=random.randrange(1, 4))
        params = {
            "removeStopWords": random.choice([False, ["de"]]),
            "ignorePlurals": random.choice([False, ["de"]]),
            "queryLanguages": random.choice([[], ["de"]]),
            "queryType": "prefixNone",
            "hitsPerPage": 100,
        }
        given = {"query": " ".join(query), **params}
        found = index.search(given, lambda ids: [None] * len(ids), knowledge)
        expected = [r for r in records if is_wanted(r["title"].split(), query, params, own)]
        assert found.nbHits == len(expected), (query, params)


def make_own(random: Random) -> dict[str, list[dict[str, Any]]]:
    return {
        "stopwords": [
            {"language": "de", "word": word, "state": random.choice(["enabled", "disabled"])}
            for word in random.sample(WORDS, 8)
        ],
        "plurals": [{"language": "de", "words": random.sample(WORDS, 3)} for _ in range(4)],
        "compounds": [
            {"language": "de", "word": word, "decomposition": [word[:3], word[3:]]}
            for word in random.sample(WORDS[:-5], 10)
        ],
    }


def is_wanted(
    text: Sequence[str], query: Sequence[str], params: Mapping[str, Any], own: Mapping[str, Any]
) -> bool:
    stops = {entry["word"] for entry in own["stopwords"] if entry["state"] == "enabled"}
    telling = [word for word in query if not (params["removeStopWords"] and word in stops)]
    return all(is_there(word, text, params, own) for word in telling or query)


def is_there(
    word: str, text: Sequence[str], params: Mapping[str, Any], own: Mapping[str, Any]
) -> bool:
    parts = {entry["word"]: entry["decomposition"] for entry in own["compounds"]}
    inside = {part for there in text for part in parts.get(there, ())}
    forms = [entry["words"] for entry in own["plurals"] if word in entry["words"]]
    if word in text or word in inside:
        return True
    if params["ignorePlurals"] and any(form in text for words in forms for form in words):
        return True
    return bool(params["queryLanguages"]) and word in parts and {*parts[word]} <= {*text}


@pytest.mark.parametrize(("words", "step"), [(3, 0), (4, 1), (7, 1), (10, 2)])
def test_lower_ranked_hits_need_more_words(words: int, step: int) -> None:
    random = Random(words)
    query = [f"w{number}" for number in range(words)]
    sizes = [1, 1, 1, 1, 2, 3]
    records: list[dict[str, Any]] = [
        {"objectID": f"{n:04}", "title": " ".join(random.sample(query, random.choice(sizes)))}
        | {"rank": random.random()}
        for n in range(4500)
    ]
    index = Index({"ranking": ["custom"], "customRanking": ["asc(rank)"]})
    index.put(records[:2500])
    index.put(records[2500:])
    asked = {"query": " ".join(query), "optionalWords": query, "paginationLimitedTo": 5000}

    def names(ids: Sequence[str]) -> list[dict[str, Any]]:
        return [{"objectID": name} for name in ids]

    pages = [index.search({**asked, "page": page, "hitsPerPage": 1000}, names) for page in range(5)]

    expected: list[str] = []
    for record in sorted(records, key=lambda record: record["rank"]):
        if len(record["title"].split()) >= 1 + step * (len(expected) // 1000):
            expected.append(record["objectID"])
    assert [hit["objectID"] for page in pages for hit in page.hits] == expected
    assert {page.nbHits for page in pages} == {len(expected)}
