"""Top-k pruning: exclude rows by the positions of their words before measuring distances.

No distance is shorter than that of adjacent words. If enough rows have adjacent words with one word
at a given attribute rank or better, rows without any word at that rank come after them and need not
be measured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.ranking.proximity import MAX_TOTAL_DISTANCE
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch

MIN_CANDIDATES = 10_000
"""Measuring fewer rows is as fast as pruning."""
AIMS = (256, 4096)
"""Occurrences tried per wanted row, in two attempts."""
SAMPLE_CANDIDATES = 4096
MIN_REDUCTION_FACTOR = 4
"""Pruning pays off if it reduces the rows at least by this factor."""


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
