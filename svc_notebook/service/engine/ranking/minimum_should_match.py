"""Minimum should match for queries of optional words: lower-ranked hits need more words.

The first thousand hits need one word. Each further thousand needs one word more or, for queries of
ten or more words, a fifth of the words more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.ranking.order import Order
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch

MIN_QUERY_WORDS = 4
"""Queries with fewer words are not changed."""
MIN_STAGE_HITS = 1000
MANY_WORDS = 10
MAX_STAGES = 5

Rank = Callable[[Sequence[SegmentMatch], int], Order]


def narrow(query: Query, matches: list[SegmentMatch], rank: Rank) -> list[SegmentMatch]:
    """Return the matches without the records that have too few words for their rank."""
    words = len(query.words)
    if words < MIN_QUERY_WORDS or not all(word.optional for word in query.words):
        return matches
    if sum(match.count for match in matches) <= MIN_STAGE_HITS:
        return matches
    stages = range(1, words + 1, words // MAX_STAGES if words >= MANY_WORDS else 1)
    ahead = _Ahead.of(matches, rank, MIN_STAGE_HITS * len(stages))
    kept = [np.zeros_like(match.rows) for match in matches]
    for needed in stages:
        if not _keep_stage(ahead, needed, kept):
            break
    return [replace(match, rows=rows) for match, rows in zip(matches, kept, strict=True)]


@dataclass(frozen=True, eq=False)
class _Ahead:
    """The best of all matches, ranked once, with the number of words of each.

    They usually include the best of the records with more words, which keep their order.
    """

    matches: Sequence[SegmentMatch]
    rank: Rank
    order: Order
    words: Array
    whole: bool

    @classmethod
    def of(cls, matches: Sequence[SegmentMatch], rank: Rank, most: int) -> _Ahead:
        """Rank all matches."""
        order = rank(matches, most)
        words = np.zeros(len(order), np.int16)
        for match in matches:
            here = _places_of(match, order)
            words[here] = match.word_count(order.rows[here])
        return cls(matches, rank, order, words, len(order) < most)

    def best(self, needed: int, wanted: int) -> Order:
        """Return the best records with at least `needed` words."""
        places = np.flatnonzero(self.words >= needed)
        if self.whole or len(places) >= wanted:
            return self.order.take(places[:wanted])
        return self.rank(_with_words(self.matches, needed), wanted)


def _keep_stage(ahead: _Ahead, needed: int, kept: Sequence[Array]) -> bool:
    """Keep the next thousand hits after those already kept; return whether there may be more."""
    pairs = list(zip(ahead.matches, kept, strict=True))
    before = sum(
        int(np.count_nonzero(match.word_count(np.flatnonzero(rows)) >= needed))
        for match, rows in pairs
    )
    order = ahead.best(needed, before + MIN_STAGE_HITS)
    for match, rows in pairs:
        rows[order.rows[_places_of(match, order)]] = True
    return len(order) == before + MIN_STAGE_HITS


def _places_of(match: SegmentMatch, order: Order) -> Array:
    """Return the positions of a match's records in an order."""
    numbers = [n for n, segment in enumerate(order.segments) if segment is match.segment]
    return np.flatnonzero(np.isin(order.numbers, numbers))


def _with_words(matches: Sequence[SegmentMatch], needed: int) -> list[SegmentMatch]:
    fewer = []
    for match in matches:
        rows = np.flatnonzero(match.rows)
        enough = np.zeros_like(match.rows)
        enough[rows[match.word_count(rows) >= needed]] = True
        fewer.append(replace(match, rows=enough))
    return fewer
