"""The vendor's JavaScript client writes, reads and manages indices."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tests.conftest import Running
from tests.peers.films import FILMS, SETTINGS
from tests.peers.javascript import Failed, Script, ids


def test_saved_records_come_back_as_they_were(script: Script, index: str) -> None:
    script.fill(index, *FILMS)

    first = script.call("getObject", {"indexName": index, "objectID": "1"})
    several = script.call(
        "getObjects",
        {
            "requests": [
                {"indexName": index, "objectID": "4", "attributesToRetrieve": ["title"]},
                {"indexName": index, "objectID": "none"},
            ]
        },
    )

    assert first == FILMS[0]
    assert several["results"] == [{"objectID": "4", "title": "Heat"}, None]


def test_a_record_without_an_id_is_given_one(script: Script, index: str) -> None:
    saved = script.call("saveObject", {"indexName": index, "body": {"title": "Heat"}})
    script.finish(index, saved)

    assert list(script.stored(index)) == [saved["objectID"]]


@pytest.mark.parametrize("client", ["full", "packed"])
def test_records_are_saved_in_chunks_and_browsed_page_by_page(
    script: Script, index: str, client: str
) -> None:
    objects = [{"objectID": f"{n}", "n": n} for n in range(2500)]
    order = {"indexName": index, "objects": objects, "waitForTasks": True}

    answers = script.call("saveObjects", order, client=client)

    assert [len(answer["objectIDs"]) for answer in answers] == [1000, 1000, 500]
    assert list(script.stored(index).values()) == objects


@pytest.mark.parametrize(
    ("operation", "value", "after"),
    [
        ("Increment", 2, [7, ["a"]]),
        ("Decrement", 2, [3, ["a"]]),
        ("Add", "a", [5, ["a", "a"]]),
        ("Remove", "a", [5, []]),
        ("AddUnique", "a", [5, ["a"]]),
        ("IncrementFrom", 5, [6, ["a"]]),
        ("IncrementSet", 9, [9, ["a"]]),
    ],
)
def test_an_operation_changes_one_attribute(
    script: Script, index: str, operation: str, value: Any, after: list[Any]
) -> None:
    script.fill(index, {"objectID": "1", "number": 5, "list": ["a"]})
    name = "list" if isinstance(value, str) else "number"

    changed = script.call(
        "partialUpdateObject",
        {
            "indexName": index,
            "objectID": "1",
            "attributesToUpdate": {name: {"_operation": operation, "value": value}},
            "createIfNotExists": False,
        },
    )

    script.finish(index, changed)
    record = script.stored(index)["1"]
    assert [record["number"], record["list"]] == after


def test_records_are_deleted_one_by_one_in_chunks_by_filter_and_all(
    script: Script, index: str
) -> None:
    script.call("setSettings", {"indexName": index, "indexSettings": SETTINGS})
    script.fill(index, *FILMS, {"objectID": "5"}, {"objectID": "6"})

    script.call("deleteObject", {"indexName": index, "objectID": "1"})
    script.call("deleteObjects", {"indexName": index, "objectIDs": ["5", "6"]})
    by_filter = {"indexName": index, "deleteByParams": {"facetFilters": ["genre:crime"]}}
    script.finish(index, script.call("deleteBy", by_filter))
    left = sorted(script.stored(index))
    script.finish(index, script.call("clearObjects", {"indexName": index}))

    assert left == ["2", "3"]
    assert script.stored(index) == {}


def test_settings_come_back_as_they_were_set(script: Script, index: str) -> None:
    order = {"indexName": index, "indexSettings": SETTINGS, "forwardToReplicas": True}

    script.finish(index, script.call("setSettings", order))

    told = script.call("getSettings", {"indexName": index})
    assert {name: told[name] for name in SETTINGS} == SETTINGS
    assert told["hitsPerPage"] == 20


def test_all_records_are_replaced_and_nothing_else(script: Script, index: str) -> None:
    script.call("setSettings", {"indexName": index, "indexSettings": {"hitsPerPage": 7}})
    script.fill(index, {"objectID": "old"})

    script.call(
        "replaceAllObjects",
        {"indexName": index, "objects": [{"objectID": "a"}, {"objectID": "b"}], "batchSize": 1},
    )

    assert sorted(script.stored(index)) == ["a", "b"]
    assert script.call("getSettings", {"indexName": index})["hitsPerPage"] == 7
    names = [item["name"] for item in script.call("listIndices")["items"]]
    assert [name for name in names if name.startswith(index)] == [index]


def test_an_index_is_copied_moved_and_deleted(script: Script, index: str) -> None:
    copy, moved = f"{index} copy", f"{index} moved"
    script.fill(index, {"objectID": "1"})

    for source, operation, target in ((index, "copy", copy), (copy, "move", moved)):
        params = {"operation": operation, "destination": target}
        order = {"indexName": source, "operationIndexParams": params}
        script.finish(source, script.call("operationIndex", order))
    script.finish(index, script.call("deleteIndex", {"indexName": index}))

    exist = [script.call("indexExists", {"indexName": name}) for name in (index, copy, moved)]
    assert exist == [False, False, True]


def test_one_batch_writes_to_several_indices(script: Script, index: str) -> None:
    names = [index, f"{index} 2"]
    requests = [
        {"action": "addObject", "indexName": name, "body": {"objectID": "1"}} for name in names
    ]

    tasks = script.call("multipleBatch", {"requests": requests})["taskID"]

    for name in names:
        script.call("waitForAppTask", {"taskID": tasks[name]})
        assert list(script.stored(name)) == ["1"]


@pytest.mark.parametrize("client", ["full", "packed", "browser"])
def test_a_search_brings_all_an_interface_shows(
    script: Script, service: Running, films: str, client: str
) -> None:
    params = {
        "query": "alien",
        "facets": ["*"],
        "filters": "year < 1980",
        "getRankingInfo": True,
        "clickAnalytics": True,
    }

    answer = script.call(
        "searchSingleIndex",
        {"indexName": films, "searchParams": params},
        client=client,
        key=service.searchKey,
    )

    [hit] = answer["hits"]
    assert hit["_highlightResult"]["title"]["value"] == "<em>Alien</em>"
    assert hit["_rankingInfo"]["nbTypos"] == 0
    assert answer["facets"] == {"genre": {"horror": 1, "space": 1}, "year": {"1979": 1}}
    assert answer["facets_stats"]["year"]["max"] == 1979
    assert (answer["nbHits"], answer["nbPages"], answer["page"]) == (1, 1, 0)
    assert len(answer["queryID"]) == 32


@pytest.mark.parametrize("client", ["full", "lite"])
@pytest.mark.parametrize("method", ["search", "searchForHits", "searchForFacets"])
def test_several_searches_share_one_call(
    script: Script, service: Running, films: str, client: str, method: str
) -> None:
    requests: list[dict[str, Any]] = [
        {"indexName": films, "query": "heat"},
        {"indexName": films, "type": "facet", "facet": "genre", "facetQuery": "sp"},
    ]

    answer = script.call(method, {"requests": requests}, client=client, key=service.searchKey)

    hits, facet = answer["results"]
    assert (hits["index"], ids(hits)) == (films, ["4"])
    assert [hit["value"] for hit in facet["facetHits"]] == ["space"]


@pytest.mark.parametrize("client", ["full", "lite"])
def test_several_searches_may_be_written_in_the_old_way(
    script: Script, service: Running, films: str, client: str
) -> None:
    requests = [
        {"indexName": films, "params": {"query": "heat", "facets": ["genre"], "tagFilters": ""}},
        {"indexName": films, "params": {"query": "alien", "hitsPerPage": 1}},
    ]

    answer = script.call("search", requests, client=client, key=service.searchKey)

    assert [ids(result) for result in answer["results"]] == [["4"], ["1"]]


def test_settings_read_from_one_index_may_be_set_on_another(script: Script, index: str) -> None:
    script.finish(
        index, script.call("setSettings", {"indexName": index, "indexSettings": SETTINGS})
    )
    told = script.call("getSettings", {"indexName": index})
    other = f"{index} 2"

    script.finish(other, script.call("setSettings", {"indexName": other, "indexSettings": told}))

    assert script.call("getSettings", {"indexName": other}) == told


def test_an_interface_counts_facets_without_asking_for_hits(
    script: Script, service: Running, films: str
) -> None:
    counting = {"hitsPerPage": 0, "page": 0, "analytics": False, "clickAnalytics": False}
    requests: list[dict[str, Any]] = [
        {
            "indexName": films,
            "facets": ["genre"],
            "facetFilters": [["genre:war"]],
            "tagFilters": "",
        },
        {"indexName": films, "facets": "genre", **counting},
    ]

    answer = script.call("search", {"requests": requests}, client="lite", key=service.searchKey)

    shown, counted = answer["results"]
    assert (ids(shown), ids(counted)) == (["2"], [])
    assert counted["facets"] == {"genre": {"space": 3, "crime": 1, "horror": 1, "war": 1}}


def test_values_of_a_facet_are_searched(script: Script, films: str) -> None:
    request = {"facetQuery": "spa", "filters": "year < 1980", "maxFacetHits": 5}

    answer = script.call(
        "searchForFacetValues",
        {"indexName": films, "facetName": "genre", "searchForFacetValuesRequest": request},
    )

    assert answer["facetHits"] == [{"value": "space", "highlighted": "<em>spa</em>ce", "count": 2}]


def test_a_browse_takes_parameters_along(script: Script, films: str) -> None:
    params = {"filters": "genre:space", "attributesToRetrieve": ["title"], "hitsPerPage": 2}

    pages = script.call("browseObjects", {"indexName": films, "browseParams": params})

    assert [ids(page) for page in pages] == [["3", "1"], ["2"]]
    assert pages[0]["hits"][0] == {"objectID": "3", "title": "Solaris"}


def test_a_page_in_a_browser_may_write_too(script: Script, index: str) -> None:
    script.fill(index, {"objectID": "1", "title": "Heat"})
    record = {"indexName": index, "objectID": "1"}
    change = {**record, "attributesToUpdate": {"year": 1995}, "createIfNotExists": False}

    changed = script.call("partialUpdateObject", change, client="browser")

    task = {"indexName": index, "taskID": changed["taskID"]}
    assert script.call("waitForTask", task, client="browser")["status"] == "published"
    assert script.call(
        "getObject", {**record, "attributesToRetrieve": ["title", "year"]}, client="browser"
    ) == {"objectID": "1", "title": "Heat", "year": 1995}


@pytest.mark.parametrize(
    ("method", "argument", "status", "message"),
    [
        ("getSettings", {"indexName": "nowhere"}, 404, "Index does not exist"),
        ("searchSingleIndex", {"indexName": "nowhere"}, 404, "Index nowhere does not exist"),
        (
            "searchSingleIndex",
            {"indexName": "peers films", "searchParams": {"filters": "a:"}},
            400,
            "expected a value",
        ),
        (
            "getObject",
            {"indexName": "peers films", "objectID": "none"},
            404,
            "ObjectID does not exist",
        ),
    ],
)
def test_a_refusal_is_told_in_the_services_words(
    script: Script, films: str, method: str, argument: Any, status: int, message: str
) -> None:
    with pytest.raises(Failed, match=message) as refused:
        script.call(method, argument)

    assert (refused.value.name, refused.value.status) == ("ApiError", status)


@pytest.mark.parametrize("client", ["full", "lite"])
def test_a_wrong_key_is_refused(script: Script, films: str, client: str) -> None:
    requests = [{"indexName": films}]

    with pytest.raises(Failed, match="Invalid Application-ID or API key") as refused:
        script.call("search", {"requests": requests}, client=client, key=secrets.token_hex(16))

    assert refused.value.status == 403
