"""The local service of a data folder: the running one is used, otherwise one is started."""

from __future__ import annotations

import asyncio
import atexit
import json
import math
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.child_process import python_command, start_process
from svc_notebook.core.files import (
    expand_path,
    hold_lock,
    is_locked,
    user_data_folder,
    user_state_folder,
    write_atomically,
)
from svc_notebook.core.locked_folders import drop_permanent_lease, take_lease, take_permanent_lease
from svc_notebook.data.client import Secret, background_loop
from svc_notebook.data.declarations.declaration import public, verb
from svc_notebook.data.session.profile_files import KEYS, VARIABLES
from svc_notebook.errors import LocalServiceFailed


def remember(data: Path) -> None:
    """Add a folder to the list of known data folders, if the list can be written."""
    folder = expand_path(data).absolute()
    with suppress(OSError):
        _list_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(_entry(folder), str(folder))


def known_folders() -> list[Path]:
    """Return the known data folders that still exist, and remove the others from the list."""
    folders = []
    with suppress(OSError):
        for entry in sorted(_list_folder().glob("[!.]*")):
            folder = Path(entry.read_text(encoding="utf-8"))
            if folder.is_dir():
                folders.append(folder)
            else:
                entry.unlink(missing_ok=True)
    return folders


def _entry(folder: Path) -> Path:
    return _list_folder() / sha256(str(folder).encode()).hexdigest()[:ENTRY_HEX_DIGITS]


def _list_folder() -> Path:
    return user_state_folder("services")


COMMAND = python_command("svc_notebook", "serve")
# Modules of the extra `local` without which the service does not start.
LOCAL_MODULES = ("uvicorn", "numpy", "httptools")
INSTALL_LOCAL = "pip install 'svc-notebook[local]'"
NOTE = "service.json"  # the file with the service's address, which exists while it runs
STARTING_LOCK = "starting.lock"
LEASES = "leases"  # the folder with a locked file for each process that uses the service
LOG = "service.log"
ENTRY_HEX_DIGITS = 16
START_SECONDS, STOP_SECONDS, POLL_SECONDS = 30.0, 5.0, 0.02
# A service ends when no process has used it for this long: enough to restart a kernel.
IDLE_SECONDS = 10.0
IDLE_VARIABLE = "SVC_IDLE_SECONDS"
SEARCH_TIMEOUT_SECONDS = 4.0  # for a service whose note does not contain it
MAX_ATTEMPTS = 2  # a service that is stopping can still use the folder
LOG_TAIL_CHARACTERS = 2000  # of the log in an error message
MIN_FREE_BYTES = 64 * 1024  # a disk with less is full: SQLite creates files of this size


@dataclass(frozen=True)
class LocalService:
    """A running local service."""

    url: str
    app_id: str
    pid: int
    data: Path
    admin_key: Secret = field(repr=False)
    search_key: Secret = field(repr=False)
    crawler_user_id: str = field(repr=False)
    crawler_api_key: Secret = field(repr=False)
    allows_private_crawl: bool = False
    search_timeout: float = SEARCH_TIMEOUT_SECONDS
    embedder: str | None = None
    reranker: str | None = None

    def values(self) -> dict[str, Any]:
        """Return the connection values: address, admin key and crawler credentials."""
        return {
            "url": self.url,
            "app_id": self.app_id,
            "api_key": self.admin_key,
            "crawler_user_id": self.crawler_user_id,
            "crawler_api_key": self.crawler_api_key,
        }

    def stop(self) -> None:
        """Stop the service, whichever process started it, and wait for its end."""
        background_loop.run(self._stop())

    async def _stop(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        drop_permanent_lease(self.data / LEASES)
        if not await _wait_for_end(self.data, self.pid, STOP_SECONDS):
            raise LocalServiceFailed(f"process {self.pid} does not stop; see {self.data / LOG}")


@public(
    verb(
        "serve",
        "serve",
        "serve --data ./shop",
        operands=(),
        options=("allow_private_crawl", "data", "embedder", "reranker", "search_timeout", "stay"),
        faces=("magic",),
        profile=False,
        format=False,
    )
)
def local(
    data: str | Path | None = None,
    *,
    stay: bool = False,
    allow_private_crawl: bool = False,
    search_timeout: float | None = None,
    embedder: str | None = None,
    reranker: str | None = None,
    command: OneOrMany = COMMAND,
) -> LocalService:
    """Return the local service of a data folder, which is started if necessary.

    Processes on the same folder share the service. It runs as long as one of them runs, whichever
    started it, and stops when no process has used it for 10 seconds (`SVC_IDLE_SECONDS`), unless
    one of them has set `stay`.

    Parameters
    ----------
    data : path, default the user's data folder
        Folder of the service's data.
    stay : bool, default False
        Keep the service running until it is stopped, also when no process uses it.
    allow_private_crawl : bool, default False
        Allow crawlers to visit this machine and its network.
    search_timeout : float, default 4
        Maximum duration of a search in seconds.
    embedder : str, default None
        Model of the vectors of the mode `neuralSearch`, as for the command `svc serve`:
        `static+latent`, for example. A module is imported from the data folder, too.
    reranker : str, default None
        Model that orders the first hits of searches with `localRerankedHits` in `semanticSearch`,
        as for the command `svc serve`: `fastembed:NAME`, for example.
    command : str or list of str, default the command `svc serve`
        Command that starts the service: one line, or its words.

    Returns
    -------
    LocalService
        The service with `url`, `app_id`, `pid`, `data`, its keys and the method `stop`.

    Raises
    ------
    LocalServiceFailed
        If the service does not start, or already runs with other options.

    Examples
    --------
    >>> service = svc.local("shop-data")
    >>> service.stop()
    """
    folder = expand_path(data or default_folder()).absolute()
    models = {"embedder": embedder, "reranker": reranker}
    more = _list_options(allow_private_crawl, search_timeout, models)
    words = shlex.split(command) if isinstance(command, str) else list_texts(command, "command")
    running = attach(folder) or _begin(folder, [*words, *more])
    if stay:
        take_permanent_lease(folder / LEASES)
    remember(folder)
    _check_options(running, allow_private_crawl, search_timeout, models)
    return running


def _list_options(
    private_crawl: bool, timeout: float | None, models: Mapping[str, str | None]
) -> list[str]:
    """Return the options of the command that starts a service."""
    words = ["--allow-private-crawl"] if private_crawl else []
    seconds = None if timeout is None else f"{timeout:g}"
    for option, value in {"search-timeout": seconds, **models}.items():
        words += [f"--{option}", value] if value is not None else []
    return words


def _check_options(
    running: LocalService,
    private_crawl: bool,
    timeout: float | None,
    models: Mapping[str, str | None],
) -> None:
    """Reject a running service with other options."""
    folder = running.data
    if private_crawl and not running.allows_private_crawl:
        raise LocalServiceFailed(
            f"the local service that runs on {folder} does not crawl private addresses; stop it, "
            "and connect again"
        )
    if timeout not in (None, running.search_timeout):
        raise LocalServiceFailed(
            f"the local service that runs on {folder} has a search timeout of "
            f"{running.search_timeout:g} s; stop it, and connect again"
        )
    for option, model in models.items():
        current = getattr(running, option)
        if model not in (None, current):
            raise LocalServiceFailed(
                f"the local service that runs on {folder} has the {option} {current}; stop it, and "
                "connect again"
            )


def _begin(folder: Path, command: Sequence[str]) -> LocalService:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return background_loop.run(_start_in_turn(folder, command))
    except OSError as error:
        raise LocalServiceFailed(
            f"the data folder {folder} cannot be used: {error.strerror or error}; `data` names "
            "another one"
        ) from error


def default_folder() -> Path:
    """Return the default data folder of the local service."""
    return user_data_folder("local")


async def _start_in_turn(data: Path, command: Sequence[str]) -> LocalService:
    # A service that ends because nobody uses it holds the lock until it has ended.
    async with hold_lock(data / STARTING_LOCK):
        take_lease(data / LEASES)
        running = find_running(data)
        if running is None:
            drop_permanent_lease(data / LEASES)  # of an earlier service
            running = await _start(data, command)
        return running


def attach(data: Path) -> LocalService | None:
    """Return the running service of a data folder, which then runs as long as this process."""
    while running := find_running(data):
        take_lease(data / LEASES)
        if not is_locked(data / STARTING_LOCK):
            return running
        # Another session starts or attaches, or the service ends and does not see the lease.
        time.sleep(POLL_SECONDS)
    return None


def find_running(data: Path) -> LocalService | None:
    """Return the running service of a data folder."""
    note = _read_note(data)
    return note if note and is_alive(note.pid) and _listens(note.url) else None


def all_running() -> list[LocalService]:
    """Return every running service of this user, on any folder."""
    folders = dict.fromkeys([default_folder(), *known_folders()])
    return [running for folder in folders if (running := find_running(folder))]


def _read_note(data: Path) -> LocalService | None:
    try:
        note = json.loads((data / NOTE).read_text(encoding="utf-8"))
        return LocalService(
            url=note["url"],
            app_id=note["appId"],
            pid=int(note["pid"]),
            data=data,
            admin_key=Secret(note["adminKey"]),
            search_key=Secret(note["searchKey"]),
            crawler_user_id=note["crawlerUserId"],
            crawler_api_key=Secret(note["crawlerApiKey"]),
            allows_private_crawl=bool(note.get("allowsPrivateCrawl")),
            search_timeout=float(note.get("searchTimeoutSeconds", SEARCH_TIMEOUT_SECONDS)),
            embedder=note.get("embedder"),
            reranker=note.get("reranker"),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_alive(pid: int) -> bool:
    """Return whether a process exists; an ended child process is reaped."""
    if os.getpid() == _PROCESS and (process := _OWN.get(pid)) and process.poll() is not None:
        del _OWN[pid]
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _listens(url: str) -> bool:
    """Return whether the address accepts connections: the process id can have been reused."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port or 80), timeout=1):
            return True
    except OSError:
        return False


async def _wait_for_end(data: Path, pid: int, timeout_seconds: float) -> bool:
    """Wait until a service has released its folder; return False at the timeout."""
    deadline = time.monotonic() + timeout_seconds
    while is_alive(pid) and (data / NOTE).exists():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


def describe_missing_extra() -> str:
    """Return what the local service lacks here, and the remedy; empty if nothing."""
    missing = [name for name in LOCAL_MODULES if find_spec(name) is None]
    return f"the local service needs {missing[0]}: {INSTALL_LOCAL}" if missing else ""


async def _start(data: Path, command: Sequence[str]) -> LocalService:
    if tuple(command) == COMMAND and (lack := describe_missing_extra()):
        raise LocalServiceFailed(lack)
    for _ in range(MAX_ATTEMPTS):
        process = _spawn(data, command)
        try:
            running = await _wait_for_start(data, process)
        except BaseException:
            process.terminate()
            raise
        if running:
            return running
        process.terminate()
    raise LocalServiceFailed(f"the local service does not start: {_tail(data / LOG)}")


async def _wait_for_start(data: Path, process: subprocess.Popen[bytes]) -> LocalService | None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if running := find_running(data):
            return running
        await asyncio.sleep(POLL_SECONDS)
    return find_running(data)  # a service may have been started manually just before


def _spawn(data: Path, command: Sequence[str]) -> subprocess.Popen[bytes]:
    options = ["--json", "--data", str(data), "--idle", f"{_idle_seconds():g}"]
    with open(data / LOG, "wb", opener=_open_private) as log:
        process = start_process(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            folder=data,
            environment=_environment(),
            start_new_session=True,  # an interrupt of the kernel must not reach it
        )
    _OWN[process.pid] = process
    return process


def _idle_seconds() -> float:
    text = os.environ.get(IDLE_VARIABLE, "").strip()
    try:
        seconds = float(text or IDLE_SECONDS)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise LocalServiceFailed(f"{IDLE_VARIABLE} is {text!r}: use a number of seconds")
    return seconds


def _open_private(path: str, flags: int) -> int:
    """Open a file that only this user can read: the folder contains keys."""
    return os.open(path, flags, 0o600)


def _environment() -> dict[str, str]:
    """Return the environment of the service, without keys."""
    keys = {VARIABLES[name] for name in KEYS}
    return {name: value for name, value in os.environ.items() if name not in keys}


def _tail(log: Path) -> str:
    try:
        text = log.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        text = ""
    if text:
        return text[-LOG_TAIL_CHARACTERS:]
    # On a full disk the log stays empty, too.
    if shutil.disk_usage(log.parent).free < MIN_FREE_BYTES:
        return f"the disk of {log.parent} is full; free space on it, then connect again"
    return f"it printed nothing; its log is {log}"


_OWN: dict[int, subprocess.Popen[bytes]] = {}
_PROCESS = os.getpid()


@atexit.register
def _leave_running() -> None:
    """Let services outlive this process, of which `Popen` would warn as of a mistake."""
    for process in _OWN.values():
        process.returncode = process.returncode or 0
