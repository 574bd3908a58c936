"""Latent vectors, the fusion by scores and feedback, against plain computations on dense arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index, SearchResult, SegmentStore
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.promoted_hits import Pins
from svc_notebook.service.engine.semantic.latent_model import (
    MODEL_FORMAT,
    LatentModel,
    ModelSettings,
)
from svc_notebook.service.engine.semantic.vector_index import LATENT, VectorIndex
from svc_notebook.service.engine.semantic.vector_table import VectorTable
from tests.conftest import examples

ATTRIBUTES = ("name", "brand", "about")
TOPICS = ("boat sail sea harbour wave", "bread oven flour butter cake", "lamp light bulb oak desk")
SETTINGS: dict[str, Any] = {
    "searchableAttributes": [*ATTRIBUTES],
    "attributesForFaceting": ["kind"],
    "attributeForDistinct": "kind",
    "mode": "neuralSearch",
}
BY_TEXT: dict[str, Any] = {"enableReRanking": True, "ranking": ["exact", "custom"]}
QUERIES = ["sea wave", "lamp", "flour oak the", "boat sail cake"]


def make_record(number: int, random: Random) -> dict[str, Any]:
    topic = random.choice(TOPICS).split()
    return {
        "objectID": f"{number:03}",
        "kind": f"k{random.randrange(4)}",
        "name": " ".join(random.choices(topic, k=3)),
        "brand": random.choice(["acme", "sea", "oven"]),
        "about": " ".join([*random.choices(topic, k=4), *random.choices(["the", "a"], k=3)]),
    }


def make_records(count: int, seed: int = 0) -> list[dict[str, Any]]:
    random = Random(seed)
    return [make_record(number, random) for number in range(count)]


def make_index(records: Sequence[Mapping[str, Any]], chunks: int = 1, **changes: Any) -> Index:
    index = Index({**SETTINGS, **changes})
    for chunk in range(chunks):
        index.put([dict(record) for record in records[chunk::chunks]])
    return index


def add_vectors(store: SegmentStore, model: LatentModel | None = None) -> LatentModel:
    model = model or LatentModel.fit(store.readers, store.model_settings)
    vectors = VectorIndex(LATENT, model, fitted=len(store))
    for reader in store.readers:
        vectors = vectors.with_table(reader, model.embed_segment(reader.segment))
    store.publish_vectors(vectors)
    return model


def find(index: Index, query: str, weight: float = 0.5, feedback: int = 0, **params: Any
         ) -> SearchResult:  # fmt: skip
    options = {"localWeight": weight, "localMinSimilarity": 0.3, "localFeedbackHits": feedback}
    own = {"semanticSearch": options, "getRankingInfo": True, "hitsPerPage": 200}
    return index.search(
        {"query": query, **own, **params}, lambda ids: [{"objectID": name} for name in ids]
    )


def ids(found: SearchResult) -> list[str]:
    return [hit["objectID"] for hit in found.hits]


def shown(found: SearchResult, member: str) -> dict[str, float]:
    return {hit["objectID"]: hit["_rankingInfo"][member] for hit in found.hits}


def vectors_of(index: Index) -> dict[str, Array]:
    """Return the vector of each live record."""
    vectors = index.segment_store.vectors
    assert vectors is not None
    found = {}
    for reader in index.segment_store.readers:
        table = vectors.table_of(reader)
        assert table is not None
        for row in np.flatnonzero(reader.alive).tolist():
            found[reader.segment.ids[row]] = table.decoded()[row].astype(float)
    return found


def query_vector(index: Index, query: str) -> Array:
    vectors = index.segment_store.vectors
    assert vectors is not None
    assert vectors.model is not None
    return stored(vectors.model.embed_words(query.split()))


def stored(vector: Array) -> Array:
    """Return a vector of length 1 as its bytes keep it."""
    return np.asarray(VectorTable.of(vector[np.newaxis]).decoded()[0], float)


def unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def fused_ids(
    by_words: Sequence[str], texts: Mapping[str, float], cosines: Mapping[str, float],
    near: Sequence[str], weight: float, highest: float,
) -> list[str]:  # fmt: skip
    """Order by the sum of both scores; equal ones by words, then by similarity."""
    place = {name: number for number, name in enumerate(by_words)}
    last = {name: number for number, name in enumerate(near)}

    def key(name: str) -> tuple[float, ...]:
        text = (1 - weight) * (texts.get(name, 0) / highest) if highest else 0.0
        score = text + weight * cosines[name]
        return -score, place.get(name, np.inf), last.get(name, np.inf)

    return sorted({*by_words, *near}, key=key)


def check_fused(
    index: Index, found: SearchResult, query: str, wanted: Array, weight: float, **params: Any
) -> None:
    """Compare hits with all records, scored one by one; `wanted` is the vector to compare with."""
    words = find(index, query, mode="keywordSearch", **params)
    texts, cosines = shown(words, "textScore"), shown(found, "semanticScore")
    allowed = {*ids(find(index, "", mode="keywordSearch", **params))}
    plain = {name: float(v @ wanted) for name, v in vectors_of(index).items() if name in allowed}
    for name, cosine in cosines.items():
        assert cosine == pytest.approx(plain[name], abs=2e-4)
    near = [name for name, cosine in cosines.items() if cosine >= 0.3]
    assert {name for name, cosine in plain.items() if cosine > 0.3002} <= {*near}
    near.sort(key=lambda name: (-cosines[name], name))
    highest = max(texts.values(), default=0)
    assert ids(found) == fused_ids(ids(words), texts, cosines, near, weight, highest)


# ------------------------------------------------------------------------------------- the vectors


def dense_weights(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], shares: Mapping[str, float],
    stem: Any = lambda words: words,
) -> Array:  # fmt: skip
    """Compute the weights of words by counting, with a row of length 1 for each record."""
    counts = np.zeros((len(records), len(names)))
    place = {name: number for number, name in enumerate(names)}
    for row, record in enumerate(records):
        for attribute, share in shares.items():
            for word, times in Counter(stem(record[attribute].split())).items():
                counts[row, place[word]] += share * times
    rarity = np.log((1 + len(records)) / (1 + (counts > 0).sum(axis=0))) + 1
    logs = np.log(counts, out=np.zeros_like(counts), where=counts > 0)
    weights = np.where(counts > 0, (1 + logs) * rarity, 0)
    return np.asarray(weights / np.linalg.norm(weights, axis=1, keepdims=True))


SHARES = {"name": 4.0, "brand": 2.0, "about": 1.0}


@pytest.mark.parametrize("seed", [0, 1])
def test_vectors_are_those_of_a_dense_decomposition_with_the_weights_of_attributes(
    seed: int,
) -> None:
    records = make_records(80, seed)
    index = make_index(records, 2)
    model = add_vectors(index.segment_store)

    weights = dense_weights(records, model.terms.all(), SHARES)
    _, values, _ = np.linalg.svd(weights, full_matrices=False)
    basis = model.vectors.decoded().astype(float)
    kept = np.linalg.norm(weights @ basis)
    found = vectors_of(index)

    assert kept**2 == pytest.approx((values[: basis.shape[1]] ** 2).sum(), rel=0.02)
    for record, vector in zip(records, weights @ basis, strict=True):
        assert found[record["objectID"]] @ unit(vector) > 0.999
    flat = dense_weights(records, model.terms.all(), dict.fromkeys(ATTRIBUTES, 1.0)) @ basis
    apart = [found[r["objectID"]] @ unit(v) for r, v in zip(records, flat, strict=True)]
    assert min(apart) < 0.99


def test_with_a_language_words_of_one_stem_are_one_word() -> None:
    from svc_notebook.service.engine.text.inflections import Stemmer

    records = make_records(80)
    for number, record in enumerate(records):
        record["name"] += [" sailing", " sailed", " sails"][number % 3]
    index = make_index(records, indexLanguages=["xx", "en"])
    model = add_vectors(index.segment_store)
    stem = Stemmer("english").stem

    weights = dense_weights(records, model.terms.all(), SHARES, stem)
    found = vectors_of(index)

    assert [name for name in model.terms.all() if name.startswith("sail")] == ["sail"]
    for record, vector in zip(records, weights @ model.vectors.decoded(), strict=True):
        assert found[record["objectID"]] @ unit(vector) > 0.999
    assert np.array_equal(model.embed_words(["sailing"]), model.embed_words(["sails"]))


def test_words_of_placeholders_are_not_in_a_stemmed_model() -> None:
    records = [{**record, "name": "<first word> of it"} for record in make_records(60)]
    index = make_index(records, indexLanguages=["en"])

    names = add_vectors(index.segment_store).terms.all()

    assert {"first", "word"} <= {*names}
    assert not [name for name in names if set(name) & {"\x02", "\x03"}]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"searchableAttributes": ["a", "b"]}, {"searchableAttributes": ["b", "a"]}, False),
        ({"searchableAttributes": ["a", "b"]}, {"searchableAttributes": ["a,b"]}, False),
        ({"searchableAttributes": ["a,b"]}, {}, True),
        ({"searchableAttributes": ["unordered(a)", "b"]}, {"searchableAttributes": ["a", "b"]},
         True),
        ({"indexLanguages": ["en"]}, {"indexLanguages": ["de"]}, False),
        ({"indexLanguages": ["ja"]}, {}, True),
        ({"indexLanguages": ["ja", "en", "de"]}, {"indexLanguages": ["en"]}, True),
        ({"queryLanguages": ["en"]}, {}, True),
    ],
)  # fmt: skip
def test_settings_with_the_same_effect_have_the_same_vectors(
    one: dict[str, Any], other: dict[str, Any], equal: bool
) -> None:
    assert (ModelSettings.of(one) == ModelSettings.of(other)) is equal
    assert ModelSettings.from_array(ModelSettings.of(one).to_array()) == ModelSettings.of(one)


# -------------------------------------------------------------------------------------- the scores


@pytest.mark.slow
@given(
    seed=st.integers(0, 1000),
    chunks=st.sampled_from([1, 3]),
    weight=st.sampled_from([0.0, 0.3, 0.67, 1.0]),
    feedback=st.sampled_from([0, 1, 5]),
    query=st.sampled_from(QUERIES),
    filters=st.sampled_from(["", "kind:k1 OR kind:k2"]),
    optional=st.booleans(),
)
@settings(max_examples=examples(60), deadline=None)
def test_hits_are_ordered_by_both_scores_after_updates_and_deletions(
    seed: int, chunks: int, weight: float, feedback: int, query: str, filters: str, optional: bool
) -> None:
    random = Random(seed)
    index = make_index(make_records(40, seed), chunks)
    model = add_vectors(index.segment_store)
    index.put([make_record(number, random) for number in random.sample(range(60), 6)])
    index.delete([f"{number:03}" for number in random.sample(range(60), 6)])
    add_vectors(index.segment_store, model)
    params: dict[str, Any] = {**BY_TEXT, "filters": filters}
    params["optionalWords"] = query.split() if optional else []

    found = find(index, query, weight, feedback, **params)

    wanted = query_vector(index, query)
    if feedback:
        best = ids(find(index, query, weight, **params))[:feedback]
        vectors = vectors_of(index)
        assert set(shown(found, "feedbackHits").values()) <= {len(best)}
    if feedback and best:
        wanted = stored(wanted + unit(np.array([vectors[name] for name in best]).sum(axis=0)))
    check_fused(index, found, query, wanted, weight, **params)


@pytest.mark.slow
@given(
    seed=st.integers(0, 1000),
    query=st.sampled_from(QUERIES),
    feedback=st.sampled_from([0, 3, 8]),
    by_text=st.booleans(),
    params=st.sampled_from([{}, {"distinct": 2}, {"filters": "kind:k1 OR kind:k3"}]),
)
@settings(max_examples=examples(40), deadline=None)
def test_scores_do_not_depend_on_segments_or_pages(
    seed: int, query: str, feedback: int, by_text: bool, params: dict[str, Any]
) -> None:
    records = make_records(50, seed)
    one, several = make_index(records), make_index(records, 3)
    model = add_vectors(one.segment_store)
    add_vectors(several.segment_store, model)
    params = {**(BY_TEXT if by_text else {}), **params}

    whole = find(one, query, 0.6, feedback, **params)
    divided = find(several, query, 0.6, feedback, **params)
    pages = [
        find(several, query, 0.6, feedback, **params, hitsPerPage=7, page=page)
        for page in range(-(-len(whole.hits) // 7))
    ]

    if "distinct" not in params:
        assert [name for page in pages for name in ids(page)] == ids(whole)
    assert ids(divided) == ids(whole)
    assert {page.nbHits for page in pages} <= {whole.nbHits}
    assert shown(divided, "semanticScore") == shown(whole, "semanticScore")
    assert shown(divided, "fusedScore") == shown(whole, "fusedScore")


def test_facets_count_the_hits_of_feedback() -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)

    found = find(index, "sea wave", 0.6, 5, facets=["kind"], **BY_TEXT)

    assert found.facets is not None
    assert sum(found.facets["kind"].values()) == found.nbHits == len(found.hits)
    assert found.nbHits != find(index, "sea wave", 0.6, **BY_TEXT).nbHits


@pytest.mark.parametrize("seed", [22, 23])
def test_facet_values_count_the_hits_of_a_search_with_a_restricted_key(seed: int) -> None:
    index = make_index(make_records(40, seed), attributesForFaceting=["kind", "searchable(brand)"])
    add_vectors(index.segment_store)
    options = {"localWeight": 0.3, "localFeedbackHits": 1, "localMinSimilarity": 0.5}
    own = {"filters": "kind:k1 OR kind:k2"}
    params: dict[str, Any] = {**BY_TEXT, **own, "query": "boat oven", "semanticSearch": options}
    params["optionalWords"] = ["boat", "oven"]
    pins = Pins(within=own)

    # With the words of other records, another hit would be the best one.
    found = index.search(
        {**params, "facets": ["brand"]}, lambda ids: [{"objectID": name} for name in ids], pins=pins
    )
    values = index.facet_values("brand", "", params, 10, pins=pins)

    assert found.facets is not None
    assert {hit["value"]: hit["count"] for hit in values.hits} == found.facets["brand"]


@pytest.mark.parametrize(
    ("params", "by_scores"),
    [
        (BY_TEXT, True),
        ({**BY_TEXT, "ranking": ["filters", "geo", "words", "attribute", "custom"]}, True),
        ({**BY_TEXT, "ranking": ["typo", "exact"], "typoTolerance": False}, True),
        ({**BY_TEXT, "ranking": ["typo", "exact"]}, False),
        ({**BY_TEXT, "ranking": ["words", "exact"], "optionalWords": ["sea"]}, False),
        ({**BY_TEXT, "ranking": ["filters", "exact"], "optionalFilters": ["kind:k1"]}, False),
        ({**BY_TEXT, "typoTolerance": "min"}, False),
        ({**BY_TEXT, "enableReRanking": False}, False),
        ({**BY_TEXT, "reRankingApplyFilter": "kind:k1"}, False),
        ({"enableReRanking": True}, False),
    ],
)
def test_scores_are_fused_only_where_the_text_score_alone_orders_the_words(
    params: dict[str, Any], by_scores: bool
) -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)

    found = find(index, "sea wave", 0.4, **params)

    fused, cosines = shown(found, "fusedScore"), shown(found, "semanticScore")
    texts = shown(found, "textScore")
    best = max(texts.values())
    sums = {name: 0.6 * texts[name] / best + 0.4 * cosines[name] for name in fused}
    assert (fused == pytest.approx(sums, abs=1e-6)) is by_scores
    assert (max(fused.values()) > 1 / 61 + 1e-9) is by_scores
    without = find(index, "sea wave", 0, **params)
    words = ids(find(index, "sea wave", mode="keywordSearch", **params))
    assert ids(without)[: len(words)] == words


def test_a_query_with_no_hit_by_words_is_scored_by_similarity_only() -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)

    found = find(index, "sea flour bulb", 0.4, 3, **BY_TEXT)

    assert find(index, "sea flour bulb", mode="keywordSearch", **BY_TEXT).nbHits == 0
    assert found.hits
    cosines = shown(found, "semanticScore")
    assert shown(found, "fusedScore") == pytest.approx({n: 0.4 * cosines[n] for n in cosines})


def test_records_without_a_vector_are_no_feedback_and_keep_their_text_score() -> None:
    index = make_index(make_records(40))
    add_vectors(index.segment_store)
    index.put([{"objectID": "new", "name": "zebra sea", "brand": "", "about": ""}])

    found = find(index, "zebra sea", 0.3, 1, **BY_TEXT)
    without = find(index, "zebra sea", 0.3, **BY_TEXT)

    assert ids(without)[0] == "new"
    assert shown(without, "fusedScore")["new"] == pytest.approx(0.7)
    assert len(found.hits) > 1
    assert shown(found, "semanticScore") == shown(without, "semanticScore")


def test_feedback_moves_the_vector_of_an_embedder_too() -> None:
    index = make_index(make_records(30), 2)
    random = np.random.default_rng(0)
    vectors = VectorIndex("tests:embed")
    for reader in index.segment_store.readers:
        rows = random.standard_normal((len(reader.segment), 8))
        vectors = vectors.with_table(reader, VectorTable.of(rows))
    index.segment_store.publish_vectors(vectors)
    own = random.standard_normal(8)

    def search(feedback: int) -> SearchResult:
        options = {"localWeight": 1, "localMinSimilarity": -1, "localFeedbackHits": feedback}
        params = {"query": "yacht", "semanticSearch": options, "getRankingInfo": True}
        return index.search(
            {**params, "hitsPerPage": 50}, lambda ids: [{"objectID": name} for name in ids],
            embed=lambda _: own,
        )  # fmt: skip

    by_id = vectors_of(index)
    best = ids(search(0))[:4]
    wanted = stored(stored(own) + unit(np.array([by_id[name] for name in best]).sum(axis=0)))
    plain = {name: float(vector @ wanted) for name, vector in by_id.items()}
    assert shown(search(4), "semanticScore") == pytest.approx(plain, abs=2e-4)


@pytest.mark.parametrize("value", [-1, 101, 2.5, True, "5"])
def test_feedback_hits_out_of_range_are_refused(value: Any) -> None:
    index = make_index(make_records(20))
    add_vectors(index.segment_store)
    with pytest.raises(BadInput, match="localFeedbackHits` must be a whole number from 0 to 100"):
        find(index, "sea", feedback=value)


# ------------------------------------------------------------------------------- outdated vectors


def test_vectors_of_earlier_settings_are_used_and_reported() -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)
    before = ids(find(index, "sea wave", **BY_TEXT))
    changed = {**SETTINGS, "searchableAttributes": ["about", "brand", "name"]}

    index.configure(changed, list)
    found = find(index, "sea wave", **BY_TEXT)
    add_vectors(index.segment_store)

    assert len(index) == 60
    assert "being computed; similarities are those of earlier settings" in found.notes[0]
    assert found.hits
    assert find(index, "sea wave", **BY_TEXT).notes == ()
    assert ids(find(index, "sea wave", **BY_TEXT)) != before


def test_a_copy_keeps_the_vectors_and_their_settings() -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)

    assert find(index.copy(), "sea wave").notes == ()


arrays_of = LatentModel.arrays


def without_settings(model: LatentModel) -> dict[str, Array]:
    """Return the arrays of a model as they were stored before they had settings."""
    return {name: array for name, array in arrays_of(model).items() if name != "settings"}


def of_later_format(model: LatentModel) -> dict[str, Array]:
    """Return the arrays of a model as a later version may store them."""
    _, *values = msgspec.json.decode(arrays_of(model)["settings"].tobytes())
    stored = msgspec.json.encode([MODEL_FORMAT + 1, *values])
    return {**arrays_of(model), "settings": np.frombuffer(stored, np.uint8)}


@pytest.mark.parametrize("arrays", [without_settings, of_later_format])
def test_saved_vectors_of_another_format_are_not_loaded(
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    arrays: Callable[[LatentModel], dict[str, Array]],
) -> None:
    index = make_index(make_records(60))
    add_vectors(index.segment_store)
    index.save(tmp_path, 1)

    loaded = Index.load(tmp_path, index.settings)
    monkeypatch.setattr(LatentModel, "arrays", arrays)
    other = make_index(make_records(60))
    add_vectors(other.segment_store)
    other.save(tmp_path, 2)
    later = Index.load(tmp_path, index.settings)

    assert loaded is not None
    assert later is not None
    assert ids(find(loaded[0], "sea wave")) == ids(find(index, "sea wave"))
    assert find(loaded[0], "sea wave").notes == ()
    assert later[0].segment_store.vectors is None
    assert len(later[0]) == 60
