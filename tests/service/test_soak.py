"""A service under writes, searches, browses and changes of settings stays as large as it is.

`SVC_SOAK_SECONDS` sets how long it is used; half a minute shows what grows with each browse.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.conftest import Running, start_service, stop_service

SECONDS = float(os.environ.get("SVC_SOAK_SECONDS", "40"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120 + 2 * SECONDS),
    pytest.mark.skipif(sys.platform != "linux", reason="what a process uses is read from /proc"),
]

RECORDS = 20_000
WRITTEN = 20
"""Records of one write."""
BROWSE_EVERY_SECONDS = 1.0 if SECONDS < 120 else 5.0
CONFIGURE_EVERY_SECONDS = 10.0
LOOK_EVERY_SECONDS = 0.5
SETTINGS: list[dict[str, Any]] = [
    {"customRanking": ["desc(price)"], "attributesForFaceting": ["brand"]},
    {"customRanking": ["asc(price)"], "attributesForFaceting": ["brand", "colour"]},
]


class Usage(NamedTuple):
    """What a service uses at one moment."""

    seconds: float
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
    process, running = start_service(tmp_path)
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
    answer = client.request(verb, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def wait(client: httpx.Client, task: int) -> None:
    while call(client, "GET", f"/1/indexes/p/task/{task}")["status"] != "published":
        time.sleep(0.02)


def measure(running: Running, folder: Path, start: float) -> Usage:
    status = Path(f"/proc/{running.pid}/status").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in status)
    return Usage(
        time.monotonic() - start,
        int(facts["VmRSS"].split()[0]) / 1024,
        int(facts["Threads"]),
        len(list(Path(f"/proc/{running.pid}/fd").iterdir())),
        # Files that are deleted and still held take room, too.
        int(
            subprocess.run(["du", "-sk", folder], capture_output=True, check=False).stdout.split()[
                0
            ]
        )
        / 1024,
    )


class Use:
    """Uses a service: each chore as often as it is due."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.draw = random.Random(2)
        self.browses = self.changes = self.writes = 0

    def write_and_search(self) -> None:
        """Replace some records, and search, as one caller after the other would."""
        numbers = self.draw.sample(range(RECORDS), WRITTEN)
        records = [make_record(number, self.draw) for number in numbers]
        task = call(self.client, "POST", "/1/indexes/p/batch", batch(records))["taskID"]
        word = f"w{self.draw.randrange(5000)}"
        call(self.client, "POST", "/1/indexes/p/query", {"query": word, "facets": ["brand"]})
        self.writes += 1
        wait(self.client, task)

    def browse(self) -> None:
        """Begin a browse; only every other goes on for a while, and few to the end."""
        self.browses += 1
        answer = call(self.client, "POST", "/1/indexes/p/browse", {"hitsPerPage": 1000})
        pages = self.draw.choice([0, 0, 3, RECORDS])
        while "cursor" in answer and pages:
            pages -= 1
            answer = call(self.client, "POST", "/1/indexes/p/browse", {"cursor": answer["cursor"]})

    def configure(self) -> None:
        """Change how the index sorts and what it stores."""
        self.changes += 1
        settings = SETTINGS[self.changes % len(SETTINGS)]
        wait(self.client, call(self.client, "PUT", "/1/indexes/p/settings", settings)["taskID"])


def test_a_service_in_use_does_not_grow(shop: tuple[Running, Path]) -> None:
    running, folder = shop
    start = time.monotonic()
    due = {"browse": start, "configure": start, "look": start}
    looks: list[Usage] = []
    with running.client() as client:
        use = Use(client)
        while (now := time.monotonic()) < start + SECONDS:
            use.write_and_search()
            if now >= due["browse"]:
                due["browse"] = now + BROWSE_EVERY_SECONDS
                use.browse()
            if now >= due["configure"]:
                due["configure"] = now + CONFIGURE_EVERY_SECONDS
                use.configure()
            if now >= due["look"]:
                due["look"] = now + LOOK_EVERY_SECONDS
                looks.append(measure(running, folder, start))

    for one in looks[:: max(len(looks) // 20, 1)]:
        sys.stdout.write(" ".join(f"{n} {value:.0f}" for n, value in one._asdict().items()) + "\n")
    sys.stdout.write(f"{use.writes} writes, {use.browses} browses, {use.changes} settings\n")
    # In the first third, what is kept for later searches grows to its limits.
    third = len(looks) // 3
    early, late = looks[third : 2 * third], looks[-third:]
    assert use.browses > 15
    assert median(late, "rss_mb") < 1.15 * median(early, "rss_mb") + 20
    assert most(late, "threads") <= most(early, "threads") + 2
    assert most(late, "files") <= most(early, "files") + 5
    # Tasks and logs are kept for a while; segments of the past are not.
    assert most(late, "disk_mb") < 1.5 * most(early, "disk_mb") + 20


def median(looks: Sequence[Usage], name: str) -> float:
    return float(sorted(getattr(one, name) for one in looks)[len(looks) // 2])


def most(looks: Sequence[Usage], name: str) -> float:
    return float(max(getattr(one, name) for one in looks))
