"""A search's answer: pages, attributes, facets, marks, explanations, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.index.schema import INTERNAL
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import read_query
from svc_notebook.service.engine.response.highlight import Style, mark_text
from svc_notebook.service.engine.response.highlight_matcher import make_marker
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus
from tests.service.engine import cases
from tests.service.engine.oracle import leaves, split

Record = dict[str, Any]
FILMS: list[Record] = [
    {
        "objectID": "1",
        "title": "The Red Lamp",
        "cast": [{"name": "Ann Lee", "age": 40}, {"name": "Bob Red", "age": 31}],
        "genre": ["Drama", "Comedy"],
        "year": 1999,
        "secret": {"note": "red hot", "code": 7},
    },
    {"objectID": "2", "title": "Lamp", "genre": ["drama"], "year": 2004, "rating": 7.5},
    {"objectID": "3", "title": "Lampshade red", "genre": ["Crime Drama"], "rating": 8},
]
SETTINGS = {
    "searchableAttributes": ["title", "cast.name", "secret"],
    "attributesForFaceting": ["searchable(genre)", "year", "rating", "filterOnly(cast.age)"],
    "customRanking": ["desc(year)"],
    "unretrievableAttributes": ["secret"],
}


def search(query: str = "", settings: dict[str, Any] = SETTINGS, **params: Any) -> SearchResult:
    index = Index(settings)
    index.put(FILMS)
    return index.search({"query": query, **params}, fetch)


def fetch(ids: Sequence[str]) -> list[Record]:
    return [next(film for film in FILMS if film["objectID"] == name) for name in ids]


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


# ------------------------------------------------------------------------------------ pages


@pytest.mark.parametrize(
    ("params", "expected", "paging"),
    [
        ({}, ["2", "1", "3"], {"page": 0, "nbPages": 1, "hitsPerPage": 20}),
        ({"hitsPerPage": 2}, ["2", "1"], {"page": 0, "nbPages": 2, "hitsPerPage": 2}),
        ({"hitsPerPage": 2, "page": 1}, ["3"], {"page": 1, "nbPages": 2, "hitsPerPage": 2}),
        ({"hitsPerPage": 2, "page": 9}, [], {"page": 9, "nbPages": 2, "hitsPerPage": 2}),
        ({"offset": 1, "length": 1}, ["1"], {"offset": 1, "length": 1}),
        ({"offset": 1, "length": 0}, [], {"offset": 1, "length": 0}),
        ({"offset": 1}, ["2", "1", "3"], {"page": 0, "nbPages": 1, "hitsPerPage": 20}),
        ({"length": 1}, ["2", "1", "3"], {"page": 0, "nbPages": 1, "hitsPerPage": 20}),
    ],
    ids=str,
)
def test_hits_come_by_page_or_by_offset_and_length(
    params: dict[str, Any], expected: list[str], paging: dict[str, int]
) -> None:
    found = search(**params)

    assert ids(found) == expected
    assert found.nbHits == 3
    assert found.paging == paging


def test_no_page_reaches_beyond_the_limit() -> None:
    found = search(settings=SETTINGS | {"paginationLimitedTo": 2}, hitsPerPage=1, page=2)

    assert ids(found) == []
    assert found.nbHits == 3
    assert found.paging["nbPages"] == 2


def test_nothing_found_has_no_pages() -> None:
    assert search("zebra").paging["nbPages"] == 0


# ------------------------------------------------------------------------------ attributes


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["title"], ["title"]),
        (["*"], ["title", "cast", "genre", "year"]),
        (["*", "-title", "-cast"], ["genre", "year"]),
        (["-title"], ["cast", "genre", "year"]),
        ([], []),
        (["secret", "nothing"], []),
        (["secret.code", "year"], ["year"]),
    ],
    ids=str,
)
def test_a_hit_has_the_requested_attributes(wanted: list[str], expected: list[str]) -> None:
    [hit] = search("ann", attributesToRetrieve=wanted, attributesToHighlight=[]).hits

    assert set(hit) == {*expected, "objectID"}


def test_parts_of_objects_are_selected_and_removed_in_place() -> None:
    params: dict[str, Any] = {"attributesToHighlight": []}
    [picked] = search("ann", attributesToRetrieve=["cast.name"], **params).hits
    [without] = search("ann", attributesToRetrieve=["*", "-cast.name"], **params).hits

    assert picked["cast"] == [{"name": "Ann Lee"}, {"name": "Bob Red"}]
    assert without["cast"] == [{"age": 40}, {"age": 31}]


def test_unretrievable_attributes_are_visible_only_with_the_right() -> None:
    [hit] = search("ann", attributesToSnippet=["*"]).hits
    [seen] = search("ann", attributesToSnippet=["*"], _seeUnretrievable=True).hits

    assert "secret" not in {*hit, *hit["_highlightResult"], *hit["_snippetResult"]}
    assert seen["secret"] == {"note": "red hot", "code": 7}


def test_an_unretrievable_score_is_not_returned() -> None:
    settings = SETTINGS | {"unretrievableAttributes": ["year"], "customRanking": ["desc(year)"]}

    [hit] = search("ann", settings=settings, getRankingInfo=True).hits
    [seen] = search("ann", settings=settings, getRankingInfo=True, _seeUnretrievable=True).hits

    assert hit["_rankingInfo"]["userScore"] == 0
    assert seen["_rankingInfo"]["userScore"] > 1900


def test_a_facet_that_may_not_be_retrieved_is_not_counted() -> None:
    settings = SETTINGS | {"unretrievableAttributes": ["genre"]}

    assert set(search(settings=settings, facets=["*"]).facets or {}) == {"year", "rating"}
    assert search(settings=settings, facets=["genre"]).facets is None


def test_a_record_deleted_in_the_meantime_is_skipped() -> None:
    index = Index()
    index.put(FILMS)

    found = index.search({}, lambda ids: [None, *fetch(ids)[1:]])

    assert len(found.hits) == 2


# ---------------------------------------------------------------------------------- facets


def test_facets_count_all_matches_not_only_the_page() -> None:
    found = search("lamp", facets=["*"], hitsPerPage=1)

    assert found.facets == {
        "genre": {"Comedy": 1, "Crime Drama": 1, "Drama": 1, "drama": 1},
        "year": {"1999": 1, "2004": 1},
        "rating": {"7.5": 1, "8": 1},
    }
    assert found.facets_stats == {
        "year": {"min": 1999, "max": 2004, "avg": 2001.5, "sum": 4003},
        "rating": {"min": 7.5, "max": 8, "avg": 7.75, "sum": 15.5},
    }
    assert found.extra["exhaustiveFacetsCount"] is True


def test_without_requested_facets_there_are_none() -> None:
    assert search().facets is None
    assert search(facets=["title", "cast.age"]).facets is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Comedy", "Crime Drama", "Drama", "drama"]),
        ("dr", ["Crime Drama", "Drama", "drama"]),
        ("drmaa", ["Crime Drama", "Drama", "drama"]),
        ("crime dr", ["Crime Drama"]),
        ("zebra", []),
    ],
)
def test_facet_values_are_searched_by_words_prefixes_and_typos(
    query: str, expected: list[str]
) -> None:
    index = Index(SETTINGS)
    index.put(FILMS[:2])
    index.put(FILMS[2:])

    found = index.facet_values("genre", query, {}, 10)

    assert [hit["value"] for hit in found.hits] == expected


def test_facet_values_are_marked_counted_and_limited() -> None:
    index = Index(SETTINGS)
    index.put([*FILMS, {"objectID": "4", "genre": "Drama"}])

    found = index.facet_values("genre", "dra", {"filters": "NOT objectID:2"}, 1)

    assert found.hits == [{"value": "Drama", "highlighted": "<em>Dra</em>ma", "count": 2}]


@pytest.mark.parametrize("facet", ["year", "nothing", "title"])
def test_a_facet_that_is_not_searchable_is_refused_with_advice(facet: str) -> None:
    with pytest.raises(BadInput, match=rf"add searchable\({facet}\) to attributesForFaceting"):
        Index(SETTINGS).facet_values(facet, "", {}, 10)


def test_facets_of_many_values_in_many_segments_are_still_exact() -> None:
    index = Index({"attributesForFaceting": ["code"]})
    for start in range(3):
        index.put(
            [{"objectID": f"{start}-{n}", "code": f"c{n % (1000 + start)}"} for n in range(3000)]
        )
    expected = {f"c{n}": 9 for n in range(998)} | {"c998": 9, "c999": 9}
    expected = dict.fromkeys(sorted(expected)[:2], 9)

    found = index.search({"facets": ["code"], "maxValuesPerFacet": 2}, lambda ids: [None] * 20)

    assert found.facets == {"code": dict.fromkeys(("c0", "c1"), 9)}
    assert set(expected) >= {"c0", "c1"}


# ----------------------------------------------------------------------------------- marks


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("lamp", "The Red <em>Lamp</em>"),
        ("la", "The Red <em>La</em>mp"),
        ("lmap", "The Red <em>Lamp</em>"),
        ("red lamp", "The <em>Red</em> <em>Lamp</em>"),
        ("redlamp", "The <em>Red</em> <em>Lamp</em>"),
    ],
)
def test_hits_are_marked_by_the_rule_that_found_them(query: str, title: str) -> None:
    hit = next(hit for hit in search(query).hits if hit["objectID"] == "1")

    assert hit["_highlightResult"]["title"]["value"] == title


@pytest.mark.sampled(12, quick=3)
@pytest.mark.parametrize("seed", range(40))
def test_a_record_is_found_by_one_word_exactly_if_something_in_it_would_be_marked(
    seed: int,
) -> None:
    random = Random(seed)
    settings = cases.make_settings(random)
    records = [cases.make_record(random, number) for number in range(40)]
    records = list({record["objectID"]: record for record in records}.values())
    synonyms = cases.make_synonyms(random)
    knowledge = LanguageResources(Thesaurus(lambda: synonyms))
    index = Index(settings)
    index.put(records)

    for _ in range(10):
        word = next(iter(split(cases.make_word(random))), "red")
        if synonyms and random.random() < 0.6:
            word = random.choice(split(cases.make_synonymous(random, synonyms)))
        params = cases.make_params(random, settings) | {"query": word}
        kept = {name: params[name] for name in params.keys() & RULING}
        sent = {**kept, "hitsPerPage": 1000}
        found = index.search(sent, lambda ids: [None for _ in ids], knowledge)
        options = EffectiveParameters(settings, kept, knowledge)
        marked = [record for record in records if is_marked(record, options)]
        assert found.nbHits == len(marked), f"{settings} {kept} {synonyms}"


RULING = {
    "query",
    "queryType",
    "minWordSizefor1Typo",
    "minWordSizefor2Typos",
    "allowTyposOnNumericTokens",
    "disableTypoToleranceOnAttributes",
    "restrictSearchableAttributes",
    "synonyms",
}


def is_marked(record: Record, options: EffectiveParameters) -> bool:
    query = read_query(options)
    marker = make_marker(query, options)
    style = Style.of(options, [word.text for word in query.words])
    for name in record.keys() - INTERNAL:
        for path, value in leaves(record[name], name):
            if isinstance(value, bool) or not (isinstance(value, str) or options.searched):
                continue
            text = str(value).removesuffix(".0")
            if mark_text(text, path, marker, style) != text:
                return True
    return False


# ----------------------------------------------------------------------------------- groups


def test_groups_are_found_although_one_group_has_all_the_best_records() -> None:
    index = Index({"attributeForDistinct": "maker", "customRanking": ["desc(rank)"]})
    index.put([{"objectID": f"a{n}", "maker": "a", "rank": 1000 - n} for n in range(200)])
    index.put([{"objectID": f"b{n}", "maker": "b", "rank": 100 - n} for n in range(10)])
    index.put([{"objectID": f"c{n}", "rank": -n} for n in range(3)])

    found = index.search(
        {"distinct": 2, "hitsPerPage": 3}, lambda ids: [{"objectID": n} for n in ids]
    )

    assert [(hit["objectID"], hit["_distinctSeqID"]) for hit in found.hits] == [
        ("a0", 0),
        ("a1", 1),
        ("b0", 0),
        ("b1", 1),
        ("c0", 0),
    ]
    assert found.nbHits == 5


# ------------------------------------------------------------------------------ explanation


def test_ranking_info_contains_the_value_of_every_criterion() -> None:
    hit = next(
        hit
        for hit in search("red lmap", getRankingInfo=True, filters="genre:drama<score=3>").hits
        if hit["objectID"] == "1"
    )

    assert hit["_rankingInfo"] == {
        "textScore": pytest.approx(0.267),
        "nbTypos": 1,
        "firstMatchedWord": 1,
        "proximityDistance": 1,
        "userScore": 1999,
        "geoDistance": 0,
        "geoPrecision": 1,
        "nbExactWords": 1,
        "words": 2,
        "filters": 3,
    }


def test_the_rank_of_the_next_attribute_is_a_thousand_higher() -> None:
    [hit] = search("ann lee", getRankingInfo=True).hits

    assert hit["_rankingInfo"]["firstMatchedWord"] == 1000


def test_words_made_optional_are_reported() -> None:
    found = search("lamp zebra", removeWordsIfNoResults="lastWords")

    assert ids(found) == ["2", "1"]
    assert found.extra["queryAfterRemoval"] == "lamp <em>zebra</em>"


# --------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"filters": "brand:"}, "filters: .*character"),
        ({"restrictSearchableAttributes": ["titel"]}, '"titel".*did you mean `title`'),
        ({"optionalFilters": [1]}, r"optionalFilters\[0\]"),
    ],
    ids=str,
)
def test_an_invalid_parameter_is_refused_by_name(params: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        search(**params)


# -------------------------------------------------------------------------------- matching


def words_found(texts: Sequence[str], query: str, **given: Any) -> list[str]:
    index = Index()
    index.put([{"objectID": text, "text": text} for text in texts])
    found = index.search({"query": query, **given}, lambda ids: [{"objectID": n} for n in ids])
    return sorted(hit["objectID"] for hit in found.hits)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"red lamp"', ["a red lamp"]),
        ('"lamp red"', ["lamp red"]),
        ("lamp -red", ["lamp blue"]),
        ('lamp -"red lamp"', ["lamp blue", "lamp red"]),
        ('-"red lamp"', ["lamp blue", "lamp red"]),
        ("well-red", []),
        ('lamp "red', ["a red lamp", "lamp red"]),
    ],
)
def test_phrases_and_exclusions_apply_only_in_advanced_syntax(query: str, found: list[str]) -> None:
    texts = ["a red lamp", "lamp red", "lamp blue"]

    assert words_found(texts, query, advancedSyntax=True) == found


def test_only_the_selected_advanced_features_apply() -> None:
    texts = ["red lamp", "lamp red", "blue"]
    params = {"advancedSyntax": True, "advancedSyntaxFeatures": ["excludeWords"]}

    assert words_found(texts, '"red lamp"', **params) == ["lamp red", "red lamp"]
    assert words_found(texts, "lamp -red", **params) == []


def test_split_and_joined_words_match_each_other() -> None:
    texts = ["armchair", "arm chair", "chair arm"]

    assert words_found(texts, "armchair") == ["arm chair", "armchair"]
    assert words_found(texts, "arm chair") == ["arm chair", "armchair", "chair arm"]
    assert words_found(["top 42"], "top42") == ["top 42"]
    assert words_found(["ax lamp"], "axlamp") == ["ax lamp"]
    assert words_found(["a lamp"], "alamp") == ["a lamp"]
    assert words_found(texts, "armchair", typoTolerance=False) == ["armchair"]


def test_camel_case_and_separators_follow_the_settings() -> None:
    index = Index({"camelCaseAttributes": ["name"], "separatorsToIndex": "+"})
    index.put([{"objectID": "1", "name": "fastLamp", "other": "slowLamp c++"}])

    def count(query: str) -> int:
        return index.search({"query": query}, lambda ids: [None]).nbHits

    assert count("lamp") == 1
    assert count("slow") == 1
    assert count("fast lamp") == 1
    assert count("slow lamp") == 1
    assert count("c++") == 1
    assert count("c+++") == 0  # its four words are not next to each other


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_records_without_an_optional_word_count_as_free_of_typos(wanted: int) -> None:
    """The criterion of typos is read from masks where enough records have none."""
    records = [
        {"objectID": "typo", "name": "yelow lamp", "sold": 9},
        {"objectID": "both", "name": "yellow lamp", "sold": 1},
        {"objectID": "one", "name": "lamp", "sold": 5},
    ]
    index = Index({"ranking": ["typo", "custom"], "customRanking": ["desc(sold)"]})
    index.put(records)
    params = {"query": "yellow lamp", "optionalWords": ["yellow"], "hitsPerPage": wanted}

    found = index.search(params, lambda names: [{"objectID": name} for name in names])

    assert ids(found) == ["one", "both", "typo"][:wanted]
    assert found.nbHits == 3
