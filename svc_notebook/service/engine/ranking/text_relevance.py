"""Textual relevance: one score from term frequency, rarity and attribute lengths (BM25F).

Each occurrence of a query word counts by the weight of its attribute, less in a longer attribute
than in a shorter one. The sum saturates, is multiplied by the rarity of the word, and added up over
the words of the query. All sums of occurrences are exact, so that equal records have equal scores
in every segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.ranking.occurrences import Chunk, Selection
from svc_notebook.service.engine.ranking.term_statistics import TermStatistics

SATURATION = 1.2
"""The `k1` of BM25: the weighted number of occurrences with half of a word's score."""
LENGTH_SHARE = 0.75
"""The `b` of BM25: how much the length of an attribute counts, from 0 to 1."""
INEXACT_WEIGHT = 0.5
"""The weight of an occurrence that is not the word itself, such as a longer word."""
UNIT = 1 << 20
"""Weights of occurrences are multiples of 1 / UNIT: their sums are exact in any order."""
SCORE_DIGITS = 4

OwnedOccurrences = tuple[Chunk, Array]
"""Occurrences, with the index of each one's record among the scored rows."""


def score_rows(
    statistics: TermStatistics,
    segment: Segment,
    fields: SearchedAttributes,
    rows: Array,
    words: Sequence[Sequence[OwnedOccurrences]],
) -> Array:
    """Return the scores of rows as integers, in units of the last of `SCORE_DIGITS` digits."""
    total = np.zeros(len(rows))
    lengths = segment.lengths(fields.groups, len(fields.weights))
    share = LENGTH_SHARE / statistics.mean_lengths
    weights = np.array(fields.weights) * UNIT
    for rarity, found in zip(statistics.rarities, words, strict=True):
        units = np.zeros(len(rows))
        for chunk, owners in _without_repeats(segment, found):
            groups = fields.groups_of(chunk.spots())
            norm = 1 - LENGTH_SHARE + share[groups] * lengths[rows[owners], groups]
            weight = weights[groups] * (1 if chunk.exact else INEXACT_WEIGHT)
            units += np.bincount(owners, np.rint(weight / norm), len(rows))
        frequency = units / UNIT
        total += rarity * frequency / (SATURATION + frequency)
    return np.rint(total * 10**SCORE_DIGITS).astype(np.int64)


def read_scores(column: Array | None, count: int) -> list[float]:
    """Return the scores of a column of the criterion, which has them negative, as users see them.

    Without words there is no column, and all scores are 0.
    """
    if column is None:
        return [0.0] * count
    return [-value / 10**SCORE_DIGITS for value in column.tolist()]


def _without_repeats(
    segment: Segment, found: Sequence[OwnedOccurrences]
) -> Iterator[OwnedOccurrences]:
    """Return each occurrence once, as an exact one if it is one: variants may match the same."""
    found = sorted((pair for pair in found if len(pair[1])), key=lambda pair: pair[0].exact)
    if _are_disjoint([chunk.selection for chunk, _ in found]):
        yield from found
        return
    # The last occurrence written at a place counts; sorting them would take longer.
    last = np.empty(int(segment.postings.first_places[-1]), np.int32)
    numbered, count = [], 0
    for chunk, owners in found:
        numbers = np.arange(count, count + len(owners), dtype=np.int32)
        places = chunk.places()
        last[places] = numbers
        numbered.append((chunk, owners, places, numbers))
        count += len(owners)
    for chunk, owners, places, numbers in numbered:
        kept = np.flatnonzero(last[places] == numbers)
        yield (chunk, owners) if len(kept) == count else (chunk.within(kept), owners[kept])


def _are_disjoint(selections: Sequence[Selection]) -> bool:
    """Return whether the occurrences are ranges that do not overlap."""
    spans = [(one.start, one.stop) for one in selections if isinstance(one, slice)]
    return len(spans) == len(selections) and all(
        before[1] <= after[0] for before, after in pairwise(sorted(spans))
    )
