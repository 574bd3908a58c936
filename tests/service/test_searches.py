"""Responses of searches over HTTP have the members of the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Inside, Running

FILMS: list[dict[str, Any]] = [
    {"objectID": "1", "title": "Alien", "year": 1979, "genre": ["horror", "space"]},
    {"objectID": "2", "title": "Aliens", "year": 1986, "genre": ["war", "space"]},
    {"objectID": "3", "title": "Solaris", "year": 1972, "genre": ["space"]},
    {"objectID": "4", "title": "Heat", "year": 1995, "genre": ["crime"]},
]
SETTINGS: dict[str, Any] = {
    "searchableAttributes": ["title"],
    "attributesForFaceting": ["searchable(genre)", "year"],
    "customRanking": ["asc(year)"],
}


@pytest.fixture
def films(inside: Inside) -> Inside:
    inside.fill("films", *FILMS, **SETTINGS)
    return inside


def ask(inside: Inside, path: str, body: Any = None, verb: str = "POST") -> dict[str, Any]:
    answer = inside.call(verb, f"/1/indexes/{path}", body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_an_answer_has_all_members_clients_read(films: Inside) -> None:
    answer = ask(films, "films/query", {"query": "alien", "hitsPerPage": 1})

    assert answer["nbHits"] == 2
    assert (answer["page"], answer["nbPages"], answer["hitsPerPage"]) == (0, 2, 1)
    assert answer["query"] == "alien"
    assert parse_qs(answer["params"]) == {"query": ["alien"], "hitsPerPage": ["1"]}
    assert answer["exhaustiveNbHits"] is True
    assert answer["exhaustive"] == {"nbHits": True, "typo": True}
    assert answer["renderingContent"] == {}
    assert isinstance(answer["processingTimeMS"], int)
    assert answer["hits"][0]["_highlightResult"]["title"]["value"] == "<em>Alien</em>"


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "films/query", {"query": "alien", "facets": ["genre"], "page": 0}),
        ("POST", "films/query", {"params": "query=alien&facets=genre&page=0"}),
        ("POST", "films/query", {"params": "query=alien&facets=%5B%22genre%22%5D"}),
        ("POST", "films/query", {"params": "query=heat", "query": "alien", "facets": ["genre"]}),
        ("POST", "films/query", {"params": {"query": "alien", "facets": ["genre"], "page": 0}}),
        ("POST", "films/query", {"params": None, "query": "alien", "facets": ["genre"]}),
        ("GET", "films?query=alien&facets=genre&page=0", None),
        ("GET", "films?query=alien&facets=%5B%22genre%22%5D", None),
    ],
)
def test_parameters_are_accepted_in_every_form(
    films: Inside, verb: str, path: str, body: Any
) -> None:
    answer = ask(films, path, body, verb)

    assert [hit["objectID"] for hit in answer["hits"]] == ["1", "2"]
    assert answer["facets"] == {"genre": {"space": 2, "horror": 1, "war": 1}}
    assert answer["exhaustiveFacetsCount"] is True


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "films/query", {"params": "facets=genre,year"}),
        ("POST", "films/query", {"facets": "genre,year"}),
        ("GET", "films?facets=genre,year", None),
        ("GET", "films?facets=genre%2Cyear", None),
    ],
)
def test_several_facets_may_be_one_text(films: Inside, verb: str, path: str, body: Any) -> None:
    answer = ask(films, path, body, verb)

    assert answer["facets"].keys() == {"genre", "year"}
    assert "message" not in answer


@pytest.mark.parametrize(
    "body",
    [
        {"insideBoundingBox": [49, 2, 48, 3]},
        {"insidePolygon": [49, 2, 48, 2, 48, 3, 49, 3]},
        {"insideBoundingBox": [[49, 2, 48, 3]]},
        {"params": "insideBoundingBox=49,2,48,3"},
        {"params": "insidePolygon=[49,2,48,2,48,3]"},
    ],
)
def test_one_place_need_not_be_a_list_of_places(inside: Inside, body: dict[str, Any]) -> None:
    paris = {"objectID": "paris", "_geoloc": {"lat": 48.3, "lng": 2.2}}
    inside.fill("places", paris, {"objectID": "rome", "_geoloc": {"lat": 41.9, "lng": 12.5}})

    assert [hit["objectID"] for hit in ask(inside, "places/query", body)["hits"]] == ["paris"]


def test_several_optional_words_may_be_one_text(films: Inside) -> None:
    body = {"query": "heat nothing nowhere", "optionalWords": "nothing,nowhere"}

    assert [hit["objectID"] for hit in ask(films, "films/query", body)["hits"]] == ["4"]


def test_null_means_the_default(films: Inside) -> None:
    answer = ask(films, "films/query", {"query": None, "hitsPerPage": None, "filters": None})

    assert (answer["nbHits"], answer["hitsPerPage"]) == (4, 20)


def test_numbers_among_facets_have_statistics(films: Inside) -> None:
    answer = ask(films, "films/query", {"facets": ["year"]})

    assert answer["facets_stats"]["year"] == {"min": 1972, "max": 1995, "avg": 1983, "sum": 7932}


def test_ranking_info_names_the_index_and_the_parsed_query(films: Inside) -> None:
    answer = ask(films, "films/query", {"query": "Alien", "getRankingInfo": True})

    assert answer["index"] == answer["indexUsed"] == "films"
    assert answer["parsedQuery"] == "alien"
    assert answer["hits"][0]["_rankingInfo"]["nbTypos"] == 0


def test_an_undeclared_facet_is_reported(films: Inside) -> None:
    answer = ask(films, "films/query", {"facets": ["title", "genre", "*"], "responseFields": []})

    assert answer == {"message": "facets: `title` not counted; add to attributesForFaceting first"}


def test_click_analytics_bring_a_query_id_each_time(films: Inside) -> None:
    first, second = (
        ask(films, "films/query", {"clickAnalytics": True})["queryID"] for _ in range(2)
    )

    assert len(first) == 32
    assert first != second
    assert "queryID" not in ask(films, "films/query", {})


def test_response_fields_keep_what_they_name(films: Inside) -> None:
    answer = ask(films, "films/query", {"responseFields": ["hits", "nbHits"]})

    assert answer.keys() == {"hits", "nbHits"}


def test_several_searches_are_answered_in_order(films: Inside) -> None:
    films.fill("books", {"objectID": "b"})
    requests = [
        {"indexName": "films", "params": "query=heat"},
        {"indexName": "books"},
        {"indexName": "films", "type": "facet", "facet": "genre", "facetQuery": "sp"},
        {"indexName": "films", "query": "alien", "hitsPerPage": 1},
    ]

    results = ask(films, "*/queries", {"requests": requests})["results"]

    assert [r.get("index") for r in results] == ["films", "books", None, "films"]
    assert [h["objectID"] for r in results for h in r.get("hits", ())] == ["4", "b", "1"]
    assert results[2]["facetHits"] == [
        {"value": "space", "highlighted": "<em>sp</em>ace", "count": 3}
    ]


def test_enough_matches_end_a_row_of_searches(films: Inside) -> None:
    requests = [
        {"indexName": "films", "query": "heat", "hitsPerPage": 2},
        {"indexName": "films", "query": "alien", "hitsPerPage": 2},
        {"indexName": "films", "query": "solaris"},
    ]

    results = ask(films, "*/queries", {"requests": requests, "strategy": "stopIfEnoughMatches"})[
        "results"
    ]

    assert [len(result["hits"]) for result in results] == [1, 2, 0]
    assert [result.get("processed") for result in results] == [True, True, False]
    assert [result["index"] for result in results] == ["films"] * 3


def test_enough_matches_are_detected_with_any_response_fields(films: Inside) -> None:
    requests = [{"indexName": "films", "hitsPerPage": 2, "responseFields": ["nbHits"]}] * 2

    body = {"requests": requests, "strategy": "stopIfEnoughMatches"}
    results = ask(films, "*/queries", body)["results"]

    assert results[0] == {"nbHits": 4, "index": "films", "processed": True}
    assert results[1]["processed"] is False


def test_unretrievable_facets_are_returned_only_to_the_admin_key(films: Inside) -> None:
    films.done("PUT", "/1/indexes/films/settings", {"unretrievableAttributes": ["genre"]})
    key, path = films.facts["searchKey"], "/1/indexes/films"

    hidden = films.call("POST", f"{path}/query", {"facets": ["*"]}, key=key).json()
    refused = films.call("POST", f"{path}/facets/genre/query", {}, key=key)

    assert hidden["facets"].keys() == {"year"}
    assert refused.status_code == 400
    assert ask(films, "films/query", {"facets": ["*"]})["facets"].keys() == {"year", "genre"}
    assert ask(films, "films/facets/genre/query", {})["facetHits"]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ({}, ["space", "crime", "horror", "war"]),
        ({"facetQuery": "w"}, ["war"]),
        ({"params": "query=alien", "facetQuery": ""}, ["space", "horror", "war"]),
        ({"filters": "year > 1990"}, ["crime"]),
        ({"maxFacetHits": 2, "hitsPerPage": 1, "page": 7}, ["space", "crime"]),
    ],
)
def test_a_facet_is_searched(films: Inside, body: dict[str, Any], values: list[str]) -> None:
    answer = ask(films, "films/facets/genre/query", body)

    assert [hit["value"] for hit in answer["facetHits"]] == values
    assert answer["exhaustiveFacetsCount"] is True


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("films/query", {"hitPerPage": 3}, 400, "did you mean `hitsPerPage`?"),
        ("films/query", {"query": 3}, 400, "`query` must be text, not a number"),
        ("films/query", {"hitsPerPage": "many"}, 400, "`hitsPerPage`"),
        ("films/query", {"hitsPerPage": 1001}, 400, "`hitsPerPage`"),
        ("films/query", {"page": -1}, 400, "`page`"),
        ("films/query", {"filters": "genre:"}, 400, "filters"),
        ("films/query", {"query": "x" * 513}, 400, "`query` is longer than 512 bytes"),
        ("films/query", {"params": 3}, 400, "`params`"),
        ("films/query", {"queryType": "prefixSome"}, 400, "prefixLast, prefixAll"),
        ("films/query", [], 400, "the body must be a JSON object"),
        ("films/query?query=x", {}, 400, "`query` is not known in this URL"),
        ("nowhere/query", {}, 404, "Index nowhere does not exist"),
        ("nowhere/browse", {}, 404, "Index nowhere does not exist"),
        ("nowhere/facets/a/query", {}, 404, "Index nowhere does not exist"),
        ("films/facets/year/query", {}, 400, "searchable(year)"),
        ("films/facets/nothing/query", {}, 400, "searchable(nothing)"),
        ("films/facets/genre/query", {"maxFacetHits": 101}, 400, "`maxFacetHits`"),
        ("*/queries", {"requests": [{"indexName": "nowhere"}]}, 404, "Index nowhere"),
        ("*/queries", {"requests": [{"query": "x"}]}, 400, "`requests[0].indexName`|indexName"),
        ("*/queries", {"requests": [{"indexName": "films", "type": "facet"}]}, 400, "facet"),
        ("*/queries", {"requests": [{"indexName": "films", "quer": ""}]}, 400, "query"),
        ("*/queries", {"strategy": "none"}, 400, "`requests` is missing"),
    ],
)  # fmt: skip
def test_a_search_that_is_wrong_is_refused_with_the_reason(
    films: Inside, path: str, body: Any, status: int, told: str
) -> None:
    answer = films.call("POST", f"/1/indexes/{path}", body)

    assert answer.status_code == status, answer.text
    assert any(part in answer.json()["message"] for part in told.split("|"))


@pytest.mark.parametrize(
    ("asked", "counted"),
    [({}, 1), ({"facetingAfterDistinct": True}, 1), ({"facetingAfterDistinct": False}, 2)],
    ids=str,
)
def test_a_search_decides_over_a_facet_that_counts_after_distinct(
    inside: Inside, asked: dict[str, bool], counted: int
) -> None:
    records = [{"objectID": one, "maker": "m", "kind": "k"} for one in ("1", "2")]
    settings = {"attributeForDistinct": "maker", "attributesForFaceting": ["afterDistinct(kind)"]}
    inside.fill("grouped", *records, **settings)

    body = {"distinct": True, "facets": ["kind"], **asked}
    answer = inside.call("POST", "/1/indexes/grouped/query", body).json()

    assert answer["facets"] == {"kind": {"k": counted}}


@pytest.mark.parametrize("precision", [0, 1, 9, 10])
def test_a_precision_below_ten_metres_counts_as_ten(service: Running, precision: int) -> None:
    client = Client(ClientConfig(service.appId, Secret(service.adminKey), url=service.url))
    places = [("near", 0.00005), ("far", 0.0009), ("farther", 0.002)]
    records = [{"objectID": name, "_geoloc": {"lat": lat, "lng": 0}} for name, lat in places]
    requests: Any = [{"action": "addObject", "body": record} for record in records]
    client.wait(dict(client.batch("precision", requests)), index="precision")

    found = client.search(
        "precision", aroundLatLng="0,0", aroundPrecision=precision, getRankingInfo=True
    )

    infos = [hit["_rankingInfo"] for hit in found["hits"]]
    assert [hit["objectID"] for hit in found["hits"]] == ["near", "far", "farther"]
    assert [info["geoPrecision"] for info in infos] == [10, 10, 10]
