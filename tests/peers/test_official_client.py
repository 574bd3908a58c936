"""The vendor's Python client writes, reads and manages indices."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import pytest
from algoliasearch.http.exceptions import RequestException
from algoliasearch.search.client import SearchClientSync
from algoliasearch.search.models.browse_response import BrowseResponse
from algoliasearch.search.models.built_in_operation import BuiltInOperation
from algoliasearch.search.models.built_in_operation_type import BuiltInOperationType
from algoliasearch.search.models.built_in_operation_value import BuiltInOperationValue
from algoliasearch.search.models.delete_by_params import DeleteByParams

from tests.conftest import Running
from tests.peers.films import FILMS, SETTINGS
from tests.peers.official import (
    Often,
    Translating,
    connect,
    connect_async,
    fill,
    finish,
    ids,
    own_warnings,
    point_at,
    stored,
)

pytestmark = own_warnings


@pytest.mark.parametrize("object_id", ["7", "a/b", "50%", "é ü?#", "👾", "*"])
def test_a_saved_record_comes_back_as_it_was(
    client: SearchClientSync, index: str, object_id: str
) -> None:
    record = {"objectID": object_id, "name": "Ünïcödé", "price": 1.5, "deep": {"er": [1, None]}}

    finish(client, index, client.save_object(index, record))

    assert client.get_object(index, object_id) == record


def test_a_record_without_an_id_is_given_one(client: SearchClientSync, index: str) -> None:
    saved = client.save_object(index, {"title": "Heat"})
    finish(client, index, saved)

    assert saved.object_id
    assert client.get_object(index, saved.object_id) == {
        "objectID": saved.object_id,
        "title": "Heat",
    }


def test_records_are_saved_in_chunks_and_browsed_page_by_page(
    client: SearchClientSync, index: str
) -> None:
    records = ({"objectID": f"{n}", "n": n} for n in range(2500))

    answers = client.save_objects(index, records, wait_for_tasks=True)

    assert [len(answer.object_ids) for answer in answers] == [1000, 1000, 500]
    assert {int(name): r["n"] for name, r in stored(client, index).items()} == {
        n: n for n in range(2500)
    }


def test_a_large_body_may_be_packed(service: Running, index: str) -> None:
    config = point_at(service)
    config.compression_type = "gzip"
    with SearchClientSync.create_with_config(config, Translating(config)) as client:
        fill(client, index, *({"objectID": f"{n}", "text": "x" * 500} for n in range(500)))

        assert len(stored(client, index)) == 500


@pytest.mark.parametrize(
    ("operation", "value", "before", "after"),
    [
        (BuiltInOperationType.INCREMENT, 2, 5, 7),
        (BuiltInOperationType.DECREMENT, 2, 5, 3),
        (BuiltInOperationType.ADD, "b", ["a", "b"], ["a", "b", "b"]),
        (BuiltInOperationType.REMOVE, "b", ["b", "a", "b"], ["a"]),
        (BuiltInOperationType.ADDUNIQUE, "b", ["a", "b"], ["a", "b"]),
        (BuiltInOperationType.ADDUNIQUE, "c", ["a", "b"], ["a", "b", "c"]),
        (BuiltInOperationType.INCREMENTFROM, 5, 5, 6),
        (BuiltInOperationType.INCREMENTFROM, 4, 5, 5),
        (BuiltInOperationType.INCREMENTSET, 9, 5, 9),
        (BuiltInOperationType.INCREMENTSET, 4, 5, 5),
    ],
)
def test_an_operation_changes_one_attribute(
    client: SearchClientSync,
    index: str,
    operation: BuiltInOperationType,
    value: int | str,
    before: Any,
    after: Any,
) -> None:
    fill(client, index, {"objectID": "1", "held": before, "other": "kept"})
    change = BuiltInOperation(operation=operation, value=BuiltInOperationValue(value))

    changed = client.partial_update_object(index, "1", {"held": change})

    finish(client, index, changed)
    assert changed.object_id == "1"
    assert client.get_object(index, "1") == {"objectID": "1", "held": after, "other": "kept"}


@pytest.mark.parametrize(("create", "there"), [(None, True), (True, True), (False, False)])
def test_a_partial_update_makes_a_missing_record_unless_told_not_to(
    client: SearchClientSync, index: str, create: bool | None, there: bool
) -> None:
    fill(client, index, {"objectID": "1"})

    finish(client, index, client.partial_update_object(index, "2", {"n": 1}, create))

    assert ("2" in stored(client, index)) is there


@pytest.mark.parametrize("create", [True, False])
def test_partial_updates_are_sent_in_chunks(
    client: SearchClientSync, index: str, create: bool
) -> None:
    fill(client, index, {"objectID": "1", "title": "Heat"}, {"objectID": "2"})
    changes = [{"objectID": f"{n}", "n": n} for n in (1, 2, 3)]

    answers = client.partial_update_objects(index, changes, create, batch_size=2)

    finish(client, index, answers[-1])
    assert len(answers) == 2
    assert stored(client, index) == {
        "1": {"objectID": "1", "title": "Heat", "n": 1},
        "2": {"objectID": "2", "n": 2},
        **({"3": {"objectID": "3", "n": 3}} if create else {}),
    }


def test_a_record_put_under_an_id_replaces_the_old_one(
    client: SearchClientSync, index: str
) -> None:
    fill(client, index, {"objectID": "1", "old": True})

    put = client.add_or_update_object(index, "1", {"new": True})

    finish(client, index, put)
    assert put.object_id == "1"
    assert client.get_object(index, "1") == {"objectID": "1", "new": True}


def test_records_are_read_in_the_order_asked_for(client: SearchClientSync, films: str) -> None:
    requests = [
        {"indexName": films, "objectID": "4", "attributesToRetrieve": ["title"]},
        {"indexName": films, "objectID": "none"},
        {"indexName": films, "objectID": "1"},
    ]

    answer = client.get_objects({"requests": requests})

    assert answer.results == [{"objectID": "4", "title": "Heat"}, None, FILMS[0]]
    assert client.get_object(films, "3", ["year"]) == {"objectID": "3", "year": 1972}


def test_records_are_deleted_one_by_one_in_chunks_and_by_filter(
    client: SearchClientSync, index: str
) -> None:
    finish(client, index, client.set_settings(index, SETTINGS))
    fill(client, index, *FILMS, {"objectID": "5", "year": 2000}, {"objectID": "6", "year": 2001})

    client.delete_object(index, "1")
    client.delete_objects(index, ["2", "6", "none"])
    last = client.delete_by(index, DeleteByParams(filters="year > 1990 AND NOT genre:crime"))

    finish(client, index, last)
    assert sorted(stored(client, index)) == ["3", "4"]


@pytest.mark.parametrize(
    "place",
    [
        {"insideBoundingBox": [[50.0, 0.0, 45.0, 5.0]]},
        {"insidePolygon": [[50.0, 0.0, 50.0, 5.0, 45.0, 2.0]]},
        {"aroundLatLng": "48.85, 2.35", "aroundRadius": 10_000},
    ],
)
def test_only_records_at_a_place_are_deleted(
    client: SearchClientSync, index: str, place: dict[str, Any]
) -> None:
    paris = {"objectID": "paris", "_geoloc": {"lat": 48.85, "lng": 2.35}}
    fill(client, index, paris, {"objectID": "rome", "_geoloc": {"lat": 41.9, "lng": 12.5}})

    finish(client, index, client.delete_by(index, place))

    assert list(stored(client, index)) == ["rome"]


def test_a_cleared_index_keeps_its_settings(client: SearchClientSync, index: str) -> None:
    finish(client, index, client.set_settings(index, {"hitsPerPage": 7}))
    fill(client, index, {"objectID": "1"})

    finish(client, index, client.clear_objects(index))

    assert stored(client, index) == {}
    assert client.get_settings(index).hits_per_page == 7


def test_one_batch_writes_to_several_indices(client: SearchClientSync, index: str) -> None:
    other = f"{index} 2"
    requests = [
        {"action": "addObject", "indexName": index, "body": {"objectID": "1", "n": 1}},
        {"action": "updateObject", "indexName": other, "body": {"objectID": "1", "n": 2}},
        {"action": "addObject", "indexName": index, "body": {"objectID": "2"}},
        {"action": "deleteObject", "indexName": index, "body": {"objectID": "1"}},
    ]

    answer = client.multiple_batch({"requests": requests})

    for name, task in answer.task_id.items():
        client.wait_for_task(name, task, Often(), max_retries=1000)
    assert answer.object_ids == ["1", "1", "2", "1"]
    assert stored(client, index) == {"2": {"objectID": "2"}}
    assert stored(client, other) == {"1": {"objectID": "1", "n": 2}}


def test_a_method_without_a_name_reaches_any_path(client: SearchClientSync, films: str) -> None:
    found: Any = client.custom_post("1/indexes/peers%20films/query", body={"query": "heat"})
    listed: Any = client.custom_get("1/indexes")

    assert [hit["objectID"] for hit in found["hits"]] == ["4"]
    assert films in [item["name"] for item in listed["items"]]


def test_coroutines_write_and_read_side_by_side(service: Running, index: str) -> None:
    async def work() -> tuple[list[list[str]], int]:
        pages: list[BrowseResponse] = []
        async with connect_async(service) as client:
            await client.save_objects(index, FILMS, wait_for_tasks=True)
            searches = [client.search_single_index(index, {"query": f["title"]}) for f in FILMS]
            answers = await asyncio.gather(*searches)
            await client.browse_objects(index, pages.append)
            with pytest.raises(RequestException, match="does not exist"):
                await client.get_settings(f"no {index}")
        return [ids(answer) for answer in answers], sum(len(page.hits) for page in pages)

    found, browsed = asyncio.run(work())

    assert found == [["1", "2"], ["2", "1"], ["3"], ["4"]]
    assert browsed == len(FILMS)


@pytest.mark.parametrize(
    ("method", "arguments", "status", "message"),
    [
        ("search_single_index", ["nowhere"], 404, "Index nowhere does not exist"),
        ("browse", ["nowhere"], 404, "Index nowhere does not exist"),
        ("get_settings", ["nowhere"], 404, "Index does not exist"),
        ("get_object", ["peers films", "none"], 404, "ObjectID does not exist"),
        ("search_single_index", ["peers films", {"filters": "a:"}], 400, "expected a value"),
        ("search_single_index", ["peers films", {"filtrs": ""}], 400, "did you mean `filters`"),
        ("search_for_facet_values", ["peers films", "year"], 400, r"searchable\(year\)"),
        ("delete_by", ["peers films", {}], 400, "filter"),
    ],
)
def test_a_refusal_is_told_in_the_services_words(
    client: SearchClientSync,
    films: str,
    method: str,
    arguments: list[Any],
    status: int,
    message: str,
) -> None:
    with pytest.raises(RequestException, match=message) as refused:
        getattr(client, method)(*arguments)

    assert refused.value.status_code == status
    assert client.index_exists(films), "a refusal does not set the host aside"


def test_a_wrong_key_is_refused(service: Running, films: str) -> None:
    with (
        connect(service, secrets.token_hex(16)) as stranger,
        pytest.raises(RequestException, match="Invalid Application-ID or API key") as refused,
    ):
        stranger.search_single_index(films)

    assert refused.value.status_code == 403


def test_the_search_key_only_searches(searcher: SearchClientSync, films: str) -> None:
    assert ids(searcher.search_single_index(films, {"query": "heat"})) == ["4"]

    with pytest.raises(RequestException, match="lacks the right `deleteIndex`") as refused:
        searcher.delete_index(films)

    assert refused.value.status_code == 403
