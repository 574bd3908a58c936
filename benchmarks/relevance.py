"""Rankings of a judged collection: tuned on one half of its queries, measured on the other.

    python benchmarks/relevance.py [--collection ../shared/data/esci_small | --films] [--seeds 3]
    python benchmarks/relevance.py --functions numpy scipy
    python benchmarks/relevance.py --functions pandas matplotlib --rows BM25 "text score"
    python benchmarks/relevance.py --embedder static+latent [--films]
    python benchmarks/relevance.py --latency 100000

Every choice is made on the tune half: the values of a ranking by `svc.tuning.search`, those of BM25
by a grid. ir_measures scores the held-out half, to 1,000 hits. A mean is that of the seeds; its
interval is a bootstrap over the queries, each with its mean over the seeds that hold it out.

`--films` searches the films of the tutorials. Each query looks for one film, chosen by its number
of reviews: title and year, title with a typo, title and "movie", or longest word of the title and
director. The film has grade 3, others of the same title grade 2.

`--functions` searches the documented functions of packages; see `function_collection.py`.

`--embedder` measures the text score with similarities, added by fixed weights, on all queries.

`--latency` compares searches of one engine on generated records instead, in processor time, and
measures the bytes that vectors take for each record, and the recall of the candidates of sketches.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import ir_measures
import numpy as np
from ir_measures import AP, Qrel, ScoredDoc, nDCG
from pandas import DataFrame, read_csv

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "notebooks")]
from films import write_films  # noqa: E402

import svc_notebook as svc  # noqa: E402
from benchmarks.engine import (  # noqa: E402
    BATCH,
    SETTINGS,
    make_queries,
    make_records,
    misspell,
    timed,
)
from benchmarks.function_collection import ATTRIBUTES, read_functions  # noqa: E402
from svc_notebook.data.session.connection import asynchronous  # noqa: E402
from svc_notebook.service.engine import Index  # noqa: E402
from svc_notebook.service.engine.semantic.latent_model import LatentModel  # noqa: E402
from svc_notebook.service.engine.semantic.vector_index import LATENT, VectorIndex  # noqa: E402
from svc_notebook.service.engine.semantic.vector_table import VectorTable  # noqa: E402
from svc_notebook.tuning.changes.state import read_state  # noqa: E402
from svc_notebook.tuning.statistics import interval  # noqa: E402
from svc_notebook.tuning.variants.spaces import Variant  # noqa: E402
from svc_notebook.tuning.variants.trials import TrialIndex  # noqa: E402
from tests.conftest import Running, start_service, stop_service  # noqa: E402

INDEX = "judged"
DEPTH = 1000
MEASURES = [nDCG @ 10, AP]
SEARCHABLE = ["title", "brand", "color", "category", "bullet_points", "description"]
FILM_ATTRIBUTES = ["Title", "Director", "Cast"]
FILM_QUERIES, MIN_REVIEWS = 400, 20
FUNCTION_QUERIES = 300
RECALL_QUERIES, RECALL_DEPTH = 60, 100
NEURAL = ("mode", "semanticSearch")
BM25_WEIGHTS = ((1, 1, 1, 1, 1, 1), (2, 1, 1, 1, 1, 1), (3, 2, 1, 1, 1, 1), (5, 3, 2, 2, 1, 1))
BM25_SHAPES = [(1.2, 0.75), (0.9, 0.4), (1.6, 0.75), (1.2, 0.9)]
# Ranks by the text score alone, which BM25 does, too.
BY_TEXT: dict[str, Any] = {
    "enableReRanking": True,
    "ranking": ["exact", "custom"],
    "optionalWords": {"words": "all"},
    "ignorePlurals": ["en"],
    "alternativesAsExact": ["ignorePlurals", "singleWordSynonym", "ignoreConjugations"],
}
WEIGHTS = (0.3, 0.5, 0.67, 0.8)
FEEDBACK_HITS = (5, 10)

WORDS_ONLY = "tuned, words only"

Scores = dict[str, tuple[float, ...]]


def make_semantic_space(options: Iterable[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return the space of the rankings by text and meaning with these options."""
    fixed = {name: [value] for name, value in {**BY_TEXT, **changes}.items()}
    return {**fixed, "mode": ["neuralSearch"], "semanticSearch": [*options]}


def make_weight_space(attributes: Sequence[str]) -> dict[str, Any]:
    """Return the space of the text score with weights of attributes."""
    fixed = {name: [value] for name, value in BY_TEXT.items()}
    single = [{name: 3} for name in attributes]
    pairs = [{attributes[0]: 3, name: 2} for name in attributes[1:]]
    return {**fixed, "attributeWeights": ["halving", "flat", *single, *pairs]}


WITHOUT_FEEDBACK = [{"localWeight": weight} for weight in WEIGHTS]
WITH_FEEDBACK = [
    {"localWeight": weight, "localFeedbackHits": hits}
    for weight, hits in itertools.product(WEIGHTS[1:], FEEDBACK_HITS)
]
SPACES = {
    # Typos are compared before the text score, so that positions are fused.
    "meaning, fused by positions": make_semantic_space(WITHOUT_FEEDBACK, typoTolerance="min"),
    "meaning, fused by scores": make_semantic_space(WITHOUT_FEEDBACK),
    "meaning, with feedback": make_semantic_space(WITH_FEEDBACK),
}


@dataclass(frozen=True)
class Collection:
    """Records, the attributes to search, queries and judgments."""

    records: DataFrame | list[dict[str, Any]]
    attributes: list[str]
    queries: list[str]
    judgments: DataFrame

    def score(self, run: DataFrame, queries: Sequence[str]) -> Scores:
        """Return the scores of each query by ir_measures; 0 for a query without hits."""
        of = self.judgments[self.judgments["query"].isin(queries)]
        qrels = [Qrel(q, name, int(rating)) for q, name, rating in of.itertuples(index=False)]
        hits = run[run["objectID"].notna()]
        docs = [
            ScoredDoc(query, name, -float(rank))
            for query, name, rank in hits[["query", "objectID", "rank"]].itertuples(index=False)
        ]
        found = {(each.query_id, str(each.measure)): each.value
                 for each in ir_measures.iter_calc(MEASURES, qrels, docs)}  # fmt: skip
        return {q: tuple(found.get((q, str(m)), 0.0) for m in MEASURES) for q in queries}


def read_folder(folder: Path) -> Collection:
    """Read products, queries and judgments."""
    with gzip.open(folder / "records.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    queries = read_csv(folder / "queries.csv", dtype=str)["query"].tolist()
    judgments = read_csv(folder / "judgments.csv", dtype={"query": str, "objectID": str})
    return Collection(records, SEARCHABLE, queries, judgments[["query", "objectID", "rating"]])


def make_films(folder: Path) -> Collection:
    """Read the films of the tutorials, and make queries for some that have many reviews."""
    films = read_csv(write_films(folder / "films.csv")).drop_duplicates("imdbID")
    films = films[films["Reviews"] >= MIN_REVIEWS].rename(columns={"imdbID": "objectID"})
    titles = films["Title"].str.lower()
    chosen = films[titles.str.split().map(len) >= 2].sample(
        FILM_QUERIES, weights="Reviews", random_state=7
    )
    chance, grades = Random(7), {}
    for place, film in enumerate(chosen.itertuples()):
        title = str(film.Title).lower()
        words = title.split()
        longest = max(words, key=len)
        director = str(film.Director).lower().split(",")[0].split()[-1]
        typo = " ".join(misspell(chance, word) if word == longest else word for word in words)
        wordings = [f"{title} {film.Year:.0f}", typo, f"{title} movie", f"{longest} {director}"]
        grades[wordings[place % len(wordings)]] = {
            name: 3 if name == film.objectID else 2
            for name in films["objectID"][titles == title]
        }  # fmt: skip
    rows = [(query, *row) for query, own in grades.items() for row in own.items()]
    judgments = DataFrame(rows, columns=["query", "objectID", "rating"])
    return Collection(films, FILM_ATTRIBUTES, list(grades), judgments)


async def run_variant(choices: Mapping[str, Any], queries: DataFrame) -> DataFrame:
    """Search as if the choices were in place."""
    client = asynchronous(None)
    async with TrialIndex(client, INDEX, await read_state(client, INDEX), k=DEPTH) as tried:
        return await tried.run(Variant(choices), queries)


def find_choices(
    collection: Collection, space: Mapping[str, Any] | None, seed: int, queries: DataFrame
) -> dict[str, Any]:
    """Return the best choices on the queries that are marked as tune queries.

    All combinations of values are tried where these are few, and each value once otherwise.
    """
    counts = [len(values) for values in (space or {}).values()]
    trials = 1 + sum(counts)
    sampler = "grid" if space and math.prod(counts) < trials else "coordinate"
    tune_queries = int((queries["split"] == "tune").sum())
    search = svc.tuning.search(
        INDEX, space, queries=queries, judgments=collection.judgments, sampler=sampler, seed=seed,
        budget=trials * tune_queries if space and sampler == "coordinate" else None, progress=False,
    )  # fmt: skip
    return dict(search.best or {})


def find_bm25(collection: Collection, queries: DataFrame) -> dict[str, Any]:
    """Return the options of BM25 that are best on the tune queries."""
    chosen = queries[queries["split"] == "tune"]["query"].tolist()
    best, options = -1.0, {}
    for values, (k1, b) in itertools.product(BM25_WEIGHTS, BM25_SHAPES):
        weights = dict(zip(collection.attributes, values, strict=False))
        tried: dict[str, Any] = {"attributes": weights, "k1": k1, "b": b}
        run = svc.tuning.baseline(INDEX, queries=chosen, k=DEPTH, **tried)
        mean = statistics.fmean(each[0] for each in collection.score(run, chosen).values())
        if mean > best:
            best, options = mean, tried
    return options


def measure_seed(collection: Collection, seed: int, rows: Sequence[str]) -> dict[str, Scores]:
    """Choose on the tune half, and score the held-out half, for some rows of the table or all."""
    queries = svc.tuning.split(collection.queries, 0.5, seed)
    held = queries[queries["split"] == "holdout"]
    names = held["query"].tolist()

    def is_measured(row: str) -> bool:
        return not rows or row in rows

    runs: dict[str, Callable[[], DataFrame]] = {
        "BM25": lambda: svc.tuning.baseline(INDEX, queries=names, k=DEPTH),
        "default": lambda: asyncio.run(run_variant({}, held)),
        "text score": lambda: asyncio.run(run_variant(BY_TEXT, held)),
    }
    scores = {row: collection.score(run(), names) for row, run in runs.items() if is_measured(row)}
    if is_measured("tuned BM25"):
        bm25 = find_bm25(collection, queries)
        print(f"seed {seed}: tuned BM25 has {bm25}", flush=True)
        run = svc.tuning.baseline(INDEX, queries=names, k=DEPTH, **bm25)
        scores["tuned BM25"] = collection.score(run, names)
    spaces = {"text score, weights tuned": make_weight_space(collection.attributes), **SPACES,
              "svc.tuning.search": None}  # fmt: skip
    if is_measured(WORDS_ONLY):
        diagnosis = svc.tuning.diagnose(
            INDEX, collection.judgments, queries, seed=seed, progress=False
        )
        space = {name: values for name, values in diagnosis.space.items() if name not in NEURAL}
        spaces = {WORDS_ONLY: space, **spaces}
    for row in filter(is_measured, spaces):
        choices = find_choices(collection, spaces[row], seed, queries)
        print(f"seed {seed}: {row} has {choices}", flush=True)
        scores[row] = collection.score(asyncio.run(run_variant(choices, held)), names)
    return scores


def print_table(seeds: Sequence[Mapping[str, Scores]]) -> None:
    print(f"{'':32}{'nDCG@10':>8}  95 % interval    {'MAP':>6}  95 % interval")
    for row in seeds[0]:
        cells = []
        for place in range(len(MEASURES)):
            means = [statistics.fmean(s[place] for s in each[row].values()) for each in seeds]
            values: dict[str, list[float]] = {}
            for each in seeds:
                for query, scores in each[row].items():
                    values.setdefault(query, []).append(scores[place])
            spread = interval([statistics.fmean(own) for own in values.values()])
            cells.append(f"{statistics.fmean(means):8.3f}  [{spread.low:.3f}, {spread.high:.3f}]")
        print(f"{row:32}{'  '.join(cells)}", flush=True)


def fill_service(collection: Collection, running: Running) -> None:
    svc.connect(
        url=running.url, app_id=running.appId, api_key=running.adminKey, read_timeout=60
    )  # fmt: skip
    svc.push(collection.records, INDEX, progress=False)
    svc.set_settings(INDEX, searchableAttributes=collection.attributes)


def compare_rankings(collection: Collection, seeds: int, rows: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder))
        try:
            fill_service(collection, running)
            found = []
            for seed in range(seeds):
                found.append(measure_seed(collection, seed, rows))
                print_table(found)
        finally:
            stop_service(process)


def compare_similarities(collection: Collection, embedder: str) -> None:
    """Print the scores of all queries with the similarities of an embedder and latent vectors."""
    queries = DataFrame({"query": collection.queries})
    rows: dict[str, dict[str, Any]] = {"text": BY_TEXT}
    for name, share in (("embedder", 0), ("latent", 1), ("both", 0.5)):
        for weight in (0.3, 0.5, 0.67):
            options = {"localWeight": weight, "localLatentShare": share}
            rows[f"text and {name}, {weight}"] = {
                **BY_TEXT, "mode": "neuralSearch", "semanticSearch": options
            }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        process, running = start_service(Path(folder), "--embedder", embedder)
        try:
            fill_service(collection, running)
            svc.set_settings(INDEX, mode="neuralSearch")
            while "message" in svc.current().search(INDEX, "a"):
                time.sleep(0.5)
            scores = {
                row: collection.score(
                    asyncio.run(run_variant(choices, queries)), collection.queries
                )
                for row, choices in rows.items()
            }
        finally:
            stop_service(process)
    print_table([scores])


def compare_latency(records: int) -> None:
    """Print the processor time of searches with and without meaning and feedback."""
    made = list(make_records(records))
    index = Index(SETTINGS)
    for start in range(0, records, BATCH):
        index.put(made[start : start + BATCH])
    index.compact()
    store = index.segment_store
    seconds, model = timed(partial(LatentModel.fit, store.readers, store.model_settings))
    vectors = VectorIndex(LATENT, model, fitted=len(store))
    for reader in store.readers:
        vectors = vectors.with_table(reader, model.embed_segment(reader.segment))
    vectors = vectors.with_sketches(store.readers, lambda: None)
    store.publish_vectors(vectors)
    size = sum(a.nbytes for table in vectors.tables.values() for a in table.arrays().values())
    print(f"{records:,} records: model in {seconds:.1f} s, {size / records:.0f} bytes a record")
    print_recall(list(vectors.tables.values()), model, made)
    queries = make_queries(made[:2000], 40)["2 words"]
    by_text = {"enableReRanking": True, "ranking": ["exact", "custom"]}
    for name, own in {"criteria": {}, "text score": by_text}.items():
        times = {}
        for way, weight, hits in (("words", None, 0), ("meaning", 0.5, 0), ("feedback", 0.5, 5)):
            semantic = {"localWeight": weight, "localFeedbackHits": hits}
            neural = {"mode": "neuralSearch", "semanticSearch": semantic} if weight else {}
            times[way] = [search_twice(index, {**query, **own, **neural}) for query in queries]
        medians = {way: statistics.median(values) * 1000 for way, values in times.items()}
        ratio = medians["feedback"] / medians["meaning"]
        shown = ", ".join(f"{way} {value:.1f} ms" for way, value in medians.items())
        print(f"  {name}: {shown}; feedback takes {ratio:.2f} of the time without")


def print_recall(
    tables: Sequence[VectorTable], model: LatentModel, records: Sequence[dict[str, Any]]
) -> None:
    """Print the share of the records nearest to a query that the candidates of sketches contain."""
    chance = Random(5)
    titles = [record["title"].lower().split() for record in records[:2000]]
    for words in (1, 2, 3):
        shares = []
        for _ in range(RECALL_QUERIES):
            query = model.embed_words(chance.choice(titles)[:words])
            table = VectorTable.of(query[np.newaxis])
            exact = [part.similarities(table) for part in tables]
            lowest = np.partition(np.concatenate(exact), -RECALL_DEPTH)[-RECALL_DEPTH]
            nearest = 0
            for part, values in zip(tables, exact, strict=True):
                rows = part.find_candidates(table, np.ones(len(part), bool))
                kept = values if rows is None else values[rows]
                nearest += int(np.count_nonzero(kept >= lowest))
            shares.append(min(1.0, nearest / RECALL_DEPTH))
        mean, worst = statistics.fmean(shares), min(shares)
        print(f"  {words} words: recall@{RECALL_DEPTH} {mean:.3f}, lowest {worst:.2f}", flush=True)


def search_twice(index: Index, params: dict[str, Any]) -> float:
    """Return the lower processor time of two searches."""

    def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
        return [{"objectID": name} for name in ids]

    return min(timed(partial(index.search, params, fetch))[0] for _ in range(2))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collection", type=Path,
                        default=ROOT.parent / "shared" / "data" / "esci_small")  # fmt: skip
    parser.add_argument("--films", action="store_true")
    parser.add_argument("--functions", nargs="+", metavar="PACKAGE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", nargs="+", metavar="ROW", default=[], help="default all")
    parser.add_argument("--embedder")
    parser.add_argument("--latency", type=int, metavar="RECORDS")
    options = parser.parse_args()
    if options.latency:
        compare_latency(options.latency)
        return 0
    if options.films:
        with tempfile.TemporaryDirectory() as folder:
            collection = make_films(Path(folder))
    elif options.functions:
        records, judgments = read_functions(options.functions, FUNCTION_QUERIES)
        queries = judgments["query"].drop_duplicates().tolist()
        collection = Collection(records, ATTRIBUTES, queries, judgments)
    elif (options.collection / "records.jsonl.gz").exists():
        collection = read_folder(options.collection)
    else:
        print(f"the judged collection is absent: {options.collection}", file=sys.stderr)
        return 1
    if options.embedder:
        compare_similarities(collection, options.embedder)
    else:
        compare_rankings(collection, options.seeds, options.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
