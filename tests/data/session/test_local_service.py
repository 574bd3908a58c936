"""The local service of a folder, shared by all clients."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from svc_notebook.data.client import Client
from svc_notebook.data.session import connect, current, local, local_service
from svc_notebook.data.session.config import make_connection
from svc_notebook.data.session.local_service import (
    LEASES,
    LOG,
    NOTE,
    LocalService,
    find_running,
    is_alive,
)
from svc_notebook.errors import LocalServiceFailed, NotConnected, Unreachable
from svc_notebook.faces.commands import command_client
from tests.conftest import ROOT

FAKE = Path(__file__).with_name("fake_service.py")


def command(mode: str = "serve") -> tuple[str, ...]:
    return (sys.executable, str(FAKE), mode)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder; whatever was started on it is ended."""
    folder = tmp_path / "folder"
    yield folder
    for pid in started(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for process in [p for pid, p in local_service._OWN.items() if pid in started(folder)]:
        process.wait(10)
        local_service._OWN.pop(process.pid)


def started(folder: Path) -> list[int]:
    """The processes that have become the service of a folder."""
    file = folder / "started"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_service_is_started_where_none_runs(data: Path) -> None:
    service = local(data, command=command())

    assert service.pid == started(data)[0]
    assert service.app_id == "LOCAL"
    assert service.admin_key.reveal() == "adminKey-text"


def test_nothing_shows_its_keys(data: Path) -> None:
    service = local(data, command=command())

    assert "-text" not in f"{service} {service!r} {service.values()}"


def test_a_service_that_runs_is_attached_to(data: Path) -> None:
    first = local(data, command=command())
    second = local(data, command=command("fail"))

    assert second == first
    assert len(started(data)) == 1


@pytest.mark.slow
def test_only_one_of_several_concurrent_callers_starts_the_service(data: Path) -> None:
    code = (
        "import sys; from svc_notebook.data.session import local\n"
        "service = local(sys.argv[1], stay=True, command=sys.argv[2:])\n"
        "print(service.pid)"
    )
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(data), *command()],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(4)
    ]

    pids = {process.communicate(timeout=30)[0].strip() for process in asking}

    assert pids == {str(pid) for pid in started(data)}
    assert len(pids) == 1


def test_threads_share_one_too(data: Path) -> None:
    found: list[LocalService] = []
    threads = [
        threading.Thread(target=lambda: found.append(local(data, command=command())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == len(started(data)) == 1


def test_a_stopped_service_is_started_again(data: Path) -> None:
    first = local(data, command=command())
    first.stop()

    assert find_running(data) is None
    assert local(data, command=command()).pid != first.pid


def test_the_file_of_a_killed_service_is_ignored(data: Path) -> None:
    first = local(data, command=command())
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: not is_alive(first.pid))

    assert (data / NOTE).exists()
    assert find_running(data) is None
    assert local(data, command=command()).pid != first.pid


@pytest.mark.parametrize(
    "note",
    ["", "{", "[]", "{}", '{"url": 5}', None],
    ids=["empty", "half", "list", "bare", "wrong", "of another process"],
)
def test_an_invalid_service_file_is_ignored(data: Path, note: str | None) -> None:
    """The last one is of a process that lives but, its id having been used again, is another."""
    data.mkdir()
    other = {
        "url": "http://127.0.0.1:9",
        "appId": "A",
        "adminKey": "k",
        "searchKey": "k",
        "crawlerUserId": "c",
        "crawlerApiKey": "k",
        "pid": os.getpid(),
    }
    (data / NOTE).write_text(json.dumps(other) if note is None else note)

    assert find_running(data) is None


def test_a_service_that_does_not_start_says_why(data: Path) -> None:
    with pytest.raises(LocalServiceFailed, match="does not start: the disk is full"):
        local(data, command=command("fail"))


def test_a_service_that_takes_too_long_is_ended(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("START_SECONDS", 0.3), ("MAX_ATTEMPTS", 1)):
        monkeypatch.setattr(local_service, name, value)

    with pytest.raises(LocalServiceFailed, match="it printed nothing"):
        local(data, command=command("hang"))

    until(lambda: not any(is_alive(pid) for pid in list(local_service._OWN)[-1:]))


def test_a_stop_while_it_starts_ends_it(data: Path) -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        local(data, command=command("hang"))

    until(lambda: not any(is_alive(pid) for pid in list(local_service._OWN)[-1:]))


def test_a_folder_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LocalServiceFailed, match="cannot be used"):
        local(tmp_path / "file" / "below", command=command())


def test_a_real_service_is_started_and_lost(tmp_path: Path) -> None:
    service = local(tmp_path / "real")
    client = Client(make_connection(service.values()))
    client.wait(client.add_object("i", {"title": "lamp"}), index="i")

    assert local(tmp_path / "real") == service
    assert client.search("i", "lamp")["nbHits"] == 1
    service.stop()

    with pytest.raises(Unreachable, match=r'connect\("local"\) starts one'):
        client.search("i", "lamp")


def test_connecting_to_local_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_URL", "https://elsewhere.example")

    client = connect("local")

    assert current() is client
    assert client.connection.url != "https://elsewhere.example"
    assert client.list_indices()["items"] == []
    running = find_running(local_service.default_folder())
    assert running
    assert connect("local").connection.url == running.url
    running.stop()


@pytest.mark.slow
def test_private_addresses_are_crawled_by_a_service_started_so_alone(tmp_path: Path) -> None:
    service = local(tmp_path / "plain")
    try:
        with pytest.raises(LocalServiceFailed, match="does not crawl private addresses; stop it"):
            local(tmp_path / "plain", allow_private_crawl=True)
    finally:
        service.stop()

    allowed = local(tmp_path / "open", allow_private_crawl=True)
    try:
        assert allowed.allows_private_crawl
        assert local(tmp_path / "open", allow_private_crawl=True) == allowed
    finally:
        allowed.stop()


@pytest.mark.skipif(os.name != "posix", reason="files have no such permissions there")
def test_what_a_session_puts_into_the_folder_is_closed_to_others(data: Path) -> None:
    before = os.umask(0)
    try:
        running = local(data, command=command())
    finally:
        os.umask(before)

    private = [data / local_service.LOG, data / LEASES, *(data / LEASES).iterdir()]
    modes = {path.name: path.stat().st_mode & 0o077 for path in private}
    running.stop()

    assert len(modes) == 3
    assert {*modes.values()} == {0}
    assert data.stat().st_mode & 0o077 == 0


def test_a_search_timeout_holds_for_a_service_started_with_it_alone(tmp_path: Path) -> None:
    service = local(tmp_path, search_timeout=7.5)
    try:
        assert service.search_timeout == 7.5
        assert local(tmp_path, search_timeout=7.5) == local(tmp_path) == service
        with pytest.raises(LocalServiceFailed, match=r"a search timeout of 7\.5 s; stop it"):
            local(tmp_path, search_timeout=2)
    finally:
        service.stop()


def test_what_a_bare_installation_lacks_is_said_before_a_process_starts(
    data: Path, without_package: Callable[..., None]
) -> None:
    without_package("httptools")
    remedy = re.escape("the local service needs httptools: pip install 'svc-notebook[local]'")

    with pytest.raises(LocalServiceFailed, match=f"^{remedy}"):
        local(data)
    # Nothing is configured, and no service runs on the default folder.
    with pytest.raises(NotConnected, match=f"^no service is configured, and {remedy}"):
        command_client.command_client(None, lambda _: "y")

    assert not (data / LOG).exists()


def test_a_service_that_outlives_its_process_causes_no_warning(data: Path) -> None:
    lines = (
        "from svc_notebook.data.session import local\n"
        f"local({str(data)!r}, command={command()!r}, stay=True)\n"
    )

    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", lines],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert find_running(data) is not None
