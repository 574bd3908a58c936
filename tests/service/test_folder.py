"""The data folder is private, used by one service at a time, and reports damage."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.folder import FILES, FOLDERS, Folder, make_private
from svc_notebook.service.service import Service
from tests.conftest import ROOT, Running, start_service, stop_service
from tests.service.service_process import Outside, outside

COMMAND = [sys.executable, "-m", "svc_notebook.service", "--json"]
PAGE = 4096


def modes(folder: Path) -> dict[str, str]:
    """The permissions of a folder and of all in it."""
    found = {}
    for one in [folder, *folder.rglob("*")]:
        with suppress(FileNotFoundError):  # a new file gets its own name when it is complete
            found[str(one.relative_to(folder.parent))] = f"{one.stat().st_mode & 0o777:o}"
    return found


def open_ones(folder: Path) -> dict[str, str]:
    return {name: mode for name, mode in modes(folder).items() if mode not in ("600", "700")}


@pytest.fixture(params=[0o022, 0o000], ids=["umask-022", "umask-000"])
def loose(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.slow
@pytest.mark.usefixtures("loose")
def test_no_file_of_the_folder_is_open_to_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)

    with outside(data) as caller:
        caller.fill("films", *({"objectID": str(n), "title": f"film {n}"} for n in range(500)))
        caller.call("POST", "/1/keys", {"acl": ["search"]})
        deadline = time.monotonic() + 15
        while not list((data / "engine").rglob("*.*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        while_running = open_ones(data)
        names = set(modes(data))

    assert while_running == {}
    assert open_ones(data) == {}
    assert {"data/service.sqlite", "data/service.sqlite-wal", "data/service.json"} <= names
    assert any(name.startswith("data/engine/") for name in names)
    assert {path.name for path in data.iterdir()} <= FILES | FOLDERS


@pytest.mark.slow
@pytest.mark.usefixtures("loose")
def test_files_of_an_earlier_version_are_closed_at_the_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with outside(data) as caller:
        caller.fill("films", {"objectID": "1"})
        time.sleep(1)
    for one in [data, *data.rglob("*")]:
        one.chmod(0o755 if one.is_dir() else 0o644)
    for name in ("service.log", "parent", "starting.lock"):
        (data / name).write_text("")

    with outside(data) as caller:
        assert open_ones(data) == {}
        assert caller.ids("films") == ["1"]


@pytest.mark.slow
def test_an_open_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "my data"
    data.mkdir(mode=0o755)
    (data / "notes.txt").write_text("mine")
    (data / "notes.txt").chmod(0o644)

    refused = start(data)

    assert refused.returncode == 1
    assert "mode 0755" in refused.stderr
    assert "notes.txt" in refused.stderr
    assert f"chmod 700 '{data}'" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert {path.name for path in data.iterdir()} <= {"notes.txt", "service.lock"}

    data.chmod(0o700)
    with outside(data) as caller:
        assert caller.call("GET", "/1/indexes").status_code == 200
    assert stat.S_IMODE((data / "notes.txt").stat().st_mode) == 0o644


def test_a_folder_that_stays_open_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)  # as FAT has it

    with pytest.raises(
        LocalServiceFailed, match="choose a folder on another file system with --data"
    ):
        make_private(tmp_path)


def test_the_target_of_a_link_is_unchanged(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "log"
    data.mkdir(mode=0o755)
    elsewhere.write_text("")
    elsewhere.chmod(0o644)
    (data / "service.log").symlink_to(elsewhere)

    make_private(data)

    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def start(data: Path) -> subprocess.CompletedProcess[str]:
    """Start a service that is to be refused."""
    return subprocess.run(
        [*COMMAND, "--data", str(data)],
        capture_output=True, text=True, cwd=ROOT, timeout=30, check=False,
    )  # fmt: skip


# One at a time


def replace_lock(data: Path) -> None:
    (data / "service.lock").unlink()
    (data / "service.lock").touch()


def delete_lock(data: Path) -> None:
    (data / "service.lock").unlink()


def move_lock(data: Path) -> None:
    (data / "service.lock").rename(data / "other")


def delete_all_but_records(data: Path) -> None:
    for name in ("service.lock", "service.json"):
        (data / name).unlink()


@pytest.mark.slow
@pytest.mark.parametrize("harm", [delete_lock, replace_lock, move_lock, delete_all_but_records])
@pytest.mark.sampled(1)
def test_a_second_service_does_not_start_after_the_lock_file_is_deleted(
    tmp_path: Path, harm: object
) -> None:
    assert callable(harm)
    with outside(tmp_path) as caller:
        caller.fill("films", {"objectID": "1"})
        harm(tmp_path)

        seconds = [start(tmp_path) for _ in range(2)]
        link = tmp_path.with_name(f"{tmp_path.name}-link")
        link.symlink_to(tmp_path)
        seconds.append(start(link))

        assert [second.returncode for second in seconds] == [1, 1, 1]
        assert all("uses the data folder" in second.stderr for second in seconds)
        caller.fill("films", {"objectID": "2"})
        assert caller.ids("films") == ["1", "2"]


@pytest.mark.slow
def test_the_folder_is_free_once_the_service_is_killed(tmp_path: Path) -> None:
    process, _ = start_service(tmp_path)
    process.kill()
    process.wait(10)
    assert process.stdout
    process.stdout.close()

    again, _ = start_service(tmp_path)

    assert stop_service(again) == 0


def test_a_service_of_an_earlier_version_is_respected(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    tmp_path.chmod(0o700)
    with (tmp_path / "service.lock").open("ab") as lock:  # all that it locks
        fcntl.flock(lock, fcntl.LOCK_EX)

        with pytest.raises(LocalServiceFailed, match="uses the data folder"):
            Folder(tmp_path).lock()

    Folder(tmp_path).lock()


# Damage


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something in every table, whole."""
    data = tmp_path_factory.mktemp("sound")
    with outside(data) as caller:
        records = ({"objectID": str(n), "title": f"film {n} " * 20} for n in range(300))
        caller.fill("films", *records, hitsPerPage=5)
        caller.call("POST", "/1/keys", {"acl": ["search"]})
        caller.done("PUT", "/1/indexes/films/rules/r", RULE)
        caller.call("PUT", "/1/security/sources", [{"source": "0.0.0.0/0"}])
    connection = sqlite3.connect(data / "service.sqlite")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return data


RULE = {"objectID": "r", "consequence": {"params": {"page": 0}}}
PARTS = range(12)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", ["byte", "page"])
@pytest.mark.parametrize("part", PARTS)
def test_a_damaged_database_is_reported_with_advice(
    sound: Path, tmp_path: Path, part: int, way: str
) -> None:
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    shutil.rmtree(data / "engine", ignore_errors=True)  # so that the records are read
    file = data / "service.sqlite"
    content = bytearray(file.read_bytes())
    page = part * (len(content) // PAGE) // len(PARTS) * PAGE
    content[page : page + (1 if way == "byte" else 100)] = b"\xff" * (1 if way == "byte" else 100)
    file.write_bytes(content)
    file.chmod(0o600)

    with (tmp_path / "stderr").open("w+") as stderr:
        told, codes = run_on(data, stderr.fileno())
        said = (tmp_path / "stderr").read_text()

    assert "Traceback" not in said
    assert 500 not in codes or "is damaged" in said
    if told is None or "is damaged" in said:
        assert f"the database {file} is damaged: " in said
        assert ".recover" in said
        assert said.count("is damaged") == 1
    else:
        assert codes.count(200) == len(codes)


def run_on(data: Path, stderr: int) -> tuple[str | None, list[int]]:
    """Start a service and call it if it starts; returns its first line and the statuses."""
    process = subprocess.Popen(
        [*COMMAND, "--data", str(data)], stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT
    )
    assert process.stdout
    line = process.stdout.readline()
    codes: list[int] = []
    if line:
        caller = Outside(Running(**json.loads(line)))
        codes = call_all(caller)
        caller.close()
        process.terminate()
    process.stdout.close()
    assert process.wait(20) == (0 if line else 1)
    return line or None, codes


def call_all(caller: Outside) -> list[int]:
    calls = [
        ("GET", "/1/indexes", None),
        ("GET", "/1/keys", None),
        ("GET", "/1/logs", None),
        ("GET", "/1/security/sources", None),
        ("POST", "/1/indexes/films/query", {"query": "film"}),
        ("POST", "/1/indexes/films/browse", {}),
        ("POST", "/1/indexes/films/rules/search", {}),
        ("POST", "/1/indexes/films", {"objectID": "new"}),
        ("GET", "/1/indexes/films/1", None),
    ]
    codes = [caller.call(verb, path, body).status_code for verb, path, body in calls]
    time.sleep(0.3)
    return [200 if code == 201 else code for code in codes]


@pytest.mark.slow
def test_a_damaged_index_file_is_made_again(sound: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    for file in (data / "engine").rglob("*"):
        if file.is_file():
            file.write_bytes(b"\xff" * file.stat().st_size)

    with outside(data) as caller:
        found = caller.call("POST", "/1/indexes/films/query", {"query": "film"}).json()

    assert found["nbHits"] == 300


@pytest.mark.parametrize("part", ["logs", "impressions"])
def test_damage_found_by_the_last_write_is_reported_once_and_the_store_is_closed(
    tmp_path: Path, part: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path)
    service.start()

    def fail() -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(getattr(service, part), "flush", fail)
    service.stop()

    assert capsys.readouterr().err.count("is damaged") == 1
    with pytest.raises(sqlite3.ProgrammingError):
        service.store.read("SELECT 1")
