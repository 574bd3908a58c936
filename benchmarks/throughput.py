"""Searches of several clients at once, with search workers and in one process.

    python benchmarks/throughput.py [RECORDS] [--workers N]

60,000 records by default. Two services on copies of one folder receive the same queries, one
without workers and one with them; their rounds alternate, so that other processes on the machine
slow both down. The processor time of the service is listed separately for its own process and its
workers: on a busy machine, time by the clock means little. `at best` is the number of searches per
second that the processor time permits if each worker has a free processor.
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
from benchmarks.figures import (  # noqa: E402
    Percentiles,
    compute_percentiles,
    record,
    record_percentiles,
)
from tests.conftest import Running, credentials, start_service, stop_service  # noqa: E402

INDEX = "measured"
PATH = f"/1/indexes/{INDEX}/query"
# `svc.tuning.run` sends many searches in one call, for ids and criteria only.
MULTIPLE_PATH, CALL_QUERIES = "/1/indexes/*/queries", 50
IDS_ONLY = {"getRankingInfo": True, "attributesToHighlight": [], "attributesToRetrieve": []}
CLIENTS = (1, 4, 16)
# Of workers on two processors or more.
WANTED_RATIO, RATIO_CLIENTS = ">= 1.8", 4
WANTED_WAIT = "<= 8"  # 95th percentile with most clients, as a ratio to the median with one
ROUNDS, ROUND_SECONDS = 7, 1.5
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
    times, end = [], time.time() + seconds
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
        times.append((time.perf_counter() - begun) * 1000)
    print(json.dumps(times), flush=True)
"""


class Round(NamedTuple):
    """One round: searches per second, call times and processor time per search in milliseconds."""

    rate: float
    times: list[float]
    own: float
    workers: float


class LoadedService:
    """A running service and its clients, each call of which has a number of searches."""

    def __init__(
        self, running: Running, path: str, bodies: Sequence[dict[str, Any]], call_queries: int = 1
    ) -> None:
        self.running = running
        self.host = running.url.removeprefix("http://")
        self.call_queries = call_queries
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
            [sys.executable, "-S", "-c", CLIENT, self.host, str(ROUND_SECONDS)],
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
        """Search with some of the clients for the seconds of a round."""
        own, workers = self._processor_seconds()
        chosen = self.clients[:clients]
        for one in chosen:
            assert one.stdin
            one.stdin.write("\n")
            one.stdin.flush()
        times = [each for one in chosen if one.stdout for each in json.loads(one.stdout.readline())]
        own_after, workers_after = self._processor_seconds()
        searches = len(times) * self.call_queries
        each = 1000 / searches
        used = ((own_after - own) * each, (workers_after - workers) * each)
        return Round(searches / ROUND_SECONDS, times, *used)

    def _processor_seconds(self) -> tuple[float, float]:
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
    """Make the data folder for both services."""
    records = make_records(count)
    with serving(folder, 0) as running:
        call(running, "PUT", f"/1/indexes/{INDEX}/settings", SETTINGS)
        while batch := list(islice(records, BATCH)):
            requests = [{"action": "addObject", "body": record} for record in batch]
            task = call(running, "POST", f"/1/indexes/{INDEX}/batch", {"requests": requests})
            while call(running, "GET", f"/1/task/{task['taskID']}")["status"] != "published":
                time.sleep(0.05)
        time.sleep(2 + count / 25_000)  # until there is one segment, in a file


def describe(rounds: Sequence[Round], processors: int) -> str:
    times = percentiles_of(rounds)
    own = statistics.median(one.own for one in rounds)
    workers = statistics.median(one.workers for one in rounds)
    busiest = max(own, workers / max(processors, 1), (own + workers) / max(processors, 1))
    rates = [one.rate for one in rounds]
    return (
        f"{max(rates):7.0f} {statistics.median(rates):7.0f}"
        f" {times.p50:8.1f} {times.p95:8.1f}"
        f" {own:8.2f} {workers:8.2f} {1000 / busiest:8.0f}"
    )


def percentiles_of(rounds: Sequence[Round]) -> Percentiles:
    return compute_percentiles([each for one in rounds for each in one.times])


def name_clients(clients: int) -> str:
    return f"{clients} client{'s' if clients > 1 else ''}"


def memory_of(running: Running) -> str:
    """Return the resident and the own memory of a service and of each worker, in MB."""
    service = psutil.Process(running.pid)
    found = [one.memory_full_info() for one in (service, *service.children())]
    return ", ".join(f"{one.rss >> 20} ({one.uss >> 20})" for one in found)


class Comparison(NamedTuple):
    """The rounds of a service without workers and of one with them."""

    alone: tuple[Round, ...]
    many: tuple[Round, ...]

    @property
    def ratio(self) -> float:
        """The median of the rounds' own ratios of searches per second."""
        pairs = zip(self.alone, self.many, strict=True)
        return statistics.median(many.rate / one.rate for one, many in pairs)


def compare(
    services: Mapping[int, Running],
    path: str,
    bodies: Sequence[dict[str, Any]],
    call_queries: int = 1,
) -> dict[int, Comparison]:
    """Print and return how both services process the same calls, in rounds that alternate."""
    with ExitStack() as stack:
        loaded = {
            workers: LoadedService(running, path, bodies, call_queries)
            for workers, running in services.items()
        }
        for one in loaded.values():
            stack.callback(one.close)
            for _ in range(3):  # until workers run and have loaded the index
                one.round(4)
        found = {}
        print(" clients workers    best  median      p50      p95  service  workers  at best")
        for clients in CLIENTS:
            pairs = [[one.round(clients) for one in loaded.values()] for _ in range(ROUNDS)]
            found[clients] = Comparison(*zip(*pairs, strict=True))
            for workers, rounds in zip(loaded, found[clients], strict=True):
                print(f"{clients:8} {workers:7} {describe(rounds, workers or 1)}")
            ratio = found[clients].ratio
            print(f"{'':17} {ratio:.2f} times the searches, median of rounds")
        return found


def record_rates(found: Mapping[int, Comparison], name: str = "", wanted: str = "") -> None:
    """Record the searches per second with workers beside those without."""
    for clients, pair in found.items():
        alone, many = (statistics.median(one.rate for one in rounds) for rounds in pair)
        record(
            f"{name_clients(clients)}{name}", many, "searches/s", peer="no workers",
            peer_value=alone, ratio=pair.ratio, wanted=wanted if clients == RATIO_CLIENTS else "",
        )  # fmt: skip


def record_times(found: Mapping[int, Comparison], wanted: str) -> None:
    """Record the times of searches, and their ratio with most clients to one client."""
    for clients, pair in found.items():
        alone, many = map(percentiles_of, pair)
        record_percentiles(name_clients(clients), many, peer="no workers", theirs=alone)
    first, most = found[min(found)], found[max(found)]
    for name, one, all_of_them, bound in (
        ("with workers", first.many, most.many, wanted),
        ("without workers", first.alone, most.alone, ""),
    ):
        record(
            f"{name_clients(max(found))} {name}, p95 / p50 of one", percentiles_of(all_of_them).p95,
            "ms", peer="one client, p50", peer_value=percentiles_of(one).p50, wanted=bound,
        )  # fmt: skip


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
        print(f"{given.records:,} records; searches per second and milliseconds by the clock,")
        print("processor milliseconds per search in the service and in its workers:")
        found = compare(services, PATH, queries)
        several = given.workers > 1
        record_rates(found, wanted=WANTED_RATIO if several else "")
        record_times(found, WANTED_WAIT if several else "")
        requests = [{"indexName": INDEX, **query, **IDS_ONLY} for query in queries]
        calls = [
            {"requests": requests[start : start + CALL_QUERIES]}
            for start in range(0, len(requests), CALL_QUERIES)
        ]
        print(f"{CALL_QUERIES} searches in a call, without highlighting; milliseconds of a call:")
        found = compare(services, MULTIPLE_PATH, calls, CALL_QUERIES)
        record_rates(found, f", {CALL_QUERIES} searches without highlighting in a call")
        for workers, service in services.items():
            print(f"MB resident (and its own) with {workers} workers: {memory_of(service)}")
        print(f"load of the machine {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
