"""Segment reader: a segment with the mask of its live records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import Segment, merge_segments


@dataclass(frozen=True, eq=False)
class SegmentReader:
    """An immutable pair of a segment and the mask of its live rows."""

    segment: Segment
    alive: Array

    @classmethod
    def of(cls, segment: Segment) -> SegmentReader:
        """Return a reader with all rows alive."""
        return cls(segment, np.ones(len(segment), bool))

    @cached_property
    def count(self) -> int:
        """The number of live records."""
        return int(np.count_nonzero(self.alive))

    def without(self, ids: Sequence[str]) -> SegmentReader:
        """Return a reader with these records deleted; their ids are in ascending order."""
        segment_ids = self.segment.ids
        if not len(segment_ids):
            return self
        # Most loads are in the order of their ids, which are then in few segments.
        first, last = (
            bisect_left(ids, segment_ids[0]),
            bisect_right(ids, segment_ids[len(segment_ids) - 1]),
        )
        rows = segment_ids.find_many(ids[first:last])
        rows = rows[rows >= 0]
        if not self.alive[rows].any():
            return self
        alive = self.alive.copy()
        alive[rows] = False
        return SegmentReader(self.segment, alive)


def merge_readers(readers: Sequence[SegmentReader]) -> SegmentReader:
    """Merge several readers into one without deleted records."""
    return SegmentReader.of(
        merge_segments([reader.segment for reader in readers], [reader.alive for reader in readers])
    )


def apply_deletions(
    merged: SegmentReader,
    readers_before: Sequence[SegmentReader],
    readers_now: Sequence[SegmentReader],
) -> SegmentReader:
    """Delete from a merged reader the records deleted from its parts since they were read."""
    deleted = sorted(
        name
        for old, new in zip(readers_before, readers_now, strict=True)
        for name in old.segment.ids.take(np.flatnonzero(old.alive & ~new.alive))
    )
    return merged.without(deleted) if deleted else merged
