"""How many words a hit needs where none of many is needed: the further down, the more.

The first thousand hits need one word. Each further thousand needs one more, or, of ten words and
more, a fifth of them more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.match import Match
from svc_notebook.service.engine.query import Query
from svc_notebook.service.engine.ranking import Order

FEWEST = 4
"""Queries of fewer words stay as they are."""
STAGE = 1000
MANY = 10
SHARE = 5

Rank = Callable[[Sequence[Match], int], Order]


def narrow(query: Query, matches: list[Match], rank: Rank) -> list[Match]:
    """Return the matches without the records that have too few words for where they stand."""
    words = len(query.words)
    if words < FEWEST or not all(word.optional for word in query.words):
        return matches
    if sum(match.count for match in matches) <= STAGE:
        return matches
    stages = range(1, words + 1, words // SHARE if words >= MANY else 1)
    ahead = _Ahead.of(matches, rank, STAGE * len(stages))
    kept = [np.zeros_like(match.rows) for match in matches]
    for needed in stages:
        if not _keep_stage(ahead, needed, kept):
            break
    return [replace(match, rows=rows) for match, rows in zip(matches, kept, strict=True)]


@dataclass(frozen=True, eq=False)
class _Ahead:
    """The best of all that matches, ranked once, and how many words each has.

    Most often they are the best of those with more words, too, which keep their order.
    """

    matches: Sequence[Match]
    rank: Rank
    order: Order
    words: Array
    whole: bool

    @classmethod
    def of(cls, matches: Sequence[Match], rank: Rank, most: int) -> _Ahead:
        """Rank all that matches."""
        order = rank(matches, most)
        words = np.zeros(len(order), np.int16)
        for match in matches:
            here = _places_of(match, order)
            words[here] = match.word_count(order.rows[here])
        return cls(matches, rank, order, words, len(order) < most)

    def best(self, needed: int, wanted: int) -> Order:
        """Return the best of the records that have so many words."""
        places = np.flatnonzero(self.words >= needed)
        if self.whole or len(places) >= wanted:
            return self.order.take(places[:wanted])
        return self.rank(_with_words(self.matches, needed), wanted)


def _keep_stage(ahead: _Ahead, needed: int, kept: Sequence[Array]) -> bool:
    """Keep the next thousand, after those kept before; return whether there may be more."""
    pairs = list(zip(ahead.matches, kept, strict=True))
    before = sum(
        int(np.count_nonzero(match.word_count(np.flatnonzero(rows)) >= needed))
        for match, rows in pairs
    )
    order = ahead.best(needed, before + STAGE)
    for match, rows in pairs:
        rows[order.rows[_places_of(match, order)]] = True
    return len(order) == before + STAGE


def _places_of(match: Match, order: Order) -> Array:
    """Return where the records of a match stand in an order."""
    numbers = [n for n, segment in enumerate(order.segments) if segment is match.segment]
    return np.flatnonzero(np.isin(order.numbers, numbers))


def _with_words(matches: Sequence[Match], needed: int) -> list[Match]:
    fewer = []
    for match in matches:
        rows = np.flatnonzero(match.rows)
        enough = np.zeros_like(match.rows)
        enough[rows[match.word_count(rows) >= needed]] = True
        fewer.append(replace(match, rows=enough))
    return fewer
