"""Kept matches of words, and occurrences looked up by record, change no result of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.index.postings import POSITION_MASK, SLOT_SHIFT
from svc_notebook.service.engine.index.schema import Schema
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.query import QueryWord
from svc_notebook.service.engine.query.searched_attributes import (
    POSITIONS_PER_ATTRIBUTE,
    SearchedAttributes,
)
from svc_notebook.service.engine.query.term_variants import TermVariant
from svc_notebook.service.engine.ranking.occurrences import Chunk
from svc_notebook.service.engine.ranking.retrieval import (
    MAX_CACHED_MATCHES,
    MIN_CACHE_BYTES,
    WordMatch,
    find_cache,
)
from tests.service.engine import cases

RECORDS = 60


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("seed", range(12))
def test_a_later_search_for_the_same_words_finds_what_a_first_one_does(seed: int) -> None:
    random = Random(seed)
    settings = cases.make_settings(random)
    made = [cases.make_record(random, number) for number in range(RECORDS)]
    records = {record["objectID"]: record for record in made}
    index = make_index(settings, records)
    queries = [cases.make_params(random, settings, []) for _ in range(15)]

    for params in [*queries, *random.sample(queries, len(queries))]:
        asked = {**params, "getRankingInfo": True}
        assert search(index, asked, records) == search(
            make_index(settings, records), asked, records
        )


@pytest.mark.parametrize("query", ["lamp", "red lamp", "lamp table", '"red lamp"', "lam"])
def test_hits_of_a_filter_have_the_ranking_info_that_they_have_among_all_hits(query: str) -> None:
    random = Random(3)
    records = {
        f"{n:05}": {
            "objectID": f"{n:05}",
            "title": " ".join(random.choices(["lamp", "red", "table", "lamps", "oak"], k=8)),
            "body": " ".join(random.choices(["lamp", "of", "blue"], k=12)),
            "kind": "rare" if n % 1000 == 7 else "usual",
        }
        for n in range(9000)
    }
    settings = {"attributesForFaceting": ["kind"], "searchableAttributes": ["title", "body"]}
    index = make_index(settings, records)

    few = search(index, {"query": query, "filters": "kind:rare", **EVERYTHING}, records)

    every = search(index, {"query": query, **EVERYTHING}, records)
    infos = {hit["objectID"]: {**hit["_rankingInfo"], "filters": 1} for hit in every.hits}
    assert few.nbHits >= (5 if query != '"red lamp"' else 1)
    assert [hit["_rankingInfo"] for hit in few.hits] == [infos[hit["objectID"]] for hit in few.hits]


def test_the_occurrences_in_a_few_records_are_found_by_search() -> None:
    random = Random(5)
    records = [
        {"objectID": f"{n:04}", "a": " ".join(["word"] * random.randrange(4))} for n in range(400)
    ]
    postings = Segment.of(records, Schema()).postings
    chunk = Chunk(postings, slice(0, len(postings.rows)), 0, True, of_one_word=True)
    rows = np.array(sorted(random.sample(range(400), 9)))

    kept, owners = chunk.find_in(rows)

    expected = [at for at, row in enumerate(postings.rows.tolist()) if row in rows]
    assert kept.tolist() == expected
    assert rows[owners].tolist() == postings.rows[kept].tolist()


def test_kept_matches_of_all_segments_share_a_limit_of_memory() -> None:
    segments = [Segment.of([{"objectID": name}], Schema()) for name in "ab"]
    caches = [find_cache(segment) for segment in segments]

    for number in range(12):
        match = make_match(f"w{number}", MIN_CACHE_BYTES // 8)
        assert caches[number % 2].get_or_match(key_of(match), returning(match)) is match

    assert MIN_CACHE_BYTES / 2 < sum(cache.nbytes for cache in caches) < 1.1 * MIN_CACHE_BYTES
    newest = caches[1].get_or_match(key_of(match), pytest.fail)
    np.testing.assert_array_equal(newest.typos, match.typos)


def test_large_segments_have_more_memory_for_matches() -> None:
    segment = Segment.of([{"objectID": "a"}], Schema())
    cache = find_cache(segment)
    cache.records = MIN_CACHE_BYTES
    large = make_match("large", 2 * MIN_CACHE_BYTES)

    cache.get_or_match(key_of(large), returning(large))

    assert cache.get_or_match(key_of(large), pytest.fail).word == large.word


def test_a_match_that_alone_exceeds_the_limit_is_not_kept() -> None:
    segment = Segment.of([{"objectID": "a"}], Schema())
    match = make_match("large", 2 * MIN_CACHE_BYTES)

    find_cache(segment).get_or_match(key_of(match), returning(match))

    assert find_cache(segment).nbytes == 0


@pytest.mark.parametrize("slots", [1, 2, 7])
def test_occurrences_up_to_a_rank_are_those_with_at_most_this_rank(slots: int) -> None:
    random = np.random.default_rng(slots)
    counted = np.where(random.random(slots) < 0.7, POSITION_MASK, 0).astype(np.int32)
    ranks = random.permutation(slots).astype(np.int64) * POSITIONS_PER_ATTRIBUTE
    groups = np.zeros(slots, np.intp)
    fields = SearchedAttributes(
        tuple(map(str, range(slots))), ranks, counted, groups, (1.0,), None, None, None, None
    )
    spots = random.integers(0, slots << SLOT_SHIFT, 40_000).astype(np.int32)

    for max_rank in [0, 3, POSITION_MASK, POSITIONS_PER_ATTRIBUTE, *random.integers(0, 9000, 20)]:
        within = fields.ranks_within(spots, max_rank)
        assert within.tolist() == (fields.rank(spots) <= max_rank).tolist()


def test_the_match_that_was_used_last_is_dropped_last() -> None:
    cache = find_cache(Segment.of([{"objectID": "a"}], Schema()))
    matches = [make_match(f"w{number}", 1) for number in range(MAX_CACHED_MATCHES)]
    for match in matches:
        cache.get_or_match(key_of(match), returning(match))

    cache.get_or_match(key_of(matches[0]), pytest.fail)
    cache.get_or_match(key_of(make_match("new", 1)), returning(make_match("new", 1)))

    cache.get_or_match(key_of(matches[0]), pytest.fail)
    again = make_match("w1", 1)
    assert cache.get_or_match(key_of(again), returning(again)) is again


EVERYTHING: dict[str, Any] = {
    "hitsPerPage": 9000, "paginationLimitedTo": 9000, "getRankingInfo": True,
    "attributesToHighlight": [],
}  # fmt: skip
FIELDS = SearchedAttributes.unrestricted()


def make_match(word: str, size: int) -> WordMatch:
    query_word = QueryWord(word, (TermVariant((word,)),))
    return WordMatch(query_word, (), np.zeros(size, np.int8))


def returning(match: WordMatch) -> Callable[[], WordMatch]:
    return lambda: match


def key_of(match: WordMatch) -> tuple[SearchedAttributes, frozenset[str], QueryWord]:
    return FIELDS, frozenset(), match.word


def make_index(settings: dict[str, Any], records: dict[str, dict[str, Any]]) -> Index:
    index = Index(settings)
    index.put([*records.values()])
    return index


def search(
    index: Index, params: dict[str, Any], records: dict[str, dict[str, Any]]
) -> SearchResult:
    def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
        return [records[name] for name in ids]

    return index.search(params, fetch)
