"""A service with its crawlers' own credentials, and a website whose pages a test changes."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from svc_notebook.service.app import App
from svc_notebook.service.crawlers.crawlers import Crawlers
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies, Engines
from svc_notebook.service.service import Service
from tests.conftest import Inside

CRAWLERS = "/api/1/crawlers"
# One record for each page: its title, and how many links it has.
EXTRACTOR = "({url, $}) => [{title: $('title').text(), links: $('a').length}]"


def basic(user: str, key: str) -> dict[str, str]:
    """The header of basic authentication."""
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{key}".encode()).decode()}


def configuration(site: str = "https://site.test", **more: Any) -> dict[str, Any]:
    """The configuration of a crawler of one site, into the index `docs`."""
    action = {
        "indexName": "docs",
        "pathsToMatch": [f"{site}/**"],
        "recordExtractor": {"__type": "function", "source": EXTRACTOR},
    }
    return {"rateLimit": 20, "startUrls": [f"{site}/"], "actions": [action], **more}


class Desk:
    """The crawler interface of a service in this process."""

    def __init__(self, inside: Inside) -> None:
        self.inside = inside
        self.facts = inside.facts
        self.headers = basic(self.facts["crawlerUserId"], self.facts["crawlerApiKey"])

    def call(self, verb: str, path: str = "", body: Any = None) -> httpx.Response:
        """Call an endpoint below the crawlers, or one whose path is whole."""
        full = path if path.startswith(("/api/", "/local/")) else CRAWLERS + path
        return self.inside.call(verb, full, body, headers=self.headers)

    def send(self, verb: str, path: str, content: bytes) -> httpx.Response:
        """Send bytes to an endpoint below the crawlers."""
        return self.inside.call(verb, CRAWLERS + path, headers=self.headers, content=content)

    def ask(self, verb: str, path: str = "", body: Any = None) -> Any:
        """The same, for its answer."""
        response = self.call(verb, path, body)
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, verb: str, path: str = "", body: Any = None) -> tuple[int, str]:
        """The same, for its refusal, whose two shapes agree."""
        response = self.call(verb, path, body)
        said = response.json()
        assert said["error"]["message"] == said["message"]
        return response.status_code, said["message"]

    def make(self, config: dict[str, Any], name: str = "docs") -> str:
        """Make a crawler; returns its path."""
        return "/" + str(self.ask("POST", "", {"name": name, "config": config})["id"])

    def do(self, crawler: str, what: str, body: Any = None) -> str:
        """Let a crawler do something, and wait until that is done; returns the task's id."""
        task = str(self.ask("POST", f"{crawler}/{what}", body)["taskId"])
        self.until(lambda: not self.pending(crawler, task))
        return task

    def pending(self, crawler: str, task: str) -> bool:
        """Whether a task is still to do."""
        return bool(self.ask("GET", f"{crawler}/tasks/{task}")["pending"])

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < deadline, "it never came"
            time.sleep(0.01)

    def state(self, crawler: str) -> Any:
        """How a crawler stands."""
        return self.ask("GET", crawler)

    def ends(self, crawler: str) -> dict[str, int]:
        """How many URLs ended for which reason."""
        data = self.ask("GET", f"{crawler}/stats/urls")["data"]
        return {one["reason"]: one["count"] for one in data}

    def titles(self, index: str = "docs") -> list[str]:
        """The titles of all records of an index."""
        found = self.inside.call("POST", f"/1/indexes/{index}/browse", {})
        return sorted(hit["title"] for hit in found.json().get("hits", ()))

    def indices(self) -> list[str]:
        """The names of all indices."""
        items = self.inside.call("GET", "/1/indexes").json()["items"]
        return [item["name"] for item in items]


class Lasting(Engines):
    """Engines that outlive a service: starting them takes half a second."""

    def close(self) -> None:
        """Leave them as they are."""


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """One pair of engines for all tests."""
    made = Lasting()
    yield made
    Engines.close(made)


class Clock:
    """Tells the real time, until it is set forward."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@pytest.fixture
def clock() -> Clock:
    """The clock of this test's service."""
    return Clock()


@pytest.fixture
def app(tmp_path: Path, engines: Engines, clock: Clock) -> Iterator[App]:
    """A service of this test's own, whose crawlers may visit this machine."""
    inner = Service(tmp_path / "data")
    parts = CrawlerDependencies(
        inner.store, inner.tasks, inner.catalog, inner.keyring, True, clock, engines
    )
    inner.crawlers = Crawlers(parts)
    inner.start()
    app = App(inner)
    yield app
    app.close()
    inner.stop()


@pytest.fixture
def desk(app: App) -> Desk:
    """The crawler interface of this test's service."""
    return Desk(Inside(app))


class Site:
    """A website: `pages` by path; each links to the others as its text says."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.pages: dict[str, str] = {}
        self.redirects: dict[str, str] = {}
        self.statuses: dict[str, int] = {}
        self.tags = False  # whether pages say by a tag that they did not change
        self.visits: list[str] = []
        self.open = threading.Event()
        self.open.set()

    def put(self, path: str, *links: str, title: str = "") -> None:
        """Make a page, or change it."""
        anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
        name = title or path
        self.pages[path] = f"<html><head><title>{name}</title></head><body>{anchors}</body></html>"

    def fill(self, count: int) -> None:
        """Make a start page that links to so many others, and no other pages."""
        self.pages.clear()
        names = [f"/p{number}" for number in range(count - 1)]
        self.put("/", *names)
        for name in names:
            self.put(name)


@pytest.fixture
def site() -> Iterator[Site]:
    """A website of this test's own, without a robots.txt; `open` is cleared to let pages wait."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.visits.append(self.path)
            if self.path != "/robots.txt":
                made.open.wait(20)
            page, target = made.pages.get(self.path), made.redirects.get(self.path)
            body = (page or "gone").encode()
            tag = f'"{hashlib.sha1(body).hexdigest()}"'
            if made.tags and self.headers.get("if-none-match") == tag:
                self.send_response(304)
                self.end_headers()
                return
            default = 302 if target else 200 if page else 404
            self.send_response(made.statuses.get(self.path, default))
            if made.tags:
                self.send_header("etag", tag)
            if target:
                self.send_header("location", target)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.open.set()
    server.shutdown()
    server.server_close()
    thread.join(5)
