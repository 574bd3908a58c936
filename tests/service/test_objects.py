"""Records are written, read, changed and deleted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svc_notebook.service import limits
from tests.conftest import Inside

ODD = ["a/b", "100%", "two words", "café", "😀", "a+b", "?q=1", "#", "..", "%2F", "*", "settings"]


def test_a_record_added_without_an_id_gets_one(inside: Inside) -> None:
    answer = inside.done("POST", "/1/indexes/films", {"title": "Alien"})

    assert re.fullmatch(r"[0-9a-f]{40}", answer["objectID"])
    assert inside.ids("films", "alien") == [answer["objectID"]]


def test_adding_answers_201_with_both_timestamps(inside: Inside) -> None:
    answer = inside.call("POST", "/1/indexes/films", {"objectID": "1"})

    assert answer.status_code == 201
    assert answer.json().keys() == {"objectID", "taskID", "createdAt", "updatedAt"}


@pytest.mark.parametrize("verb", ["POST", "PUT"])
def test_a_record_with_a_known_id_is_replaced_whole(inside: Inside, verb: str) -> None:
    inside.fill("films", {"objectID": "1", "title": "Alien", "year": 1979})
    path = "/1/indexes/films" if verb == "POST" else "/1/indexes/films/1"

    inside.done(verb, path, {"objectID": "1", "title": "Aliens"})

    assert inside.call("GET", "/1/indexes/films/1").json() == {"objectID": "1", "title": "Aliens"}
    assert inside.ids("films", "1979") == []


@pytest.mark.parametrize("name", ODD)
def test_unusual_names_are_preserved(inside: Inside, name: str) -> None:
    index = f"odd {name}"
    record = {"objectID": name, "title": name}
    inside.fill(index, record)

    found = inside.call("POST", "/1/indexes/*/objects", _ask(index, name)).json()

    assert found == {"results": [record]}
    assert inside.ids(index) == [name]


def _ask(index: str, *ids: str, **more: Any) -> dict[str, Any]:
    return {"requests": [{"indexName": index, "objectID": one, **more} for one in ids]}


def test_an_integer_id_becomes_a_text(inside: Inside) -> None:
    answer = inside.done("POST", "/1/indexes/films", {"objectID": 7})

    assert answer["objectID"] == "7"
    assert inside.call("GET", "/1/indexes/films/7").json() == {"objectID": "7"}


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"objectID": ""}, "`objectID` must be a non-empty string"),
        ({"objectID": 1.5}, "`objectID` must be a non-empty string"),
        ({"objectID": None}, "`objectID` must be a non-empty string"),
        ({"objectID": ["a"]}, "`objectID` must be a non-empty string"),
        ({"objectID": "é" * 300}, "`objectID` is longer than 512 bytes"),
        ({"objectID": "a\0b"}, "null character"),
        (
            {"objectID": "big", "text": "x" * limits.MAX_RECORD_BYTES},
            "Record at the position 0 objectID=big is too big",
        ),
        ([1], "must be an object, not a list"),
    ],
)
def test_an_invalid_record_is_refused(inside: Inside, record: Any, told: str) -> None:
    answer = inside.call("POST", "/1/indexes/films", record)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


def test_a_deleted_record_is_no_longer_found(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"}, {"objectID": "2"})

    answer = inside.done("DELETE", "/1/indexes/films/1")

    assert answer.keys() == {"taskID", "deletedAt"}
    assert inside.ids("films") == ["2"]
    assert inside.call("GET", "/1/indexes/films/1").status_code == 404


def test_deleting_a_missing_record_does_nothing(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})

    inside.done("DELETE", "/1/indexes/films/9")
    inside.done("DELETE", "/1/indexes/nowhere/9")

    assert inside.ids("films") == ["1"]


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ("title", {"title"}),
        ('["title","year"]', {"title", "year"}),
        ("title,year", {"title", "year"}),
        ("*,-year", {"title", "cast"}),
        ("cast.name", {"cast"}),
    ],
)
def test_a_record_is_read_in_part(inside: Inside, wanted: str, kept: set[str]) -> None:
    cast = [{"name": "Weaver", "role": "Ripley"}]
    inside.fill("films", {"objectID": "1", "title": "Alien", "year": 1979, "cast": cast})

    for name in ("attributesToRetrieve", "attributes"):
        record = inside.call("GET", f"/1/indexes/films/1?{name}={wanted}").json()

        assert record.keys() == kept | {"objectID"}
        if wanted == "cast.name":
            assert record["cast"] == [{"name": "Weaver"}]


def test_several_records_are_read_in_the_requested_order(inside: Inside) -> None:
    inside.fill("a", {"objectID": "1", "x": 1, "y": 1})
    inside.fill("b", {"objectID": "2"})
    requests = [
        {"indexName": "b", "objectID": "2"},
        {"index_name": "a", "objectID": "9"},
        {"indexName": "a", "objectID": "1", "attributesToRetrieve": ["x"]},
    ]

    answer = inside.call("POST", "/1/indexes/*/objects", {"requests": requests}).json()

    assert answer["results"] == [{"objectID": "2"}, None, {"objectID": "1", "x": 1}]


def test_unretrievable_attributes_are_for_the_admin_alone(inside: Inside) -> None:
    inside.fill(
        "films", {"objectID": "1", "title": "A", "cost": 9}, unretrievableAttributes=["cost"]
    )
    search = inside.facts["searchKey"]

    for verb, path, body in [
        ("GET", "/1/indexes/films/1", None),
        ("GET", "/1/indexes/films/1?attributesToRetrieve=title,cost", None),
        ("POST", "/1/indexes/films/query", {}),
        ("POST", "/1/indexes/*/objects", _ask("films", "1")),
    ]:
        assert "cost" not in inside.call(verb, path, body, key=search).text
    assert inside.call("GET", "/1/indexes/films/1").json()["cost"] == 9


def test_clearing_keeps_the_settings(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "t": "x"}, searchableAttributes=["t"])

    inside.done("POST", "/1/indexes/films/clear")

    assert inside.ids("films") == []
    assert inside.call("GET", "/1/indexes/films/settings").json()["searchableAttributes"] == ["t"]


@pytest.mark.parametrize("create", [True, False])
def test_a_partial_update_creates_a_missing_record_only_on_request(
    inside: Inside, create: bool
) -> None:
    inside.fill("films", {"objectID": "1"})
    query = "" if create else "?createIfNotExists=false"

    inside.done("POST", f"/1/indexes/films/2/partial{query}", {"year": 1979})

    assert inside.ids("films") == (["1", "2"] if create else ["1"])


def test_partial_updates_add_up_whether_they_share_a_task_or_not(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "seen": 0, "tags": []})
    one_more = {"objectID": "1", "seen": {"_operation": "Increment", "value": 1}}
    batch = {"requests": [{"action": "partialUpdateObject", "body": one_more}] * 3}

    for _ in range(4):
        inside.call("POST", "/1/indexes/films/batch", batch)
    inside.done("POST", "/1/indexes/films/1/partial", {"seen": one_more["seen"]})

    assert inside.call("GET", "/1/indexes/films/1").json()["seen"] == 13


def test_delete_by_query_deletes_the_matches_at_the_time_it_is_applied(inside: Inside) -> None:
    inside.fill("films", *_numbered(5), attributesForFaceting=["kind"])
    inside.call("POST", "/1/indexes/films/batch", _add(_numbered(8)))

    answer = inside.done("POST", "/1/indexes/films/deleteByQuery", {"params": "filters=n%3E2"})

    assert answer.keys() == {"taskID", "deletedAt", "updatedAt"}
    assert inside.ids("films") == ["0", "1", "2"]


def _numbered(count: int) -> list[dict[str, Any]]:
    return [{"objectID": str(n), "n": n, "kind": "a"} for n in range(count)]


def _add(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {"requests": [{"action": "addObject", "body": record} for record in records]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"params": ""},
        {"filters": ""},
        {"facetFilters": []},
        {"query": "x"},
        {"filters": "n>2", "query": "x"},
        {"filters": "n>2", "hitsPerPage": 1},
        {"filters": "n>"},
        {"filters": "  "},
        {"facetFilters": [[]]},
        {"numericFilters": ","},
        {"insideBoundingBox": [[]]},
        {"insideBoundingBox": " "},
        {"insidePolygon": [[50.0, 0.0, 50.0, 5.0]]},
        {"aroundRadius": 10_000},
        {"aroundLatLng": "48.85, 2.35"},
        {"aroundLatLng": "91, 2.35", "aroundRadius": 10_000},
        {"aroundLatLngViaIP": True},
    ],
)
def test_delete_by_query_is_refused_without_a_sound_filter(
    inside: Inside, body: dict[str, Any]
) -> None:
    inside.fill("films", *_numbered(3))

    answer = inside.call("POST", "/1/indexes/films/deleteByQuery", body)

    assert answer.status_code == 400
    assert len(inside.ids("films")) == 3


PARIS = {"objectID": "paris", "kind": "big", "_geoloc": {"lat": 48.85, "lng": 2.35}}
LYON = {"objectID": "lyon", "_geoloc": {"lat": 45.76, "lng": 4.84}}
ROME = {"objectID": "rome", "kind": "big", "_geoloc": {"lat": 41.9, "lng": 12.5}}


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ({"insideBoundingBox": [[50.0, 0.0, 45.0, 5.0]]}, ["nowhere", "rome"]),
        ({"insidePolygon": "50,0,50,5,47,2"}, ["lyon", "nowhere", "rome"]),
        ({"aroundLatLng": "48.85, 2.35", "aroundRadius": 500_000}, ["nowhere", "rome"]),
        ({"aroundLatLng": "48.85, 2.35", "aroundRadius": "all"}, ["nowhere"]),
        ({"params": "aroundLatLng=48.85,2.35&aroundRadius=10"}, ["lyon", "nowhere", "rome"]),
        (
            {"insideBoundingBox": [[50.0, 0.0, 45.0, 5.0]], "filters": "kind:big"},
            ["lyon", "nowhere", "rome"],
        ),
        ({"insideBoundingBox": [[1, 1, 2, 2]]}, ["lyon", "nowhere", "paris", "rome"]),
    ],
)
def test_delete_by_query_supports_geo_filters(
    inside: Inside, place: dict[str, Any], left: list[str]
) -> None:
    settings = {"attributesForFaceting": ["kind"]}
    inside.fill("towns", PARIS, LYON, ROME, {"objectID": "nowhere"}, **settings)

    inside.done("POST", "/1/indexes/towns/deleteByQuery", place)

    assert sorted(inside.ids("towns")) == left


def test_a_key_with_a_geo_filter_deletes_nothing_elsewhere(inside: Inside) -> None:
    inside.fill("towns", PARIS, LYON, ROME)
    bound = {"acl": ["deleteIndex"], "queryParameters": "insideBoundingBox=50,0,45,5"}
    key = inside.call("POST", "/1/keys", bound).json()["key"]

    body = {"aroundLatLng": "48.85, 2.35", "aroundRadius": "all"}
    inside.done("POST", "/1/indexes/towns/deleteByQuery", body, key=key)

    assert inside.ids("towns") == ["rome"]


def test_a_browse_supports_geo_filters(inside: Inside) -> None:
    inside.fill("towns", PARIS, LYON, ROME, {"objectID": "nowhere"})
    body = {"aroundLatLng": "48.85, 2.35", "aroundRadius": 500_000, "hitsPerPage": 1}

    first = inside.call("POST", "/1/indexes/towns/browse", body).json()
    second = inside.call("POST", "/1/indexes/towns/browse", {"cursor": first["cursor"]}).json()

    assert [hit["objectID"] for hit in first["hits"] + second["hits"]] == ["lyon", "paris"]
    assert "cursor" not in second
