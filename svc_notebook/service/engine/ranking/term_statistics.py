"""Statistics of a query's words over all live records: how rare each is, and mean lengths.

All are sums of integers over the live records of all segments, whatever the filters of a search.
The same records have the same statistics, however they are divided into segments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.attribute_lengths import LengthTotals
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes

NOT_FOUND_TYPOS = 99


@dataclass(frozen=True, eq=False)
class SegmentTerms:
    """The words of a query in one segment: per word, the fewest typos of each record.

    `alive` are the live records that the caller's key may see.
    """

    segment: Segment
    alive: Array
    fields: SearchedAttributes
    typos: Sequence[Array]

    def count(self, word: int, typos: int) -> int:
        """Count the live records that contain a word with exactly this number of typos."""
        return int(np.count_nonzero((self.typos[word] == typos) & self.alive))

    @cached_property
    def lengths(self) -> LengthTotals:
        """The totals of attribute lengths over the live records."""
        fields = self.fields
        return self.segment.length_totals(fields.groups, len(fields.weights), self.alive)


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """Statistics over all segments, computed only if a search needs them."""

    find_parts: Callable[[], Sequence[SegmentTerms]]

    @cached_property
    def parts(self) -> Sequence[SegmentTerms]:
        """The words in each segment."""
        return self.find_parts()

    @cached_property
    def records(self) -> int:
        """The number of live records."""
        return sum(int(np.count_nonzero(part.alive)) for part in self.parts)

    @cached_property
    def rarities(self) -> Sequence[float]:
        """The inverse document frequency of each word, in the form that BM25 has in Lucene."""
        words = len(self.parts[0].typos) if self.parts else 0
        found = (self._count(word) for word in range(words))
        return [math.log(1 + (self.records - count + 0.5) / (count + 0.5)) for count in found]

    @cached_property
    def mean_lengths(self) -> Array:
        """The mean words of each group of attributes, over the records that have any."""
        total = reduce(LengthTotals.plus, (part.lengths for part in self.parts))
        return np.asarray(np.maximum(total.words, 1) / np.maximum(total.records, 1))

    def _count(self, word: int) -> int:
        """Count the records with the word; those with more typos only if there are no others."""
        for typos in range(NOT_FOUND_TYPOS):
            count = sum(part.count(word, typos) for part in self.parts)
            if count or typos == MAX_COUNTED_TYPOS:
                return count
        return 0


MAX_COUNTED_TYPOS = 4
