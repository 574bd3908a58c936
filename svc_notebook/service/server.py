"""Run the service in the foreground until a signal stops it."""

from __future__ import annotations

import asyncio
import json as json_text
import math
import os
import re
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # not on Windows, which has no such limit
    resource = None  # type: ignore[assignment]

import msgspec
import uvicorn

from svc_notebook.core.files import expand_path, user_data_folder
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.analytics.search_counts import Retention
from svc_notebook.service.app import App
from svc_notebook.service.engine.execution import SEARCH_TIMEOUT_SECONDS, count_processors
from svc_notebook.service.folder import NOTE, Folder, Idleness
from svc_notebook.service.heap import keep_freed_arrays
from svc_notebook.service.http.connection import MAX_CONNECTIONS, Connection
from svc_notebook.service.search_models import Embedder, Reranker
from svc_notebook.service.service import DATABASE, Service
from svc_notebook.service.store import describe_failure, describe_unusable
from svc_notebook.service.suggestion_builder import SuggestionBuilder

# Files for connections and all other uses.
MIN_OPEN_FILES = 2 * MAX_CONNECTIONS
# Each cluster is a name in lists and a row of a table.
MAX_CLUSTERS = 100
# Each search process takes memory of its own.
MAX_WORKERS, MAX_DEFAULT_WORKERS = 64, 8
MIN_TIMEOUT_SECONDS = 0.1
ADMIN_KEY_VARIABLE = "SVC_ADMIN_KEY"
WORKERS_VARIABLE = "SVC_WORKERS"
STANDARD_INPUT = "-"
MAX_KEY_FILE_CHARACTERS = 10_000  # maximum characters read from a key file
_HEADER_VALUE = re.compile(r"[!-~]+")


def default_folder() -> Path:
    """Return the default data folder of a local service."""
    return user_data_folder("local")


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    data: Path | None = None,
    json: bool = False,
    clusters: int = 1,
    allow_private_crawl: bool = False,
    browser: str | None = None,
    app_id: str | None = None,
    admin_key: str | None = None,
    admin_key_file: str | None = None,
    parent: int | None = None,
    idle: float | None = None,
    reset_allowlist: bool = False,
    search_timeout: float | None = None,
    workers: int | None = None,
    embedder: str | None = None,
    reranker: str | None = None,
    analytics_days: int = Retention().days,
    analytics_searches: int = Retention().searches,
) -> int:
    """Run the local service in the foreground until it is stopped.

    Parameters
    ----------
    host : str, default '127.0.0.1'
        Address to listen on.
    port : int, default 0
        Port to listen on; 0 selects a free one.
    data : path, default the user's data folder
        Folder of the service's data.
    json : bool, default False
        Print the address and the keys as one line of JSON.
    clusters : int, default 1
        Number of clusters of user mapping.
    allow_private_crawl : bool, default False
        Allow crawlers to visit this machine and its network.
    browser : path, default that of SVC_BROWSER, or one of the machine
        Chromium or Chrome that renders the pages of crawlers with `renderJavaScript`.
    app_id : str, default a stored or new one
        Id of the application.
    admin_key : str, default a stored or new one
        Admin key. The list of processes shows it; the environment variable SVC_ADMIN_KEY
        sets it without that.
    admin_key_file : path, default None
        File that contains the admin key, or `-` for standard input.
    parent : int, default None
        Id of a process whose end stops the service.
    idle : float, default None
        Stop when no process has used the service for this number of seconds, as a local service
        does that `connect` starts. By default, it runs until it is stopped.
    reset_allowlist : bool, default False
        Remove all networks from the allowlist.
    search_timeout : float, default 4
        Maximum duration of a search in seconds.
    workers : int, default that of SVC_WORKERS, or the number of processors, at most 8
        Number of worker processes for concurrent searches. They start when searches overlap, and
        read the same files. With 0 or 1, all searches run in the service's own process.
    embedder : str, default None
        Model whose vectors replace the local ones in the mode `neuralSearch`: `static`,
        `model2vec:PATH`, `sentence-transformers:NAME`, `fastembed:NAME`, an endpoint
        `https://HOST/PATH#MODEL`, or a function `module:function` from a list of texts to an array
        with a vector for each. The current folder is searched for the module, too: this is the
        only option that runs code of that folder. After the name, `+latent` keeps the local
        vectors as well, and fuses the similarities to both.
    reranker : str, default None
        Model that orders the first hits of searches with `localRerankedHits` in `semanticSearch`:
        `sentence-transformers:NAME`, `fastembed:NAME`, or a function `module:function` from a
        query and a list of texts to a score for each.
    analytics_days : int, default 90
        Number of days for which searches count in analytics.
    analytics_searches : int, default 1000000
        Maximum number of searches that count in analytics, the latest ones; each takes about
        250 bytes on disk.

    Returns
    -------
    int
        The exit status.
    """
    keep_freed_arrays()
    seconds = SEARCH_TIMEOUT_SECONDS if search_timeout is None else search_timeout
    folder = Folder(data or default_folder())
    try:
        check_clusters(clusters)
        check_search_timeout(seconds)
        processes = choose_workers(workers)
        retention = check_retention(analytics_days, analytics_searches)
        facts = read_credentials(app_id, admin_key, admin_key_file)
        embed = Embedder.load(embedder, folder.path) if embedder else None
        score = Reranker.load(reranker) if reranker else None
        # All files created from here on are private to this user: they contain all keys.
        os.umask(0o077)
        folder.lock()
        listener = listen(host, port)
        service = Service(
            folder.path,
            facts,
            clusters=clusters,
            allow_private_crawl=allow_private_crawl,
            embedder=embed,
            reranker=score,
            browser=browser,
            retention=retention,
        )
        if reset_allowlist:
            service.sources.reset()
    except LocalServiceFailed as error:
        folder.discard()
        sys.stderr.write(f"svc serve: {error}\n")
        return 1
    except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        failure = describe_failure(folder.path / DATABASE, error)
        sys.stderr.write(f"svc serve: {failure}\n")
        return 1
    note = {"url": address(listener), **service.keyring.facts, "pid": os.getpid()}
    stored = {
        **note,
        "allowsPrivateCrawl": allow_private_crawl,
        "searchTimeoutSeconds": seconds,
        "embedder": embedder,
        "reranker": reranker,
    }
    app = App(service, search_timeout=seconds, workers=processes)
    status = 0
    try:
        idleness = Idleness(folder.path, idle, app.last_request, service.is_busy)
        ready = partial(announce, folder, stored, note, json)
        run(service, app, listener, ready, lambda: has_ended(parent) or idleness.is_over())
    except* LocalServiceFailed as failed:  # the note cannot be written
        sys.stderr.write(f"svc serve: {failed.exceptions[0]}\n")
        status = 1
    finally:
        folder.release()
    return status


def read_credentials(
    app_id: str | None, admin_key: str | None, admin_key_file: str | None
) -> dict[str, str | None]:
    """Return application id and admin key; raises `LocalServiceFailed` for invalid ones.

    The admin key comes from the argument, the first line of the file, or the environment variable.
    The variable is removed from the environment, because child processes do not need it.
    """
    fallback = os.environ.pop(ADMIN_KEY_VARIABLE, None) or None
    if admin_key is not None and admin_key_file is not None:
        raise LocalServiceFailed(
            "the admin key is given twice: leave out --admin-key, which other users can see"
        )
    if admin_key_file is not None:
        admin_key = _read_key(admin_key_file)
    facts = {"appId": app_id, "adminKey": fallback if admin_key is None else admin_key}
    for name, what in {"appId": "application id", "adminKey": "admin key"}.items():
        value = facts[name]
        if value is not None and not _HEADER_VALUE.fullmatch(value):
            # The message does not contain the key.
            raise LocalServiceFailed(
                f"the {what} must have at least one character, and only ASCII ones without spaces; "
                "if it is omitted, the first start generates one"
            )
    return facts


def _read_key(file: str) -> str:
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.readline(MAX_KEY_FILE_CHARACTERS).strip()
        with expand_path(file).open(encoding="utf-8") as lines:
            return lines.readline(MAX_KEY_FILE_CHARACTERS).strip()
    except (OSError, ValueError) as error:  # ValueError: not text
        reason = getattr(error, "strerror", None) or "it is not text"
        raise LocalServiceFailed(
            f"the file {file} of the admin key cannot be read: {reason}"
        ) from error


def check_clusters(clusters: int) -> None:
    """Raise `LocalServiceFailed` for an invalid number of clusters."""
    if clusters not in range(1, MAX_CLUSTERS + 1):
        raise LocalServiceFailed(f"invalid number of clusters {clusters}: use 1 to {MAX_CLUSTERS}")


def check_search_timeout(seconds: float) -> None:
    """Raise `LocalServiceFailed` for a timeout that is too short or infinite."""
    if not MIN_TIMEOUT_SECONDS <= seconds < math.inf:
        raise LocalServiceFailed(
            f"invalid search timeout of {seconds:g} s: use {MIN_TIMEOUT_SECONDS:g} s or more"
        )


def check_retention(days: int, searches: int) -> Retention:
    """Return how long searches count in analytics; raises `LocalServiceFailed`."""
    if days < 1 or searches < 1:
        raise LocalServiceFailed("--analytics-days and --analytics-searches must be 1 or more")
    return Retention(days, searches)


def choose_workers(given: int | None) -> int:
    """Return the number of worker processes: the given one, that of SVC_WORKERS, or the default.

    The default is the number of processors that this process may use, at most
    `MAX_DEFAULT_WORKERS`. Raises `LocalServiceFailed` for an invalid number.
    """
    if given is None and (text := os.environ.get(WORKERS_VARIABLE, "").strip()):
        if not (text.isascii() and text.isdigit()):
            raise LocalServiceFailed(
                f"{WORKERS_VARIABLE} is {text!r}: use a number from 0 to {MAX_WORKERS}"
            )
        given = int(text)
    if given is None:
        return min(count_processors(), MAX_DEFAULT_WORKERS)
    if given not in range(MAX_WORKERS + 1):
        raise LocalServiceFailed(f"invalid number of workers {given}: use 0 to {MAX_WORKERS}")
    return given


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or a free one for 0; raises `LocalServiceFailed`."""
    if port not in range(65536):
        raise LocalServiceFailed(f"{port} is not a port: use 1 to 65535, or 0 for a free port")
    try:
        kind = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With an explicit protocol, asyncio sets TCP_NODELAY; otherwise each response waits 40 ms.
        listener = socket.socket(kind[0], kind[1], socket.IPPROTO_TCP)
    except OSError as error:
        raise LocalServiceFailed(f"cannot listen on {host}:{port}: {error}") from error
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(kind[4])
        listener.listen(512)
    except (OSError, OverflowError) as error:
        listener.close()
        raise LocalServiceFailed(f"cannot listen on {host}:{port}: {error}") from error
    return listener


def address(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announce(folder: Folder, stored: dict[str, Any], note: dict[str, Any], json: bool) -> None:
    """Write `stored` to the folder as its note, and print `note` on the standard output."""
    try:
        folder.write_note(stored)
    except OSError as error:
        raise LocalServiceFailed(describe_unusable(folder.path / NOTE, error)) from error
    text = json_text.dumps(note) if json else describe_service(note)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def describe_service(note: dict[str, Any]) -> str:
    """Return the note as text."""
    return (
        f"local service at {note['url']} (Ctrl-C stops it)\n"
        f"  application id  {note['appId']}\n"
        f"  admin key       {note['adminKey']}\n"
        f"  search key      {note['searchKey']}"
    )


class Server(uvicorn.Server):
    """A server without signal handlers: `run` sets its exit flag, so that cleanup always runs."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not install signal handlers."""
        yield


def run(
    service: Service,
    app: App,
    listener: socket.socket,
    ready: Callable[[], None],
    is_over: Callable[[], bool],
) -> None:
    """Serve requests until a signal arrives, or `is_over` returns true."""
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        # A caller's address is that of its connection. uvicorn's default trusts `X-Forwarded-For`
        # from this machine, where any user may send it; `auth` reads it only with the admin key.
        proxy_headers=False,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=0,
    )
    server = Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    suggestion_builder = SuggestionBuilder(service)
    service.start()
    suggestion_builder.thread.start()
    raise_file_limit()
    try:
        asyncio.run(_watch(server, listener, ready, is_over))
    finally:
        app.close()
        suggestion_builder.thread.stop()
        service.stop()


def raise_file_limit() -> None:
    """Raise the limit of open files to one per connection, as far as the system permits."""
    if resource:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        unlimited = resource.RLIM_INFINITY
        if soft != unlimited and soft < MIN_OPEN_FILES:
            most = MIN_OPEN_FILES if hard == unlimited else min(MIN_OPEN_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _watch(
    server: uvicorn.Server,
    listener: socket.socket,
    ready: Callable[[], None],
    is_over: Callable[[], bool],
) -> None:
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve([listener]))
        # The socket already listens: a request that arrives before the server is up waits.
        ready()
        while not serving.done():
            if is_over():
                server.should_exit = True
            await asyncio.wait([serving], timeout=0.5)


def has_ended(pid: int | None) -> bool:
    """Return whether a process does not exist any more."""
    try:
        os.kill(pid or os.getpid(), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
