"""The local service runs as long as a process uses it, whichever started it."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from svc_notebook.core.files import lock_descriptor
from svc_notebook.core.locked_folders import drop_lease, is_leased, take_lease
from svc_notebook.data.session.local_service import IDLE_VARIABLE, LEASES, find_running, is_alive
from tests.conftest import ROOT
from tests.data.session.test_local_service import command, started, until

pytestmark = pytest.mark.timeout(300)
# A process that attaches to the service of a folder, or starts it, until its input ends.
USE = """
import sys
from svc_notebook.data.session import local
service = local(sys.argv[1], stay=sys.argv[2] == "stay", command=sys.argv[3:])
print(service.pid, flush=True)
sys.stdin.read()
"""
CALL = """
import sys
import svc_notebook as svc
svc.connect("local", data=sys.argv[1])
print("connected", flush=True)
for line in sys.stdin:
    result = svc.push([{"objectID": "1", "name": "lamp"}], "films", progress=False)
    print(result.published, flush=True)
"""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder; the services that were started on it are ended."""
    folder = tmp_path / "folder"
    yield folder
    for pid in started(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def use(data: Path, idle: float, stay: str = "leave") -> tuple[subprocess.Popen[str], int]:
    """Start a process that uses the service; return it with the service's process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", USE, str(data), stay, *command()], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, IDLE_VARIABLE: f"{idle}"},
    )  # fmt: skip
    assert process.stdout
    return process, int(process.stdout.readline())


def end(process: subprocess.Popen[str], how: str) -> None:
    if how == "kill":
        process.kill()
    process.communicate(timeout=60)


ORDERS = [*itertools.permutations(range(3))]


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
@pytest.mark.parametrize("how", ["kill", "close"])
@pytest.mark.sampled(3)
def test_a_service_ends_with_the_last_of_three_processes(
    data: Path, order: tuple[int, ...], how: str
) -> None:
    users = [use(data, 0.3) for _ in range(3)]
    [service] = {pid for _, pid in users}

    for number in order[:2]:
        end(users[number][0], how)
        time.sleep(0.6)  # longer than the service runs without a user
        assert find_running(data)
    end(users[order[2]][0], how)

    until(lambda: not is_alive(service))
    assert find_running(data) is None
    assert len(started(data)) == 1
    assert not is_leased(data / LEASES)


Events = tuple[tuple[str, int], ...]


def list_orders(starts: int = 0, running: tuple[int, ...] = ()) -> Iterator[Events]:
    """Yield all orders in which three processes can attach and end, numbered as they attach."""
    if starts == 3 and not running:
        yield ()
    if starts < 3:
        for later in list_orders(starts + 1, (*running, starts)):
            yield (("attach", starts), *later)
    for number in running:
        for later in list_orders(starts, tuple(other for other in running if other != number)):
            yield (("end", number), *later)


# Where all attach first, the order of their ends is all that matters: `ORDERS`.
LATE_ATTACHERS = [order for order in list_orders() if order[2] != ("attach", 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", LATE_ATTACHERS, ids=lambda order: "-".join(f"{event}{user}" for event, user in order)
)
@pytest.mark.parametrize("how", ["kill", "close"])
@pytest.mark.sampled(3)
def test_a_late_process_uses_the_service_of_those_before_it(
    tmp_path: Path, order: Events, how: str
) -> None:
    users: dict[int, subprocess.Popen[str]] = {}
    service = None
    for event, number in order:
        if event == "attach":
            users[number] = attach(tmp_path / "data")
        else:
            end(users.pop(number), how)
            time.sleep(0.6)  # longer than the service runs without a user
        running = find_running(tmp_path / "data")
        if not users:
            assert service
            until(lambda pid=service: not is_alive(pid))  # type: ignore[misc]
            service = None
            continue
        assert running
        assert service in (None, running.pid)
        service = running.pid
        assert [push(user) for user in users.values()] == ["1\n"] * len(users)

    assert not is_leased(tmp_path / "data" / LEASES)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "close"])
def test_a_service_outlasts_the_restart_of_a_kernel(data: Path, how: str) -> None:
    first, before = use(data, 30)
    end(first, how)
    second, after = use(data, 30)

    end(second, "kill")

    assert before == after


@pytest.mark.slow
def test_a_service_that_ends_is_replaced(data: Path) -> None:
    """Processes come and go at the moment at which the service ends."""
    pids = []
    for _ in range(3):
        users = [use(data, 0) for _ in range(2)]
        assert len({pid for _, pid in users}) == 1
        assert is_alive(users[0][1])
        pids.append(users[0][1])
        for process, _ in users:
            end(process, "kill")

    assert [pid for pid in started(data) if pid in pids] == sorted({*pids}, key=pids.index)


def test_a_service_stays_until_it_is_stopped(data: Path) -> None:
    process, service = use(data, 0.1, "stay")
    end(process, "close")
    time.sleep(0.5)

    running = find_running(data)
    assert running
    assert running.pid == service
    running.stop()
    again, _ = use(data, 0.1)
    end(again, "close")

    until(lambda: not is_alive(started(data)[-1]))  # the later service was not asked to stay


@pytest.mark.slow
def test_a_later_process_can_make_it_stay(data: Path) -> None:
    first, service = use(data, 0.1)
    second, _ = use(data, 0.1, "stay")
    end(first, "close")
    end(second, "close")
    time.sleep(0.5)

    assert find_running(data)
    assert is_alive(service)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_forked_process_holds_leases_of_its_own(tmp_path: Path) -> None:
    script = (
        "import os, sys, time, warnings\nfrom pathlib import Path\n"
        "from svc_notebook.core.locked_folders import take_lease, is_leased\n"
        "folder = Path(sys.argv[1]); take_lease(folder)\nwarnings.simplefilter('ignore')\n"
        "count = lambda: len([*folder.iterdir()])\n"
        "if not os.fork():\n    take_lease(folder)\n    print(count(), flush=True)\n"
        "    os._exit(0)\nos.wait(); print(is_leased(folder), count())"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "leases")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip

    assert done.stdout.split() == ["2", "True", "1"], done.stderr
    assert not is_leased(tmp_path / "leases")


def test_a_lease_is_taken_once(tmp_path: Path) -> None:
    for _ in range(2):
        take_lease(tmp_path / "leases")

    assert len([*(tmp_path / "leases").iterdir()]) == 1
    assert is_leased(tmp_path / "leases")


def attach(data: Path) -> subprocess.Popen[str]:
    """Start a process that connects to the service of a folder and pushes for each line."""
    process = subprocess.Popen(
        [sys.executable, "-c", CALL, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd=ROOT, env={**os.environ, IDLE_VARIABLE: "0.2"},
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "connected\n"
    return process


def push(process: subprocess.Popen[str]) -> str:
    assert process.stdin
    assert process.stdout
    process.stdin.write("push\n")
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.slow
def test_another_notebook_goes_on_when_the_first_is_killed(tmp_path: Path) -> None:
    first, second = attach(tmp_path / "data"), attach(tmp_path / "data")
    running = find_running(tmp_path / "data")
    assert running
    first.kill()
    first.communicate()
    time.sleep(1)

    assert push(second) == "1\n"
    end(second, "close")

    until(lambda: not is_alive(running.pid))


def test_a_lease_that_is_looked_at_while_it_is_taken_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks for leases locks each file for a moment: at the first attempt, for too long."""
    folder, attempts = tmp_path / LEASES, list[bool]()

    def lock_late(file: int) -> bool:
        rival = os.open(next(folder.iterdir()), os.O_RDWR) if not attempts else None
        try:
            assert rival is None or lock_descriptor(rival)
            attempts.append(lock_descriptor(file))
        finally:
            if rival is not None:
                os.close(rival)
        return attempts[-1]

    with monkeypatch.context() as patch:
        patch.setattr("svc_notebook.core.files.lock_descriptor", lock_late)
        take_lease(folder)

    assert attempts == [False, True]
    assert is_leased(folder)
    assert len([*folder.iterdir()]) == 1
    drop_lease(folder)
    assert not is_leased(folder)
