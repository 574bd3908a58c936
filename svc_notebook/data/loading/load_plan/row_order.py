"""The check that a scan returns the rows of a table in the same order as an earlier scan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.loading.load_plan.row_errors import Digests, MarkedRows, Positions

# The digest of a span fits a signed 64-bit number in JSON.
DIGEST_BITS = (1 << 63) - 1


class Span(NamedTuple):
    """The positions from `first` up to, but not including, `last`."""

    first: int
    last: int


def digest_of(digests: Digests) -> int:
    """Return one number for several rows, independent of their order."""
    return int(np.add.reduce(digests, dtype=np.uint64)) & DIGEST_BITS


class RowOrder:
    """Checks one scan: every row has its position, and marked rows have their content.

    `settled` are the spans that an interrupted load sent, each with the digest of its rows.
    """

    def __init__(self, name: str, marks: MarkedRows, settled: Mapping[Span, int]) -> None:
        self._name = name
        self._marks = marks
        self._settled = sorted(settled.items())
        self._sums = dict.fromkeys(settled, 0)
        self._position = 0

    def check(self, positions: Positions, digests: Digests) -> None:
        """Check the next rows of the scan; raises `BadInput` if they are not the expected ones."""
        first = self._position
        self._position += len(positions)
        in_order = np.array_equal(positions, np.arange(first, self._position))
        if not in_order or not self._marks.agree(first, digests):
            raise BadInput(
                f"the rows of {self._name} have another order than when they were checked: the "
                "load was stopped before any of these rows was sent. Load it again; if that fails, "
                "too, load it as a DataFrame"
            )
        self._check_settled(Span(first, self._position), digests)

    def _check_settled(self, read: Span, digests: Digests) -> None:
        while self._settled and self._settled[0][0].first < read.last:
            span, expected = self._settled[0]
            low, high = max(span.first, read.first), min(span.last, read.last)
            part = digest_of(digests[low - read.first : high - read.first])
            self._sums[span] = (self._sums[span] + part) & DIGEST_BITS
            if span.last > read.last:
                return
            if self._sums[span] != expected:
                raise BadInput(
                    f"the rows of {self._name} that were sent before have changed or moved: "
                    "load it again without resume=True"
                )
            del self._settled[0]
