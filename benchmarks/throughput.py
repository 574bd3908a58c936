"""Searches from several clients at once: search workers beside one process, in turn.

    python benchmarks/throughput.py [RECORDS] [--workers N]

60,000 records by default. Two services on copies of one folder answer the same queries, one
without workers and one with them; rounds of both alternate, so that what else the machine does
meets them alike. The processor's time of the service is listed apart for its own process and its
workers: where others use the machine, the time of the clock says little. `at best` is what that
time permits on as many free processors as workers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]  # it has no types of its own

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.engine import BATCH, ORDINARY, SETTINGS, make_queries, make_records  # noqa: E402
from tests.conftest import Running, credentials, start_service, stop_service  # noqa: E402

INDEX = "measured"
PATH = f"/1/indexes/{INDEX}/query"
# A tuning run sends many searches in one call, and asks for ids and criteria only.
TOGETHER_PATH, TOGETHER = "/1/indexes/*/queries", 50
UNMARKED = {"getRankingInfo": True, "attributesToHighlight": [], "attributesToRetrieve": []}
CLIENTS = (1, 4, 16)
ROUNDS, SECONDS = 7, 1.5
CLIENT = r"""
import json, socket, sys, time
host, seconds = sys.argv[1], float(sys.argv[2])
requests = [text.encode() for text in json.loads(sys.stdin.readline())]
address, port = host.rsplit(":", 1)
link = socket.create_connection((address, int(port)))
link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print("ready", flush=True)
number = 0
while sys.stdin.readline():
    took, end = [], time.time() + seconds
    while time.time() < end:
        begun = time.perf_counter()
        link.sendall(requests[number % len(requests)])
        number += 1
        received = link.recv(1 << 20)
        while b"\r\n\r\n" not in received:
            received += link.recv(1 << 20)
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        left = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]) - len(body)
        while left:
            left -= len(link.recv(min(left, 1 << 20)))
        took.append((time.perf_counter() - begun) * 1000)
    print(json.dumps(took), flush=True)
"""


class Round(NamedTuple):
    """One round: searches a second, times in milliseconds, processor milliseconds a search."""

    rate: float
    took: list[float]
    own: float
    workers: float


class Measured:
    """A running service and its clients, each call of which has `together` searches."""

    def __init__(
        self, running: Running, path: str, bodies: Sequence[dict[str, Any]], together: int = 1
    ) -> None:
        self.running = running
        self.host = running.url.removeprefix("http://")
        self.together = together
        self.clients = [self._start(path, list(bodies), seed) for seed in range(max(CLIENTS))]

    def _start(self, path: str, queries: list[dict[str, Any]], seed: int) -> subprocess.Popen[str]:
        random.Random(seed).shuffle(queries)
        keys = credentials(self.running.appId, self.running.searchKey)
        head = "".join(f"{name}: {value}\r\n" for name, value in keys.items())
        texts = []
        for body in map(json.dumps, queries):
            start = f"POST {path} HTTP/1.1\r\nhost: x\r\n{head}"
            start += "content-type: application/json\r\n"
            texts.append(f"{start}content-length: {len(body)}\r\n\r\n{body}")
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", CLIENT, self.host, str(SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(texts) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        return process

    def round(self, clients: int) -> Round:
        """Let some clients search for a while."""
        own, workers = self._spent()
        chosen = self.clients[:clients]
        for one in chosen:
            assert one.stdin
            one.stdin.write("\n")
            one.stdin.flush()
        took = [each for one in chosen if one.stdout for each in json.loads(one.stdout.readline())]
        own_now, workers_now = self._spent()
        searches = len(took) * self.together
        each = 1000 / searches
        spent = ((own_now - own) * each, (workers_now - workers) * each)
        return Round(searches / SECONDS, took, *spent)

    def _spent(self) -> tuple[float, float]:
        service = psutil.Process(self.running.pid)
        return sum(service.cpu_times()[:2]), sum(
            sum(one.cpu_times()[:2]) for one in service.children()
        )

    def close(self) -> None:
        """End the clients."""
        for one in self.clients:
            one.communicate("", timeout=10)


@contextmanager
def serving(folder: Path, workers: int) -> Iterator[Running]:
    process, running = start_service(folder, "--workers", str(workers))
    try:
        yield running
    finally:
        stop_service(process)


def call(running: Running, verb: str, path: str, body: object = None) -> Any:
    link = HTTPConnection(running.url.removeprefix("http://"), timeout=300)
    text = None if body is None else json.dumps(body)
    link.request(verb, path, text, credentials(running.appId, running.adminKey))
    try:
        return json.loads(link.getresponse().read())
    finally:
        link.close()


def fill(folder: Path, count: int) -> None:
    """Make the data folder that both services get a copy of."""
    records = make_records(count)
    with serving(folder, 0) as running:
        call(running, "PUT", f"/1/indexes/{INDEX}/settings", SETTINGS)
        while batch := list(islice(records, BATCH)):
            requests = [{"action": "addObject", "body": record} for record in batch]
            task = call(running, "POST", f"/1/indexes/{INDEX}/batch", {"requests": requests})
            while call(running, "GET", f"/1/task/{task['taskID']}")["status"] != "published":
                time.sleep(0.05)
        time.sleep(2 + count / 25_000)  # until its segments are one, in a file


def describe(rounds: Sequence[Round], processors: int) -> str:
    took = sorted(each for one in rounds for each in one.took)
    own, workers = (statistics.median(times) for times in list(zip(*rounds, strict=True))[2:])
    busiest = max(own, workers / max(processors, 1), (own + workers) / max(processors, 1))
    rates = [one.rate for one in rounds]
    return (
        f"{max(rates):7.0f} {statistics.median(rates):7.0f}"
        f" {took[len(took) // 2]:8.1f} {took[int(len(took) * 0.95)]:8.1f}"
        f" {own:8.2f} {workers:8.2f} {1000 / busiest:8.0f}"
    )


def memory_of(running: Running) -> str:
    """Return the resident and the own memory of a service and of each worker, in MB."""
    service = psutil.Process(running.pid)
    found = [one.memory_full_info() for one in (service, *service.children())]
    return ", ".join(f"{one.rss >> 20} ({one.uss >> 20})" for one in found)


def compare(
    services: Mapping[int, Running],
    path: str,
    bodies: Sequence[dict[str, Any]],
    together: int = 1,
) -> None:
    """Print what both services make of the same calls, in rounds that alternate."""
    with ExitStack() as stack:
        measured = {
            workers: Measured(running, path, bodies, together)
            for workers, running in services.items()
        }
        for one in measured.values():
            stack.callback(one.close)
            for _ in range(3):  # until workers run, and have what searches need
                one.round(4)
        print(" clients workers    best  median      p50      p95  service  workers  at best")
        for clients in CLIENTS:
            pairs = [[one.round(clients) for one in measured.values()] for _ in range(ROUNDS)]
            for workers, rounds in zip(measured, zip(*pairs, strict=True), strict=True):
                print(f"{clients:8} {workers:7} {describe(rounds, workers or 1)}")
            ratios = [many.rate / one.rate for one, many in pairs]
            print(f"{'':17} {statistics.median(ratios):.2f} times the searches, median of rounds")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("records", nargs="?", type=int, default=60_000)
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    sample = list(islice(make_records(given.records), 5000))
    kinds = make_queries(sample, 100)
    queries = [query for name in ORDINARY[:4] for query in kinds[name]]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        one, many = Path(folder, "one"), Path(folder, "many")
        fill(one, given.records)
        shutil.copytree(one, many)
        counts = {0: one, given.workers: many}
        services = {
            workers: stack.enter_context(serving(data, workers)) for workers, data in counts.items()
        }
        print(f"{given.records:,} records; searches a second and milliseconds by the clock,")
        print("processor milliseconds a search in the service and in its workers:")
        compare(services, PATH, queries)
        requests = [{"indexName": INDEX, **query, **UNMARKED} for query in queries]
        calls = [
            {"requests": requests[start : start + TOGETHER]}
            for start in range(0, len(requests), TOGETHER)
        ]
        print(f"{TOGETHER} searches in a call, without highlighting; milliseconds of a call:")
        compare(services, TOGETHER_PATH, calls, TOGETHER)
        for workers, service in services.items():
            print(f"MB resident (and its own) with {workers} workers: {memory_of(service)}")
        print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
