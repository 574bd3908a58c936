"""Users are mapped to clusters, moved, found and removed."""

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
    answer = assign(two, "ann%20lee", "local-1")
    assert answer.json().keys() == {"createdAt"}

    assign(two, "ann%20lee", "local-2")

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


def test_the_clusters_tell_what_they_hold(two: Inside) -> None:
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


def test_what_was_found_of_a_user_is_marked(two: Inside) -> None:
    assign(two, "ann-lee", "local-1")

    [hit] = two.call("POST", f"{PATH}/search", {"query": "ann"}).json()["hits"]

    assert hit["_highlightResult"]["userID"]["value"] == "<em>ann</em>-lee"


def test_nobody_is_on_the_move(two: Inside) -> None:
    assert two.call("GET", f"{PATH}/pending").json() == {"pending": False}
    answer = two.call("GET", f"{PATH}/pending?getClusters=true").json()
    assert answer["clusters"] == {"local-1": [], "local-2": []}


@pytest.mark.parametrize(
    ("user", "cluster", "told"),
    [
        ("ann", "local-3", "did you mean `local-1`?|did you mean `local-2`?"),
        ("a_b", "local-1", "letters, digits"),
        ("%C3%A9", "local-1", "letters, digits"),
        ("", "local-1", "user id"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(
    two: Inside, user: str, cluster: str, told: str
) -> None:
    answer = assign(two, user, cluster)

    assert answer.status_code == 400
    assert any(part in answer.json()["message"] for part in told.split("|"))


def test_an_assignment_needs_a_user(two: Inside) -> None:
    answer = two.call("POST", PATH, {"cluster": "local-1"})

    assert answer.status_code == 400
    assert "user_id" in answer.json()["message"]
