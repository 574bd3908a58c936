"""The order of the first hits by the scores of a reranker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.order import Order

# Returns the scores of records; raises `LocalServiceFailed`.
ScoreRecords = Callable[[Sequence[Mapping[str, Any]]], Array]


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
