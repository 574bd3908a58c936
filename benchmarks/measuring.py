"""150 judged queries evaluated: ours in few requests, against the same searches one by one.

    python benchmarks/measuring.py [--records 20000] [--queries 150]

All ask the same local service for the same hits with their criteria, in turn. Ours checks the
tables, scores three metrics and sums them up with intervals, too; the others only search. Each
trial is a round of all ways, so that what else the machine does meets them alike; processor time,
ours and the service's together, does not count what it does. The last line is what the arithmetic
takes for 1,000 queries: an interval and a test of 10,000 resamples.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil  # type: ignore[import-untyped]  # it has no types of its own
from pandas import DataFrame

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
import svc_notebook as svc  # noqa: E402
from svc_notebook.tuning.statistics import interval, sign_flip  # noqa: E402
from tests.conftest import start_service, stop_service  # noqa: E402

INDEX = "measured"
TRIALS = 7
METRICS = ["ndcg@10", "p@5", "rbp(0.8)"]
SYLLABLES = ["ka", "lo", "mi", "ten", "ru", "sa", "pel", "dor", "vin", "gra", "bel", "tis", "fi"]


def make_records(count: int) -> DataFrame:
    """Names of six words, some of which are common and most rare, as in a shop."""
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(3000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    names = [" ".join(chance.choices(words, weights, k=6)) for _ in range(count)]
    return DataFrame({"objectID": [f"{n}" for n in range(count)], "name": names,
                      "sold": [chance.randrange(1000) for _ in range(count)]})  # fmt: skip


def make_queries(records: DataFrame, count: int) -> list[str]:
    """Ask for two or three words of as many records."""
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
    """Search as one who has no runs: a table for each query."""
    for query in queries:
        svc.search(INDEX, query, criteria=True, columns=["objectID"], hitsPerPage=10)


def ask_each(client: svc.Client, queries: list[str]) -> None:
    """Ask for the same, and do nothing with the answers."""
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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder))
        try:
            client = svc.connect(url=running.url, app_id=running.appId, api_key=running.adminKey)
            return measure(client, process.pid, options.records, options.queries)
        finally:
            stop_service(process)


class Spent(NamedTuple):
    """Seconds by the clock, and of the processor."""

    clock: float
    processor: float


def spent(work: Callable[[], object], service: int) -> Spent:
    """Do some work; its processor time is this process's and the service's."""
    both = [psutil.Process(), psutil.Process(service)]
    before = sum(sum(one.cpu_times()[:2]) for one in both)
    clock = timed(work)
    return Spent(clock, sum(sum(one.cpu_times()[:2]) for one in both) - before)


def measure(client: svc.Client, service: int, records: int, count: int) -> int:
    table = make_records(records)
    svc.push(table, INDEX, progress=False)
    svc.settings(INDEX, searchableAttributes=["name"], customRanking=["desc(sold)"])
    queries = list(dict.fromkeys(make_queries(table, count)))
    judgments = make_judgments(client, queries)
    ways = {
        "one by one, a table each": lambda: search_each(queries),
        "one by one, answers alone": lambda: ask_each(client, queries),
        "run, evaluated, summed up": lambda: evaluate(judgments),
    }
    rounds = [[spent(work, service) for work in ways.values()] for _ in range(TRIALS)]
    print(f"{len(queries)} queries of {records:,} records, median of {TRIALS}")
    for name, taken in zip(ways, zip(*rounds, strict=True), strict=True):
        own = [one[-1] for one in rounds]
        clock, processor = (statistics.median(column) for column in zip(*taken, strict=True))
        print(
            f"  {name}  {clock * 1000:6.0f} ms {ratio(taken, own, 0):4.1f}x ours"
            f"  processor {processor * 1000:6.0f} ms {ratio(taken, own, 1):4.1f}x"
        )
    print("  wanted: 3x against a table each")
    deltas = np.random.default_rng(1).normal(0.02, 0.2, 1000)
    alone = timed(lambda: interval(deltas)) + timed(lambda: sign_flip(deltas))
    print(f"  interval and test of 1,000 queries, 10,000 resamples: {alone * 1000:.0f} ms")
    return 0


def ratio(taken: Sequence[Spent], own: Sequence[Spent], of: int) -> float:
    """Return the median of the trials' own ratios."""
    return statistics.median(one[of] / other[of] for one, other in zip(taken, own, strict=True))


if __name__ == "__main__":
    sys.exit(main())
