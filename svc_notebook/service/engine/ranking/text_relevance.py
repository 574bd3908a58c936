"""Textual relevance: one score from term frequency, rarity and attribute lengths (BM25F).

Each occurrence of a query word counts by the weight of its attribute, less in a longer attribute
than in a shorter one. The sum saturates, is multiplied by the rarity of the word, and added up over
the words of the query. All sums of occurrences are exact, so that equal records have equal scores
in every segment.

The statistics of words are sums of integers over the live records of all segments, whatever the
filters of a search: they are the same however records are divided into segments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

    find_parts: Callable[[], Sequence[SegmentTerms]]

    @cached_property
    def parts(self) -> Sequence[SegmentTerms]:
        """The words in each segment."""
        return self.find_parts()

    @cached_property
    def rarities(self) -> Sequence[float]:
        """The inverse document frequency of each word, in the form that BM25 has in Lucene."""
        words = len(self.parts[0].typos) if self.parts else 0
        counts = map(self._count, range(words))
        records = sum(int(np.count_nonzero(part.alive)) for part in self.parts)
        return [math.log(1 + (records - count + 0.5) / (count + 0.5)) for count in counts]

    @cached_property
    def mean_lengths(self) -> Array:
        """The mean words of each group of attributes, over the records that have any."""
        lengths = (
            part.segment.length_totals(part.fields.groups, len(part.fields.weights), part.alive)
            for part in self.parts
        )
        total = reduce(LengthTotals.plus, lengths)
        return np.asarray(np.maximum(total.words, 1) / np.maximum(total.records, 1))

    def _count(self, word: int) -> int:
        """Count the records with the word; those with more typos only if there are no others."""
        for typos in range(NOT_FOUND_TYPOS):
            count = sum(
                int(np.count_nonzero((part.typos[word] == typos) & part.alive))
                for part in self.parts
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
