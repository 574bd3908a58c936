"""Sketches of large tables: candidates against exact comparisons, over filters and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.semantic.vector_table import VectorTable
from tests.service.engine.test_semantic_scores import (
    SETTINGS,
    add_vectors,
    find,
    ids,
    make_index,
    make_records,
    shown,
)

TABLE = "svc_notebook.service.engine.semantic.vector_table"


def pause() -> None:
    pass


def sketch(index: Index) -> None:
    """Compute the vectors of an index, and their sketches."""
    add_vectors(index.segment_store)
    store = index.segment_store
    assert store.vectors is not None
    store.publish_vectors(store.vectors.with_sketches(store.readers, pause))


def measure_recall(table: VectorTable, queries: Array, allowed: Array, count: int) -> float:
    """Return the share of the nearest rows that are candidates, and check their similarities."""
    shares = []
    for vector in queries:
        query = VectorTable.of(vector[np.newaxis])
        exact = np.where(allowed, table.similarities(query), -20_000)
        rows = table.find_candidates(query, allowed)
        assert rows is not None
        assert allowed[rows].all()
        assert (np.diff(rows) > 0).all()
        assert (table.similarities(query, rows) == exact[rows]).all()
        lowest = np.partition(exact, -count)[-count]
        shares.append(min(1.0, np.count_nonzero(exact[rows] >= lowest) / count))
    return float(np.mean(shares))


def test_candidates_contain_at_least_95_percent_of_the_nearest_rows() -> None:
    random = np.random.default_rng(3)
    centres = random.standard_normal((300, 64))
    vectors = centres[random.integers(0, 300, 40_000)] + random.standard_normal((40_000, 64))
    table = VectorTable.of(vectors).with_sketch()
    queries = centres[:20] + 0.5 * random.standard_normal((20, 64))
    masks = {share: random.random(40_000) < share for share in (1.1, 0.6, 0.45)}

    recalls = {share: measure_recall(table, queries, mask, 100) for share, mask in masks.items()}

    assert min(recalls.values()) >= 0.95, recalls
    assert table.lacks_sketch is False
    size = sum(array.nbytes for array in table.arrays().values())
    assert size == 40_000 * (64 + 4 + 32)


def test_few_allowed_rows_are_all_compared() -> None:
    vectors = np.random.default_rng(0).standard_normal((30_000, 8))
    table = VectorTable.of(vectors).with_sketch()
    allowed = np.zeros(30_000, bool)
    allowed[[5, 17, 29_000]] = True

    rows = table.find_candidates(VectorTable.of(vectors[:1]), allowed)

    assert rows is not None
    assert rows.tolist() == [5, 17, 29_000]


@pytest.mark.parametrize("reranks", [False, True])
def test_hits_of_sketched_segments_are_those_of_exact_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reranks: bool
) -> None:
    records = make_records(1200, seed=5)
    exact, sketched = make_index(records, 2), make_index(records, 2)
    add_vectors(exact.segment_store)
    for name, value in {"MIN_SKETCHED_ROWS": 200, "MIN_CANDIDATES": 150}.items():
        monkeypatch.setattr(f"{TABLE}.{name}", value)
    sketch(sketched)
    by_text: dict[str, Any] = {}
    if reranks:
        by_text = {"enableReRanking": True, "ranking": ["exact", "custom"]}

    def compare(**params: Any) -> None:
        for query in ("sea wave", "lamp", "flour butter"):
            check_hits(*(find(one, query, **by_text, **params) for one in (exact, sketched)))

    compare()
    compare(filters="kind:k1 OR kind:k2 OR kind:k3")
    compare(filters="kind:k1", facets=["kind"])
    for index in (exact, sketched):
        index.delete([record["objectID"] for record in records[::7]])
        index.put([{**record, "name": "sea sail", "kind": "k9"} for record in records[1:40]])
        vectors = index.segment_store.vectors
        assert vectors is not None
        assert vectors.model is not None
        for reader in index.segment_store.readers:
            if vectors.table_of(reader) is None:
                vectors = vectors.with_table(reader, vectors.model.embed_segment(reader.segment))
        index.segment_store.publish_vectors(vectors)
    compare()
    compare(filters="NOT kind:k9")
    sketched.save(tmp_path / "index", 1)
    loaded = Index.load(tmp_path / "index", SETTINGS)
    assert loaded is not None
    sketched = loaded[0]
    assert sketched.segment_store.vectors is not None
    assert not sketched.segment_store.vectors.lacks_sketches
    compare()


def check_hits(plain: SearchResult, approximate: SearchResult) -> None:
    scores = shown(plain, "semanticScore")
    other = shown(approximate, "semanticScore")
    assert all(scores[name] == score for name, score in other.items() if name in scores)
    first = ids(plain)[:20]
    assert len({*first} & {*ids(approximate)[:20]}) >= 0.9 * len(first)
    kept = {hit["objectID"] for hit in plain.hits}
    assert len(kept & {hit["objectID"] for hit in approximate.hits}) >= 0.9 * len(kept)
