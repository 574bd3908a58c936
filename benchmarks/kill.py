"""Kill the service at random moments of a load, and count lost and partial batches.

    python benchmarks/kill.py [KILLS]

50 kills by default. Each batch writes ten records with the number of the batch, so that a partial
batch is found. Replicas are linked and unlinked between batches.
"""

from __future__ import annotations

import argparse
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

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import record  # noqa: E402

BATCH_RECORDS = 10
REPLICA_LISTS: tuple[list[str], ...] = (["load_a"], ["load_a", "virtual(load_b)"], ["load_b"], [])


@dataclass
class KillReport:
    """Kills, acknowledged batches, and the numbers of lost and partial batches."""

    kills: int = 0
    acknowledged: int = 0
    lost: list[int] = field(default_factory=list)
    partial: list[int] = field(default_factory=list)


def kill_rounds(folder: Path, rounds: int, chance: random.Random) -> KillReport:
    """Load, kill and check in rounds, until one has lost something."""
    report = KillReport()
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
        report.lost = sorted(acknowledged - counts.keys())
        report.partial = sorted(batch for batch, count in counts.items() if count != BATCH_RECORDS)
        report.kills, report.acknowledged = number + 1, len(acknowledged)
        if report.lost or report.partial:
            break
    return report


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
            replicas = {"replicas": REPLICA_LISTS[batch // 3 % len(REPLICA_LISTS)]}
            client.put("/1/indexes/load/settings", json=replicas)
    except httpx.HTTPError:
        killer.join()
        process.wait()


def batch_of(batch: int) -> dict[str, object]:
    return {
        "requests": [
            {"action": "addObject", "body": {"objectID": f"{batch}-{n}", "batch": batch}}
            for n in range(BATCH_RECORDS)
        ]
    }


def count_batches(client: httpx.Client) -> Counter[int]:
    """Count the records of each batch in the store and in the engine, after all are published."""
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
    """Check that each index finds its records, and that each replica has those of its primary."""
    entries = {item["name"]: item for item in client.get("/1/indexes").json()["items"]}
    for name, entry in entries.items():
        found = client.post(f"/1/indexes/{name}/query", json={}).json()
        settings = client.get(f"/1/indexes/{name}/settings").json()
        replicas = [
            text.removeprefix("virtual(").rstrip(")") for text in settings.get("replicas", ())
        ]
        assert found["nbHits"] == entry["entries"], f"{name} does not find its records"
        assert sorted(replicas) == entry.get("replicas", []), f"{name} has other replicas"
        if primary := entry.get("primary"):
            assert entry["entries"] == entries[primary]["entries"], f"{name} differs from {primary}"


def main() -> int:
    """Print and record the counts; fail if a batch is lost or partial."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("kills", nargs="?", type=int, default=50)
    kills = options.parse_args().kills
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        report = kill_rounds(Path(folder), kills, random.Random())
    print(
        f"{report.kills} kills, {report.acknowledged} batches of {BATCH_RECORDS} acknowledged, "
        f"{len(report.lost)} lost, {len(report.partial)} partial, {time.monotonic() - begun:.0f} s"
    )
    record("kills", report.kills)
    record("acknowledged batches", report.acknowledged)
    record("lost batches", len(report.lost), wanted="= 0")
    record("partial batches", len(report.partial), wanted="= 0")
    return int(bool(report.lost or report.partial))


if __name__ == "__main__":
    sys.exit(main())
