"""The order of the first hits by a reranker: pages, groups, promoted hits, failures and loading."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svc_notebook.errors import BadInput, LocalServiceFailed
from svc_notebook.service.app import App
from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS, Pin, Pins
from svc_notebook.service.search_models import Reranker
from svc_notebook.service.service import Service
from tests.conftest import Inside

RECORDS = [
    {"objectID": f"{number:02}", "title": "lamp " * (number % 5 + 1), "kind": f"k{number % 3}"}
    for number in range(30)
]
BY_ID = {record["objectID"]: record for record in RECORDS}
SETTINGS = {
    "searchableAttributes": ["title"], "attributeForDistinct": "kind",
    "attributesForFaceting": ["kind"],
}  # fmt: skip


def score_by_id(records: Sequence[Mapping[str, Any]]) -> Array:
    """Return higher scores for higher ids."""
    return np.array([float(record["objectID"]) for record in records])


def find(index: Index, reranked: int = 10, score: Any = score_by_id, pins: Pins = NO_PINS,
         **params: Any) -> SearchResult:  # fmt: skip
    options = {"query": "lamp", "semanticSearch": {"localRerankedHits": reranked}, **params}
    return index.search(
        options, lambda ids: [BY_ID[name] for name in ids], pins=pins, score=score
    )  # fmt: skip


def _return(scores: Any, *_: Any) -> Any:
    return scores


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


@pytest.fixture
def index() -> Index:
    index = Index(SETTINGS)
    for start in range(3):
        index.put(RECORDS[start::3])
    return index


def test_the_first_hits_are_ordered_by_their_scores_on_every_page(index: Index) -> None:
    plain = ids(find(index, 0, hitsPerPage=30))

    pages = [ids(find(index, hitsPerPage=4, page=page)) for page in range(8)]
    ranked = find(index, hitsPerPage=30, getRankingInfo=True)

    assert [name for page in pages for name in page] == [
        *sorted(plain[:10], reverse=True),
        *plain[10:],
    ]
    scores = [hit["_rankingInfo"].get("rerankerScore") for hit in ranked.hits]
    assert scores == [*(float(name) for name in ids(ranked)[:10]), *[None] * 20]
    assert ids(find(index, 4)) == [
        *sorted(plain[:4], reverse=True), *plain[4:20]
    ]  # fmt: skip
    assert ids(find(index, score=lambda records: np.zeros(len(records)), hitsPerPage=30)) == plain


def test_groups_and_promoted_hits_keep_their_rules(index: Index) -> None:
    groups = find(index, 2, distinct=1)
    plain = find(index, 0, distinct=1)
    promoted = find(index, pins=Pins(promoted=(Pin(("00",), 0),)), hitsPerPage=12)
    filtered = find(index, filters="kind:k1")

    assert ids(groups) == [*sorted(ids(plain)[:2], reverse=True), *ids(plain)[2:]]
    assert ids(promoted)[0] == "00"
    assert ids(promoted)[1:11] == sorted(ids(promoted)[1:11], reverse=True)
    assert {BY_ID[name]["kind"] for name in ids(filtered)} == {"k1"}


def test_searches_that_cannot_be_reranked_keep_their_order_and_say_why(index: Index) -> None:
    plain = ids(find(index, 0))

    def fail(_: Any) -> Array:
        raise LocalServiceFailed("the reranker m:f failed: RuntimeError: no memory")

    failed, without = find(index, score=fail), find(index, score=None)

    assert ids(failed) == ids(without) == plain
    assert failed.notes == (
        "reranker: the reranker m:f failed: RuntimeError: no memory; hits are in the order of the "
        "ranking",
    )
    assert without.notes == ("reranker: start the service with --reranker",)
    for params in ({"query": ""}, {"ranking": ["asc(kind)"]}):
        assert ids(find(index, **params)) == ids(find(index, 0, **params)), params
    with pytest.raises(BadInput, match="`localRerankedHits` must be a whole number from 0 to 100"):
        find(index, 101)


def test_the_service_scores_the_texts_of_records(tmp_path: Path) -> None:
    calls: list[tuple[str, list[str]]] = []

    def score(query: str, texts: list[str]) -> list[float]:
        calls.append((query, texts))
        return [float(len(text)) for text in texts]

    service = Service(tmp_path, reranker=Reranker("tests:score", score))
    service.start()
    try:
        inside = Inside(App(service))
        inside.fill("shop", *RECORDS[:5], **SETTINGS)
        body = {"query": "lamp", "semanticSearch": {"localRerankedHits": 3}}
        answer = inside.call("POST", "/1/indexes/shop/query", body).json()
    finally:
        service.stop()

    names = [hit["objectID"] for hit in answer["hits"]]
    [(query, texts)] = calls
    assert (query, len(texts)) == ("lamp", 3)
    assert set(texts) <= {str(record["title"]) for record in RECORDS}
    assert names[:3] == sorted(names[:3], key=lambda name: -len(BY_ID[name]["title"]))


MODULES = {
    "sentence_transformers.py": """
class CrossEncoder:
    def __init__(self, name): assert name == "org/small"
    def predict(self, pairs, show_progress_bar): return [len(text) for _, text in pairs]
""",
    "fastembed/rerank/cross_encoder.py": """
class TextCrossEncoder:
    def __init__(self, model_name): assert model_name == "org/small"
    def rerank(self, query, texts): return (float(len(text)) for text in texts)
""",
}


def test_rerankers_are_loaded_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_package: Callable[..., None]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("sentence-transformers:org/small", "fastembed:org/small"):
        assert Reranker.load(name).score("q", ["ab", "c"]).tolist() == [2, 1], name
    for module in [*sys.modules]:
        if module.startswith(("fastembed", "sentence_transformers")):
            del sys.modules[module]
    without_package("fastembed")

    faults = {
        "fastembed:x": 'pip install "fastembed"',
        "fastembed": "use --reranker fastembed:NAME",
        "nothing": 'unknown reranker "nothing": use sentence-transformers:NAME',
        "sys:path": "the reranker sys:path is not a function",
    }
    for name, fault in faults.items():
        with pytest.raises(LocalServiceFailed) as raised:
            Reranker.load(name)
        assert fault in str(raised.value), name
    for scores in ([1.0], [1.0, float("nan")], ["x", "y"]):
        with pytest.raises(LocalServiceFailed):
            Reranker("m:f", partial(_return, scores)).score("q", ["a", "b"])
