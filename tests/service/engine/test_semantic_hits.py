"""Semantic hits: nearest records by vectors, fused with the hits by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.errors import BadInput, LocalServiceFailed
from svc_notebook.service.engine import Index, SearchResult, SegmentStore
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.storage import VECTORS_SUFFIX
from svc_notebook.service.engine.ranking import rank_fusion, search_plan
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS, Pin, Pins
from svc_notebook.service.engine.semantic.latent_model import LatentModel
from svc_notebook.service.engine.semantic.vector_index import LATENT, VectorIndex
from svc_notebook.service.engine.semantic.vector_table import NO_SIMILARITY, VectorTable
from svc_notebook.service.search_models import read_texts
from tests.conftest import examples

NEURAL: dict[str, Any] = {"mode": "neuralSearch", "hitsPerPage": 100}
SETTINGS: dict[str, Any] = {
    "searchableAttributes": ["title"],
    "attributesForFaceting": ["kind"],
    "attributeForDistinct": "kind",
}
TOPICS = ("boat sail sea harbour wave", "bread oven flour butter cake", "lamp light bulb oak desk")


def make_records(count: int, seed: int = 0) -> list[dict[str, Any]]:
    random = Random(seed)
    found = []
    for number in range(count):
        topic = random.choice(TOPICS).split()
        words = random.choices(topic, k=4) + random.choices(["the", "a", "of"], k=1)
        kind = f"k{number % 4}"
        found.append({"objectID": f"{number:03}", "title": " ".join(words), "kind": kind})
    return found


def make_index(records: Sequence[Mapping[str, Any]], chunks: int = 1) -> Index:
    index = Index(SETTINGS)
    for chunk in range(chunks):
        index.put([dict(record) for record in records[chunk::chunks]])
    return index


def add_vectors(store: SegmentStore, model: LatentModel | None = None) -> LatentModel:
    model = model or LatentModel.fit(store.readers)
    vectors = VectorIndex(LATENT, model, fitted=len(store))
    for reader in store.readers:
        vectors = vectors.with_table(reader, model.embed_segment(reader.segment))
    store.publish_vectors(vectors)
    return model


def find(index: Index, query: str, pins: Pins = NO_PINS, /, **params: Any) -> SearchResult:
    def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
        return [{"objectID": name} for name in ids]

    return index.search({"query": query, **NEURAL, **params}, fetch, pins=pins)


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


def decoded_cosines(index: Index, words: Sequence[str]) -> dict[str, float]:
    """Compare each record with a query by plain floats, one by one."""
    vectors = index.segment_store.vectors
    assert vectors is not None
    assert vectors.model is not None
    query = VectorTable.of(vectors.model.embed_words(words)[np.newaxis]).decoded()[0]
    found = {}
    for reader in index.segment_store.readers:
        table = vectors.table_of(reader)
        assert table is not None
        for row, vector in enumerate(table.decoded()):
            if reader.alive[row]:
                found[reader.segment.ids[row]] = float(sum(vector.tolist() * query))
    return found


def fused_ids(by_words: Sequence[str], nearest: Sequence[str], weight: float) -> list[str]:
    scores: dict[str, float] = {}
    for share, ranked in ((1 - weight, by_words), (weight, nearest)):
        for position, name in enumerate(ranked, 1):
            scores[name] = scores.get(name, 0.0) + share / (60 + position)
    last = len(by_words) + len(nearest)
    rank = {name: place for place, name in enumerate(by_words)}
    return sorted(scores, key=lambda name: (-scores[name], rank.get(name, last)))


# ------------------------------------------------------------------------------------ the vectors


@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3), min_size=1))
@settings(max_examples=examples(50), deadline=None)
def test_a_stored_vector_has_length_one_and_its_direction(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32)

    decoded = VectorTable.of(vectors).decoded()

    for vector, stored in zip(vectors, decoded, strict=True):
        length = np.linalg.norm(vector)
        if length > 1e-30:
            assert np.linalg.norm(stored) == pytest.approx(1, abs=1e-5)
            assert stored @ (vector / length) > 0.9999
        else:
            assert not stored.any() or np.linalg.norm(stored) == pytest.approx(1, abs=1e-5)


def test_a_vector_of_the_smallest_floats_is_stored_as_zeros() -> None:
    table = VectorTable.of(np.array([[0, 0, 1e-45], [0, 0, 1]], np.float32))

    assert table.decoded().tolist() == [[0, 0, 0], [0, 0, 1]]


def test_a_row_with_a_value_that_is_not_finite_has_no_vector() -> None:
    table = VectorTable.of(np.array([[1, 0], [np.nan, 1], [0, 0]], np.float32))

    query = VectorTable.of(np.array([[1, 0]], np.float32))

    assert table.known.tolist() == [True, False, True]
    assert table.similarities(query).tolist() == [10_000, NO_SIMILARITY, 0]


def test_a_vector_takes_at_most_250_bytes_a_record() -> None:
    index = make_index(make_records(400))

    add_vectors(index.segment_store)

    vectors = index.segment_store.vectors
    assert vectors is not None
    [table] = vectors.tables.values()
    assert sum(array.nbytes for array in table.arrays().values()) <= 250 * 400


def test_records_of_one_topic_are_nearer_than_others() -> None:
    records = [{"objectID": str(n), "title": title} for n, title in enumerate(TOPICS)]
    index = make_index([*records, {"objectID": "9", "title": "sail wave"}])
    add_vectors(index.segment_store)

    found = find(index, "sea harbour", semanticSearch={"localMinSimilarity": 0.1})

    assert ids(found) == ["0", "9"]
    assert find(index, "sea harbour", mode="keywordSearch").nbHits == 1


def test_the_vectors_do_not_depend_on_how_records_are_divided_into_segments() -> None:
    records = make_records(60)
    one, several = make_index(records), make_index(records, 3)
    assert len(several.segment_store.readers) > 1
    model = add_vectors(one.segment_store)
    add_vectors(several.segment_store, model)

    results = [find(index, "sea lamp", optionalWords=["sea", "lamp"]) for index in (one, several)]

    assert ids(results[0]) == ids(results[1])


# ------------------------------------------------------------------------------------- the fusion


@pytest.mark.parametrize("weight", [0, 0.3, 1])
@pytest.mark.parametrize("query", ["sea wave", "lamp", "flour oak"])
@pytest.mark.parametrize("chunks", [1, 3])
def test_the_order_is_that_of_a_plain_computation(weight: float, query: str, chunks: int) -> None:
    index = make_index(make_records(60), chunks)
    add_vectors(index.segment_store)
    params = {"semanticSearch": {"localWeight": weight, "localMinSimilarity": 0.25}}

    found = find(index, query, **params, getRankingInfo=True)

    cosines = {name: round(one, 4) for name, one in decoded_cosines(index, query.split()).items()}
    shown = {hit["objectID"]: hit["_rankingInfo"]["semanticScore"] for hit in found.hits}
    assert shown == pytest.approx({name: cosines[name] for name in shown}, abs=2e-4)
    # Equal to the fourth digit: the floats of the plain computation are not exact.
    values = {**cosines, **shown}
    near = sorted((n for n in values if values[n] >= 0.25), key=lambda name: (-values[name], name))
    by_words = ids(find(index, query, mode="keywordSearch"))
    assert ids(found) == fused_ids(by_words, near, weight)
    assert found.nbHits == len({*by_words, *near})
    scores = [hit["_rankingInfo"]["fusedScore"] for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0 or weight in (0, 1)


@given(st.integers(0, 1000), st.integers(1, 7), st.sampled_from(["sea", "lamp oak", "the boat"]))
@settings(max_examples=examples(25), deadline=None)
def test_pages_are_parts_of_one_order(seed: int, size: int, query: str) -> None:
    index = make_index(make_records(30, seed))
    add_vectors(index.segment_store)

    whole = find(index, query, hitsPerPage=100)
    pages = [find(index, query, hitsPerPage=size, page=page) for page in range(-(-30 // size))]

    assert [name for page in pages for name in ids(page)] == ids(whole)
    assert {page.nbHits for page in pages} == {whole.nbHits} == {len(whole.hits)}


def test_hits_beyond_those_that_are_fused_follow_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (rank_fusion, search_plan):
        monkeypatch.setattr(module, "FUSED_HITS", 5)
    index = make_index(make_records(60))
    add_vectors(index.segment_store)
    by_words = ids(find(index, "the", mode="keywordSearch"))

    found = find(index, "the", semanticSearch={"localMinSimilarity": -1}, getRankingInfo=True)

    shown = {hit["objectID"]: hit["_rankingInfo"]["semanticScore"] for hit in found.hits}
    values = {**decoded_cosines(index, ["the"]), **shown}
    least = sorted(shown.values())[-5]
    near = sorted((n for n in shown if shown[n] >= least), key=lambda name: (-values[name], name))
    rest = [name for name in by_words[5:] if name not in near]
    assert rest
    assert ids(found) == [*fused_ids(by_words[:5], near, 0.3), *rest]


def test_without_weight_hits_by_words_come_first_in_their_order() -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)

    by_words = ids(find(index, "lamp desk", mode="keywordSearch"))

    assert ids(find(index, "lamp desk", semanticSearch={"localWeight": 0}))[: len(by_words)] == (
        by_words
    )


# ------------------------------------------------------------- what semantic hits take part in


@pytest.fixture(scope="module")
def index() -> Index:
    found = make_index(make_records(60))
    add_vectors(found.segment_store)
    return found


def test_filters_hold_for_semantic_hits(index: Index) -> None:
    found = find(index, "sea", filters="kind:k1", attributesToRetrieve=["kind"])

    every = {record["objectID"]: record["kind"] for record in make_records(60)}
    assert found.nbHits > find(index, "sea", filters="kind:k1", mode="keywordSearch").nbHits
    assert {every[name] for name in ids(found)} == {"k1"}


def test_excluded_words_are_in_no_semantic_hit(index: Index) -> None:
    found = find(index, "sea -boat", advancedSyntax=True)

    titles = {record["objectID"]: record["title"] for record in make_records(60)}
    assert found.nbHits
    assert not any("boat" in titles[name] for name in ids(found))


def test_facets_count_semantic_hits(index: Index) -> None:
    found = find(index, "sea", facets=["kind"])

    assert found.facets is not None
    assert sum(found.facets["kind"].values()) == found.nbHits


def test_distinct_has_one_semantic_hit_of_each_group(index: Index) -> None:
    found = find(index, "sea", distinct=1)

    assert found.nbHits == len(found.hits) == 4


def test_promoted_records_keep_their_positions(index: Index) -> None:
    plain = ids(find(index, "sea"))
    pins = Pins(promoted=(Pin((plain[3],), 0),))

    found = ids(find(index, "sea", pins))

    assert found[0] == plain[3]
    assert sorted(found) == sorted(plain)


def test_a_semantic_hit_has_a_score_and_no_values_of_words(index: Index) -> None:
    found = find(index, "sea", getRankingInfo=True)

    by_words = {*ids(find(index, "sea", mode="keywordSearch"))}
    others = [hit["_rankingInfo"] for hit in found.hits if hit["objectID"] not in by_words]
    assert others
    assert {(info["words"], info["nbTypos"], info["textScore"]) for info in others} == {(0, 0, 0)}
    assert min(info["semanticScore"] for info in others) >= 0.2
    [first, *_] = find(index, "sea", getRankingInfo=True, mode="keywordSearch").hits
    assert "semanticScore" not in first["_rankingInfo"]


def test_a_search_without_words_has_no_semantic_hits(index: Index) -> None:
    assert ids(find(index, "")) == ids(find(index, "", mode="keywordSearch"))
    assert find(index, "").notes == ()


def test_words_that_are_not_in_the_model_find_nothing_more(index: Index) -> None:
    found = find(index, "zzzzz")

    assert (found.nbHits, found.notes) == (0, ())


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"restrictSearchableAttributes": ["title"]}, "restrictSearchableAttributes"),
        ({"ranking": ["asc(kind)", "typo"]}, "sorts by an attribute first"),
    ],
)
def test_searches_that_vectors_do_not_fit_are_by_words_and_say_so(
    index: Index, params: dict[str, Any], reason: str
) -> None:
    found = find(index, "sea", **params)

    assert reason in found.notes[0]
    assert ids(found) == ids(find(index, "sea", mode="keywordSearch", **params))


def test_without_vectors_hits_are_by_words_and_the_result_says_so() -> None:
    index = make_index(make_records(20))

    found = find(index, "sea")

    assert "being computed" in found.notes[0]
    assert ids(found) == ids(find(index, "sea", mode="keywordSearch"))


def test_records_without_a_vector_are_counted_in_a_note(index: Index) -> None:
    other = index.copy()
    other.put([{"objectID": "new", "title": "sea"}])

    found = find(other, "sea")

    assert "new" in ids(found)
    assert "1 record is found by words only" in found.notes[0]


@pytest.mark.parametrize(
    "members", [{"localWeight": 2}, {"localWeight": "x"}, {"localMinSimilarity": True}]
)
def test_members_out_of_range_are_refused(index: Index, members: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="semanticSearch"):
        find(index, "sea", semanticSearch=members)
    with pytest.raises(BadInput, match="semanticSearch"):
        Index({"semanticSearch": members})


# --------------------------------------------------------------------------------------- embedders


def use_embedder(index: Index, dimensions: int = 3) -> None:
    vectors = VectorIndex("test:embed")
    for reader in index.segment_store.readers:
        random = np.random.default_rng(0)
        table = VectorTable.of(random.standard_normal((len(reader.segment), dimensions)))
        vectors = vectors.with_table(reader, table)
    index.segment_store.publish_vectors(vectors)


def fail(_: str) -> Array:
    raise LocalServiceFailed("the embedder test:embed failed")


@pytest.mark.parametrize(
    ("embed", "reason"),
    [
        (None, "start the service with that --embedder"),
        (fail, "the embedder test:embed failed"),
        (lambda _: np.ones(4, np.float32), "4 dimensions for the query and 3 for records"),
        (lambda _: np.zeros(3, np.float32), "zeros"),
    ],
)
def test_an_embedder_that_fails_leaves_the_hits_by_words(embed: Any, reason: str) -> None:
    index = make_index(make_records(20))
    use_embedder(index)

    found = index.search({"query": "sea", **NEURAL}, lambda ids: [{"objectID": n} for n in ids],
                         embed=embed)  # fmt: skip

    assert reason in found.notes[0]
    assert found.nbHits == find(index, "sea", mode="keywordSearch").nbHits


def test_the_text_of_a_record_has_its_attributes_in_their_order() -> None:
    record = {"objectID": "1", "b": {"c": ["x", "y"]}, "a": "z", "n": 4, "other": "no"}

    assert read_texts([record], {"searchableAttributes": ["a", "b", "n"]}) == ["z\nx\ny\n4"]
    assert read_texts([record], {}) == ["z\nno\nx\ny"]


# ------------------------------------------------------------------- writes, merges and files


def test_a_merge_keeps_the_vectors(index: Index) -> None:
    other = make_index(make_records(60), 3)
    add_vectors(other.segment_store)
    before = find(other, "sea lamp")

    other.delete(["007"])
    other.compact()

    assert len(other.segment_store.readers) == 1
    assert find(other, "sea lamp").notes == ()
    assert set(ids(find(other, "sea lamp"))) == set(ids(before)) - {"007"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = make_index(make_records(60), 2)
    add_vectors(index.segment_store)
    index.save(tmp_path, 1)
    return tmp_path


def load(folder: Path) -> Index:
    found = Index.load(folder, SETTINGS)
    assert found is not None
    return found[0]


def test_vectors_are_saved_beside_the_segments(folder: Path) -> None:
    assert len(list(folder.glob(f"*{VECTORS_SUFFIX}"))) == 3

    expected = make_index(make_records(60))
    add_vectors(expected.segment_store)

    assert ids(find(load(folder), "sea")) == ids(find(expected, "sea"))


def test_files_of_older_vectors_are_deleted(folder: Path) -> None:
    index = load(folder)
    before = set(folder.glob(f"*{VECTORS_SUFFIX}"))

    add_vectors(index.segment_store)
    index.save(folder, 2)
    after = set(folder.glob(f"*{VECTORS_SUFFIX}"))
    index.segment_store.publish_vectors(None)
    index.save(folder, 3)

    assert len(after) == 3
    assert not before & after
    assert not list(folder.glob(f"*{VECTORS_SUFFIX}"))


@pytest.mark.parametrize("damage", ["changed", "cut", "deleted"])
def test_damaged_vectors_are_left_out_and_the_records_are_not(folder: Path, damage: str) -> None:
    for path in folder.glob(f"*{VECTORS_SUFFIX}"):
        whole = path.read_bytes()
        if damage == "deleted":
            path.unlink()
        else:
            path.write_bytes(whole[:-100] if damage == "cut" else whole[:-100] + b"\x55" * 100)

    index = load(folder)

    assert len(index) == 60
    assert index.segment_store.vectors is None
    assert ids(find(index, "sea")) == ids(find(index, "sea", mode="keywordSearch"))


def test_one_damaged_table_leaves_the_others(folder: Path) -> None:
    model = load(folder).segment_store.vectors
    assert model is not None
    [path, _] = (folder / f"{table.name}{VECTORS_SUFFIX}" for table in model.tables.values())
    path.write_bytes(path.read_bytes()[:-1])

    vectors = load(folder).segment_store.vectors

    assert vectors is not None
    assert len(vectors.tables) == 1
    assert 0 < vectors.count_missing(load(folder).segment_store.readers) < 60


def test_a_model_is_outdated_after_many_writes() -> None:
    vectors = VectorIndex(LATENT, None, fitted=1000)

    assert not vectors.is_outdated(1100)
    assert vectors.is_outdated(2000)
    assert vectors.is_outdated(400)
    assert replace(vectors, added=400).is_outdated(1000)
    assert not replace(vectors, source="m:f", added=400).is_outdated(1000)
