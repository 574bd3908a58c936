"""Attribute lengths: the number of words of each attribute of each record, from its postings.

They are counted when a segment is made, and stored with it: counting those of a million records
takes most of a second. A file that was written without them is counted when they are first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import SLOT_SHIFT, Postings
from svc_notebook.service.engine.text.synonyms import (
    FIRST_MARKER,
    LAST_MARKER,
    ONLY_MARKER,
)

MAX_LENGTH_WORDS = np.iinfo(np.uint16).max
# Occurrences counted at one time.
COUNTED_OCCURRENCES = 1 << 22
# Lengths of segments with more searched attributes are not stored: most of them would be 0.
MAX_STORED_ATTRIBUTES = 32


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
    """Return the totals of a table of lengths with a row for each attribute."""
    records = np.count_nonzero(lengths, axis=1)
    return LengthTotals(lengths.sum(axis=1, dtype=np.int64), records, int(lengths.max(initial=0)))


def count_words(postings: Postings, slots: int) -> Array:
    """Count the words of each attribute in each record: a table with a row for each attribute.

    It is empty for segments with many attributes.
    """
    if slots > MAX_STORED_ATTRIBUTES:
        return no_word_counts()
    return measure_lengths(postings, np.arange(slots), slots)


def no_word_counts() -> Array:
    """Return the table of a segment whose words are counted when they are first needed."""
    return np.zeros((0, 0), np.uint16)


def merge_word_counts(
    many: Sequence[Array], moved: Sequence[Array], slots: int, records: int
) -> Array:
    """Merge tables; `moved[n]` maps the records of the nth to new ones, -1 for deleted ones."""
    if any(len(counts) != slots for counts in many):
        return no_word_counts()
    merged = np.zeros((slots, records), np.uint16)
    for counts, rows in zip(many, moved, strict=True):
        kept = rows >= 0
        for slot in range(slots):
            merged[slot, rows[kept]] = counts[slot, kept]
    return merged


def group_lengths(word_counts: Array, groups: Array, count: int) -> Array:
    """Add up the words of each record: a table with a row for each of `count` groups of attributes.

    `groups` is the group number of each attribute.
    """
    slots, records = word_counts.shape
    if slots == count and np.array_equal(groups, np.arange(count)):
        return word_counts
    total = np.zeros((count, records), np.uint32)
    for slot, group in enumerate(groups.tolist()):
        total[group] += word_counts[slot]
    return np.minimum(total, MAX_LENGTH_WORDS).astype(np.uint16)


def measure_lengths(postings: Postings, groups: Array, count: int) -> Array:
    """Count the words of each record: a table with a row for each of `count` groups of attributes.

    `groups` is the group number of each attribute. The marked words of placeholders are not
    counted: they are at the positions of other words.
    """
    records = len(postings.first_places) - 1
    total = np.zeros(records * count, np.int64)
    for start, stop in _unmarked_spans(postings):
        for begin in range(start, stop, COUNTED_OCCURRENCES):
            span = slice(begin, min(begin + COUNTED_OCCURRENCES, stop))
            cells = groups[postings.spots[span] >> SLOT_SHIFT] * records
            cells += postings.rows[span]
            total += np.bincount(cells, minlength=len(total))
    return np.minimum(total, MAX_LENGTH_WORDS).astype(np.uint16).reshape(count, records)


def _unmarked_spans(postings: Postings) -> list[tuple[int, int]]:
    """Return the ranges of occurrences of words without markers."""
    names, spans, start = postings.vocabulary.names, [], 0
    for low, high in sorted(map(names.prefix_range, (FIRST_MARKER, LAST_MARKER, ONLY_MARKER))):
        spans.append((start, int(postings.starts[low])))
        start = int(postings.starts[high])
    return [*spans, (start, len(postings.rows))]
