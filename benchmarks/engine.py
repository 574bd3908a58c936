"""The engine and milli, Meilisearch's engine, in one run on the same records and queries.

`python benchmarks/engine.py [RECORDS]`, 100,000 by default; `--alone` omits milli. Times are
processor times, because other processes on the machine change them little. Then searches are sent
to a service, one after the other, and timed by the clock; `--http` does only that.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from importlib.util import find_spec
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.figures import (  # noqa: E402
    Percentiles,
    compute_percentiles,
    record,
    record_percentiles,
)
from svc_notebook.service.engine import Index  # noqa: E402
from svc_notebook.service.engine.query.options import EffectiveParameters  # noqa: E402
from svc_notebook.service.engine.text.lexicon import LanguageResources  # noqa: E402
from svc_notebook.service.engine.text.synonyms import Thesaurus  # noqa: E402
from svc_notebook.service.resources.compiled import Rulebook  # noqa: E402
from svc_notebook.service.rules.consequence import apply_consequences  # noqa: E402
from svc_notebook.service.rules.rule import SearchContext  # noqa: E402

Record = dict[str, Any]
BATCH = 10_000
SETTINGS = {
    "searchableAttributes": ["title", "description"],
    "attributesForFaceting": ["brand", "category", "rating"],
    "customRanking": ["desc(popularity)", "desc(rating)"],
}
OPENINGS = [
    "b", "br", "c", "ch", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p",
    "pl", "qu", "r", "s", "sh", "st", "t", "tr", "v", "w", "z",
]  # fmt: skip
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
    ranks = {word: len(word) + chance.random() * 6 for word in sorted(words)}
    return sorted(words, key=lambda word: (ranks[word], word))


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


# Ratios to milli; without highlighting, because milli has none.
WANTED_RECORDS, WANTED_CHANGED, WANTED_P50 = ">= 4", "<= 0.1", "<= 1.5"
WANTED_P95_MS = "< 10"  # with highlighting
HOT = "hottest, 3 together"
ORDINARY = (
    "short prefix",
    "2 words",
    "3 words, 1 typo",
    "2 words, filters, facets",
    "empty, 3 facets",
)
# Counting facets takes most of the time of this search, and milli's package counts none.
NOT_COMPARABLE = "empty, 3 facets"


def make_queries(sample: Sequence[Record], count: int = 200) -> dict[str, list[dict[str, Any]]]:
    """Make common queries: prefixes, two words, three with a typo, two with filters."""
    chance = random.Random(11)
    kinds: dict[str, list[dict[str, Any]]] = {name: [] for name in ORDINARY}
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
    unmarked = {
        f"{name}, unmarked": [{**query, "attributesToHighlight": []} for query in some]
        for name, some in kinds.items()
    }
    return kinds | unmarked | make_hot_queries()


def make_hot_queries() -> dict[str, list[dict[str, Any]]]:
    """Make queries of the words that most records contain."""
    hot = make_vocabulary()[:8]
    together = {
        size: [" ".join(hot[start : start + size]) for start in range(len(hot) - size + 1)]
        for size in (1, 2, 3, 6)
    }
    kinds = {
        f"hottest, {size} together": [{"query": f"{text} "} for text in texts]
        for size, texts in together.items()
    }
    optional = [{**query, "optionalWords": hot} for query in kinds["hottest, 6 together"]]
    return kinds | {"hottest, 6, none needed": optional}


def misspell(chance: random.Random, word: str) -> str:
    place = chance.randrange(1, max(2, len(word)))
    return word[:place] + chance.choice("aeioustr") + word[place + 1 :]


Clock = Callable[[], float]


def measure(
    search: Callable[[dict[str, Any]], object],
    queries: list[dict[str, Any]],
    clock: Clock = time.process_time,
) -> Percentiles:
    """Return the percentiles of the queries' times; each time is the median of three."""
    rounds = [
        [timed(partial(search, query), clock)[0] * 1000 for query in queries] for _ in range(3)
    ]
    return compute_percentiles([*map(statistics.median, zip(*rounds, strict=True))])


def describe(times: Percentiles) -> str:
    return f"{times.p50:8.2f} {times.p95:8.2f}"


def timed(work: Callable[[], object], clock: Clock = time.process_time) -> tuple[float, Any]:
    start = clock()
    result = work()
    return clock() - start, result


def make_synonyms(count: int = 1000) -> list[dict[str, Any]]:
    """Make groups of two to four words; the first of each is a frequent word."""
    words, chance = make_vocabulary(), random.Random(13)
    return [
        {
            "objectID": str(number),
            "type": "synonym",
            "synonyms": [words[number], *chance.sample(words[1000:10_000], chance.randint(1, 3))],
        }
        for number in range(count)
    ]


def make_rules() -> list[dict[str, Any]]:
    """Make five rules that apply to every search, and a thousand that rarely apply."""
    shown: list[dict[str, Any]] = [
        {"promote": [{"objectIDs": ["5", "7"], "position": 0}], "userData": {"shown": "a"}},
        {"promote": [{"objectID": "100", "position": 3}], "filterPromotes": True},
        {"hide": [{"objectID": "9"}], "params": {"filters": "rating > 1.2"}},
        {"params": {"optionalFilters": ["category:Bai"]}},
        {"params": {"query": {"edits": [{"type": "remove", "delete": "nothing"}]}}},
    ]
    patterns: list[dict[str, Any]] = [
        {"conditions": [{"pattern": word, "anchoring": "is"}], "consequence": {"userData": {}}}
        for word in make_vocabulary()[10_000:11_000]
    ]
    rules = [*({"consequence": one} for one in shown), *patterns]
    return [{"objectID": f"rule {number}", **rule} for number, rule in enumerate(rules)]


class Ours:
    """The engine, with the records stored as JSON outside of it."""

    name = "svc_notebook"

    def __init__(self) -> None:
        self.index = Index(SETTINGS)
        self.stored: dict[str, bytes] = {}
        self.rules = Rulebook(make_rules)
        self.resources = LanguageResources(Thesaurus(make_synonyms))

    def add(self, records: Sequence[Record]) -> None:
        self.index.put(records)

    def store(self, records: Sequence[Record]) -> None:
        self.stored.update((one["objectID"], msgspec.json.encode(one)) for one in records)

    def merge(self) -> None:
        self.index.compact()
        self.index.warm(self.resources)

    def search(self, query: dict[str, Any]) -> object:
        return self.index.search(query, self.fetch)

    def search_configured(self, query: dict[str, Any]) -> object:
        """Search with synonyms, rules and plurals."""
        params = {**query, "ignorePlurals": True}
        options = EffectiveParameters(SETTINGS, params, self.resources)
        context = SearchContext(
            options, lambda facet, words: self.index.named(facet, words, options.rules)
        )
        applied = self.rules.find(context, time.time())
        outcome = apply_consequences(applied, params, context.words, options.rules)
        return self.index.search(outcome.params, self.fetch, self.resources, outcome.pins)

    def fetch(self, ids: Sequence[str]) -> list[Record]:
        return [msgspec.json.decode(self.stored[name]) for name in ids]


class Milli:
    """The peer: ids and records, without filters, facets and highlighting."""

    name = "milli 1.8.1"

    def __init__(self, folder: Path) -> None:
        import milli

        self.index = milli.Index(str(folder), 8 * 1024**3)

    def add(self, records: Sequence[Record]) -> None:
        self.index.add_documents(list(records))

    def store(self, records: Sequence[Record]) -> None: ...

    def merge(self) -> None: ...

    def search(self, query: dict[str, Any]) -> object:
        return self.index.get_documents(self.index.search(query.get("query", "")))


Engine = Ours | Milli


def load(engine: Engine, records: Iterator[Record]) -> float:
    """Return the seconds it takes to index."""
    spent = 0.0
    while batch := list(islice(records, BATCH)):
        spent += timed(partial(engine.add, batch))[0]
        engine.store(batch)
    return spent


class EngineTimes(NamedTuple):
    """Records indexed per second, milliseconds for one changed record, and times of searches."""

    rate: float
    changed: float
    searches: dict[str, Percentiles]


def report(
    engine: Engine, count: int, records: Sequence[Record], queries: dict[str, list[dict[str, Any]]]
) -> EngineTimes:
    """Print and return the times of one engine."""
    spent = load(engine, make_records(count))
    one = [{**record, "title": record["title"] + " changed"} for record in records[:20]]
    changed = statistics.median(timed(partial(engine.add, [record]))[0] * 1000 for record in one)
    merging = timed(engine.merge)[0]
    print(f"{engine.name}: {count:,} records, {count / spent:,.0f} records/s")
    print(f"  {'one record changed':36} {changed:8.2f}")
    print(f"  {'merged into one segment, warmed':36} {merging * 1000:8.2f}")
    searches = {}
    for name, some in queries.items():
        searches[name] = measure(engine.search, some)
        print(f"  {name:36} {describe(searches[name])}")
    if isinstance(engine, Ours):
        print("  with 1,000 synonyms, 5 rules that apply of 1,005, plurals:")
        for name, some in queries.items():
            print(f"  {name:36} {describe(measure(engine.search_configured, some))}")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    return EngineTimes(count / spent, changed, searches)


def record_engine(ours: EngineTimes, peer: str, theirs: EngineTimes | None, count: int) -> None:
    """Record the figures of our engine; a ratio is wanted only where the peer was measured."""

    def compare(name: str, value: float, unit: str, peer_value: float | None, wanted: str) -> None:
        wanted = wanted if theirs else ""
        record(name, value, unit, peer=peer, peer_value=peer_value, wanted=wanted)

    rate, changed = (theirs.rate, theirs.changed) if theirs else (None, None)
    compare(f"{count:,} records indexed", ours.rate, "records/s", rate, WANTED_RECORDS)
    compare("one record changed", ours.changed, "ms", changed, WANTED_CHANGED)
    for name in ORDINARY:
        plain = f"{name}, unmarked"
        p50 = theirs.searches[plain].p50 if theirs else None
        wanted = "" if name == NOT_COMPARABLE else WANTED_P50
        compare(f"{name}, no highlighting, p50", ours.searches[plain].p50, "ms", p50, wanted)
    hot = theirs.searches[HOT] if theirs else None
    record_percentiles(HOT, ours.searches[HOT], peer=peer, theirs=hot)
    for name in ORDINARY:
        record(f"{name}, highlighting, p95", ours.searches[name].p95, "ms", wanted=WANTED_P95_MS)


class ServedEngine:
    """The engine in a service, a process of its own, on one connection that stays open."""

    def __init__(self, folder: Path, service: dict[str, str]) -> None:
        self._folder = folder
        self._connection = HTTPConnection(service["url"].removeprefix("http://"))
        self._headers = {
            "x-service-application-id": service["appId"],
            "x-service-api-key": service["adminKey"],
            "content-type": "application/json",
        }

    def fill(self, records: Iterator[Record]) -> None:
        """Write settings, synonyms, rules and records, and wait until there is one segment."""
        self._call("PUT", "settings", SETTINGS)
        self._call("POST", "synonyms/batch", make_synonyms())
        self._call("POST", "rules/batch", make_rules())
        while batch := list(islice(records, BATCH)):
            requests = [{"action": "addObject", "body": record} for record in batch]
            last = self._call("POST", "batch", {"requests": requests})
        while self._call("GET", f"task/{last['taskID']}")["status"] != "published":
            time.sleep(0.1)
        while len(list((self._folder / "engine").rglob("*.segment"))) != 1:
            time.sleep(0.1)

    def search(self, query: dict[str, Any]) -> object:
        return self._send("POST", "query", {**query, "ignorePlurals": True})

    def close(self) -> None:
        self._connection.close()

    def _call(self, verb: str, path: str, body: object = None) -> Any:
        return msgspec.json.decode(self._send(verb, path, body))

    def _send(self, verb: str, path: str, body: object = None) -> bytes:
        content = b"" if body is None else msgspec.json.encode(body)
        self._connection.request(verb, f"/1/indexes/products/{path}", content, self._headers)
        response = self._connection.getresponse()
        text = response.read()
        assert response.status < 300, text
        return text


@contextmanager
def serving(folder: Path) -> Iterator[ServedEngine]:
    command = [sys.executable, "-m", "svc_notebook.service", "--json", "--data", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        served = ServedEngine(folder, json.loads(process.stdout.readline()))
        try:
            yield served
        finally:
            served.close()
            process.terminate()


def report_served(
    alone: Ours, served: ServedEngine, count: int, queries: dict[str, list[dict[str, Any]]]
) -> None:
    """Print and record the times of searches in the engine alone and over HTTP."""
    served.fill(make_records(count))
    print(f"milliseconds by the clock, {count:,} records, 1,000 synonyms, 5 rules, plurals:")
    print(f"  {'median, 95th percentile':36} {'the engine alone':>17} {'over HTTP':>17}")
    for name in ORDINARY:
        bare = measure(alone.search_configured, queries[name], time.perf_counter)
        whole = measure(served.search, queries[name], time.perf_counter)
        print(f"  {name:36} {describe(bare)} {describe(whole)}")
        record_percentiles(f"{name}, over HTTP", whole, peer="engine alone", theirs=bare)
    print(f"  load of the machine {os.getloadavg()[0]:.1f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("records", nargs="?", type=int, default=100_000)
    options.add_argument("--alone", action="store_true", help="omit milli")
    options.add_argument("--http", action="store_true", help="measure only searches over HTTP")
    given = options.parse_args()
    sample = list(islice(make_records(given.records), 5000))
    queries = make_queries(sample)
    ours, times, peer_times = Ours(), None, None
    if given.http:
        load(ours, make_records(given.records))
        ours.merge()
    else:
        print("milliseconds of the processor: median, 95th percentile")
        times = report(ours, given.records, sample, queries)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as served:
        report_served(ours, served, given.records, queries)
    try:
        if times and not given.alone:
            peer_times = report_peer(given.records, sample, queries)
    finally:  # the figures of our engine do not depend on the peer
        if times:
            record_engine(times, Milli.name if peer_times else "", peer_times, given.records)


def report_peer(
    count: int, records: Sequence[Record], queries: dict[str, list[dict[str, Any]]]
) -> EngineTimes | None:
    """Print and return the times of milli; None if it is not installed."""
    if not find_spec("milli"):
        print("milli is not installed; it has a wheel for Python 3.11 only")
        return None
    with tempfile.TemporaryDirectory() as folder:
        return report(Milli(Path(folder)), count, records, queries)


if __name__ == "__main__":
    main()
