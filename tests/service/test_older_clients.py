"""Requests as older clients of the vendor send them, which differ from those of api.md."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.service import limits
from tests.conftest import Inside

VIEW = {"eventType": "view", "eventName": "seen", "index": "films", "userToken": "me",
        "objectIDs": ["1"]}  # fmt: skip
BATCH = "/1/indexes/films/batch"


def read(inside: Inside) -> dict[str, dict[str, Any]]:
    """All records of the index by objectID."""
    hits = inside.call("POST", "/1/indexes/films/browse", {}).json()["hits"]
    return {hit["objectID"]: hit for hit in hits}


@pytest.mark.parametrize("path", [BATCH, "/1/indexes/*/batch"])
def test_an_object_id_beside_the_record_is_that_of_the_record(inside: Inside, path: str) -> None:
    requests: list[dict[str, Any]] = [
        {"action": "addObject", "objectID": "1", "body": {"n": 1}},
        {"action": "updateObject", "objectID": 2, "body": {"objectID": 2, "n": 1}},
        {"action": "updateObject", "objectID": "3", "body": {"objectID": "3"}},
        {"action": "partialUpdateObject", "objectID": "1", "body": {"m": 2}},
        {"action": "deleteObject", "objectID": "3"},
    ]

    inside.done("POST", path, {"requests": [{**one, "indexName": "films"} for one in requests]
                               if "*" in path else requests})  # fmt: skip

    assert read(inside) == {"1": {"objectID": "1", "n": 1, "m": 2}, "2": {"objectID": "2", "n": 1}}


def test_two_different_object_ids_of_one_record_are_refused(inside: Inside) -> None:
    body = {"action": "addObject", "objectID": "1", "body": {"objectID": "2"}}

    answer = inside.call("POST", BATCH, {"requests": [body]})

    assert answer.status_code == 400
    assert answer.json()["message"] == (
        "`requests[0].objectID` is '1', `requests[0].body.objectID` '2'"
    )


@pytest.mark.parametrize(
    "types", ["placeholder,altCorrection1", ["placeholder", "altcorrection1"], "", []]
)
def test_the_types_of_searched_synonyms_may_be_a_list(inside: Inside, types: object) -> None:
    synonyms = [
        {"objectID": "a", "type": "altcorrection1", "word": "lamp", "corrections": ["lump"]},
        {"objectID": "p", "type": "placeholder", "placeholder": "<n>", "replacements": ["1"]},
        {"objectID": "s", "type": "synonym", "synonyms": ["lamp", "light"]},
    ]
    inside.done("POST", "/1/indexes/films/synonyms/batch", synonyms)

    answer = inside.call("POST", "/1/indexes/films/synonyms/search", {"type": types}).json()

    assert [hit["objectID"] for hit in answer["hits"]] == (["a", "p"] if types else ["a", "p", "s"])


def test_attributes_of_records_may_be_text(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "a": 1, "b": 2, "c": 3})
    request = {"indexName": "films", "objectID": "1"}

    answer = inside.call("POST", "/1/indexes/*/objects", {"requests": [
        {**request, "attributesToRetrieve": "a,b"}, {**request, "attributesToRetrieve": '["c"]'},
        request,
    ]})  # fmt: skip

    assert [sorted(record) for record in answer.json()["results"]] == [
        ["a", "b", "objectID"], ["c", "objectID"], ["a", "b", "c", "objectID"],
    ]  # fmt: skip


# Texts for lists in the body of a search, and the lists that they stand in place of.
TEXTS = {
    "attributesToRetrieve": "a,b", "attributesToHighlight": "[]", "ruleContexts": "mobile",
    "restrictSearchableAttributes": "a", "ignorePlurals": "en,fr", "removeStopWords": "true",
}  # fmt: skip
LISTS = {
    "attributesToRetrieve": ["a", "b"], "attributesToHighlight": [], "ruleContexts": ["mobile"],
    "restrictSearchableAttributes": ["a"], "ignorePlurals": ["en", "fr"], "removeStopWords": True,
}  # fmt: skip


@pytest.mark.parametrize(
    "path", ["films/query", "films/browse", "films/facets/b/query", "*/queries"]
)
def test_lists_of_a_search_may_be_text(inside: Inside, path: str) -> None:
    inside.done("PUT", "/1/indexes/films/settings", {"attributesForFaceting": ["searchable(b)"]})
    inside.fill("films", {"objectID": "1", "a": "lamp", "b": "lamps", "c": "lamp"})

    def answer(parameters: dict[str, Any]) -> dict[str, Any]:
        search = {"query": "lamps", **parameters}
        many = {"requests": [{**search, "indexName": "films"}]}
        response = inside.call("POST", f"/1/indexes/{path}", many if "*" in path else search)
        assert response.status_code == 200, response.text
        content: dict[str, Any] = response.json()
        return content["results"][0] if "*" in path else content

    as_text, as_list = answer(TEXTS), answer(LISTS)

    name = "facetHits" if "facets/" in path else "hits"
    assert as_text[name] == as_list[name] != []
    assert name == "facetHits" or as_text[name] == [{"objectID": "1", "a": "lamp", "b": "lamps"}]


def test_text_for_a_list_is_refused_where_no_list_is_in_it(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})

    answer = inside.call("POST", "/1/indexes/films/query", {"attributesToRetrieve": "[a"})

    assert answer.status_code == 400
    assert answer.json()["message"] == "`attributesToRetrieve`: not valid JSON: [a"


def test_one_request_without_entries_clears_a_dictionary(inside: Inside) -> None:
    path = "/1/dictionaries/stopwords"
    entry = {"objectID": "d", "language": "en", "word": "zyx"}
    inside.done("POST", f"{path}/batch", {"requests": {"action": "addEntry", "body": entry}})
    assert inside.call("POST", f"{path}/search", {"query": "zyx"}).json()["nbHits"] == 1

    inside.done("POST", f"{path}/batch", {
        "clearExistingDictionaryEntries": True, "requests": {"action": "addEntry", "body": []},
    })  # fmt: skip

    assert inside.call("POST", f"{path}/search", {"query": "zyx"}).json()["nbHits"] == 0


@pytest.mark.parametrize(
    ("headers", "query"),
    [({"X-Service-User-ID": "anna"}, ""), ({}, "?X-Service-User-ID=anna")],
    ids=["header", "url"],
)
def test_a_user_is_named_in_a_header_or_in_the_url(
    inside: Inside, headers: dict[str, str], query: str
) -> None:
    path = "/1/clusters/mapping"
    added = inside.call("POST", path + query, {"cluster": "local-1"}, headers=headers)
    assert added.status_code == 200, added.text
    pages = inside.call("GET", f"{path}/", {"page": 0, "hitsPerPage": 5})
    assert [user["userID"] for user in pages.json()["userIDs"]] == ["anna"]

    removed = inside.call("DELETE", path + query, headers=headers)

    assert removed.status_code == 200, removed.text
    assert inside.call("GET", path).json()["userIDs"] == []


def test_a_user_that_nothing_names_is_asked_for(inside: Inside) -> None:
    answer = inside.call("DELETE", "/1/clusters/mapping")

    assert (answer.status_code, answer.json()["message"]) == (400, "`user_id` is missing")


def search_without_header(inside: Inside, body: dict[str, Any], path: str = "films/query") -> Any:
    return inside.call("POST", f"/1/indexes/{path}", body, headers={"X-Service-API-Key": ""})


def test_a_key_in_the_body_is_as_good_as_one_in_a_header(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "n": 1}, {"objectID": "2", "n": 2})
    key = make_secured_key(inside.facts["searchKey"], filters="n = 1")

    found = search_without_header(inside, {"params": "query=", "apiKey": key})
    several = search_without_header(
        inside, {"requests": [{"indexName": "films"}], "apiKey": key}, "*/queries"
    )

    assert [hit["objectID"] for hit in found.json()["hits"]] == ["1"]
    assert [hit["objectID"] for hit in several.json()["results"][0]["hits"]] == ["1"]


def test_a_key_in_the_body_has_no_other_rights(inside: Inside) -> None:
    key = inside.facts["searchKey"]

    assert search_without_header(inside, {"apiKey": "wrong"}).status_code == 403
    assert search_without_header(inside, {}).status_code == 403
    assert search_without_header(inside, {"apiKey": key}, "films/browse").status_code == 403
    admin = {"requests": [], "apiKey": inside.facts["adminKey"]}
    assert search_without_header(inside, admin, "films/batch").status_code == 403
    none = {"X-Service-API-Key": ""}
    broken = inside.call("POST", "/1/indexes/films/query", content=b"{", headers=none)
    assert broken.status_code == 403
    large = {"apiKey": key, "query": "x" * limits.MAX_ANONYMOUS_BODY_BYTES}
    assert search_without_header(inside, large).status_code == 403


def test_a_key_in_the_body_is_masked_in_the_log(inside: Inside) -> None:
    key = make_secured_key(inside.facts["searchKey"], filters="n = 1")

    search_without_header(inside, {"query": "canary", "apiKey": key})

    logged = inside.call("GET", "/1/logs").text
    assert "canary" in logged
    assert key not in logged


def test_a_filter_in_a_header_is_not_ignored(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "_tags": ["secret"]})
    headers = {"X-Service-TagFilters": "public"}

    answer = inside.call("POST", "/1/indexes/films/query", {}, headers=headers)

    assert answer.status_code == 400
    assert "embed `tagFilters` in a secured key" in answer.json()["message"]


def test_a_user_token_in_a_header_has_its_own_rate_limit(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    fields = {"acl": ["search"], "maxQueriesPerIPPerHour": 1}
    key = inside.call("POST", "/1/keys", fields).json()["key"]

    statuses = [
        inside.call(
            "POST", "/1/indexes/films/query", body, key=key, headers={"X-Service-UserToken": user}
        ).status_code
        for user, body in (("ann", {}), ("bob", {}), ("ann", {}), ("ann", {"userToken": "cara"}))
    ]

    assert statuses == [200, 200, 429, 200]


def test_settings_that_were_read_are_written_back(inside: Inside) -> None:
    path = "/1/indexes/films/settings"
    inside.done("PUT", path, {"attributesToIndex": ["a"], "numericAttributesToIndex": ["n"]})
    read_before = inside.call("GET", path).json()
    read_only = {"version": 2, "primary": "other", "attributesToIndex": None}

    inside.done("PUT", path, {**read_before, **read_only, "sortFacetValuesBy": ""})

    after = inside.call("GET", path).json()
    assert after == {**read_before, "sortFacetValuesBy": ""}
    assert after["searchableAttributes"] == ["a"]
    assert inside.call("GET", f"{path}?getVersion=2&advanced=1").json() == after


@pytest.mark.parametrize(
    "params",
    [
        {"sortFacetValuesBy": ""},
        {"explain": ["*"], "extensions": {"queryCategorization": {"enableAutoFiltering": True}}},
    ],
    ids=["empty word", "products"],
)
def test_parameters_of_other_products_change_nothing(
    inside: Inside, params: dict[str, Any]
) -> None:
    inside.fill("films", {"objectID": "1", "n": ["b", "a"]}, attributesForFaceting=["n"])
    plain, path = {"facets": ["n"]}, "/1/indexes/films/query"
    as_text = {name: str(value).replace("'", '"').replace("True", "true")
               for name, value in params.items()}  # fmt: skip

    found = [
        inside.call("POST", path, {**plain, **given}).json()
        for given in ({}, params, {"params": urlencode(as_text)})
    ]

    assert [answer["nbHits"] for answer in found] == [1, 1, 1]
    assert found[0]["facets"] == found[1]["facets"] == found[2]["facets"] == {"n": {"a": 1, "b": 1}}


USAGE = {"eventType": "instantsearch", "eventName": "__start__", "widgets": [], "sessionID": "x"}


@pytest.mark.parametrize("events", [[USAGE], [USAGE, VIEW, USAGE]], ids=["alone", "among others"])
def test_what_a_library_reports_of_its_own_use_is_taken_and_dropped(
    inside: Inside, events: list[dict[str, Any]]
) -> None:
    answer = inside.call("POST", "/1/events", {"events": events})

    assert (answer.status_code, answer.json()) == (200, {"status": 200, "message": "OK"})
    stored = inside.call("GET", "/local/1/events").json()["events"]
    assert len(stored) == len([event for event in events if event is not USAGE])


def test_a_wrong_event_keeps_its_place_in_the_message(inside: Inside) -> None:
    answer = inside.call("POST", "/1/events", {"events": [USAGE, {**VIEW, "eventType": "x"}]})

    assert answer.status_code == 422
    assert answer.json()["message"].startswith("`events[1].eventType`")


def test_members_of_events_are_known_in_other_spellings(inside: Inside) -> None:
    named = {("objectIds" if n == "objectIDs" else n): value for n, value in VIEW.items()}

    assert inside.call("POST", "/1/events", {"events": [named]}).status_code == 200

    [stored] = inside.call("GET", "/local/1/events").json()["events"]
    assert stored["objectIDs"] == VIEW["objectIDs"]
