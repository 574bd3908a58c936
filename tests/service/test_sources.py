"""The allowlist applies from its first entry, and can be reset on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.errors import NotFound
from tests.conftest import ROOT, Inside, Running, start_service, stop_service

PATH = "/1/security/sources"
LOCAL = {"source": "127.0.0.0/8", "description": "this machine"}


def test_the_list_is_replaced_extended_and_shortened(inside: Inside) -> None:
    assert inside.call("GET", PATH).json() == []

    replaced = inside.call("PUT", PATH, [LOCAL]).json()
    appended = inside.call("POST", f"{PATH}/append", {"source": "10.0.0.0/8"}).json()

    assert (replaced.keys(), appended.keys()) == ({"updatedAt"}, {"createdAt"})
    assert inside.call("GET", PATH).json() == [{"source": "10.0.0.0/8"}, LOCAL]
    deleted = inside.call("DELETE", f"{PATH}/10.0.0.0%2F8").json()
    assert deleted.keys() == {"deletedAt"}
    assert inside.call("GET", PATH).json() == [LOCAL]


@pytest.mark.parametrize("source", ["10.0.0.0/8", "::1/128", "SERVICE_SUPPORT"])
def test_only_listed_networks_may_call(inside: Inside, source: str) -> None:
    inside.call("PUT", PATH, [{"source": source}])

    answer = inside.call("GET", "/1/indexes")

    assert answer.status_code == 403
    assert "127.0.0.1 is not an allowed source" in answer.json()["message"]


def test_all_addresses_may_be_listed(inside: Inside) -> None:
    inside.call("PUT", PATH, [{"source": "0.0.0.0/0"}])

    assert inside.call("GET", "/1/indexes").status_code == 200


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([{"source": "300.0.0.0/8"}], "`source`"),
        ([{"network": "10.0.0.0/8"}], "network"),
        ({"source": "10.0.0.0/8"}, "the body"),
        ([{"source": f"10.{n // 256}.{n % 256}.0/24"} for n in range(1001)], "1000"),
    ],
)
def test_an_invalid_list_is_refused_and_changes_nothing(
    inside: Inside, body: Any, told: str
) -> None:
    answer = inside.call("PUT", PATH, body)

    assert answer.status_code == 400
    assert told in answer.json()["message"]
    assert inside.call("GET", PATH).json() == []


def test_an_unlisted_network_cannot_be_deleted(inside: Inside) -> None:
    assert inside.call("DELETE", f"{PATH}/10.0.0.0%2F8").status_code == 404
    with pytest.raises(NotFound):
        inside.app.service.sources.delete("10.0.0.0/8")


@pytest.mark.slow
def test_an_operator_can_reset_an_allowlist_that_excludes_all(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    with running.client() as client:
        client.put(PATH, json=[{"source": "10.0.0.0/8"}])
    stop_service(process)

    process, running = start_service(tmp_path)
    with running.client() as client:
        locked = client.get(PATH).status_code
    stop_service(process)
    process, running = start_command(tmp_path, "--reset-allowlist")
    with running.client() as client:
        answer, key = client.get(PATH), client.get(f"/1/keys/{running.searchKey}")
    stop_service(process)

    assert locked == 403
    assert answer.json() == []
    assert key.status_code == 200


def start_command(data: Path, *options: str) -> tuple[subprocess.Popen[str], Running]:
    """Start the service as its operator does."""
    command = [sys.executable, "-m", "svc_notebook", "serve", "--json", "--data", str(data)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    return process, Running(**json.loads(process.stdout.readline()))
