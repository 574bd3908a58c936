"""A real service process crawls a real site: killed during a crawl, stopped, and undisturbed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT, start_service, stop_service
from tests.service.crawlers.conftest import CRAWLERS, Site, basic, configuration

PAGES = 30


class Remote:
    """A service in another process, and its crawler interface."""

    def __init__(self, data: Path, *options: str) -> None:
        self.process, self.running = start_service(data, *options)
        headers = basic(self.running.crawlerUserId, self.running.crawlerApiKey)
        self._crawlers = httpx.Client(headers=headers, timeout=30)
        self._search = self.running.client()

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        """Call an endpoint below the crawlers, for its answer."""
        answer = self._crawlers.request(verb, self.running.url + CRAWLERS + path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def make(self, config: dict[str, Any]) -> str:
        """Make a crawler; returns its path."""
        return "/" + str(self.ask("POST", "", {"name": "docs", "config": config})["id"])

    def visited(self, crawler: str) -> int:
        """How many URLs have ended."""
        return int(self.ask("GET", f"{crawler}/stats/urls")["count"])

    def titles(self) -> list[str]:
        """The titles of all records."""
        hits = self._search.post("/1/indexes/docs/browse", json={}).json().get("hits", ())
        return sorted(hit["title"] for hit in hits)

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self.process.kill()
        self.process.communicate(timeout=10)
        self._crawlers.close()
        self._search.close()

    def stop(self) -> int:
        """End it cleanly; returns its exit status."""
        self._crawlers.close()
        self._search.close()
        return stop_service(self.process)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Remote]]:
    """Start services on a folder of this test's own; none outlives it."""
    made: list[Remote] = []

    def begin(*options: str) -> Remote:
        made.append(Remote(tmp_path / "data", *options))
        return made[-1]

    yield begin
    for one in made:
        if one.process.poll() is None:
            one.kill()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_crawl_that_is_killed_twice_ends_with_every_page_once(
    site: Site, start: Callable[..., Remote]
) -> None:
    site.fill(PAGES)
    remote = start("--allow-private-crawl")
    crawler = remote.make(configuration(site.url, rateLimit=15))
    task = remote.ask("POST", f"{crawler}/reindex")["taskId"]
    for _ in range(2):
        before = remote.visited(crawler)
        until(lambda: remote.visited(crawler) > before)  # noqa: B023 - used up at once
        remote.kill()
        remote = start("--allow-private-crawl")
        assert remote.ask("GET", crawler)["reindexing"]

    until(lambda: not remote.ask("GET", f"{crawler}/tasks/{task}")["pending"])

    assert remote.titles() == sorted(site.pages)
    assert remote.visited(crawler) == PAGES
    assert remote.stop() == 0


@pytest.mark.slow
def test_a_service_stops_fast_during_a_hanging_page(
    site: Site, start: Callable[..., Remote]
) -> None:
    site.fill(3)
    site.open.clear()
    remote = start("--allow-private-crawl")
    crawler = remote.make(configuration(site.url))
    remote.ask("POST", f"{crawler}/reindex")
    until(lambda: "/" in site.visits)

    began = time.monotonic()
    status = remote.stop()

    assert status == 0
    assert time.monotonic() - began < 20  # as long as the page would take


@pytest.mark.slow
def test_a_stop_makes_no_page_fail(site: Site, start: Callable[..., Remote]) -> None:
    site.fill(20)
    config = configuration(site.url)
    busy = "const end = Date.now() + 100; while (Date.now() < end);"
    source = f"() => {{ {busy} return [{{title: 'x'}}]; }}"
    config["actions"][0]["recordExtractor"]["source"] = source
    remote = start("--allow-private-crawl")
    crawler = remote.make(config)
    remote.ask("POST", f"{crawler}/reindex")
    until(lambda: remote.visited(crawler) > 1)
    assert remote.stop() == 0
    remote = start("--allow-private-crawl")

    until(lambda: not remote.ask("GET", crawler)["reindexing"])

    [ends] = remote.ask("GET", f"{crawler}/stats/urls")["data"]
    assert (ends["reason"], ends["count"]) == ("success", 20)
    assert remote.stop() == 0


@pytest.mark.slow
def test_private_addresses_are_not_crawled_unless_allowed(
    site: Site, start: Callable[..., Remote]
) -> None:
    site.fill(3)
    remote = start()
    crawler = remote.make(configuration(site.url))

    told = remote.ask("POST", f"{crawler}/test", {"url": site.url + "/"})

    assert "private" in str(told["error"])
    assert site.visits == []
    assert remote.stop() == 0


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("missing", ["protego", "py_mini_racer", "regex"])
def test_missing_packages_are_named_by_the_service(missing: str, tmp_path: Path) -> None:
    done = run_without(
        missing,
        tmp_path,
        f"""
print(service.crawlers.all())
try:
    service.crawlers.create("docs", {configuration()!r})
except BadInput as error:
    print(error)
""",
    )

    assert done.stderr == ""
    assert done.stdout.startswith("[]\n")
    assert 'pip install "svc-notebook[crawl]"' in done.stdout


@pytest.mark.slow
def test_a_running_crawl_waits_for_missing_packages(
    site: Site, start: Callable[..., Remote], tmp_path: Path
) -> None:
    site.fill(2)
    site.open.clear()
    remote = start("--allow-private-crawl")
    crawler = remote.make(configuration(site.url))
    task = remote.ask("POST", f"{crawler}/reindex")["taskId"]
    remote.ask("PATCH", f"{crawler}/config", {"schedule": "every 1 day"})
    remote.kill()

    done = run_without(
        "regex",
        tmp_path / "data",
        f"""
for _ in range(3): service.crawlers.wake(); time.sleep(0.1)
service.crawlers.pause({crawler[1:]!r})
try:
    service.crawlers.run({crawler[1:]!r})
except BadInput as error:
    print(error)
""",
    )

    [told] = done.stderr.splitlines()
    for text in (told, done.stdout):
        assert 'pip install "svc-notebook[crawl]"' in text
    site.open.set()
    remote = start("--allow-private-crawl")
    remote.ask("POST", f"{crawler}/run")
    until(lambda: not remote.ask("GET", f"{crawler}/tasks/{task}")["pending"])
    assert len(remote.titles()) == 2
    assert remote.stop() == 0


def run_without(missing: str, data: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code on a `service` where a package is not installed."""
    whole = f"""
import sys, time
from importlib.abc import MetaPathFinder
class Without(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Without())
from pathlib import Path
from svc_notebook.errors import BadInput
from svc_notebook.service.service import Service
service = Service(Path({str(data)!r}))
service.start()
{code}
service.stop()
"""
    return subprocess.run(
        [sys.executable, "-c", whole], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
