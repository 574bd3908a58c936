"""Evaluate 150 judged queries in few requests, and send the same searches one by one.

    python benchmarks/measuring.py [--records 20000] [--queries 150] [--workers N]

All ways request the same hits with their criteria from the same local service, in turn. The
evaluation also checks the tables, computes three metrics and summarizes them with intervals; the
other ways only search. Each trial is a round of all ways, so that other processes on the machine
slow down all of them; the processor time is that of this process and the service together. Then
follows the time of the arithmetic for 1,000 queries: an interval and a test of 10,000 resamples. At
last, `svc.tuning.run` alone searches in a service with one worker per processor by default.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psutil  # type: ignore[import-untyped]  # it has no types of its own
from pandas import DataFrame

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
import svc_notebook as svc  # noqa: E402
from benchmarks.figures import record  # noqa: E402
from benchmarks.trials import Elapsed  # noqa: E402
from svc_notebook.tuning.statistics import interval, sign_flip  # noqa: E402
from tests.conftest import start_service, stop_service  # noqa: E402

INDEX = "measured"
TRIALS = 7
# Ratios to the peers, and queries per second of `svc.tuning.run`.
WANTED = {"one by one, a table each": ">= 3", "one by one, answers alone": ""}
WANTED_RATE = ">= 800"
WARM_RUNS = 5  # until workers run and have loaded the index
METRICS = ["ndcg@10", "p@5", "rbp(0.8)"]
SYLLABLES = ["ka", "lo", "mi", "ten", "ru", "sa", "pel", "dor", "vin", "gra", "bel", "tis", "fi"]


def make_records(count: int) -> DataFrame:
    """Make names of six words, some of which are common and most rare, as in a shop."""
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(3000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    names = [" ".join(chance.choices(words, weights, k=6)) for _ in range(count)]
    return DataFrame({"objectID": [f"{n}" for n in range(count)], "name": names,
                      "sold": [chance.randrange(1000) for _ in range(count)]})  # fmt: skip


def make_queries(records: DataFrame, count: int) -> list[str]:
    """Make queries of two or three words, each from another record."""
    chance = random.Random(3)
    chosen = records["name"].sample(count, random_state=4)
    return [" ".join(chance.sample(name.split(), chance.randint(2, 3))) for name in chosen]


def make_judgments(client: svc.Client, queries: list[str]) -> DataFrame:
    chance = random.Random(2)
    return DataFrame(
        [
            {"query": query, "objectID": hit["objectID"], "rating": chance.randrange(4)}
            for query in queries
            for hit in client.search(INDEX, query, hitsPerPage=20)["hits"]
        ]
    )


def search_each(queries: list[str]) -> None:
    """Search without a run: one DataFrame for each query."""
    for query in queries:
        svc.search(INDEX, query, criteria=True, columns=["objectID"], hitsPerPage=10)


def request_each(client: svc.Client, queries: list[str]) -> None:
    """Send the same requests, and discard the responses."""
    for query in queries:
        client.search(
            INDEX, query, hitsPerPage=10, getRankingInfo=True, attributesToHighlight=[],
            attributesToRetrieve=["objectID"], analytics=False,
        )  # fmt: skip


def evaluate(judgments: DataFrame) -> None:
    run = svc.tuning.run(INDEX, judgments, progress=False)
    svc.tuning.summary(svc.tuning.evaluate(run, judgments, METRICS))


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    table = make_records(options.records)
    queries = list(dict.fromkeys(make_queries(table, options.queries)))
    with serving(table) as (client, service):
        measure_evaluation(client, service, queries, options.records)
    measure_arithmetic()
    with serving(table, "--workers", str(options.workers)):
        measure_run(queries, options.workers)


@contextmanager
def serving(table: DataFrame, *options: str) -> Iterator[tuple[svc.Client, int]]:
    """Run a service with the table, connect to it, and yield the client and the process id."""
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder), *options)
        try:
            client = svc.connect(url=running.url, app_id=running.appId, api_key=running.adminKey)
            svc.push(table, INDEX, progress=False)
            svc.settings(INDEX, searchableAttributes=["name"], customRanking=["desc(sold)"])
            yield client, process.pid
        finally:
            stop_service(process)


def measure_work(work: Callable[[], object], service: int) -> Elapsed:
    """Do some work; the processor time is that of this process and the service."""
    both = [psutil.Process(), psutil.Process(service)]
    before = sum(sum(one.cpu_times()[:2]) for one in both)
    clock = timed(work)
    return Elapsed(clock, sum(sum(one.cpu_times()[:2]) for one in both) - before)


def measure_evaluation(client: svc.Client, service: int, queries: list[str], records: int) -> None:
    """Print and record the times of all ways."""
    judgments = make_judgments(client, queries)
    ways = {
        "one by one, a table each": lambda: search_each(queries),
        "one by one, answers alone": lambda: request_each(client, queries),
        "run, evaluated, summed up": lambda: evaluate(judgments),
    }
    rounds = [[measure_work(work, service) for work in ways.values()] for _ in range(TRIALS)]
    own = [one[-1] for one in rounds]
    rate = len(queries) / statistics.median(one.clock for one in own)
    print(f"{len(queries)} queries of {records:,} records, median of {TRIALS}")
    for name, taken in zip(ways, zip(*rounds, strict=True), strict=True):
        clock, processor = (statistics.median(column) for column in zip(*taken, strict=True))
        print(
            f"  {name}  {clock * 1000:6.0f} ms {ratio(taken, own, 0):4.1f}x ours"
            f"  processor {processor * 1000:6.0f} ms {ratio(taken, own, 1):4.1f}x"
        )
        if name in WANTED:
            record(
                f"{len(queries)} judged queries evaluated / {name}", rate, "queries/s", peer=name,
                peer_value=len(queries) / clock, ratio=ratio(taken, own, 0), wanted=WANTED[name],
            )  # fmt: skip
    print("  wanted: 3x against a table each")


def measure_arithmetic() -> None:
    deltas = np.random.default_rng(1).normal(0.02, 0.2, 1000)
    alone = timed(lambda: interval(deltas)) + timed(lambda: sign_flip(deltas))
    print(f"  interval and test of 1,000 queries, 10,000 resamples: {alone * 1000:.0f} ms")
    record("interval and test of 1,000 queries", alone * 1000, "ms")


def measure_run(queries: list[str], workers: int) -> None:
    """Print and record the queries per second of `svc.tuning.run` without an evaluation."""
    work = partial(svc.tuning.run, INDEX, queries, progress=False)
    for _ in range(WARM_RUNS):
        work()
    rate = len(queries) / statistics.median(timed(work) for _ in range(TRIALS))
    print(f"  svc.tuning.run, {workers} workers: {rate:,.0f} queries/s   wanted {WANTED_RATE}")
    record(f"svc.tuning.run, {workers} workers", rate, "queries/s", wanted=WANTED_RATE)


def ratio(taken: Sequence[Elapsed], own: Sequence[Elapsed], of: int) -> float:
    """Return the median of the trials' own ratios."""
    return statistics.median(one[of] / other[of] for one, other in zip(taken, own, strict=True))


if __name__ == "__main__":
    main()
