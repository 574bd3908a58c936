"""Kill the service at random moments of a load and look for what was lost.

    python -m benchmarks.kill 50

Each batch writes ten records that carry the batch's number, so that half a batch would show.
Meanwhile replicas are linked and let go again.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
TOGETHER = 10
FAMILIES: tuple[list[str], ...] = (["load_a"], ["load_a", "virtual(load_b)"], ["load_b"], [])


@dataclass
class Told:
    """What the rounds came to."""

    rounds: int = 0
    acknowledged: int = 0
    lost: list[int] = field(default_factory=list)
    halves: list[int] = field(default_factory=list)


def kill_rounds(folder: Path, rounds: int, chance: random.Random) -> Told:
    told = Told()
    acknowledged: set[int] = set()
    for number in range(rounds):
        process, client = start(folder)
        with client:
            load_until_killed(process, client, acknowledged, number, chance.uniform(0.02, 0.4))
        process, client = start(folder)
        with client:
            counts = count_batches(client)
        process.kill()
        process.wait()
        told.lost = sorted(acknowledged - counts.keys())
        told.halves = sorted(batch for batch, count in counts.items() if count != TOGETHER)
        told.rounds, told.acknowledged = number + 1, len(acknowledged)
        if told.lost or told.halves:
            break
    return told


def start(folder: Path) -> tuple[subprocess.Popen[str], httpx.Client]:
    command = [sys.executable, "-m", "svc_notebook.service", "--json", "--data", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    with process.stdout:
        note = json.loads(process.stdout.readline())
    headers = {"X-Service-Application-Id": note["appId"], "X-Service-API-Key": note["adminKey"]}
    return process, httpx.Client(base_url=note["url"], headers=headers, timeout=30)


def load_until_killed(
    process: subprocess.Popen[str],
    client: httpx.Client,
    acknowledged: set[int],
    number: int,
    seconds: float,
) -> None:
    killer = threading.Timer(seconds, process.kill)
    killer.start()
    batch = number * 100_000
    try:
        while True:
            batch += 1
            if client.post("/1/indexes/load/batch", json=batch_of(batch)).is_success:
                acknowledged.add(batch)
            family = {"replicas": FAMILIES[batch // 3 % len(FAMILIES)]}
            client.put("/1/indexes/load/settings", json=family)
    except httpx.HTTPError:
        killer.join()
        process.wait()


def batch_of(batch: int) -> dict[str, object]:
    return {
        "requests": [
            {"action": "addObject", "body": {"objectID": f"{batch}-{n}", "batch": batch}}
            for n in range(TOGETHER)
        ]
    }


def count_batches(client: httpx.Client) -> Counter[int]:
    """Count each batch's records, in the store and in the engine, once all is published."""
    answer = client.post("/1/indexes/load/batch", json={"requests": []}).json()
    while client.get(f"/1/task/{answer['taskID']}").json()["status"] != "published":
        time.sleep(0.01)
    counts: Counter[int] = Counter()
    body: dict[str, str] = {}
    while True:
        page = client.post("/1/indexes/load/browse", json=body).json()
        counts.update(hit["batch"] for hit in page.get("hits", ()))
        if "cursor" not in page:
            break
        body = {"cursor": page["cursor"]}
    found = client.post("/1/indexes/load/query", json={}).json()
    assert found.get("nbHits", 0) == counts.total(), "the engine differs from the store"
    check_replicas(client)
    return counts


def check_replicas(client: httpx.Client) -> None:
    """Every index has one primary or none, finds what it holds, and a replica all of that."""
    entries = {item["name"]: item for item in client.get("/1/indexes").json()["items"]}
    for name, entry in entries.items():
        found = client.post(f"/1/indexes/{name}/query", json={}).json()
        told = client.get(f"/1/indexes/{name}/settings").json()
        following = [text.removeprefix("virtual(").rstrip(")") for text in told.get("replicas", ())]
        assert found["nbHits"] == entry["entries"], f"{name} finds what it does not hold"
        assert sorted(following) == entry.get("replicas", []), f"{name} has other replicas"
        if primary := entry.get("primary"):
            assert entry["entries"] == entries[primary]["entries"], f"{name} lags behind"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        told = kill_rounds(Path(folder), int((sys.argv[1:] or ["50"])[0]), random.Random())
    print(
        f"{told.rounds} kills, {told.acknowledged} batches of {TOGETHER} acknowledged, "
        f"{len(told.lost)} lost, {len(told.halves)} halves, {time.monotonic() - begun:.0f} s"
    )
    sys.exit(bool(told.lost or told.halves))
