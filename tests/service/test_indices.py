"""Indices are listed, copied, moved and deleted as a whole."""

from __future__ import annotations

import time
from typing import Any

import pytest

from svc_notebook.service.indices import registry
from svc_notebook.service.indices.records import measure_bodies
from svc_notebook.service.store import Store
from tests.conftest import Inside


def operate(inside: Inside, operation: str, source: str, target: str, **more: Any) -> Any:
    body = {"operation": operation, "destination": target, **more}
    return inside.done("POST", f"/1/indexes/{source}/operation", body)


@pytest.fixture
def films(inside: Inside) -> Inside:
    inside.fill("films", {"objectID": "1", "t": "x"}, hitsPerPage=3)
    return inside


def setting(inside: Inside, index: str, name: str = "hitsPerPage") -> Any:
    return inside.call("GET", f"/1/indexes/{index}/settings").json().get(name)


def test_a_copy_has_records_and_settings_but_no_replicas(films: Inside) -> None:
    operate(films, "copy", "films", "copy")

    assert films.ids("copy", "x") == ["1"]
    assert setting(films, "copy") == 3
    assert setting(films, "copy", "replicas") is None
    assert films.ids("films") == ["1"]


def test_a_copy_is_independent_of_its_source(films: Inside) -> None:
    operate(films, "copy", "films", "copy")

    films.fill("copy", {"objectID": "2"})
    films.done("DELETE", "/1/indexes/films/1")

    assert films.ids("copy") == ["1", "2"]
    assert films.ids("films") == []


def test_a_copy_replaces_an_existing_index(films: Inside) -> None:
    films.fill("copy", {"objectID": "old"}, hitsPerPage=9)

    operate(films, "copy", "films", "copy")

    assert films.ids("copy") == ["1"]
    assert setting(films, "copy") == 3


def test_a_partial_copy_leaves_the_records(films: Inside) -> None:
    films.fill("copy", {"objectID": "old"}, hitsPerPage=9)

    operate(films, "copy", "films", "copy", scope=["rules", "synonyms"])
    assert setting(films, "copy") == 9
    operate(films, "copy", "films", "copy", scope=["settings"])

    assert films.ids("copy") == ["old"]
    assert setting(films, "copy") == 3
    assert setting(films, "copy", "replicas") is None


def test_a_copy_of_a_missing_index_is_an_empty_index(films: Inside) -> None:
    operate(films, "copy", "nowhere", "films")

    assert films.ids("films") == []


def test_a_move_keeps_everything(films: Inside) -> None:
    films.fill("target", {"objectID": "old"})

    task = operate(films, "move", "films", "target")["taskID"]

    assert films.ids("target") == ["1"]
    assert setting(films, "target") == 3
    assert films.call("POST", "/1/indexes/films/query", {}).status_code == 404
    assert films.call("GET", f"/1/indexes/films/task/{task}").json()["status"] == "published"


def test_a_moved_index_accepts_writes_under_its_new_name(films: Inside) -> None:
    operate(films, "move", "films", "target")

    films.fill("target", {"objectID": "2"})
    films.fill("films", {"objectID": "new"})

    assert films.ids("target") == ["1", "2"]
    assert films.ids("films") == ["new"]


def test_a_move_of_a_missing_index_changes_nothing(films: Inside) -> None:
    operate(films, "move", "nowhere", "films")

    assert films.ids("films") == ["1"]


def test_a_deleted_index_can_be_created_again(films: Inside) -> None:
    films.done("DELETE", "/1/indexes/films")
    assert films.call("GET", "/1/indexes/films/1").status_code == 404

    films.fill("films", {"objectID": "2"})

    assert films.ids("films") == ["2"]
    assert setting(films, "films") == 20


def test_deleting_a_missing_index_is_an_ordinary_task(inside: Inside) -> None:
    assert inside.done("DELETE", "/1/indexes/nowhere")["taskID"] == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"operation": "copy", "destination": "films"}, "is the source itself"),
        ({"operation": "copy"}, "`destination` is missing"),
        ({"operation": "copi", "destination": "b"}, "move, copy"),
        ({"operation": "move", "destination": "b", "scope": ["rules"]}, "`scope`"),
        ({"operation": "copy", "destination": "b", "scope": ["records"]}, "settings"),
        ({"operation": "copy", "destination": ""}, "not a valid index name"),
        ({"operation": "copy", "destination": "x" * 256}, "longer than 255"),
    ],
)
def test_an_operation_that_is_wrong_is_refused(
    films: Inside, body: dict[str, Any], told: str
) -> None:
    answer = films.call("POST", "/1/indexes/films/operation", body)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


def test_the_list_describes_each_index(films: Inside) -> None:
    films.fill("empty", hitsPerPage=1)

    items = films.call("GET", "/1/indexes").json()["items"]

    assert [(i["name"], i["entries"]) for i in items] == [("empty", 0), ("films", 1)]
    assert items[0]["createdAt"] == ""
    assert items[1]["dataSize"] == len('{"objectID":"1","t":"x"}')
    assert items[1]["numberOfPendingTasks"] == items[1]["numberOfPendingTask"] == 0
    assert items[1]["pendingTask"] is False


def test_the_bytes_of_a_large_index_are_not_added_up_after_each_write(
    films: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []

    def measure(store: Store, index: int) -> tuple[int, int]:
        measured.append(index)
        time.sleep(0.3)
        return measure_bodies(store, index)

    monkeypatch.setattr(registry, "measure_bodies", measure)

    def describe() -> tuple[int, int]:
        (item,) = films.call("GET", "/1/indexes").json()["items"]
        return item["entries"], item["dataSize"]

    first = describe()
    films.fill("films", {"objectID": "2", "t": "y"})
    second = describe()
    films.done("POST", "/1/indexes/films/clear")

    assert (first, second, describe()) == ((1, 24), (2, 24), (0, 0))
    assert len(measured) == 1


@pytest.mark.parametrize(
    ("query", "names", "pages"),
    [
        ("", 105, 1),
        ("?page=0", 100, 2),
        ("?page=1", 5, 2),
        ("?page=2", 0, 2),
        ("?page=0&hitsPerPage=50", 50, 3),
    ],
)
def test_the_list_is_returned_whole_or_in_pages(
    inside: Inside, query: str, names: int, pages: int
) -> None:
    requests = [
        {"indexName": f"i{n}", "action": "addObject", "body": {"objectID": "1"}} for n in range(105)
    ]
    inside.done("POST", "/1/indexes/*/batch", {"requests": requests})

    answer = inside.call("GET", f"/1/indexes{query}").json()

    assert (len(answer["items"]), answer["nbPages"]) == (names, pages)
