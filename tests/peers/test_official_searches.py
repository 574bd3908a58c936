"""The vendor's Python client searches, and its models accept every response."""

from __future__ import annotations

from typing import Any

import pytest
from algoliasearch.search.client import SearchClientSync
from algoliasearch.search.models.browse_params_object import BrowseParamsObject
from algoliasearch.search.models.browse_response import BrowseResponse
from algoliasearch.search.models.query_type import QueryType
from algoliasearch.search.models.search_for_facet_values_response import (
    SearchForFacetValuesResponse,
)
from algoliasearch.search.models.search_params import SearchParams
from algoliasearch.search.models.search_params_object import SearchParamsObject
from algoliasearch.search.models.search_params_string import SearchParamsString
from algoliasearch.search.models.search_response import SearchResponse

from tests.peers.films import FILMS
from tests.peers.official import fill, finish, ids, own_warnings

pytestmark = own_warnings


def search(client: SearchClientSync, index: str, **params: Any) -> SearchResponse:
    return client.search_single_index(index, params)


def test_an_answer_fits_the_model_with_everything_asked_for(
    searcher: SearchClientSync, films: str
) -> None:
    params = SearchParamsObject(
        query="alien",
        facets=["*"],
        get_ranking_info=True,
        click_analytics=True,
        attributes_to_snippet=["plot:4"],
        hits_per_page=1,
    )

    answer = searcher.search_single_index(films, SearchParams(params))

    assert (answer.nb_hits, answer.nb_pages, answer.page, answer.hits_per_page) == (2, 2, 0, 1)
    assert (answer.query, answer.parsed_query, answer.index_used) == ("alien", "alien", films)
    assert answer.facets == {
        "genre": {"space": 2, "horror": 1, "war": 1},
        "year": {"1979": 1, "1986": 1},
    }
    assert answer.facets_stats is not None
    assert answer.facets_stats["year"].to_dict() == {
        "min": 1979, "max": 1986, "avg": 1982.5, "sum": 3965,
    }  # fmt: skip
    assert answer.exhaustive is not None
    assert (answer.exhaustive.nb_hits, answer.exhaustive_facets_count) == (True, True)
    assert len(answer.query_id or "") == 32


def test_a_hit_fits_the_model(searcher: SearchClientSync, films: str) -> None:
    answer = search(
        searcher, films, query="alien", getRankingInfo=True, attributesToSnippet=["plot:4"]
    )

    hit = answer.hits[0].to_dict()
    extras = {name: hit.pop(name) for name in ("_highlightResult", "_snippetResult")}
    ranking = answer.hits[0].ranking_info
    assert ranking is not None
    assert (ranking.nb_typos, ranking.nb_exact_words, ranking.words) == (0, 1, 1)
    assert (ranking.first_matched_word, ranking.geo_distance) == (0, 0)
    assert hit.pop("_rankingInfo")["userScore"] == ranking.user_score
    assert hit == FILMS[0]
    assert extras["_highlightResult"]["title"] == {
        "value": "<em>Alien</em>",
        "matchLevel": "full",
        "matchedWords": ["alien"],
        "fullyHighlighted": True,
    }
    assert extras["_highlightResult"]["crew"]["lead"]["matchLevel"] == "none"
    assert "<em>alien</em>" in extras["_snippetResult"]["plot"]["value"]


@pytest.mark.parametrize(
    ("params", "found"),
    [
        (None, ["3", "1", "2", "4"]),
        ({"query": "alein"}, ["1", "2"]),
        ({"query": "sigourney"}, ["1", "2"]),
        ({"query": "ali"}, ["1", "2"]),
        ({"query": "ali", "queryType": "prefixNone", "typoTolerance": False}, []),
        ({"query": "coffee", "restrictSearchableAttributes": ["title"]}, []),
        ({"filters": "genre:space AND year >= 1979"}, ["1", "2"]),
        ({"filters": "year:1970 TO 1980 AND NOT genre:horror"}, ["3"]),
        ({"filters": '"crew.director":"Michael Mann"'}, ["4"]),
        ({"facetFilters": [["genre:horror", "genre:crime"], "genre:-war"]}, ["1", "4"]),
        ({"facetFilters": "genre:war"}, ["2"]),
        ({"numericFilters": [["year<1975", "year>1990"]]}, ["3", "4"]),
        ({"tagFilters": ["classic"]}, ["3", "1"]),
        ({"optionalFilters": ["genre:crime"]}, ["4", "3", "1", "2"]),
        ({"hitsPerPage": 2, "page": 1}, ["2", "4"]),
        ({"offset": 1, "length": 2}, ["1", "2"]),
        (SearchParamsString(params="query=alien&hitsPerPage=1"), ["1"]),
        (SearchParamsObject(filters="year > 1990", query_type=QueryType.PREFIXALL), ["4"]),
        (SearchParamsObject.from_dict({"facetFilters": [["genre:war"], "year:1986"]}), ["2"]),
    ],
)
def test_a_search_finds_what_it_asks_for(
    searcher: SearchClientSync, films: str, params: Any, found: list[str]
) -> None:
    assert ids(searcher.search_single_index(films, params)) == found


def test_only_what_is_asked_for_comes_back(searcher: SearchClientSync, films: str) -> None:
    answer = search(
        searcher,
        films,
        query="heat",
        attributesToRetrieve=["title"],
        attributesToHighlight=[],
        responseFields=["hits", "nbHits"],
    )

    assert answer.to_dict() == {"hits": [{"objectID": "4", "title": "Heat"}], "nbHits": 1}


def test_several_searches_share_one_call(searcher: SearchClientSync, films: str) -> None:
    requests: list[dict[str, Any]] = [
        {"indexName": films, "query": "heat", "analytics": False},
        {"indexName": films, "type": "facet", "facet": "genre", "facetQuery": "sp"},
        {"indexName": films, "params": "query=alien&hitsPerPage=1"},
    ]

    first, facet, last = (
        result.actual_instance for result in searcher.search({"requests": requests}).results
    )

    assert isinstance(first, SearchResponse)
    assert isinstance(facet, SearchForFacetValuesResponse)
    assert isinstance(last, SearchResponse)
    assert (first.index, ids(first), ids(last)) == (films, ["4"], ["1"])
    assert [(hit.value, hit.count) for hit in facet.facet_hits] == [("space", 3)]


def test_enough_matches_spare_the_rest(searcher: SearchClientSync, films: str) -> None:
    requests = [{"indexName": films, "query": word, "hitsPerPage": 2} for word in ("alien", "heat")]

    answer = searcher.search({"requests": requests, "strategy": "stopIfEnoughMatches"}).to_dict()

    assert [len(result["hits"]) for result in answer["results"]] == [2, 0]


def test_values_of_a_facet_are_searched(searcher: SearchClientSync, films: str) -> None:
    answer = searcher.search_for_facet_values(
        films, "genre", {"facetQuery": "spa", "filters": "year < 1980", "maxFacetHits": 5}
    )

    assert answer.exhaustive_facets_count
    assert [hit.to_dict() for hit in answer.facet_hits] == [
        {"value": "space", "highlighted": "<em>spa</em>ce", "count": 2}
    ]


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_browse_takes_parameters_along(client: SearchClientSync, films: str, size: int) -> None:
    pages: list[BrowseResponse] = []
    params = BrowseParamsObject(
        filters="genre:space", attributes_to_retrieve=["title"], hits_per_page=size
    )

    client.browse_objects(films, pages.append, params)

    assert [hit.to_dict() for page in pages for hit in page.hits] == [
        {"objectID": name, "title": title}
        for name, title in (("3", "Solaris"), ("1", "Alien"), ("2", "Aliens"))
    ]
    assert [page.nb_hits for page in pages] == [3] * len(pages)


def test_one_record_of_a_group_stands_for_it(client: SearchClientSync, index: str) -> None:
    finish(
        client,
        index,
        client.set_settings(index, {"attributeForDistinct": "group", "customRanking": ["asc(n)"]}),
    )
    fill(client, index, *({"objectID": f"{n}", "group": f"{n % 2}", "n": n} for n in range(6)))

    best = search(client, index, distinct=True)
    two = search(client, index, distinct=2)

    assert (ids(best), best.nb_hits) == (["0", "1"], 2)
    assert ids(two) == ["0", "2", "1", "3"]
    assert [hit.distinct_seq_id for hit in two.hits] == [0, 1, 0, 1]


def test_an_index_tells_its_own_data(client: SearchClientSync, index: str) -> None:
    rendering = {"facetOrdering": {"facets": {"order": ["genre"]}}}
    finish(
        client,
        index,
        client.set_settings(index, {"userData": {"a": [1]}, "renderingContent": rendering}),
    )

    answer = search(client, index)

    assert answer.user_data == {"a": [1]}
    assert answer.rendering_content is not None
    assert answer.rendering_content.to_dict() == rendering
