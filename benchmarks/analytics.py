"""Measure what counting adds to a search: time of the call, and processor time of the service.

    python benchmarks/analytics.py [--records 20000] [--rounds 20]

Rounds of searches that count and of searches with `analytics` false follow each other, so that
other processes on the machine slow down both. The processor time includes that of writing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]  # it has no types of its own

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.measuring import make_queries, make_records  # noqa: E402
from tests.conftest import credentials, start_service, stop_service  # noqa: E402

SEARCHES_PER_ROUND = 150
USERS = 40
PATH = "/1/indexes/measured"
MAX_SHARE = 0.05  # maximum time that counting adds to a search


def measure(
    client: httpx.Client, service: psutil.Process, queries: list[str], counts: bool
) -> tuple[float, float]:
    """Return the time of a call and the processor time of the service per search, in seconds."""
    before, started = sum(service.cpu_times()[:2]), time.perf_counter()
    for number, query in enumerate(queries):
        body = {
            "query": query, "analytics": counts, "clickAnalytics": True,
            "userToken": f"user-{number % USERS}",
        }  # fmt: skip
        client.post(f"{PATH}/query", json=body).raise_for_status()
    elapsed = time.perf_counter() - started
    time.sleep(0.6)  # the counts of the round are written
    used = sum(service.cpu_times()[:2]) - before
    return elapsed / len(queries), used / len(queries)


def main() -> None:
    """Fill an index, search in alternation and print the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    records = make_records(given.records)
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder), "--workers", "0")
        headers = credentials(running.appId, running.adminKey)
        with httpx.Client(base_url=running.url, headers=headers, timeout=60) as client:
            bodies = [{"action": "addObject", "body": row} for row in records.to_dict("records")]
            task = client.post(f"{PATH}/batch", json={"requests": bodies}).json()["taskID"]
            while client.get(f"/1/task/{task}").json()["status"] != "published":
                time.sleep(0.1)
            queries = make_queries(records, SEARCHES_PER_ROUND)
            service = psutil.Process(process.pid)
            rounds: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
            measure(client, service, queries, counts=True)
            for _ in range(given.rounds):
                for counts in random.sample([True, False], 2):
                    rounds[counts].append(measure(client, service, queries, counts))
        stop_service(process)
    for name, column in (("call", 0), ("processor", 1)):
        counted, plain = (
            statistics.median(row[column] for row in rounds[counts]) for counts in (True, False)
        )
        share = counted / plain - 1
        line = f"{name}: {plain * 1000:.2f} ms, with counting {counted * 1000:.2f} ms"
        print(f"{line}: {share:+.1%} (wanted: at most {MAX_SHARE:.0%})")


if __name__ == "__main__":
    main()
