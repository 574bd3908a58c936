"""Attribute lengths: the number of words of each attribute of each record, from its postings.

They are computed from the postings, not stored: the files of every version have what is needed,
and lengths cannot disagree with the words that are found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import SLOT_SHIFT, Postings
from svc_notebook.service.engine.text.placeholders import (
    FIRST_MARKER,
    LAST_MARKER,
    ONLY_MARKER,
)

MAX_LENGTH_WORDS = np.iinfo(np.uint16).max
COUNTED_OCCURRENCES = 1 << 22
"""Occurrences counted at one time."""


class LengthTotals(NamedTuple):
    """For each attribute, the words in all records, and the number of records that have any.

    `highest` is the length of the longest attribute, also of records that were subtracted.
    """

    words: Array
    records: Array
    highest: int

    def plus(self, other: LengthTotals) -> LengthTotals:
        """Add the totals of other records."""
        highest = max(self.highest, other.highest)
        return LengthTotals(self.words + other.words, self.records + other.records, highest)

    def minus(self, other: LengthTotals) -> LengthTotals:
        """Subtract the totals of some of the records."""
        return LengthTotals(self.words - other.words, self.records - other.records, self.highest)


def add_up(lengths: Array) -> LengthTotals:
    """Return the totals of a table of lengths with a column per attribute."""
    records = np.count_nonzero(lengths, axis=0)
    return LengthTotals(lengths.sum(axis=0, dtype=np.int64), records, int(lengths.max(initial=0)))


def measure_lengths(postings: Postings, groups: Array, count: int) -> Array:
    """Count the words of each record in each of `count` groups of attributes.

    `groups` is the group number of each attribute. The marked words of placeholders are not
    counted: they are at the positions of other words.
    """
    records = len(postings.first_places) - 1
    total = np.zeros(records * count, np.int64)
    for start, stop in _unmarked_spans(postings):
        for begin in range(start, stop, COUNTED_OCCURRENCES):
            some = slice(begin, min(begin + COUNTED_OCCURRENCES, stop))
            cells = postings.rows[some].astype(np.int64) * count
            cells += groups[postings.spots[some] >> SLOT_SHIFT]
            total += np.bincount(cells, minlength=len(total))
    return np.minimum(total, MAX_LENGTH_WORDS).astype(np.uint16).reshape(records, count)


def _unmarked_spans(postings: Postings) -> list[tuple[int, int]]:
    """Return the ranges of occurrences of words without markers."""
    names, spans, start = postings.vocabulary.names, [], 0
    for low, high in sorted(map(names.prefix_range, (FIRST_MARKER, LAST_MARKER, ONLY_MARKER))):
        spans.append((start, int(postings.starts[low])))
        start = int(postings.starts[high])
    return [*spans, (start, len(postings.rows))]
