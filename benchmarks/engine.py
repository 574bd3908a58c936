"""The engine beside milli, Meilisearch's engine, in one run on the same records and queries.

`python benchmarks/engine.py [RECORDS]`, 100,000 by default; `--alone` leaves milli out.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.service.engine import Index

Record = dict[str, Any]
BATCH = 10_000
SETTINGS = {
    "searchableAttributes": ["title", "description"],
    "attributesForFaceting": ["brand", "category", "rating"],
    "customRanking": ["desc(popularity)", "desc(rating)"],
}
OPENINGS = [
    "b",
    "br",
    "c",
    "ch",
    "cl",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
]
VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oo"]
ENDINGS = ["", "", "n", "r", "s", "l", "t", "ck", "m"]


def make_vocabulary(size: int = 30_000) -> list[str]:
    """Make pronounceable words, the shorter ones first."""
    chance = random.Random(1)
    words: set[str] = set()
    while len(words) < size:
        syllables = chance.choices([1, 2, 3, 4], [8, 42, 38, 12])[0]
        parts = (
            chance.choice(OPENINGS) + chance.choice(VOWELS) + chance.choice(ENDINGS)
            for _ in range(syllables)
        )
        words.add("".join(parts))
    return sorted(words, key=lambda word: (len(word) + chance.random() * 6, word))


def make_records(count: int) -> Iterator[Record]:
    """Make product records whose words follow Zipf's law."""
    chance, words = random.Random(7), make_vocabulary()
    title = list(accumulate(1 / place**0.85 for place in range(1, len(words) + 1)))
    text = list(accumulate(1 / place for place in range(1, len(words) + 1)))
    for number in range(count):
        yield {
            "objectID": str(number),
            "title": " ".join(chance.choices(words, cum_weights=title, k=chance.randint(3, 9))),
            "description": " ".join(
                chance.choices(words, cum_weights=text, k=chance.randint(15, 45))
            ),
            "brand": words[2000 + min(int(chance.paretovariate(0.6)), 500)].title(),
            "category": words[500 + min(int(chance.paretovariate(0.5)), 60)].title(),
            "price": round(chance.lognormvariate(3.5, 1), 2),
            "rating": round(chance.uniform(1, 5), 1),
            "popularity": int(chance.paretovariate(1.2) * 10),
        }


def make_queries(sample: Sequence[Record], count: int = 200) -> dict[str, list[dict[str, Any]]]:
    """Make what people type: beginnings, two words, three with a typo, two with filters."""
    chance = random.Random(11)
    kinds: dict[str, list[dict[str, Any]]] = {
        "short prefix": [],
        "2 words": [],
        "3 words, 1 typo": [],
        "2 words, filters, facets": [],
        "empty, 3 facets": [],
    }
    for _ in range(count):
        record = chance.choice(sample)
        words = record["title"].split()[:3]
        kinds["short prefix"].append({"query": words[0][: chance.randint(2, 4)]})
        kinds["2 words"].append({"query": " ".join(words[:2])[: chance.randint(6, 40)]})
        wrong = [*words[:2], misspell(chance, words[2])]
        kinds["3 words, 1 typo"].append({"query": " ".join(wrong)})
        price = record["price"]
        kinds["2 words, filters, facets"].append(
            {
                "query": " ".join(words[:2]),
                "filters": f'category:"{record["category"]}" AND price:{price / 2} TO {price * 2}',
                "facets": ["brand", "category", "rating"],
            }
        )
        kinds["empty, 3 facets"].append({"facets": ["brand", "category", "rating"]})
    return kinds


def misspell(chance: random.Random, word: str) -> str:
    place = chance.randrange(1, max(2, len(word)))
    return word[:place] + chance.choice("aeioustr") + word[place + 1 :]


def measure(search: Callable[[dict[str, Any]], object], queries: list[dict[str, Any]]) -> str:
    """Return the median and the 95th percentile in milliseconds."""
    times = sorted(timed(partial(search, query))[0] * 1000 for query in queries)
    median, high = statistics.median(times), times[int(len(times) * 0.95)]
    return f"{median:8.2f} {high:8.2f}"


def timed(work: Callable[[], object]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


class Ours:
    """The engine, its records kept as JSON beside it."""

    name = "svc_notebook"

    def __init__(self, folder: Path) -> None:
        self.index = Index(SETTINGS)
        self.stored: dict[str, bytes] = {}

    def add(self, records: Sequence[Record]) -> None:
        self.index.put(records)

    def keep(self, records: Sequence[Record]) -> None:
        self.stored.update((one["objectID"], msgspec.json.encode(one)) for one in records)

    def search(self, query: dict[str, Any]) -> object:
        return self.index.search(query, self.fetch)

    def fetch(self, ids: Sequence[str]) -> list[Record]:
        return [msgspec.json.decode(self.stored[name]) for name in ids]

    def count(self, query: dict[str, Any]) -> int:
        return self.index.search({**query, "hitsPerPage": 1}, self.fetch).nbHits


class Milli:
    """The peer."""

    name = "milli 1.8.1"

    def __init__(self, folder: Path) -> None:
        import milli  # type: ignore[import-untyped]

        self.index = milli.Index(str(folder), 4 * 1024**3)
        settings = self.index.settings if hasattr(self.index, "settings") else None
        print(settings, [name for name in dir(self.index) if not name.startswith("_")])


def load(engine: Any, records: Iterator[Record]) -> float:
    spent = 0.0
    while batch := list(islice(records, BATCH)):
        spent += timed(lambda: engine.add(batch))[0]
        engine.keep(batch)
    return spent


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("records", nargs="?", type=int, default=100_000)
    options.add_argument("--alone", action="store_true")
    given = options.parse_args()
    sample = list(islice(make_records(given.records), 5000))
    queries = make_queries(sample)
    kinds = [Ours] if given.alone else [Ours, Milli]
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            report(kind(Path(folder)), given.records, queries)


def report(engine: Any, count: int, queries: dict[str, list[dict[str, Any]]]) -> None:
    spent = load(engine, make_records(count))
    print(f"{engine.name}: {count} records, {count / spent:,.0f} records/s")
    for name, some in queries.items():
        for query in some[:20]:
            engine.search(query)
        print(f"  {name:28} {measure(engine.search, some)}")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
