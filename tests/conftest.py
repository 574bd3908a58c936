"""Fixtures for every test: the real service as a process of its own, and the same one inside."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, settings

from svc_notebook.core.locked_folders import remove_abandoned
from svc_notebook.data.client import Client
from svc_notebook.data.loading.sending import batch_sender
from svc_notebook.data.session import connection
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.rotation import rotation

ROOT = Path(__file__).parent.parent
# Share of the examples of a property test, and their minimum number, in a run with `--sample`.
SAMPLE_SHARE, SAMPLE_MIN_EXAMPLES = 0.25, 5
# Examples of a property test that sets no number.
DEFAULT_EXAMPLES = 100
# A shell starts background jobs with SIGINT ignored, and every child inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_sampled = False
# The folder for temporary files of all processes of a run; what is in it at the end. Files of this
# package fail the run, without those of processes that tests kill: the next process removes these,
# which `tests/data/loading/test_temporary_folders.py` holds.
TEMPORARY = pytest.StashKey[Path]()
LEFT = pytest.StashKey[list[str]]()
# Longer than processes that tests have ended need to delete their files on a busy machine.
SECONDS_TO_DELETE = 30
# A file system in memory for temporary files, where this much is free in it: SQLite waits for the
# disk at each commit, so that tests of a service take up to four times as long on one.
MEMORY, MEMORY_BYTES = Path("/dev/shm"), 6 * 1024**3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--sample`, and `--quick`, with which `make test` runs a part of the suite."""
    parser.addoption(
        "--sample",
        action="store_true",
        help="take fewer examples and parameter sets of repetitive tests",
    )
    parser.addoption("--quick", action="store_true", help="`--sample`, and leave out slow tests")
    parser.addoption(
        "--slow-in",
        action="append",
        default=[],
        metavar="PATH",
        help="with --quick, do not leave out the slow tests of this folder or module",
    )
    parser.addoption(
        "--half-in",
        action="append",
        default=[],
        metavar="PATH",
        help="with --quick, leave out half of the slow tests of this folder or module",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Configure Hypothesis and NumPy before any test module is imported."""
    global _sampled
    # Processes of tests share the processors: threads of a product of matrices would wait in a loop
    # for those that have none, which takes three times the processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _sampled = config.getoption("sample") or config.getoption("quick")
    # Several processes share the machine, so the duration of an example has no meaning.
    settings.register_profile(
        "shared",
        max_examples=examples(DEFAULT_EXAMPLES),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("shared")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Give the run a folder for temporary files, which tests must leave empty.

    Folders of `tmp_path` of failed tests stay where they are for later reading.
    """
    if hasattr(session.config, "workerinput"):
        return
    root = os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", find_temporary_root())
    folder = Path(tempfile.mkdtemp(prefix="svc-tests-", dir=root))
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    session.config.stash[TEMPORARY] = folder


def find_temporary_root() -> str:
    """Return the folder of temporary files that is set, or else one in memory if there is space.

    Programs that tests write must be allowed to run there.
    """
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        memory = os.statvfs(MEMORY)
        is_large = memory.f_bavail * memory.f_frsize >= MEMORY_BYTES
        if is_large and not memory.f_flag & os.ST_NOEXEC:
            return str(MEMORY)
    return tempfile.gettempdir()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if temporary files are left."""
    folder = session.config.stash.get(TEMPORARY, None)
    if folder is None:
        return
    end = time.monotonic() + SECONDS_TO_DELETE
    while [*folder.glob("svc-*")] and time.monotonic() < end:
        remove_abandoned(folder)
        time.sleep(0.1)
    session.config.stash[LEFT] = left = sorted(path.name for path in folder.iterdir())
    is_ours = any(name.startswith("svc-") for name in left)
    if is_ours and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the temporary files that tests left."""
    if left := config.stash.get(LEFT, []):
        terminalreporter.section("temporary files were left", red=True)
        terminalreporter.write_line("\n".join(left))


def examples(count: int) -> int:
    """Return the number of examples of a property test: `count`, or a share with `--sample`."""
    return max(SAMPLE_MIN_EXAMPLES, int(count * SAMPLE_SHARE)) if _sampled else count


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the garbage collector, which later leaves out what is there by then.

    Modules and items live as long as the run, and each run of the collector would traverse them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests with `--quick`, and parameter sets beyond those of `sampled`."""
    if not _sampled:
        return
    quick, slow_in = config.getoption("quick"), tuple(config.getoption("slow_in"))
    half_in = tuple(config.getoption("half_in"))
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    # The next slow test of each module that is left out by half; the first one changes daily.
    numbers: dict[Path, int] = defaultdict(rotation)
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        is_kept = not (quick and is_slow) or item.nodeid.startswith(slow_in)
        if not is_kept and item.nodeid.startswith(half_in):
            is_kept = numbers[item.path] % 2 == 0
            numbers[item.path] += 1
        if is_kept:
            families[item.nodeid.partition("[")[0]].append(item)
    kept = {
        item
        for name, family in families.items()
        for item in _sample(family, is_part=quick and not name.startswith(slow_in))
    }
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _sample(family: list[pytest.Item], *, is_part: bool) -> list[pytest.Item]:
    """Return the items of one test function that a sample keeps, evenly spread.

    `sampled(20, quick=4)` keeps 20, or 4 where the slow tests of the module are left out.
    """
    marker = family[0].get_closest_marker("sampled")
    if marker is None:
        return family
    count = marker.args[0] if marker.args else len(family)
    if is_part:
        count = marker.kwargs.get("quick", count)
    if len(family) <= count:
        return family
    return [family[number * len(family) // count] for number in range(count)]


@dataclass(frozen=True)
class Running:
    """A service in a process of its own, as its `--json` line tells."""

    url: str
    appId: str
    adminKey: str
    searchKey: str
    crawlerUserId: str
    crawlerApiKey: str
    pid: int

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a plain HTTP client that sends a key, the admin's by default."""
        return httpx.Client(
            base_url=self.url, headers=credentials(self.appId, key or self.adminKey), timeout=30
        )


def credentials(app_id: str, key: str) -> dict[str, str]:
    """The two headers that every call carries."""
    return {"X-Service-Application-Id": app_id, "X-Service-API-Key": key}


def start_service(data: Path, *options: str) -> tuple[subprocess.Popen[str], Running]:
    """Start a service on a folder and read its first line; the caller ends it."""
    command = [sys.executable, "-m", "svc_notebook.service", "--json", "--data", str(data)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    return process, Running(**json.loads(process.stdout.readline()))


def stop_service(process: subprocess.Popen[str], seconds: float = 60) -> int:
    """End a service cleanly; returns its exit status. A busy machine needs over ten seconds."""
    process.terminate()
    assert process.stdout
    process.stdout.close()
    return process.wait(seconds)


def wait_published(service: Service, *tasks: int) -> None:
    """Wait until the writer has come to these tasks."""
    while service.tasks.published < max(tasks):
        time.sleep(0.001)


@pytest.fixture(scope="session", autouse=True)
def _apart_from_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what a session leaves behind, as a journal of changes, out of the user's folder.

    Services start no search workers unless a test says so: hundreds of processes would start.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_WORKERS", "0")
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("user")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("user-state")))
        yield


def set_current(client: Client | None) -> None:
    """Set the current client, or none, until the end of this test."""
    connection._current = client


@pytest.fixture(autouse=True)
def _connection_of_this_test() -> Iterator[None]:
    """Take back what a test connects to."""
    before = connection._current
    yield
    set_current(before)


@pytest.fixture
def without_package(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make imports fail until the end of a test: `without_package("yaml", "openpyxl")`."""

    def forbid(*names: str) -> None:
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return forbid


@pytest.fixture
def temporary_files_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Write temporary files to a folder: `temporary_files_in(tmp_path)`."""

    def choose(folder: Path) -> None:
        monkeypatch.setenv("TMPDIR", str(folder))
        monkeypatch.setattr(tempfile, "tempdir", None)

    return choose


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give this process a standard input: `standard_input(b"y", terminal=True)`, or None."""

    def give(content: bytes | None, *, terminal: bool = False) -> None:
        stream = None if content is None else StandardInput(content, terminal=terminal)
        monkeypatch.setattr(sys, "stdin", stream)

    return give


class StandardInput(io.TextIOWrapper):
    """A standard input: what is typed into a terminal, or comes through a pipe."""

    def __init__(self, content: bytes, *, terminal: bool) -> None:
        super().__init__(io.BufferedReader(io.BytesIO(content)), encoding="utf-8")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads send again soon after a refusal: pauses of seconds would be most of a test."""
    monkeypatch.setattr(batch_sender, "MAX_BACKOFF_SECONDS", 0.05)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service process for the whole run; take index names of your own."""
    process, running = start_service(tmp_path_factory.mktemp("service"))
    yield running
    stop_service(process)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """A service of this test's own, in this process, without a socket."""
    inner = Service(tmp_path / "data")
    inner.start()
    app = App(inner)
    yield app
    app.close()
    inner.stop()


@pytest.fixture
def inside(app: App) -> Inside:
    """Calls the `app` of this test."""
    return Inside(app)


class Inside:
    """Calls an application in this process, with the admin key unless told otherwise."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.facts = app.service.keyring.facts

    def call(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Send one request; `content` is sent as it is, `body` as JSON."""
        own = credentials(self.facts["appId"], key or self.facts["adminKey"])
        return asyncio.run(self._send(verb, path, body, {**own, **(headers or {})}, content))

    async def _send(
        self, verb: str, path: str, body: Any, headers: dict[str, str], content: bytes | None
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            data = {"content": content} if content is not None else {"json": body}
            if body is None and content is None:
                data = {}
            return await client.request(verb, path, headers=headers, **data)

    def done(self, verb: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a write and wait until it is published; returns its answer."""
        answer = self.call(verb, path, body, **more)
        assert answer.is_success, answer.text
        task = answer.json()["taskID"]
        wait_published(self.app.service, *(task.values() if isinstance(task, dict) else [task]))
        return answer.json()

    def fill(self, index: str, *records: dict[str, Any], **settings: Any) -> None:
        """Give an index settings and records."""
        path = f"/1/indexes/{quote(index, safe='')}"
        if settings:
            self.done("PUT", f"{path}/settings", settings)
        requests = [{"action": "addObject", "body": record} for record in records]
        self.done("POST", f"{path}/batch", {"requests": requests})

    def ids(self, index: str, query: str = "", **params: Any) -> list[str]:
        """Search; returns the objectIDs of the hits."""
        path = f"/1/indexes/{quote(index, safe='')}/query"
        answer = self.call("POST", path, {"query": query, **params})
        assert answer.is_success, answer.text
        return [hit["objectID"] for hit in answer.json()["hits"]]
