"""Users are assigned to clusters, moved, found and removed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside

PATH = "/1/clusters/mapping"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Inside]:
    """A service with two clusters."""
    service = Service(tmp_path, clusters=2)
    service.start()
    app = App(service)
    yield Inside(app)
    app.close()
    service.stop()


def assign(inside: Inside, user: str, cluster: str) -> Any:
    headers = {"X-Service-User-ID": user}
    return inside.call("POST", PATH, {"cluster": cluster}, headers=headers)


def users(inside: Inside, query: str = "") -> dict[str, str]:
    found = inside.call("GET", f"{PATH}{query}").json()["userIDs"]
    return {user["userID"]: user["clusterName"] for user in found}


def test_a_user_is_assigned_and_moved(two: Inside) -> None:
    answer = assign(two, "ann lee", "local-1")
    assert answer.json().keys() == {"createdAt"}

    assign(two, "ann lee", "local-2")

    assert two.call("GET", f"{PATH}/ann%20lee").json() == {
        "userID": "ann lee",
        "clusterName": "local-2",
        "nbRecords": 0,
        "dataSize": 0,
    }


def test_a_batch_assigns_new_users_and_moves_none(two: Inside) -> None:
    body = {"cluster": "local-1", "users": ["a", "b"]}
    assert two.call("POST", f"{PATH}/batch", body).json().keys() == {"createdAt"}
    assert two.call("POST", f"{PATH}/batch", body).status_code == 200

    moved = two.call("POST", f"{PATH}/batch", {"cluster": "local-2", "users": ["c", "a"]})

    assert moved.status_code == 400
    assert users(two) == {"a": "local-1", "b": "local-1"}


def test_users_come_in_pages(two: Inside) -> None:
    names = [f"u{n:03}" for n in range(25)]
    two.call("POST", f"{PATH}/batch", {"cluster": "local-1", "users": names})

    assert list(users(two, "?page=2&hitsPerPage=10")) == names[20:]
    top = two.call("GET", f"{PATH}/top").json()["topUsers"]
    assert [[user["userID"] for user in top[0]["local-1"]]] == [names[:10]]
    assert len(top) == 1


def test_a_removed_user_is_not_found(two: Inside) -> None:
    assign(two, "ann", "local-1")

    assert two.call("DELETE", f"{PATH}/ann").json().keys() == {"deletedAt"}

    assert two.call("GET", f"{PATH}/ann").status_code == 404
    assert two.call("DELETE", f"{PATH}/ann").status_code == 404


def test_clusters_report_their_records_and_users(two: Inside) -> None:
    two.fill("films", {"objectID": "1"})
    assign(two, "ann", "local-2")

    answer = two.call("GET", "/1/clusters").json()

    assert answer["topUsers"] == ["local-1", "local-2"]
    assert answer["clusters"] == [
        {"clusterName": "local-1", "nbRecords": 1, "nbUserIDs": 0, "dataSize": 16},
        {"clusterName": "local-2", "nbRecords": 0, "nbUserIDs": 1, "dataSize": 0},
    ]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({}, ["ann-lee", "anton", "bob"]),
        ({"query": "an"}, ["ann-lee", "anton"]),
        ({"query": "lee"}, ["ann-lee"]),
        ({"query": "an", "cluster": "local-2"}, ["anton"]),
        ({"clusterName": "local-2"}, ["anton"]),
        ({"hitsPerPage": 1, "page": 1}, ["anton"]),
    ],
)
def test_users_are_found(two: Inside, body: dict[str, Any], found: list[str]) -> None:
    two.call("POST", f"{PATH}/batch", {"cluster": "local-1", "users": ["ann-lee", "bob"]})
    assign(two, "anton", "local-2")

    answer = two.call("POST", f"{PATH}/search", body).json()

    assert [hit["objectID"] for hit in answer["hits"]] == found
    assert abs(answer["updatedAt"] - time.time()) < 60


def test_matches_in_user_names_are_highlighted(two: Inside) -> None:
    assign(two, "ann-lee", "local-1")

    [hit] = two.call("POST", f"{PATH}/search", {"query": "ann"}).json()["hits"]

    assert hit["_highlightResult"] == {
        "userID": {"value": "<em>ann</em>-lee", "matchLevel": "full", "matchedWords": ["ann"]},
        "clusterName": {"value": "local-1", "matchLevel": "none", "matchedWords": []},
    }


def test_moves_are_never_pending(two: Inside) -> None:
    assert two.call("GET", f"{PATH}/pending").json() == {"pending": False}
    for query, body in (("?getClusters=true", None), ("", {"getClusters": True})):
        answer = two.call("GET", f"{PATH}/pending{query}", body).json()
        assert answer["clusters"] == {"local-1": [], "local-2": []}


@pytest.mark.parametrize(
    ("user", "cluster", "told"),
    [
        ("ann", "local-3", "did you mean `local-1`?|did you mean `local-2`?"),
        ("a_b", "local-1", "letters, digits"),
        ("%C3%A9", "local-1", "'%C3%A9' may contain only letters"),
        ("ann%20lee", "local-1", "'ann%20lee' may contain only letters"),
        ("", "local-1", "user id"),
    ],
)
def test_an_invalid_assignment_is_refused(two: Inside, user: str, cluster: str, told: str) -> None:
    answer = assign(two, user, cluster)

    assert answer.status_code == 400
    assert any(part in answer.json()["message"] for part in told.split("|"))


def test_an_assignment_needs_a_user(two: Inside) -> None:
    answer = two.call("POST", PATH, {"cluster": "local-1"})

    assert answer.status_code == 400
    assert "user_id" in answer.json()["message"]


def write(inside: Inside, user: str, index: str, *records: dict[str, Any]) -> None:
    requests = [{"action": "addObject", "body": record} for record in records]
    headers = {"X-Service-User-ID": user} if user else {}
    inside.done("POST", f"/1/indexes/{index}/batch", {"requests": requests}, headers=headers)


def figures(inside: Inside, user: str) -> tuple[int, int]:
    told = inside.call("GET", f"{PATH}/{user}").json()
    return told["nbRecords"], told["dataSize"]


def test_an_index_belongs_to_the_user_it_is_written_for(two: Inside) -> None:
    for user, cluster in (("ann lee", "local-1"), ("bob", "local-2")):
        assign(two, user, cluster)
    write(two, "ann lee", "films", {"objectID": "1"}, {"objectID": "2"})
    write(two, "bob", "songs", {"objectID": "1"})
    write(two, "", "free", {"objectID": "1"}, {"objectID": "2"}, {"objectID": "3"})

    assert (figures(two, "ann%20lee"), figures(two, "bob")) == ((2, 32), (1, 16))
    [listed] = [u for u in two.call("GET", PATH).json()["userIDs"] if u["userID"] == "bob"]
    [found] = two.call("POST", f"{PATH}/search", {"query": "bob"}).json()["hits"]
    assert listed["nbRecords"] == found["nbRecords"] == 1
    clusters = two.call("GET", "/1/clusters").json()["clusters"]
    assert [(c["nbRecords"], c["dataSize"]) for c in clusters] == [(5, 80), (1, 16)]


def test_usage_moves_with_a_user_to_another_cluster(two: Inside) -> None:
    assign(two, "ann", "local-1")
    write(two, "ann", "films", {"objectID": "1"})

    assign(two, "ann", "local-2")

    clusters = two.call("GET", "/1/clusters").json()["clusters"]
    assert [c["nbRecords"] for c in clusters] == [0, 1]


def test_the_users_with_the_most_records_are_on_top(two: Inside) -> None:
    names = [f"u{number:02}" for number in range(12)]
    two.call("POST", f"{PATH}/batch", {"cluster": "local-1", "users": names})
    for user, count in (("u11", 3), ("u05", 2)):
        write(two, user, user, *({"objectID": str(n)} for n in range(count)))

    [top] = two.call("GET", f"{PATH}/top").json()["topUsers"]

    assert [user["userID"] for user in top["local-1"]] == ["u11", "u05", *names[:5], *names[6:9]]


@pytest.mark.parametrize(
    ("verb", "path", "body", "held"),
    [
        ("POST", "/1/indexes/films/operation", {"operation": "move", "destination": "kept"}, 1),
        ("POST", "/1/indexes/films/operation", {"operation": "copy", "destination": "kept"}, 2),
        ("POST", "/1/indexes/films/clear", None, 0),
        ("DELETE", "/1/indexes/films", None, 0),
    ],
)
def test_usage_follows_copies_moves_and_deletions_of_an_index(
    two: Inside, verb: str, path: str, body: Any, held: int
) -> None:
    assign(two, "ann", "local-1")
    write(two, "ann", "films", {"objectID": "1"})

    two.done(verb, path, body)
    if verb == "DELETE":
        write(two, "", "films", {"objectID": "1"})

    assert figures(two, "ann")[0] == held


def test_a_user_is_removed_with_its_data(two: Inside) -> None:
    assign(two, "ann", "local-2")
    write(two, "ann", "films", {"objectID": "1"})
    write(two, "", "free", {"objectID": "1"})

    two.call("DELETE", f"{PATH}/ann")

    while two.call("GET", f"{PATH}/pending").json()["pending"]:
        time.sleep(0.005)
    assert [i["name"] for i in two.call("GET", "/1/indexes").json()["items"]] == ["free"]
    assign(two, "ann", "local-1")
    assert figures(two, "ann") == (0, 0)


def test_a_removal_is_pending_until_its_data_is_deleted(two: Inside) -> None:
    assign(two, "ann", "local-2")
    write(two, "ann", "films", {"objectID": "1"})

    with two.app.service.store.writing():  # nothing is applied meanwhile
        two.app.service.users.removed["ann"] = ("local-2", two.app.service.tasks.last + 1)
        answer = two.call("GET", f"{PATH}/pending?getClusters=true").json()

    assert answer == {"pending": True, "clusters": {"local-1": [], "local-2": ["ann"]}}


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "/1/indexes/films", {"objectID": "1"}),
        ("POST", "/1/indexes/*/batch", {"requests": []}),
        ("PUT", "/1/indexes/films/settings", {}),
    ],
)
def test_a_write_for_an_unknown_user_is_refused(
    two: Inside, verb: str, path: str, body: Any
) -> None:
    answer = two.call(verb, path, body, headers={"X-Service-User-ID": "nobody"})

    assert answer.status_code == 404
    assert "nobody has no cluster" in answer.json()["message"]


def test_a_refused_write_changes_no_owner(two: Inside) -> None:
    assign(two, "ann", "local-1")
    write(two, "", "films", {"objectID": "1"})

    refused = two.call("POST", "/1/indexes/films", [], headers={"X-Service-User-ID": "ann"})

    assert refused.status_code == 400
    assert figures(two, "ann") == (0, 0)


def test_whose_an_index_is_outlives_the_service(tmp_path: Path) -> None:
    for first in (True, False):
        service = Service(tmp_path)
        service.start()
        app = App(service)
        inside = Inside(app)
        if first:
            assign(inside, "ann", "local-1")
            write(inside, "ann", "films", {"objectID": "1"})
        held = figures(inside, "ann")
        app.close()
        service.stop()

    assert held == (1, 16)
