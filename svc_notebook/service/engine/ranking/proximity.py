"""Proximity of query words: the best choice of one occurrence for each word.

Neighbouring words of the query are compared in turn, for all records at once. The distance of
adjacent words in order is 1, with one word between them 2, and so on; in reverse order it is one
more. `MAX_DISTANCE` means "not near". Where the same tokens of a text match both words, their
distance is the minimum. Each choice has its distance and the best rank of the attributes that it
touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array

MAX_DISTANCE = 8
# A choice's value is its distance shifted by this, plus its rank: one comparison for both.
COST_SHIFT = 40
RANK_MASK = (1 << COST_SHIFT) - 1
NO_VALUE = np.iinfo(np.int64).max >> 2
# More than the total distance of the words of any query.
MAX_TOTAL_DISTANCE = 1 << 16


@dataclass(frozen=True, eq=False)
class WordPositions:
    """Occurrences of one query word, ordered by place.

    `owners` are record numbers, which increase with the places; `ends` are the places of the last
    words; `spans` mark occurrences that match several query words at once.
    """

    owners: Array
    places: Array
    ends: Array
    values: Array
    spans: Array

    @classmethod
    def of(
        cls, owners: Array, places: Array, lengths: Array, ranks: Array, spans: Array
    ) -> WordPositions:
        """Sort occurrences by place."""
        if bool((places[1:] > places[:-1]).all()):
            start = places.astype(np.int64)
            return cls(owners, start, start + lengths - 1, ranks, spans)
        order = places.astype(np.int64) << 32 | np.arange(len(places))
        order.sort(kind="stable")
        order &= 0xFFFFFFFF
        start = places[order].astype(np.int64)
        ends = start + lengths[order] - 1
        return cls(owners[order], start, ends, ranks[order], spans[order])

    @cached_property
    def firsts(self) -> Array:
        """The first occurrence of each record that has any."""
        opens = np.ones(len(self.owners), bool)
        np.not_equal(self.owners[1:], self.owners[:-1], out=opens[1:])
        return np.flatnonzero(opens)

    def take(self, kept: Array) -> WordPositions:
        """Return the occurrences of a mask."""
        return WordPositions(*(column[kept] for column in self.columns()))

    def columns(self) -> Sequence[Array]:
        """Return all columns."""
        return self.owners, self.places, self.ends, self.values, self.spans


def find_nearest(
    words: Sequence[WordPositions],
    records: int,
    min_distance: int,
    farthest: int = MAX_TOTAL_DISTANCE,
) -> tuple[Array, Array]:
    """Return the smallest total distance of each record, and the best rank at that distance.

    Words that a record lacks are skipped; smaller distances than `min_distance` count as
    `min_distance`. Records with all words are dropped once their total must exceed `farthest`:
    their result is then some number above it, and their rank is meaningless.
    """
    state, rest = words[0], list(words[1:])
    while rest:
        word, *rest = rest
        allowed = farthest - len(rest) * min_distance
        state = _add_word(state, word, records, min_distance, allowed)
        if rest and farthest < MAX_TOTAL_DISTANCE:
            possible = _lowest_values(state, records) >> COST_SHIFT <= allowed
            state, *rest = (
                positions.take(possible[positions.owners]) for positions in (state, *rest)
            )
    value = _lowest_values(state, records)
    return value >> COST_SHIFT, value & RANK_MASK


def _add_word(
    before: WordPositions, word: WordPositions, records: int, min_distance: int, allowed: int
) -> WordPositions:
    reached = _value_at_each(before, word, _lowest_values(before, records), min_distance, allowed)
    if len(before.firsts) < records:
        first = ~_has_positions(before, records)[word.owners]
        reached = np.where(first, word.values, reached)
    state = replace(word, values=reached)
    if len(word.firsts) == records:
        return state
    remaining = ~_has_positions(word, records)[before.owners]
    return _merge(state, before.take(remaining)) if remaining.any() else state


def _value_at_each(
    before: WordPositions, word: WordPositions, nearest: Array, min_distance: int, allowed: int
) -> Array:
    """Return the best value at each occurrence of the next word, or one above what is allowed."""
    floor = nearest[word.owners]
    best = floor + (MAX_DISTANCE << COST_SHIFT)
    if allowed < MAX_TOTAL_DISTANCE - MAX_DISTANCE:
        best = np.minimum(best, (allowed + 1) << COST_SHIFT | RANK_MASK)
    start = np.searchsorted(before.places, word.places)
    max_length = int((before.ends - before.places).max(initial=0))
    max_length = max(max_length, int((word.ends - word.places).max(initial=0)))
    # Try occurrences at increasing distance while one may still be better than the best.
    for step, at in ((-1, start - 1), (1, start)):
        active = np.arange(len(at))
        while True:
            inside = (at >= 0) & (at < len(before.places))
            if not inside.all():
                active, at = active[inside], at[inside]
            gap = np.abs(word.places[active] - before.places[at]) - max_length
            possible = floor[active] + (np.maximum(gap, min_distance) << COST_SHIFT) < best[active]
            active, at = active[possible], at[possible]
            if not len(active):
                break
            distance = _distance(before, word, at, active)
            value = before.values[at] + (np.maximum(distance, min_distance) << COST_SHIFT)
            # An occurrence that is not near may belong to another record.
            best[active] = np.where(
                distance < MAX_DISTANCE, np.minimum(best[active], value), best[active]
            )
            at = at + step
    rank = np.minimum(best & RANK_MASK, word.values & RANK_MASK)
    reached: Array = (best & ~np.int64(RANK_MASK)) | rank
    return reached


def _distance(before: WordPositions, word: WordPositions, at: Array, active: Array) -> Array:
    """Return the distances of pairs; overlapping occurrences are not near each other."""
    forwards = word.places[active] - before.ends[at]
    backwards = before.places[at] - word.ends[active]
    distances = np.where(
        forwards > 0, forwards, np.where(backwards > 0, backwards + 1, MAX_DISTANCE)
    )
    spans = word.spans[active]
    if not spans.any():
        return distances
    same = (spans > 0) & (spans == before.spans[at]) & (word.places[active] == before.places[at])
    return np.where(same, 1, distances)


def _lowest_values(state: WordPositions, records: int) -> Array:
    """Return each record's lowest value, `NO_VALUE` for records without occurrences."""
    first = state.firsts
    if len(first) == records > 0:
        return np.asarray(np.minimum.reduceat(state.values, first))
    min_distance = np.full(records, NO_VALUE, np.int64)
    if len(first):
        min_distance[state.owners[first]] = np.minimum.reduceat(state.values, first)
    return min_distance


def _has_positions(state: WordPositions, records: int) -> Array:
    has_positions = np.zeros(records, bool)
    has_positions[state.owners] = True
    return has_positions


def _merge(first: WordPositions, other: WordPositions) -> WordPositions:
    order = np.argsort(np.concatenate([first.places, other.places]), kind="stable")
    return WordPositions(
        *(
            np.concatenate(pair)[order]
            for pair in zip(first.columns(), other.columns(), strict=True)
        )
    )
