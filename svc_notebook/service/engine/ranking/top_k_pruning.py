"""Top-k pruning: exclude rows that cannot be among the best before they are compared in full.

Where only filter scores and sorted attributes decide, the best rows are read from an order that is
sorted in advance: a search without words may match a whole segment. Where words decide, rows are
excluded by the positions of their words before distances are measured. No distance is shorter than
that of adjacent words: if enough rows have adjacent words with one word at a given attribute rank
or better, rows without any word at that rank come after them and need not be measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.ranking.proximity import MAX_TOTAL_DISTANCE
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch

NO_ROWS = np.zeros(0, np.int32)
NO_SCORE = -1
"""Lower than any score."""
DENSITY_FACTOR = 4
"""With fewer matches than this requires, comparing all rows is as fast as reading the order."""


MIN_CANDIDATES = 10_000
"""Measuring fewer rows is as fast as pruning."""
AIMS = (256, 4096)
"""Occurrences tried per wanted row, in two attempts."""
SAMPLE_CANDIDATES = 4096
MIN_REDUCTION_FACTOR = 4
"""Pruning pays off if it reduces the rows at least by this factor."""


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


def find_promising(
    candidates: Candidates, criteria: Sequence[object], tied: Array, left: int
) -> tuple[Array, Candidates] | None:
    """Return the rows that may be among the best `left` of those tied, and all untied rows.

    The result is a mask and the candidates, with distances measured as far as needed; None means
    that nothing is pruned. `criteria` are those that break the ties.
    """
    some = int(np.count_nonzero(tied))
    if some < MIN_CANDIDATES or not candidates.ranks_ahead(criteria):
        return None
    farthest = MAX_TOTAL_DISTANCE
    for aim in AIMS:
        most = _rank_at(candidates.match, aim * left)
        chosen = tied & _reach(candidates.match, most)[candidates.rows]
        count = int(np.count_nonzero(chosen))
        if count * MIN_REDUCTION_FACTOR > some:
            break
        if count >= left:
            kept = chosen | ~tied
            part = candidates.part(kept, farthest)
            if np.count_nonzero(part.leading(criteria, most) & tied[kept]) >= left:
                return kept, part
            if criteria[0] == "proximity" and some == len(tied):
                farthest = part.distance_at(left)
        if farthest == candidates.nearest_possible:
            break
    return (tied, candidates.part(tied, farthest)) if farthest < MAX_TOTAL_DISTANCE else None


def _rank_at(match: SegmentMatch, aim: int) -> int:
    """Return the rank that about `aim` occurrences reach, estimated from a sample."""
    chunks = [chunk for word in match.words for chunk in word.chunks]
    step = max(1, sum(map(len, chunks)) // SAMPLE_CANDIDATES)
    ranks = np.sort(np.concatenate([match.fields.rank(chunk.spots()[::step]) for chunk in chunks]))
    return int(ranks[min(aim // step, len(ranks) - 1)])


def _reach(match: SegmentMatch, most: int) -> Array:
    """Return the mask of the rows with any word, in any variant, at a rank up to `most`."""
    reached = np.zeros(len(match.rows), bool)
    for word in match.words:
        for chunk in word.chunks:
            near = np.flatnonzero(match.fields.ranks_within(chunk.spots(), most))
            reached[chunk.rows[near]] = True
    return reached
