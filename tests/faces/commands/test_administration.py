"""Networks, users and tasks, on a real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from tests.faces.commands.conftest import Typed

HERE = "127.0.0.1/32"


@pytest.fixture
def networks(typed_apart: Typed) -> Iterator[Typed]:
    """A service that lets everybody call, and does so again in the end."""
    yield typed_apart
    svc.replace_sources([])


def listed(typed: Typed) -> list[str]:
    return list(typed("sources")["source"])


def test_networks_are_added_and_deleted(networks: Typed) -> None:
    added = networks(f"sources add {HERE} --description here --yes")
    networks("sources add 192.0.2.0/24 --yes")
    gone = networks("sources delete 192.0.2.0/24 --yes")

    assert (added["before"], added["after"], gone["after"]) == (0, 1, 1)
    assert networks("sources").to_numpy().tolist() == [[HERE, "here"]]


@pytest.mark.parametrize("way", ["file", "variable", "body"])
def test_networks_are_replaced(networks: Typed, tmp_path: Path, way: str) -> None:
    path = tmp_path / "networks.csv"
    path.write_text(f"source,description\n{HERE},here\n198.51.100.0/24,\n")
    lines = {
        "file": (f"sources replace {path} --yes", None),
        "variable": ("sources replace --from held --yes", None),
        "body": ("sources replace --yes", f"source: {HERE}\n---\nsource: 198.51.100.0/24"),
    }

    networks(*lines[way], held=pd.read_csv(path))

    assert listed(networks) == [HERE, "198.51.100.0/24"]


def test_unlisted_network_is_not_deleted(networks: Typed) -> None:
    networks(f"sources add {HERE} --yes")

    with pytest.raises(
        svc.errors.NotFound, match=r"not on the allowlist; did you mean `127\.0\.0\.1/32`"
    ):
        networks("sources delete 127.0.0.2/32 --yes")


def test_users_are_assigned_moved_and_removed(typed_apart: Typed) -> None:
    one, two = typed_apart("clusters")["clusterName"]

    typed_apart(f"users assign {one} 'ann lee'")
    many = typed_apart(f"users assign {two} --from ids", ids=pd.Series(["ben", "cat"]))
    moved = typed_apart(f"users move 'ann lee' {two} --yes")
    held = typed_apart("users get 'ann lee'")
    removed = typed_apart("users remove ben --yes")

    assert many["users"] == 2
    assert (moved["before"], moved["after"], held["clusterName"]) == (one, two, two)
    assert removed["before"] == two
    assert set(typed_apart("users")["userID"]) == {"ann lee", "cat"}
    assert typed_apart("users pending")["pending"] is False


@pytest.mark.parametrize("line", ["users move nobody local-1 --yes", "users remove nobody --yes"])
def test_a_user_that_is_not_there_is_an_error(typed_apart: Typed, line: str) -> None:
    with pytest.raises(svc.errors.Refused, match="nobody"):
        typed_apart(line)


@pytest.mark.parametrize("users", [[], [""], [1]])
def test_users_are_named_by_text(typed_apart: Typed, users: Any) -> None:
    with pytest.raises(svc.errors.BadInput, match="one or more user ids"):
        svc.assign_users(users, "local-1")


def test_the_tasks_of_a_session_are_listed(typed: Typed, admin: svc.Client) -> None:
    svc.push(pd.DataFrame({"objectID": ["1"]}), "tasks one")
    admin.wait(admin.clear_rules("tasks-two"), index="tasks-two")
    svc.search("tasks one")

    every = typed("tasks")
    of_one = typed("tasks 'tasks one' --status")

    assert every["index"].tolist() == ["tasks-two", "tasks one"]
    assert every["call"].tolist() == ["clear_rules", "batch"]
    assert of_one["status"].tolist() == ["published"]
    assert str(every["at"].dtype).endswith("UTC]")


def test_a_task_of_the_application_is_listed_too(typed_apart: Typed) -> None:
    svc.clear_entries("plurals")

    found = typed_apart("tasks --limit 1 --status")

    assert found[["call", "index", "status"]].to_numpy().tolist() == [
        ["batch_dictionary", "", "published"]
    ]


def test_the_tasks_of_several_indices_are_listed_each(admin: svc.Client) -> None:
    requests: Any = [
        {"action": "addObject", "indexName": name, "body": {"objectID": "1"}}
        for name in ("tasks-a", "tasks-b")
    ]

    admin.wait(admin.batch_many(requests))

    assert set(svc.read_writes()["index"]) == {"tasks-a", "tasks-b"}


def test_no_task_is_an_empty_table(typed: Typed) -> None:
    found = typed("tasks")

    assert list(found.columns) == ["at", "call", "index", "taskID"]
    assert len(found) == 0


def test_a_task_is_shown_and_waited_for(typed: Typed) -> None:
    svc.push(pd.DataFrame({"objectID": ["1"]}), "tasks-shown")
    task = typed("tasks tasks-shown")["taskID"][0]

    assert typed(f"tasks show {task} --index tasks-shown")["status"].tolist() == ["published"]
    assert typed(f"tasks wait {task} --index tasks-shown") == 1
