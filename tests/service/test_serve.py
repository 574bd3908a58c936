"""The service as a process: start, announcement and stop."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from svc_notebook.service.server import serve
from tests.conftest import ROOT, Running, start_service, stop_service

COMMAND = [sys.executable, "-m", "svc_notebook.service"]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Running]]:
    process, running = start_service(tmp_path)
    yield process, running
    stop_service(process)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options], capture_output=True, text=True, cwd=ROOT, timeout=20, check=False
    )


@pytest.mark.slow
def test_a_running_service_is_described_in_its_folder(
    started: tuple[subprocess.Popen[str], Running], tmp_path: Path
) -> None:
    process, running = started
    note = tmp_path / "service.json"

    options = {
        "allowsPrivateCrawl": False, "searchTimeoutSeconds": 4.0,
        "embedder": None, "reranker": None,
    }  # fmt: skip
    assert json.loads(note.read_text()) == vars(running) | options
    assert running.pid == process.pid
    assert stat.S_IMODE(note.stat().st_mode) == 0o600

    assert stop_service(process) == 0
    assert not note.exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_even_with_connections_and_work(
    started: tuple[subprocess.Popen[str], Running], number: int
) -> None:
    process, running = started
    records = [{"action": "addObject", "body": {"text": "word " * 40}} for _ in range(2000)]
    with running.client() as client, socket.create_connection(("127.0.0.1", port(running))):
        for _ in range(4):
            client.post("/1/indexes/films/batch", json={"requests": records})

        process.send_signal(number)

        assert process.wait(20) == 0  # the connection stays open


def port(running: Running) -> int:
    return int(running.url.rsplit(":", 1)[1])


@pytest.mark.slow
def test_pending_tasks_are_applied_after_a_restart(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    records = [{"action": "addObject", "body": {"n": n}} for n in range(3000)]
    with running.client() as client:
        client.post("/1/indexes/films/batch", json={"requests": records})
    stop_service(process)

    process, running = start_service(tmp_path)
    with running.client() as client:
        while client.get("/1/task/1").json()["status"] != "published":
            time.sleep(0.01)
        found = client.post("/1/indexes/films/query", json={}).json()
    stop_service(process)

    assert found["nbHits"] == 3000


@pytest.mark.slow
def test_a_second_service_on_the_folder_names_the_first(
    started: tuple[subprocess.Popen[str], Running], tmp_path: Path
) -> None:
    _, running = started

    second = run("--data", str(tmp_path))

    assert second.returncode == 1
    assert running.url in second.stderr
    assert str(running.pid) in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", ["65536", "99999", "-1"])
def test_an_invalid_port_is_reported(tmp_path: Path, number: str) -> None:
    done = run("--data", str(tmp_path), "--port", number)

    assert done.returncode == 1
    assert f"{number} is not a port" in done.stderr


@pytest.mark.parametrize("is_taken", [True, False])
def test_a_service_that_cannot_listen_leaves_no_folder(tmp_path: Path, is_taken: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1] if is_taken else 70_000
        status = serve(data=tmp_path / "shops" / "new", port=port)

    assert status == 1
    assert [*tmp_path.iterdir()] == []


def test_a_service_that_cannot_listen_leaves_the_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("of the user")

    assert serve(data=tmp_path, port=70_000) == 1
    assert (tmp_path / "notes.txt").read_text() == "of the user"


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("clusters", 0, "invalid number of clusters 0: use 1 to"),
        ("clusters", -1, "invalid number of clusters -1: use 1 to"),
        ("clusters", 1000000, "use 1 to"),
        ("admin_key", "", "the admin key must have at least one character"),
        ("app_id", "", "the application id must have at least one character"),
        ("app_id", "MY APP", "only ASCII ones without spaces"),
        ("admin_key", "clé", "only ASCII ones without spaces"),
    ],
)
def test_invalid_options_are_refused_with_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, given: Any, told: str
) -> None:
    status = serve(data=tmp_path / "new", **{name: given})

    assert status == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_port_in_use_is_reported(
    started: tuple[subprocess.Popen[str], Running], tmp_path: Path
) -> None:
    _, running = started

    second = run("--data", str(tmp_path / "other"), "--port", str(port(running)))

    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port(running)}" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.slow
def test_an_unusable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    refused = run("--data", str(tmp_path / "file"))

    assert refused.returncode == 1
    assert f"{tmp_path / 'file'} cannot be used" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "told"), [(b"not a database" * 100, "is damaged"), (None, "newer version")]
)
def test_an_unusable_store_is_reported(tmp_path: Path, content: bytes | None, told: str) -> None:
    file = tmp_path / "service.sqlite"
    if content:
        file.write_bytes(content)
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()

    refused = run("--data", str(tmp_path))

    assert refused.returncode == 1
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_given_credentials_are_stored(tmp_path: Path) -> None:
    process, running = start_service(tmp_path, "--app-id", "MYAPP", "--admin-key", "mykey")
    stop_service(process)
    again, later = start_service(tmp_path)
    stop_service(again)

    assert (running.appId, running.adminKey) == ("MYAPP", "mykey")
    assert (later.appId, later.adminKey) == ("MYAPP", "mykey")


@pytest.mark.slow
def test_it_ends_with_the_process_it_was_started_for(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process, _ = start_service(tmp_path, "--parent", str(parent.pid))

    parent.communicate(b"\n")

    assert process.wait(10) == 0
    assert process.stdout
    process.stdout.close()


@pytest.mark.slow
def test_without_json_the_announcement_is_text(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--data", str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout

    first = process.stdout.readline()
    stop_service(process)

    assert first.startswith("local service at http://127.0.0.1:")


@pytest.mark.slow
def test_requests_are_answered_from_the_announcement_on(
    started: tuple[subprocess.Popen[str], Running],
) -> None:
    _, running = started

    answer = httpx.get(f"{running.url}/1/indexes")

    assert answer.status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan"])
@pytest.mark.sampled(2)
def test_a_search_timeout_that_cannot_be_is_refused(tmp_path: Path, seconds: str) -> None:
    done = run("--data", str(tmp_path), "--search-timeout", seconds)

    assert done.returncode == 1
    assert "use 0.1 s or more" in done.stderr


@pytest.mark.slow
def test_a_search_beyond_its_time_is_refused_and_the_next_is_answered(tmp_path: Path) -> None:
    process, running = start_service(tmp_path, "--search-timeout", "0.1")
    with running.client() as client:
        places = [{"lat": n % 50, "lng": n % 170} for n in range(5000)]
        added = [{"action": "addObject", "body": {"_geoloc": place}} for place in places]
        task = client.post("/1/indexes/p/batch", json={"requests": added}).json()["taskID"]
        while client.get(f"/1/indexes/p/task/{task}").json()["status"] != "published":
            time.sleep(0.02)
        edges = [n for k in range(5000) for n in (-60, -170 + k * 0.068, 60, -170 + k * 0.068)]

        late = client.post("/1/indexes/p/query", json={"insidePolygon": [edges]})
        after = client.post("/1/indexes/p/query", json={"insidePolygon": [[0, 0, 9, 0, 9, 9]]})
    stop_service(process)

    assert late.status_code == 408
    assert "took longer than 0.1 s" in late.json()["message"]
    assert after.status_code == 200
