"""Embedders by name: models of packages, endpoints, and their fusion with latent vectors."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svc_notebook.data.session import local
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.app import App
from svc_notebook.service.embedding_endpoint import (
    CACHE_FILE,
    KEY_VARIABLE,
    PRICE_VARIABLE,
    VectorCache,
)
from svc_notebook.service.engine.semantic.vector_index import VectorIndex
from svc_notebook.service.maintenance import MaintenanceLimits
from svc_notebook.service.search_models import STATIC_RELEASE, STATIC_REQUIREMENT, Embedder
from svc_notebook.service.service import Service
from svc_notebook.service.vector_builder import VectorTimes
from tests.conftest import ROOT, Inside

SOFAS = [
    {"objectID": "sofa", "name": "grey sofa", "about": "for three persons"},
    {"objectID": "bike", "name": "mountain bicycle", "about": "with a strong frame"},
    {"objectID": "soup", "name": "tomato soup", "about": "in a tin"},
]
SETTINGS = {"searchableAttributes": ["name", "about"], "mode": "neuralSearch"}


def cosines(embedder: Embedder, query: str, texts: list[str]) -> list[float]:
    query_vector, vectors = embedder.embed_query(query), embedder.embed(texts)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query_vector)
    return [float(one) for one in vectors @ query_vector / lengths]


@pytest.mark.slow
def test_a_static_model_relates_words_that_no_record_does() -> None:
    embedder = Embedder.load("static")

    sofa, bike, soup = cosines(embedder, "couch", ["sofa", "bicycle", "soup"])

    assert sofa > 0.5 > max(bike, soup)
    assert not embedder.embed(["", "sofa"])[0].any()
    assert embedder.embed(["word " * 100_000]).shape == (1, 256)


def test_the_first_attribute_counts_as_much_as_the_whole_text() -> None:
    embedder = Embedder.load("static")

    vectors = embedder.embed_records([*SOFAS, {"objectID": "empty"}], SETTINGS, "shop")

    whole, first = embedder.embed(["grey sofa\nfor three persons", "grey sofa"])
    expected = whole / np.linalg.norm(whole) + first / np.linalg.norm(first)
    assert vectors[0] == pytest.approx(expected, abs=1e-5)
    assert not vectors[3].any()
    assert embedder.source(SETTINGS) == f"{embedder.name} (name apart)"
    assert embedder.source({}) == embedder.name


MODULES = {
    "sentence_transformers": """
class SentenceTransformer:
    def __init__(self, name): assert name == "org/small"
    def encode(self, texts, show_progress_bar): return [[1.0, len(text)] for text in texts]
    def encode_query(self, texts, show_progress_bar): return [[2.0, len(text)] for text in texts]
""",
    "fastembed": """
import numpy
class TextEmbedding:
    def __init__(self, model_name): assert model_name == "org/small"
    def embed(self, texts): return (numpy.array([1.0, len(text)]) for text in texts)
    def query_embed(self, texts): return (numpy.array([2.0, len(text)]) for text in texts)
""",
}


def test_models_of_packages_embed_queries_by_their_own_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for module, text in MODULES.items():
        monkeypatch.delitem(sys.modules, module, raising=False)
        (tmp_path / f"{module}.py").write_text(text)
        embedder = Embedder.load(f"{module.replace('_', '-')}:org/small")

        assert embedder.embed(["abc", "d"]).tolist() == [[1, 3], [1, 1]], module
        assert embedder.embed_query("ab").tolist() == [2, 2], module
        sys.modules.pop(module)


def test_a_model_of_model2vec_is_read_from_its_folder(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.models.WordLevel({"[UNK]": 0, "sofa": 1, "soup": 2}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model2vec.StaticModel(np.eye(3, dtype=np.float32), tokenizer).save_pretrained(tmp_path)

    embedder = Embedder.load(f"model2vec:{tmp_path}")

    assert cosines(embedder, "sofa", ["sofa", "soup"]) == pytest.approx([1, 0])


def test_the_extra_pins_the_release_whose_vectors_are_read() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert f"\"{STATIC_RELEASE}; python_version < '3.14'\"" in text


def test_an_embedder_that_cannot_be_loaded_says_what_to_do(
    without_package: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_package("tokenizers", "model2vec", "sentence_transformers", "fastembed")
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    faults = {
        "static": f'pip install "{STATIC_REQUIREMENT}"',
        "model2vec:x": 'pip install "model2vec"',
        "sentence-transformers:x": 'pip install "sentence-transformers"',
        "fastembed:x": 'pip install "fastembed"',
        "fastembed": "use --embedder fastembed:NAME",
        "static:x": "use --embedder static",
        "statik": 'unknown embedder "statik": use static, model2vec:PATH',
        "http://models.example/v1#m": "is sent by https only",
        "https://user:key@models.example/v1": f"its key is read from {KEY_VARIABLE}",
    }

    missed = []
    for name, fault in faults.items():
        with pytest.raises(LocalServiceFailed) as raised:
            Embedder.load(f"{name}+latent")
        text = str(raised.value)
        missed += [] if fault in text and "secret" not in text else [(name, text)]

    assert not missed


# -------------------------------------------------------------------------------------- endpoints


class Endpoint(ThreadingHTTPServer):
    """An endpoint of the protocol; the statuses of its next responses are set by a test."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses: list[int] = []
        self.requests: list[tuple[str | None, dict[str, Any]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], body))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        rows = [
            {"index": number, "embedding": [1, len(text)]}
            for number, text in enumerate(body["input"])
        ]
        answer = {"data": rows[::-1], "usage": {"total_tokens": 1000 * len(rows)}}
        data = json.dumps(answer if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr("svc_notebook.service.embedding_endpoint.RETRY_SECONDS", (0.0, 0.0))
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def name_of(endpoint: Endpoint) -> str:
    return f"http://127.0.0.1:{endpoint.server_port}/v1#small"


def test_an_endpoint_is_asked_once_for_a_text_and_its_cost_is_told(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PRICE_VARIABLE, "20")
    endpoint.statuses = [429, 503]
    embedder = Embedder.load(name_of(endpoint), tmp_path)

    first = embedder.embed(["abc", "d", "abc"]).tolist()
    again = Embedder.load(name_of(endpoint), tmp_path)
    second = again.embed(["d", "new"]).tolist()

    assert first == [[1, 3], [1, 1], [1, 3]]
    assert second == [[1, 1], [1, 3]]
    sent = [(key, body["model"], body["input"]) for key, body in endpoint.requests]
    assert sent == [
        *[("Bearer secret", "small", ["abc", "d"])] * 3,
        ("Bearer secret", "small", ["new"]),
    ]
    assert embedder.take_usage() == "3 requests, 2,000 tokens, 0 texts embedded before, cost 0.0400"
    assert again.take_usage() == "1 request, 1,000 tokens, 1 text embedded before, cost 0.0200"
    assert again.take_usage() == ""


def test_failures_of_an_endpoint_are_reported_without_the_key(endpoint: Endpoint) -> None:
    embedder = Embedder.load(name_of(endpoint))

    endpoint.statuses = [401]
    with pytest.raises(LocalServiceFailed, match=r"failed: status 401: \{\"error\"") as refused:
        embedder.embed(["a"])
    endpoint.statuses = [503]
    with pytest.raises(LocalServiceFailed, match="status 503"):
        embedder.embed_query("a query is sent once")
    endpoint.statuses = [503, 503, 503]
    with pytest.raises(LocalServiceFailed, match="status 503"):
        embedder.embed(["a record is sent three times"])

    assert len(endpoint.requests) == 5
    assert "secret" not in str(refused.value)


def test_a_file_of_vectors_that_is_damaged_is_not_used(endpoint: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "embeddings.sqlite").write_bytes(b"no database" * 1000)

    embedder = Embedder.load(name_of(endpoint), tmp_path)

    assert embedder.embed(["ab"]).tolist() == [[1, 2]]


def test_the_older_vectors_of_a_full_file_are_deleted(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / CACHE_FILE, "small", max_bytes=20_000)
    texts = [f"text {number}" for number in range(1000)]

    for start in range(0, 1000, 100):
        vectors = {text: np.ones(2, np.float32) for text in texts[start : start + 100]}
        cache.write(vectors)

    assert cache.read([texts[0], texts[-1]]).keys() == {texts[-1]}


# ------------------------------------------------------------------- fusion with latent vectors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Start a service on one folder, in place of the last one."""
    services: list[Service] = []

    def begin(name: str) -> Inside:
        while services:
            services.pop().stop()
        services.append(
            Service(
                tmp_path,
                embedder=Embedder.load(name),
                maintenance=MaintenanceLimits(poll_seconds=0.02),
                vectors=VectorTimes(poll_seconds=0.01, quiet_seconds=0.0),
            )
        )
        services[0].start()
        return Inside(App(services[0]))

    yield begin
    while services:
        services.pop().stop()


def wait_vectors(inside: Inside, *, latent: bool = True) -> VectorIndex:
    catalog = inside.app.service.catalog
    while True:
        store = catalog.find("shop").engine.get().segment_store
        vectors = store.vectors
        parts = [vectors, vectors.latent] if vectors and latent else [vectors]
        ready = vectors and (vectors.latent is not None) == latent and not catalog.unsaved()
        if (
            vectors
            and ready
            and not any(part is None or part.count_missing(store.readers) for part in parts)
        ):
            return vectors
        time.sleep(0.01)


def similarities(inside: Inside, **options: Any) -> dict[str, float]:
    semantic = {"localMinSimilarity": -1, **options}
    body = {"query": "couch soup", "semanticSearch": semantic, "getRankingInfo": True}
    answer = inside.call("POST", "/1/indexes/shop/query", body).json()
    assert "message" not in answer
    return {hit["objectID"]: hit["_rankingInfo"]["semanticScore"] for hit in answer["hits"]}


@pytest.mark.slow
def test_similarities_are_means_of_both_cosines_over_writes_and_restarts(start: Any) -> None:
    inside = start("static+latent")
    inside.fill("shop", *SOFAS, **SETTINGS)
    wait_vectors(inside)
    inside.fill("shop", {"objectID": "new", "name": "cold soup", "about": "for two persons"})
    wait_vectors(inside)
    inside.done("DELETE", "/1/indexes/shop/bike")
    before = {share: similarities(inside, localLatentShare=share) for share in (0, 0.25, 1)}
    inside.app.service.catalog.find("shop").engine.get().compact()
    merged = wait_vectors(inside)

    again = start("static+latent")
    kept = wait_vectors(again)

    assert before[0].keys() == {"sofa", "soup", "new"}
    mixed = {name: 0.75 * before[0][name] + 0.25 * before[1][name] for name in before[0]}
    assert before[0.25] == pytest.approx(mixed, abs=1.01e-4)
    assert before[0] != before[1]
    assert before[0]["sofa"] > before[1]["sofa"]
    for share, expected in before.items():
        assert similarities(again, localLatentShare=share) == expected, share
    assert kept.latent is not None
    assert merged.latent is not None
    assert (kept.name, kept.latent.name) == (merged.name, merged.latent.name)


@pytest.mark.slow
def test_without_latent_in_the_name_its_vectors_are_dropped(start: Any) -> None:
    inside = start("static+latent")
    inside.fill("shop", *SOFAS, **SETTINGS)
    both = wait_vectors(inside)
    alone = similarities(inside, localLatentShare=0)

    again = start("static")
    vectors = wait_vectors(again, latent=False)

    assert vectors.name == both.name
    assert similarities(again) == alone


def test_the_first_attribute_of_other_settings_has_other_vectors(start: Any) -> None:
    inside = start("static")
    inside.fill("shop", *SOFAS, **SETTINGS)
    before = wait_vectors(inside, latent=False)

    inside.done("PUT", "/1/indexes/shop/settings", {"searchableAttributes": ["about", "name"]})
    while (vectors := wait_vectors(inside, latent=False)).name == before.name:
        time.sleep(0.01)

    assert vectors.source.endswith("(about apart)")


@pytest.mark.slow
def test_a_local_service_starts_with_an_embedder_and_says_which_it_has(tmp_path: Path) -> None:
    with pytest.raises(LocalServiceFailed, match='unknown embedder "statik"'):
        local(tmp_path, embedder="statik")
    service = local(tmp_path, embedder="static+latent")
    try:
        assert local(tmp_path, embedder="static+latent") == local(tmp_path) == service
        with pytest.raises(LocalServiceFailed, match=r"has the embedder static\+latent; stop it"):
            local(tmp_path, embedder="static")
    finally:
        service.stop()
