"""A service under mixed load stays as large as it is, with its search workers.

`SVC_SOAK_SECONDS` sets how long it is used; half a minute shows what grows with each request.
`SVC_SOAK_PAUSE` sets the pause of each caller after each request in seconds, `SVC_SOAK_LOG` a file
that receives one line of JSON for each look.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil  # type: ignore[import-untyped]  # it has no types of its own
import pytest

from tests.conftest import Running, start_service, stop_service

SECONDS = float(os.environ.get("SVC_SOAK_SECONDS", "40"))
PAUSE_SECONDS = float(os.environ.get("SVC_SOAK_PAUSE", "0.005"))
LOG = os.environ.get("SVC_SOAK_LOG")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240 + 2 * SECONDS),
    pytest.mark.skipif(sys.platform != "linux", reason="what a process uses is read from /proc"),
]

RECORDS = 20_000
# Records of one write.
WRITTEN = 20
WORKERS = 2
SEARCHERS = 3
# Answers of a service that other processes slow down.
SLOW_STATUSES = (408, 429)
LOOK_SECONDS = 0.5 if SECONDS < 300 else 20.0
# Of so many rounds of writes, one also browses, and so on.
BROWSE_ROUNDS, CURATION_ROUNDS, SETTINGS_ROUNDS, INDEX_ROUNDS = 5, 7, 11, 13
# Rounds before the first look: the memory that a change of settings takes is kept for later ones.
# A slow machine needs longer for them, but not for ever.
WARM_UP_ROUNDS, WARM_UP_SECONDS = 2 * INDEX_ROUNDS, 90
SETTINGS: list[dict[str, Any]] = [
    {"customRanking": ["desc(price)"], "attributesForFaceting": ["searchable(brand)"]},
    {
        "customRanking": ["asc(price)"],
        "attributesForFaceting": ["searchable(brand)", "colour"],
        "ignorePlurals": ["en"],
    },
]


class Usage(NamedTuple):
    """What a service uses at one moment, its workers included."""

    seconds: float
    # Memory that belongs to no file, of the service and of all its workers.
    service_mb: float
    workers_mb: float
    # Resident memory of all processes, with pages of files, which the system takes back as needed.
    rss_mb: float
    threads: int
    files: int
    disk_mb: float


def make_record(number: int, draw: random.Random) -> dict[str, Any]:
    return {
        "objectID": f"product-{number}",
        "name": " ".join(f"w{draw.randrange(5000)}" for _ in range(5)),
        "description": " ".join(f"w{draw.randrange(5000)}" for _ in range(20)),
        "brand": f"brand {draw.randrange(200)}",
        "colour": draw.choice(["red", "green", "blue"]),
        "price": draw.randrange(1000),
    }


def batch(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"requests": [{"action": "addObject", "body": record} for record in records]}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[Running, Path]]:
    process, running = start_service(tmp_path, "--workers", str(WORKERS))
    draw = random.Random(1)
    with running.client() as client:
        call(client, "PUT", "/1/indexes/p/settings", SETTINGS[0])
        for start in range(0, RECORDS, 2000):
            records = [make_record(n, draw) for n in range(start, start + 2000)]
            task = call(client, "POST", "/1/indexes/p/batch", batch(records))["taskID"]
        wait(client, task)
    yield running, tmp_path
    stop_service(process)


def call(client: httpx.Client, verb: str, path: str, body: Any = None) -> Any:
    while (answer := client.request(verb, path, json=body)).status_code in SLOW_STATUSES:
        time.sleep(1)
    assert answer.is_success, answer.text
    time.sleep(PAUSE_SECONDS)
    return answer.json()


def wait(client: httpx.Client, task: int) -> None:
    while call(client, "GET", f"/1/indexes/p/task/{task}")["status"] != "published":
        time.sleep(0.02)


def measure(running: Running, folder: Path, start: float) -> Usage:
    service = psutil.Process(running.pid)
    processes = [service, *service.children(recursive=True)]
    anonymous = [process.memory_info().rss - process.memory_info().shared for process in processes]
    # Files that are deleted and still held take room, too.
    disk = sum(map(count_bytes, list_files(folder)))
    return Usage(
        time.monotonic() - start,
        anonymous[0] / 2**20,
        sum(anonymous[1:]) / 2**20,
        sum(process.memory_info().rss for process in processes) / 2**20,
        sum(process.num_threads() for process in processes),
        sum(process.num_fds() for process in processes),
        disk / 2**20,
    )


def count_bytes(path: Path) -> int:
    """Return the size of a file on disk; 0 if it was removed since it was listed."""
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def list_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are still there."""
    return [path for path in folder.rglob("*") if path.is_file()]


class Use:
    """Uses a service as several callers do, until told to stop."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.stop = threading.Event()
        self.failures: list[BaseException] = []
        self.searches = self.rounds = 0
        chores = [self.write, *([self.search] * SEARCHERS)]
        self.threads = [
            threading.Thread(target=self.run, args=(chore, random.Random(seed)))
            for seed, chore in enumerate(chores)
        ]

    def run(self, chore: Callable[[httpx.Client, random.Random, int], None], draw: Any) -> None:
        with self.running.client() as client:
            for number in itertools.count():
                if self.stop.is_set():
                    return
                try:
                    chore(client, draw, number)
                except (AssertionError, httpx.HTTPError, KeyError) as error:
                    self.failures.append(error)
                    self.stop.set()

    def search(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        """Search in most of the ways there are, report events, and send a faulty request."""
        word = f"w{draw.randrange(5000)}"
        hits = call(
            *(client, "POST", "/1/indexes/p/query"),
            {"query": word, "facets": ["brand"], "clickAnalytics": True, "getRankingInfo": True},
        )
        queries = [
            {"indexName": "p", "query": f"{word[:3]} w{draw.randrange(5000)}", "hitsPerPage": 50},
            {"indexName": "p", "filters": f"price < {draw.randrange(1000)}", "distinct": True},
            {"indexName": "p", "type": "facet", "facet": "brand", "facetQuery": "brand 1"},
        ]
        call(client, "POST", "/1/indexes/*/queries", {"requests": queries})
        if hits["hits"]:
            event = {
                "eventType": "click",
                "eventName": "c",
                "index": "p",
                "positions": [1],
                "userToken": f"user-{draw.randrange(10**6)}",
                "queryID": hits["queryID"],
                "objectIDs": [hits["hits"][0]["objectID"]],
            }
            call(client, "POST", "/1/events", {"events": [event]})
        if number % 5 == 0:
            refused = client.post("/1/indexes/p/query", json={"filters": f"price << {number}"})
            assert refused.status_code == 400
            assert client.get(f"/1/indexes/p/missing-{number}").status_code == 404
        self.searches += 4

    def write(self, client: httpx.Client, draw: random.Random, number: int) -> None:
        """Replace and delete records; sometimes browse, curate and configure."""
        numbers = draw.sample(range(RECORDS), WRITTEN)
        records = [make_record(n, draw) for n in numbers]
        task = call(client, "POST", "/1/indexes/p/batch", batch(records))["taskID"]
        call(client, "GET", f"/1/indexes/p/{records[0]['objectID']}")
        wait(client, task)
        if number % BROWSE_ROUNDS == 0:
            browse(client, draw)
        if number % CURATION_ROUNDS == 0:
            curate(client, draw)
        if number % SETTINGS_ROUNDS == 0:
            settings = SETTINGS[number // SETTINGS_ROUNDS % len(SETTINGS)]
            wait(client, call(client, "PUT", "/1/indexes/p/settings", settings)["taskID"])
        if number % INDEX_ROUNDS == 0:
            copy_and_delete(client, number)
        self.rounds += 1


def browse(client: httpx.Client, draw: random.Random) -> None:
    """Begin a browse; only every other continues for a while, and few to the end."""
    answer = call(client, "POST", "/1/indexes/p/browse", {"hitsPerPage": 1000})
    pages = draw.choice([0, 0, 3, RECORDS])
    while "cursor" in answer and pages:
        pages -= 1
        answer = call(client, "POST", "/1/indexes/p/browse", {"cursor": answer["cursor"]})


def curate(client: httpx.Client, draw: random.Random) -> None:
    """Save a synonym and a rule, each one of a hundred."""
    number = draw.randrange(100)
    words = [f"w{draw.randrange(5000)}" for _ in range(3)]
    synonym = {"objectID": f"s{number}", "type": "synonym", "synonyms": words}
    call(client, "PUT", f"/1/indexes/p/synonyms/s{number}", synonym)
    rule = {
        "objectID": f"r{number}",
        "conditions": [{"pattern": words[0], "anchoring": "contains"}],
        "consequence": {"promote": [{"objectID": f"product-{number}", "position": 0}]},
    }
    task = call(client, "PUT", f"/1/indexes/p/rules/r{number}", rule)["taskID"]
    wait(client, task)


def copy_and_delete(client: httpx.Client, number: int) -> None:
    """Copy the index under a new name, search the copy, and delete it."""
    operation = {"operation": "copy", "destination": f"copy-{number}"}
    wait(client, call(client, "POST", "/1/indexes/p/operation", operation)["taskID"])
    call(client, "POST", f"/1/indexes/copy-{number}/query", {"query": "w1"})
    wait(client, call(client, "DELETE", f"/1/indexes/copy-{number}")["taskID"])


def test_a_service_in_use_does_not_grow(shop: tuple[Running, Path]) -> None:
    running, folder = shop
    looks: list[Usage] = []
    use = Use(running)
    for thread in use.threads:
        thread.start()
    last = time.monotonic() + WARM_UP_SECONDS
    while use.rounds < WARM_UP_ROUNDS and time.monotonic() < last and not use.stop.wait(0.1):
        pass
    start = time.monotonic()
    while time.monotonic() < start + SECONDS and not use.stop.wait(LOOK_SECONDS):
        looks.append(measure(running, folder, start))
        if LOG:
            with Path(LOG).open("a", encoding="utf-8") as file:
                fields = {name: round(value, 1) for name, value in looks[-1]._asdict().items()}
                file.write(json.dumps({**fields, "searches": use.searches, "rounds": use.rounds}))
                file.write("\n")
    use.stop.set()
    for thread in use.threads:
        thread.join(30)

    for look in looks[:: max(len(looks) // 20, 1)]:
        line = " ".join(f"{name} {value:.0f}" for name, value in look._asdict().items())
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{use.searches} searches, {use.rounds} rounds of writes\n")
    assert not use.failures, use.failures
    # In the first third, what is kept for later searches still grows to its limits.
    third = len(looks) // 3
    early, late = looks[third : 2 * third], looks[-third:]
    assert use.rounds > WARM_UP_ROUNDS + 8
    for name in ("service_mb", "workers_mb"):
        assert median(late, name) < 1.15 * median(early, name) + 20, name
    assert most(late, "threads") <= most(early, "threads") + 2
    # Parts of an index are opened until they are merged, so the number rises and falls;
    # files that stay open raise the lowest number.
    assert least(late, "files") <= least(early, "files") + 5
    assert most(late, "files") <= 1.5 * most(early, "files")
    # Tasks and logs are kept for a while; segments of the past are not.
    assert most(late, "disk_mb") < 1.5 * most(early, "disk_mb") + 20


def median(looks: Sequence[Usage], name: str) -> float:
    return float(sorted(getattr(look, name) for look in looks)[len(looks) // 2])


def least(looks: Sequence[Usage], name: str) -> float:
    return float(min(getattr(look, name) for look in looks))


def most(looks: Sequence[Usage], name: str) -> float:
    return float(max(getattr(look, name) for look in looks))
