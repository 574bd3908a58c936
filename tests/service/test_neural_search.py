"""The mode `neuralSearch`: vectors are computed in the background, kept, and rebuilt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.app import App
from svc_notebook.service.engine import SegmentStore
from svc_notebook.service.engine.index.storage import load_vectors
from svc_notebook.service.engine.semantic.vector_index import LATENT, VectorIndex
from svc_notebook.service.maintenance import MaintenanceLimits
from svc_notebook.service.search_models import Embedder
from svc_notebook.service.service import Service
from svc_notebook.service.vector_builder import VectorBuilder, VectorTimes
from tests.conftest import Inside
from tests.service.test_serve import run

RECORDS: list[dict[str, Any]] = [
    {"objectID": str(number), "title": title, "kind": "boat" if number % 2 else "bread"}
    for number, title in enumerate(["flour butter oven", "sail sea wave"] * 10)
]
NEURAL = {"mode": "neuralSearch"}
# Vectors are computed at once, or not at all; files are written at once.
AT_ONCE = VectorTimes(poll_seconds=0.01, quiet_seconds=0.0, min_retry_seconds=0.01)
NEVER = VectorTimes(quiet_seconds=3600.0, max_wait_seconds=3600.0)
OFTEN = MaintenanceLimits(poll_seconds=0.02)
MIN_DIFFERENCE = {"semanticSearch": {"localMinSimilarity": 0.5}}
Ask = Callable[..., dict[str, Any]]


def embed_topics(texts: list[str]) -> list[list[float]]:
    """Return vectors of two topics, also for words that no record has."""
    boats = ("sail", "sea", "yacht")
    return [[1.0, 0.0] if any(word in text for word in boats) else [0.0, 1.0] for text in texts]


class Own:
    """A service of a test's own, which may be started again on its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.services: list[Service] = []

    def start(self, function: Any = None, vectors: VectorTimes = AT_ONCE) -> Inside:
        self.stop()
        embedder = Embedder("tests:function", function) if function else None
        service = Service(self.folder, embedder=embedder, maintenance=OFTEN, vectors=vectors)
        service.start()
        self.services.append(service)
        return Inside(App(service))

    def stop(self) -> None:
        while self.services:
            self.services.pop().stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Own]:
    found = Own(tmp_path)
    yield found
    found.stop()


def ask(inside: Inside, query: str, **params: Any) -> dict[str, Any]:
    body = {"query": query, **MIN_DIFFERENCE, **params}
    answer = inside.call("POST", "/1/indexes/shop/query", body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ids(answer: dict[str, Any]) -> list[str]:
    return sorted(hit["objectID"] for hit in answer["hits"])


def store_of(inside: Inside) -> SegmentStore:
    return inside.app.service.catalog.find("shop").engine.get().segment_store


def wait_ready(inside: Inside, source: str = LATENT) -> VectorIndex:
    """Wait until all records have vectors of a source, and their files are written."""
    catalog = inside.app.service.catalog
    while True:
        store = store_of(inside)
        vectors = store.vectors
        ready = vectors and vectors.source == source and not catalog.unsaved()
        if vectors and ready and not vectors.count_missing(store.readers):
            return vectors
        time.sleep(0.01)


def wait_message(inside: Inside, text: str) -> dict[str, Any]:
    while text not in (answer := ask(inside, "sea", **NEURAL)).get("message", ""):
        time.sleep(0.01)
    return answer


def test_a_search_asks_for_vectors_and_says_that_they_are_not_ready(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS)

    first = ask(inside, "sea", **NEURAL)
    wait_ready(inside)
    then = ask(inside, "sea", **NEURAL)

    assert "vectors are being computed; hits are found by words only" in first["message"]
    assert ids(first) == ids(then) == ids(ask(inside, "sea"))
    assert "message" not in then


def test_vectors_are_kept_over_a_restart(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)
    before = wait_ready(inside)

    again = own.start()
    first = ask(again, "sea")
    vectors = store_of(again).vectors

    assert "message" not in first
    assert vectors is not None
    assert vectors.name == before.name


def has_stored_sketches(inside: Inside) -> bool:
    catalog = inside.app.service.catalog
    stored = load_vectors(catalog._files(catalog.find("shop")))
    return stored is not None and not stored.lacks_sketches


def test_sketches_of_large_segments_are_computed_in_the_background_and_kept(
    own: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebook.service.engine.semantic.vector_table.MIN_SKETCHED_ROWS", 10)
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)
    while not has_stored_sketches(inside):
        time.sleep(0.01)
    before = wait_ready(inside)
    answer = ask(inside, "sea")

    again = own.start()
    assert ids(ask(again, "sea")) == ids(answer)
    vectors = store_of(again).vectors

    assert vectors is not None
    assert not vectors.lacks_sketches
    assert {table.name for table in vectors.tables.values()} == {
        table.name for table in before.tables.values()
    }


def test_written_records_get_vectors_of_the_same_model(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)
    before = wait_ready(inside)

    inside.fill("shop", {"objectID": "new", "title": "sail wave"})
    after = wait_ready(inside)

    assert after.name == before.name
    assert "new" in ids(ask(inside, "sea"))


def test_a_model_is_computed_again_after_many_writes(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)
    before = wait_ready(inside)

    more = [{"objectID": f"m{n}", "title": f"lamp desk {n % 7}"} for n in range(200)]
    inside.fill("shop", *more)
    while wait_ready(inside).name == before.name:
        time.sleep(0.01)

    assert "m3" in ids(ask(inside, "desk", hitsPerPage=300))


def test_other_searchable_attributes_have_other_vectors(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, searchableAttributes=["title"], **NEURAL)
    before = wait_ready(inside)

    inside.done("PUT", "/1/indexes/shop/settings", {"searchableAttributes": ["title", "kind"]})

    assert wait_ready(inside).name != before.name


def test_another_order_of_attributes_and_a_language_have_other_vectors(own: Own) -> None:
    inside = own.start()
    # Without a language, words of Thai are separated, and with one they are not.
    settings = {"searchableAttributes": ["title", "kind"], "indexLanguages": ["de"]}
    inside.fill("shop", *RECORDS, **settings, **NEURAL)
    names = [wait_ready(inside).name]
    segments = store_of(inside)

    for changed in (
        {"searchableAttributes": ["kind", "title"]},
        {"indexLanguages": ["en"]},
        {"searchableAttributes": ["unordered(kind)", "title"], "hitsPerPage": 7},
    ):
        inside.done("PUT", "/1/indexes/shop/settings", changed)
        while "message" in ask(inside, "sea"):
            time.sleep(0.01)
        names.append(wait_ready(inside).name)

    assert store_of(inside) is segments
    assert len(set(names[:3])) == 3
    assert names[3] == names[2]
    answer = ask(inside, "sailing")
    assert {hit["kind"] for hit in answer["hits"]} == {"boat"}


@pytest.mark.slow
def test_outdated_vectors_are_reported_until_they_are_computed_again(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, searchableAttributes=["title", "kind"], **NEURAL)
    wait_ready(inside)
    inside = own.start(vectors=NEVER)
    change = {"searchableAttributes": ["kind", "title"]}
    inside.done("PUT", "/1/indexes/shop/settings", change)
    answer = ask(inside, "sea")

    note = "vectors are being computed; similarities are those of earlier settings"
    assert note in answer["message"]
    assert answer["hits"]
    inside = own.start()
    while "message" in ask(inside, "sea"):
        time.sleep(0.01)


def test_replicas_that_share_vectors_have_the_weights_of_their_primary(own: Own) -> None:
    inside = own.start()
    order = ["title", "kind"]
    inside.fill("shop", *RECORDS, searchableAttributes=order, replicas=["other"], **NEURAL)
    before = wait_ready(inside)

    inside.done("PUT", "/1/indexes/other/settings", {"searchableAttributes": order[::-1]})
    inside.call("POST", "/1/indexes/other/query", {"query": "sea"})
    inside.fill("shop", {"objectID": "new", "title": "sail wave"})

    assert wait_ready(inside).name == before.name
    answer = inside.call("POST", "/1/indexes/other/query", {"query": "sea"}).json()
    assert "message" not in answer
    again = own.start()
    assert "message" not in again.call("POST", "/1/indexes/other/query", {"query": "sea"}).json()
    assert wait_ready(again).name == before.name


def test_vectors_are_dropped_with_the_mode(own: Own) -> None:
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)
    wait_ready(inside)

    inside.done("PUT", "/1/indexes/shop/settings", {"mode": "keywordSearch"})
    while store_of(inside).vectors or inside.app.service.catalog.unsaved():
        time.sleep(0.01)

    assert not list(own.folder.rglob("*.vectors"))


def test_searches_for_facet_values_count_semantic_hits(own: Own) -> None:
    inside = own.start(embed_topics)
    inside.fill("shop", *RECORDS, attributesForFaceting=["searchable(kind)"], **NEURAL)
    wait_ready(inside, "tests:function")

    path = "/1/indexes/shop/facets/kind/query"
    answer = inside.call("POST", path, {"facetQuery": "", "query": "yacht", **MIN_DIFFERENCE})

    assert answer.json()["facetHits"] == [{"value": "boat", "highlighted": "boat", "count": 10}]


def test_a_browse_is_by_words_only(own: Own) -> None:
    inside = own.start(embed_topics)
    inside.fill("shop", *RECORDS, **NEURAL)
    wait_ready(inside, "tests:function")

    answer = inside.call("POST", "/1/indexes/shop/browse", {"query": "yacht"})

    assert answer.json()["hits"] == []


# --------------------------------------------------------------------------------------- embedders


def test_an_embedder_finds_what_no_word_does(own: Own) -> None:
    inside = own.start(embed_topics)
    inside.fill("shop", *RECORDS, **NEURAL)
    wait_ready(inside, "tests:function")

    answer = ask(inside, "yacht", getRankingInfo=True)

    assert ids(answer) == sorted(one["objectID"] for one in RECORDS if one["kind"] == "boat")
    assert {hit["_rankingInfo"]["semanticScore"] for hit in answer["hits"]} == {1.0}


def test_an_embedder_is_called_once_for_a_record_and_once_for_a_query(own: Own) -> None:
    texts: list[str] = []

    def embed(batch: list[str]) -> list[list[float]]:
        texts.extend(batch)
        return embed_topics(batch)

    inside = own.start(embed)
    inside.fill("shop", *RECORDS, searchableAttributes=["title"], **NEURAL)
    wait_ready(inside, "tests:function")
    ask(inside, "yacht")
    inside.app.service.catalog.find("shop").engine.get().compact()
    again = own.start(embed)
    ask(again, "boats")
    ask(again, "boats", page=1)
    wait_ready(again, "tests:function")

    assert sorted(texts) == sorted([*(one["title"] for one in RECORDS), "yacht", "boats"])


def test_an_embedder_that_fails_is_reported_and_called_again(
    own: Own, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = threading.Event()
    broken.set()

    def embed(texts: list[str]) -> list[list[float]]:
        if broken.is_set():
            raise RuntimeError("out of memory")
        return embed_topics(texts)

    inside = own.start(embed)
    inside.fill("shop", *RECORDS, **NEURAL)
    answer = wait_message(inside, "out of memory")
    broken.clear()
    wait_ready(inside, "tests:function")

    assert ids(answer) == ids(ask(inside, "sea", mode="keywordSearch"))
    assert "message" not in ask(inside, "sea")
    reports = capsys.readouterr().err.splitlines()
    assert reports == [
        "vectors of shop: the embedder tests:function failed: RuntimeError: out of memory"
    ]


def test_vectors_of_an_embedder_are_kept_for_a_start_with_it(own: Own) -> None:
    inside = own.start(embed_topics)
    inside.fill("shop", *RECORDS, **NEURAL)
    before = wait_ready(inside, "tests:function")

    without = own.start()
    message = wait_message(without, "start the service with that --embedder")["message"]
    again = own.start(embed_topics)

    assert "tests:function" in message
    assert wait_ready(again, "tests:function").name == before.name


def test_vectors_of_another_number_of_dimensions_are_refused(own: Own) -> None:
    inside = own.start(lambda texts: np.ones((len(texts), len(texts[0]))))
    inside.fill("shop", {"objectID": "1", "title": "sea"}, **NEURAL)
    wait_ready(inside, "tests:function")

    inside.fill("shop", {"objectID": "2", "title": "harbour"})

    assert "7 dimensions, and 3 before" in wait_message(inside, "dimensions")["message"]


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda texts: [1.0] * len(texts), "shape (2,)"),
        (lambda _: [[1.0]], "shape (1, 1)"),
        (lambda texts: [[float("nan")]] * len(texts), "not finite"),
        (lambda texts: [[]] * len(texts), "0 dimensions"),
        (lambda texts: [["x"]] * len(texts), "ValueError"),
    ],
)
def test_what_an_embedder_returns_is_checked(function: Any, fault: str) -> None:
    with pytest.raises(LocalServiceFailed) as raised:
        Embedder("m:f", function).embed(["a", "b"])

    assert fault in str(raised.value)


def test_an_embedder_is_imported_by_its_name() -> None:
    embedder = Embedder.load("tests.service.test_neural_search:embed_topics")

    assert embedder.embed(["a yacht"]).tolist() == [[1, 0]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nothing", "or module:function"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("sys:no_such_name", "AttributeError"),
        ("sys:path", "not a function"),
    ],
)
@pytest.mark.sampled(2)
def test_an_embedder_that_is_not_there_is_refused_at_the_start(
    tmp_path: Path, name: str, fault: str
) -> None:
    ended = run("--data", str(tmp_path), "--embedder", name)

    assert ended.returncode == 1
    assert fault in ended.stderr


def test_another_version_of_an_embedder_has_another_name() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return embed_topics(texts)

    embed.version = "2"  # type: ignore[attr-defined]

    assert Embedder("m:f", embed).name == "m:f 2"


# ------------------------------------------------------------------------------------ robustness


def test_without_scipy_hits_are_by_words_and_the_answer_says_what_to_install(
    own: Own, without_package: Callable[..., None]
) -> None:
    without_package("scipy.sparse")
    inside = own.start()
    inside.fill("shop", *RECORDS, **NEURAL)

    answer = wait_message(inside, "svc-notebook[semantic]")

    assert answer["nbHits"] == 10


def test_a_failure_of_the_computation_is_reported_once_and_tried_again(
    own: Own, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr("svc_notebook.service.vector_builder.LatentModel.fit", fail)
        inside = own.start()
        inside.fill("shop", *RECORDS, **NEURAL)
        answer = wait_message(inside, "vectors cannot be computed (MemoryError: no memory)")
    wait_ready(inside)

    assert answer["nbHits"] == 10
    assert "message" not in ask(inside, "sea")
    assert capsys.readouterr().err.count("vectors of shop: ") == 1


def test_building_waits_while_writes_are_pending(own: Own) -> None:
    service = own.start().app.service
    builder = VectorBuilder(service.store, service.tasks, service.catalog, None)
    service.tasks.last += 1
    waited = threading.Event()

    def pause() -> None:
        builder._pause()
        waited.set()

    thread = threading.Thread(target=pause)
    thread.start()
    early = waited.wait(0.1)
    service.tasks.last -= 1
    thread.join()

    assert not early
    assert waited.is_set()
