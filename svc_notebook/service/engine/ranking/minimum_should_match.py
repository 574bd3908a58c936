"""Minimum should match for queries of optional words: lower-ranked hits need more words.

The first thousand hits need one word. Each further thousand hits (a step) need one more word or,
for queries of ten or more words, a fifth of the words more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.ranking.order import Order
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch

# Queries with fewer words are not changed.
MIN_QUERY_WORDS = 4
STEP_HITS = 1000
MANY_QUERY_WORDS = 10
MAX_STEPS = 5

Rank = Callable[[Sequence[SegmentMatch], int], Order]


def apply_minimum_should_match(
    query: Query, matches: list[SegmentMatch], rank: Rank
) -> list[SegmentMatch]:
    """Return the matches without the records that have too few words for their rank."""
    words = len(query.words)
    if words < MIN_QUERY_WORDS or not all(word.optional for word in query.words):
        return matches
    if sum(match.count for match in matches) <= STEP_HITS:
        return matches
    steps = range(1, words + 1, words // MAX_STEPS if words >= MANY_QUERY_WORDS else 1)
    ranked = _RankedMatches.of(matches, rank, STEP_HITS * len(steps))
    kept = [np.zeros_like(match.rows) for match in matches]
    for min_words in steps:
        if not _keep_step(ranked, min_words, kept):
            break
    return [replace(match, rows=rows) for match, rows in zip(matches, kept, strict=True)]


@dataclass(frozen=True, eq=False)
class _RankedMatches:
    """The best of all matches, ranked once, with the number of words of each.

    They usually include the best of the records with more words, which keep their order.
    """

    matches: Sequence[SegmentMatch]
    rank: Rank
    order: Order
    words: Array
    complete: bool

    @classmethod
    def of(cls, matches: Sequence[SegmentMatch], rank: Rank, hits_needed: int) -> _RankedMatches:
        """Rank all matches."""
        order = rank(matches, hits_needed)
        words = np.zeros(len(order), np.int16)
        for match in matches:
            here = _places_of(match, order)
            words[here] = match.word_count(order.rows[here])
        return cls(matches, rank, order, words, len(order) < hits_needed)

    def best(self, min_words: int, hits_needed: int) -> Order:
        """Return the best records with at least `min_words` words."""
        places = np.flatnonzero(self.words >= min_words)
        if self.complete or len(places) >= hits_needed:
            return self.order.take(places[:hits_needed])
        return self.rank(_with_min_words(self.matches, min_words), hits_needed)


def _keep_step(ranked: _RankedMatches, min_words: int, kept: Sequence[Array]) -> bool:
    """Keep the hits of the next step after those already kept; return whether there may be more."""
    pairs = list(zip(ranked.matches, kept, strict=True))
    before = sum(
        int(np.count_nonzero(match.word_count(np.flatnonzero(rows)) >= min_words))
        for match, rows in pairs
    )
    order = ranked.best(min_words, before + STEP_HITS)
    for match, rows in pairs:
        rows[order.rows[_places_of(match, order)]] = True
    return len(order) == before + STEP_HITS


def _places_of(match: SegmentMatch, order: Order) -> Array:
    """Return the positions of a match's records in an order."""
    numbers = [n for n, segment in enumerate(order.segments) if segment is match.segment]
    return np.flatnonzero(np.isin(order.numbers, numbers))


def _with_min_words(matches: Sequence[SegmentMatch], min_words: int) -> list[SegmentMatch]:
    kept = []
    for match in matches:
        rows = np.flatnonzero(match.rows)
        enough = np.zeros_like(match.rows)
        enough[rows[match.word_count(rows) >= min_words]] = True
        kept.append(replace(match, rows=enough))
    return kept
