"""Top-k by a presorted order, where only filter scores and sorted attributes decide.

A search without words may match a whole segment. Its best rows are read from an order that is
sorted in advance instead of comparing all rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from svc_notebook.service.engine.arrays import Array

NO_ROWS = np.zeros(0, np.int32)
NO_SCORE = -1
"""Lower than any score."""
DENSITY_FACTOR = 4
"""With fewer matches than this requires, comparing all rows is as fast as reading the order."""


def is_dense(mask: Array, wanted: int) -> bool:
    """Return whether enough rows match to find the best near the start of an order."""
    count = np.count_nonzero(mask)
    return bool(wanted * len(mask) * DENSITY_FACTOR < count * count)


def find_leading(order: Array, mask: Array, scores: Array | None, wanted: int) -> Array:
    """Return the best rows of a mask, ascending, by score, then by position in the order."""
    found = []
    for tier in _tiers(mask, scores):
        found.append(_first_in(order, tier, wanted))
        wanted -= len(found[-1])
        if not wanted:
            break
    return np.sort(np.concatenate([NO_ROWS, *found]))


def _tiers(mask: Array, scores: Array | None) -> Iterator[Array]:
    """Split a mask into rows with equal scores, highest score first."""
    if scores is None:
        yield mask
        return
    left = np.where(mask, scores, NO_SCORE)
    while (best := left.max(initial=NO_SCORE)) > NO_SCORE:
        tier = left == best
        yield tier
        left[tier] = NO_SCORE


def _first_in(order: Array, mask: Array, wanted: int) -> Array:
    """Read an order in growing blocks until enough rows of a mask are found."""
    found: list[Array] = []
    start, size = 0, wanted
    while wanted and start < len(order):
        some = order[start : start + size]
        found.append(some[mask[some]][:wanted])
        wanted -= len(found[-1])
        start, size = start + size, size * 2
    return np.concatenate([NO_ROWS, *found])
