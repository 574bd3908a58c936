"""The order of ranked records, and that of the first ones by the scores of a reranker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.deadline import check_time
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.term_dictionary import starts_of

# Rows packed or searched at one time.
BLOCK_ROWS = 1 << 16

# Returns the scores of records; raises `LocalServiceFailed`.
ScoreRecords = Callable[[Sequence[Mapping[str, Any]]], Array]


@dataclass(frozen=True, eq=False)
class Order:
    """Rows of several segments in final order; `order[i:j]` returns objectIDs.

    `ranked` are candidates with known criteria from the ranking, usually all rows of the order.
    """

    segments: Sequence[Segment]
    numbers: Array
    rows: Array
    ranked: Mapping[Segment, Candidates] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, span: slice) -> list[str]:
        numbers, rows = self.numbers[span], self.rows[span]
        if len(self.segments) == 1:
            return self.segments[0].ids.take(rows)
        ids = np.empty(len(rows), object)
        for number in set(numbers.tolist()):
            chosen = numbers == number
            ids[chosen] = self.segments[number].ids.take(rows[chosen])
        return list(ids)

    def take(self, places: Array | slice) -> Order:
        """Return the order at some places only."""
        return Order(self.segments, self.numbers[places], self.rows[places], self.ranked)


class IdList:
    """ObjectIDs in any order; `ids[i:j]` returns a slice as a list."""

    def __init__(self, blob: Array, starts: Array) -> None:
        self._blob = blob
        self._starts = starts

    @classmethod
    def of(cls, order: Order) -> IdList:
        """Copy the objectIDs of an order."""
        lengths = np.zeros(len(order), np.int64)
        for chosen, starts, stops, _ in _portions_of(order):
            lengths[chosen] = stops - starts
        bounds = starts_of(lengths)
        blob = np.empty(int(bounds[-1]), np.uint8)
        for chosen, starts, stops, source in _portions_of(order):
            check_time()
            sizes = stops - starts
            blob[concatenate_ranges(bounds[:-1][chosen], sizes)] = source[
                concatenate_ranges(starts, sizes)
            ]
        return cls(blob, bounds.astype(np.uint32) if bounds[-1] < 2**32 else bounds)

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return int(self._blob.nbytes + self._starts.nbytes)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, span: slice) -> list[str]:
        start, stop, _ = span.indices(len(self))
        if start >= stop:
            return []
        bounds = self._starts[start : stop + 1].astype(np.int64)
        packed = self._blob[bounds[0] : bounds[-1]].tobytes()
        bounds = (bounds - bounds[0]).tolist()
        return [
            packed[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(bounds)
        ]

    def find(self, name: str) -> int:
        """Return the position of an objectID, -1 if absent."""
        for start in range(0, len(self), BLOCK_ROWS):
            check_time()
            names = self[start : start + BLOCK_ROWS]
            if name in names:
                return start + names.index(name)
        return -1


def _portions_of(order: Order) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Return portions of an order: positions, start and end offsets of their ids, and the blob."""
    for number, segment in enumerate(order.segments):
        places = np.flatnonzero(order.numbers == number)
        for start in range(0, len(places), BLOCK_ROWS):
            chosen = places[start : start + BLOCK_ROWS]
            rows = order.rows[chosen]
            starts = segment.ids.starts
            yield chosen, starts[rows], starts[rows + 1], segment.ids.blob


@dataclass
class HitReranker:
    """Orders the first `count` hits by their scores; equal ones stay in their order.

    `scores` are those of the hits by objectID, and `notes` say why there are none.
    """

    count: int = 0
    fetch: Callable[[Sequence[str]], Iterable[Mapping[str, Any] | None]] = lambda _: ()
    score: ScoreRecords | None = None
    scores: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def reach(self, span: slice) -> int:
        """Return the number of hits to rank so that those of a span can be returned."""
        return max(int(span.stop), self.count if span.start < self.count else 0)

    def order_span(self, order: Order, span: slice) -> Order:
        """Return the hits of a span."""
        count = min(self.count, len(order))
        if not count or span.start >= count:
            return order.take(span)
        if self.score is None:
            self.notes = ("reranker: start the service with --reranker",)
            return order.take(span)
        ids = order[:count]
        records = [record or {} for record in self.fetch(ids)]
        try:
            scores = self.score(records)
        except LocalServiceFailed as error:
            self.notes = (f"reranker: {error}; hits are in the order of the ranking",)
            return order.take(span)
        self.scores = dict(zip(ids, scores.tolist(), strict=True))
        best = np.argsort(-scores, kind="stable")
        return order.take(np.concatenate([best, np.arange(count, len(order))])[span])
