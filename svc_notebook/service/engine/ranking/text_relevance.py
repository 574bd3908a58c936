"""Textual relevance: scores of texts (BM25F), and the proximity of query words.

A score is made from term frequency, rarity and attribute lengths. Each occurrence of a query word
counts by the weight of its attribute, less in a longer attribute than in a shorter one. The sum
saturates, is multiplied by the rarity of the word, and added up over the words of the query. All
sums of occurrences are exact, so that equal records have equal scores in every segment.

The statistics of words are sums of integers over the live records of all segments, whatever the
filters of a search: they are the same however records are divided into segments.

Proximity is the best choice of one occurrence for each word. Neighbouring words of the query are
compared in turn, for all records at once. The distance of adjacent words in order is 1, with one
word between them 2, and so on; in reverse order it is one more. `MAX_DISTANCE` means "not near".
Where the same tokens of a text match both words, their distance is the minimum. Each choice has its
distance and the best rank of the attributes that it touches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.attribute_lengths import LengthTotals
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.ranking.occurrences import NO_OCCURRENCES, Chunk, Selection

NOT_FOUND_TYPOS = 99
MAX_COUNTED_TYPOS = 4


@dataclass(frozen=True, eq=False)
class SegmentTerms:
    """The words of a query in one segment: per word, the fewest typos of each record.

    `alive` are the live records that the caller's key may see.
    """

    segment: Segment
    alive: Array
    fields: SearchedAttributes
    typos: Sequence[Array]


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """Statistics over all segments, computed only if a search needs them."""

    # Returns the words in each segment, and computes them once.
    find_parts: Callable[[], Sequence[SegmentTerms]]

    @cached_property
    def rarities(self) -> Sequence[float]:
        """The inverse document frequency of each word, in the form that BM25 has in Lucene."""
        parts = self.find_parts()
        words = len(parts[0].typos) if parts else 0
        counts = map(self._count, range(words))
        records = sum(int(np.count_nonzero(part.alive)) for part in parts)
        return [math.log(1 + (records - count + 0.5) / (count + 0.5)) for count in counts]

    @cached_property
    def mean_lengths(self) -> Array:
        """The mean words of each group of attributes, over the records that have any."""
        lengths = (
            part.segment.length_totals(part.fields.groups, len(part.fields.weights), part.alive)
            for part in self.find_parts()
        )
        total = reduce(LengthTotals.plus, lengths)
        return np.asarray(np.maximum(total.words, 1) / np.maximum(total.records, 1))

    def _count(self, word: int) -> int:
        """Count the records with the word; those with more typos only if there are no others."""
        for typos in range(NOT_FOUND_TYPOS):
            count = sum(
                int(np.count_nonzero((part.typos[word] == typos) & part.alive))
                for part in self.find_parts()
            )
            if count or typos == MAX_COUNTED_TYPOS:
                return count
        return 0


# The `k1` of BM25: the weighted number of occurrences with half of a word's score.
SATURATION_COUNT = 1.2
# The `b` of BM25: how much the length of an attribute counts, from 0 to 1.
LENGTH_SHARE = 0.75
# The weight of an occurrence that is not the word itself, such as a longer word.
INEXACT_WEIGHT = 0.1
# Weights of occurrences are multiples of 1 / WEIGHT_SCALE: their sums are exact in any order.
WEIGHT_SCALE = 1 << 20
SCORE_DIGITS = 4
NUMBER_BITS = 32
NUMBER_MASK = (1 << NUMBER_BITS) - 1
# With fewer occurrences in all for each to sort, a table of them is faster than sorting.
MIN_OCCURRENCES_PER_SORTED = 64
MAX_DISTANCE = 8
# Occurrences, with the index of each one's record among the scored rows.
OwnedOccurrences = tuple[Chunk, Array]


def score_rows(
    statistics: TermStatistics,
    segment: Segment,
    fields: SearchedAttributes,
    rows: Array,
    words: Sequence[Sequence[OwnedOccurrences]],
) -> Array:
    """Return the scores of rows as integers, in units of the last of `SCORE_DIGITS` digits."""
    lengths, totals = segment.lengths(fields.groups, len(fields.weights))
    shares = LENGTH_SHARE / statistics.mean_lengths
    group_weights = np.array(fields.weights) * WEIGHT_SCALE
    weights = _OccurrenceWeights(fields, lengths, totals.highest, group_weights, shares)
    total: Array = np.zeros(len(rows))
    for rarity, occurrences in zip(statistics.rarities, words, strict=True):
        sums: Array = np.zeros(len(rows))
        for chunk, owners in _without_repeats(segment, occurrences):
            sums += np.bincount(owners, weights.read(chunk, rows[owners]), len(rows))
        frequency = sums / WEIGHT_SCALE
        total += rarity * frequency / (SATURATION_COUNT + frequency)
    return np.asarray(np.rint(total * 10**SCORE_DIGITS).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _OccurrenceWeights:
    """The weights of occurrences by attribute and its length, in multiples of 1 / WEIGHT_SCALE.

    `shares` are how much one word of each attribute's length counts.
    """

    fields: SearchedAttributes
    lengths: Array
    highest: int
    weights: Array
    shares: Array

    def read(self, chunk: Chunk, rows: Array) -> Array:
        """Return the weights of occurrences; `rows` are their records."""
        groups: Array | int = 0
        cells = rows
        if len(self.weights) > 1:
            groups = self.fields.groups_of(chunk.spots())
            cells = groups * self.lengths.shape[1] + rows
        lengths = self.lengths.reshape(-1).take(cells)
        factor = 1 if chunk.exact else INEXACT_WEIGHT
        if len(lengths) < (self.highest + 1) * len(self.weights):
            return self._compute(groups, lengths, factor)
        # Many occurrences have few different weights: reading them from a table is faster.
        every = np.arange(self.highest + 1)
        table = self._compute(np.arange(len(self.weights))[:, np.newaxis], every, factor)
        return np.asarray(table.reshape(-1).take(groups * len(every) + lengths))

    def _compute(self, groups: Array | int, lengths: Array, factor: float) -> Array:
        norm = 1 - LENGTH_SHARE + self.shares[groups] * lengths
        return np.asarray(np.rint(self.weights[groups] * factor / norm))


def read_scores(column: Array | None, count: int) -> list[float]:
    """Return the scores of a column of the criterion, which has them negative, as users see them.

    Without words there is no column, and all scores are 0.
    """
    if column is None:
        return [0.0] * count
    return [-value / 10**SCORE_DIGITS for value in column.tolist()]


def _without_repeats(
    segment: Segment, occurrences: Sequence[OwnedOccurrences]
) -> Iterator[OwnedOccurrences]:
    """Return each occurrence once, as an exact one if it is one: variants may match the same."""
    occurrences = sorted(
        (pair for pair in occurrences if len(pair[1])), key=lambda pair: pair[0].exact
    )
    if _are_disjoint([chunk.selection for chunk, _ in occurrences]):
        yield from occurrences
        return
    numbers = np.concatenate([NO_OCCURRENCES, *(chunk.numbers() for chunk, _ in occurrences)])
    last = _last_of_each(numbers, len(segment.postings.rows))
    start = 0
    for chunk, owners in occurrences:
        kept = np.flatnonzero(last[start : start + len(owners)])
        start += len(owners)
        whole = len(kept) == len(owners)
        yield (chunk, owners) if whole else (chunk.within(kept), owners[kept])


def _last_of_each(occurrences: Array, size: int) -> Array:
    """Return the mask of the last of equal occurrences, whose numbers are below `size`.

    Sorting few of them is faster than a table of all, whose memory is new to the process.
    """
    numbers = np.arange(len(occurrences))
    if len(occurrences) > size // MIN_OCCURRENCES_PER_SORTED:
        table = np.empty(size, np.int32)
        table[occurrences] = numbers
        return np.asarray(table[occurrences] == numbers)
    keys = occurrences.astype(np.int64) << NUMBER_BITS | numbers
    keys.sort()
    ends = np.ones(len(keys), bool)
    np.not_equal(keys[1:] >> NUMBER_BITS, keys[:-1] >> NUMBER_BITS, out=ends[:-1])
    last = np.zeros(len(keys), bool)
    last[keys[ends] & NUMBER_MASK] = True
    return last


def _are_disjoint(selections: Sequence[Selection]) -> bool:
    """Return whether the occurrences are ranges that do not overlap."""
    spans = [
        (selection.start, selection.stop)
        for selection in selections
        if isinstance(selection, slice)
    ]
    return len(spans) == len(selections) and all(
        before[1] <= after[0] for before, after in pairwise(sorted(spans))
    )


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
