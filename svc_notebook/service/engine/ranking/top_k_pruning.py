"""Top-k pruning: exclude rows that cannot be among the best before they are compared in full.

Where only filter scores and sorted attributes decide, the best rows are read from an order that is
sorted in advance: a search without words may match a whole segment. Where words decide, rows are
excluded by the positions of their words before distances are measured. No distance is shorter than
that of adjacent words: if enough rows have adjacent words with one word at a given attribute rank
or better, rows without any word at that rank come after them and need not be measured. Rows with
words at the first positions of the best attributes are found without reading other occurrences;
where these are too few, a rank is estimated that enough rows reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from svc_notebook.service.engine.arrays import Array, make_mask
from svc_notebook.service.engine.index.postings import LEADING_POSITIONS
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.ranking.occurrences import Chunk
from svc_notebook.service.engine.ranking.text_relevance import MAX_TOTAL_DISTANCE

# The numbers of positions at which enough of the best rows are sought.
TRIED_POSITIONS = (1, 2, 4, LEADING_POSITIONS)
# So many rows with all words at the first positions have one with adjacent words.
ADJACENT_FACTOR = 8

NO_ROWS = np.zeros(0, np.int32)
# Lower than any score.
NO_SCORE = -1
# With fewer matches than this requires, comparing all rows is as fast as reading the order.
DENSITY_FACTOR = 4
# Measuring fewer rows is as fast as pruning.
MIN_CANDIDATES = 10_000
# The same where rows are found by leading occurrences.
MIN_LEADING_CANDIDATES = 1_000
# Occurrences tried per wanted row, in two attempts.
SAMPLED_OCCURRENCES = (256, 4096)
SAMPLE_CANDIDATES = 4096
# Pruning pays off if it reduces the rows at least by this factor.
MIN_REDUCTION_FACTOR = 4


def is_dense(mask: Array, hits_needed: int) -> bool:
    """Return whether enough rows match to find the best near the start of an order."""
    count = np.count_nonzero(mask)
    return bool(hits_needed * len(mask) * DENSITY_FACTOR < count * count)


def find_best_presorted(order: Array, mask: Array, scores: Array | None, hits_needed: int) -> Array:
    """Return the best rows of a mask, ascending, by score, then by position in the order."""
    parts = []
    for rows in _equal_scores(mask, scores):
        parts.append(_read_presorted(order, rows, hits_needed))
        hits_needed -= len(parts[-1])
        if not hits_needed:
            break
    return np.sort(np.concatenate([NO_ROWS, *parts]))


def _equal_scores(mask: Array, scores: Array | None) -> Iterator[Array]:
    """Split a mask into rows with equal scores, highest score first."""
    if scores is None:
        yield mask
        return
    left = np.where(mask, scores, NO_SCORE)
    while (highest := left.max(initial=NO_SCORE)) > NO_SCORE:
        rows = left == highest
        yield rows
        left[rows] = NO_SCORE


def _read_presorted(order: Array, mask: Array, hits_needed: int) -> Array:
    """Read an order in growing blocks until enough rows of a mask are found."""
    parts: list[Array] = []
    start, size = 0, hits_needed
    while hits_needed and start < len(order):
        block = order[start : start + size]
        parts.append(block[mask[block]][:hits_needed])
        hits_needed -= len(parts[-1])
        start, size = start + size, size * 2
    return np.concatenate([NO_ROWS, *parts])


def prune_by_positions(
    candidates: Candidates, criteria: Sequence[object], tied: Array | None, left: int
) -> tuple[Array, Candidates] | None:
    """Return the rows that may be among the best `left` of those tied, and all untied rows.

    The result are the places of the rows and the candidates, with distances measured as far as
    needed; None means that nothing is pruned. `criteria` are those that break the ties. If `tied`
    is None, all rows are tied, and the places are not needed: they are empty.
    """
    tied_count = candidates.count if tied is None else int(np.count_nonzero(tied))
    if tied_count < MIN_LEADING_CANDIDATES or not _can_prune(candidates, criteria):
        return None
    if ranks_leading(candidates, criteria):
        pruned = _prune_by_leading(candidates, criteria, tied, left)
        if pruned is not None:
            return pruned
    if tied_count < MIN_CANDIDATES:
        return None
    return _prune_by_sample(candidates, criteria, tied, tied_count, left)


def _can_prune(candidates: Candidates, criteria: Sequence[object]) -> bool:
    """Return whether rows without a word of a good rank come last by the first criteria.

    That is the case for attribute, and for proximity followed by attribute.
    """
    options, words = candidates.options, candidates.match.words
    if "attribute" in candidates.columns or not words:
        return False
    if criteria[0] == "attribute":
        return options.attribute_counts
    return (
        candidates.has_distances
        and not any(match.word.optional for match in words)
        and options.attribute_counts
        and options.attribute_by_distance
        and tuple(criteria[:2]) == ("proximity", "attribute")
    )


def _precede(candidates: Candidates, criteria: Sequence[object], max_rank: int) -> Array:
    """Return the mask of rows that precede all rows without a word of a rank up to `max_rank`."""
    distance = candidates.column("proximity") if criteria[0] == "proximity" else None
    rank = candidates.column("attribute")
    precede = np.zeros(candidates.count, bool) if rank is None else rank <= max_rank
    if distance is not None:
        precede &= distance == candidates.min_total_distance
    return np.asarray(precede)


def _distance_at(candidates: Candidates, position: int) -> int:
    """Return the total distance of the row at a position, from 1, in the order by proximity."""
    distance = candidates.column("proximity")
    if distance is None:
        return MAX_TOTAL_DISTANCE
    return int(np.partition(distance, position - 1)[position - 1])


def _prune_by_leading(
    candidates: Candidates, criteria: Sequence[object], tied: Array | None, left: int
) -> tuple[Array, Candidates] | None:
    """Prune rows if enough have their words at the first positions of the best attributes."""
    rows = candidates.mask
    if rows is None or tied is not None:
        numbers = candidates.rows if tied is None else candidates.rows[tied]
        rows = make_mask(numbers, len(candidates.match.rows))
    near = criteria[0] == "proximity"
    best = (find_adjacent if near else find_leading)(candidates, rows, left)
    if best is None:
        return None
    if tied is None:
        return NO_ROWS, best
    kept = np.flatnonzero(~tied | make_mask(best.rows, len(rows))[candidates.rows])
    return kept, candidates.part(candidates.rows[kept])


def _prune_by_sample(
    candidates: Candidates,
    criteria: Sequence[object],
    tied: Array | None,
    tied_count: int,
    left: int,
) -> tuple[Array, Candidates] | None:
    """Prune rows by a rank that enough rows reach, which is estimated from some occurrences."""
    farthest = MAX_TOTAL_DISTANCE
    for wanted_occurrences in SAMPLED_OCCURRENCES:
        max_rank = _estimate_rank(candidates, wanted_occurrences * left)
        reached = _rows_reaching(candidates, max_rank)
        count, kept, rows = _choose_rows(candidates, reached, tied)
        if count * MIN_REDUCTION_FACTOR > tied_count:
            break
        if count >= left:
            pruned = candidates.part(rows, farthest)
            precedes = _precede(pruned, criteria, max_rank)
            if np.count_nonzero(precedes if tied is None else precedes & tied[kept]) >= left:
                return kept, pruned
            if criteria[0] == "proximity" and tied_count == candidates.count:
                farthest = _distance_at(pruned, left)
        if farthest == candidates.min_total_distance:
            break
    if farthest == MAX_TOTAL_DISTANCE:
        return None
    if tied is None:
        every = candidates.rows if candidates.mask is None else candidates.mask
        return NO_ROWS, candidates.part(every, farthest)
    kept = np.flatnonzero(tied)
    return kept, candidates.part(candidates.rows[kept], farthest)


def _choose_rows(
    candidates: Candidates, reached: Array, tied: Array | None
) -> tuple[int, Array, Array]:
    """Return the number of tied rows in a mask, and the places and rows of these and the untied."""
    if tied is None:
        if candidates.mask is None:
            rows = candidates.rows[reached[candidates.rows]]
        else:
            rows = np.flatnonzero(reached & candidates.mask)
        return len(rows), NO_ROWS, rows
    chosen = tied & reached[candidates.rows]
    kept = np.flatnonzero(chosen | ~tied)
    return int(np.count_nonzero(chosen)), kept, candidates.rows[kept]


def _estimate_rank(candidates: Candidates, wanted_occurrences: int) -> int:
    """Estimate from a sample the rank that about `wanted_occurrences` occurrences reach."""
    chunks, fields = _chunks_of(candidates), candidates.match.fields
    step = max(1, sum(map(len, chunks)) // SAMPLE_CANDIDATES)
    ranks = np.concatenate([fields.rank(chunk.spots()[::step]) for chunk in chunks])
    position = min(wanted_occurrences // step, len(ranks) - 1)
    return int(np.partition(ranks, position)[position])


def _rows_reaching(candidates: Candidates, max_rank: int) -> Array:
    """Return the mask of the rows with any word, in any variant, at a rank up to `max_rank`."""
    reached = np.zeros(len(candidates.match.rows), bool)
    for chunk in _chunks_of(candidates):
        near = np.flatnonzero(candidates.match.fields.ranks_within(chunk.spots(), max_rank))
        reached[chunk.rows_at(near)] = True
    return reached


def _chunks_of(candidates: Candidates) -> list[Chunk]:
    return [
        chunk for word in candidates.match.words for chunk in candidates.occurrences.chunks(word)
    ]


def ranks_leading(candidates: Candidates, criteria: Sequence[object]) -> bool:
    """Return whether rows with words at the first positions of an attribute come first."""
    by_distance = candidates.options.attribute_by_distance and candidates.has_distances
    if criteria[0] == "attribute" and by_distance:
        return False
    return bool(candidates.match.fields.best_slots)


def find_leading(candidates: Candidates, rows: Array, count: int) -> Candidates | None:
    """Return the candidates of a mask with a word at the first positions of an attribute.

    They are the best by attribute, and only the best attributes are read. The result is None if
    there are fewer than `count`.
    """
    by_position: list[list[Array]] = []
    has = np.zeros(len(rows), bool)
    for position in range(LEADING_POSITIONS):
        by_position.append(_rows_leading_at(candidates, position))
        for rows_here in by_position[-1]:
            has[rows_here] = True
        if position + 1 in TRIED_POSITIONS:
            reached = np.flatnonzero(has & rows)
            if len(reached) >= count:
                best = candidates.part(reached)
                first = _first_positions(by_position, len(rows), reached)
                best.columns["attribute"] = _first_rank(candidates) + first.astype(np.int64)
                return best
    return None


def find_adjacent(candidates: Candidates, rows: Array, count: int) -> Candidates | None:
    """Return the candidates of a mask with adjacent words at the first positions of attributes.

    They are the best by proximity, then attribute. Adjacent words are in the same attribute, so
    that only occurrences at the first positions of the best attributes are read. The result is None
    if there are fewer than `count`.
    """
    reach = _max_reach(candidates)
    for positions in TRIED_POSITIONS:
        max_position = positions - 1 - reach
        enough = count * ADJACENT_FACTOR if positions < LEADING_POSITIONS else count
        if max_position < 0:
            continue
        leading = _with_leading(candidates, rows, positions)
        if leading.count < enough:
            continue
        distance, rank = leading.nearest()
        near = distance == candidates.min_total_distance
        near &= rank <= _first_rank(candidates) + max_position
        if np.count_nonzero(near) >= count:
            best = candidates.part(leading.rows[near])
            best.columns = {"proximity": distance[near], "attribute": rank[near]}
            return best
    return None


def _rows_leading_at(candidates: Candidates, position: int) -> list[Array]:
    """Return the rows with a word at one position of the best attributes, by chunk."""
    slots = candidates.match.fields.best_slots
    by_chunk = []
    for match in candidates.match.words:
        typos = candidates.occurrences.typos_to_compare(match)
        for chunk in candidates.occurrences.chunks(match):
            rows = chunk.leading(slots, range(position, position + 1)).rows
            by_chunk.append(rows if typos is None else rows[typos[rows] == chunk.typos])
    return by_chunk


def _with_leading(candidates: Candidates, rows: Array, positions: int) -> Candidates:
    """Return the candidates of a mask with all words at the first positions, and only these."""
    slots = candidates.match.fields.best_slots
    words = [word.leading(slots, range(positions)) for word in candidates.match.words]
    reached = rows
    for word in words:
        has = np.zeros(len(rows), bool)
        for chunk in candidates.occurrences.chunks(word):
            has[chunk.rows] = True
        has &= reached
        reached = has
    match = replace(candidates.match, words=words)
    part = Candidates(match, candidates.options, None, None, np.flatnonzero(reached))
    part.occurrences.have_no_typos = candidates.occurrences.have_no_typos
    part.farthest = candidates.min_total_distance
    return part


def _first_rank(candidates: Candidates) -> int:
    """Return the rank of the first word of the best attributes."""
    fields = candidates.match.fields
    return int(fields.ranks[fields.best_slots[0]])


def _max_reach(candidates: Candidates) -> int:
    """Return the most positions between the first word and the last at the minimum distance."""
    chunks = [candidates.occurrences.chunks(word) for word in candidates.match.words]
    longer = [
        max((chunk.length for chunk in position_chunks), default=1) - 1
        for position_chunks in chunks
    ]
    return candidates.min_total_distance + sum(longer)


def _first_positions(by_position: Sequence[Sequence[Array]], records: int, rows: Array) -> Array:
    """Return the first position at which each of the rows has a word."""
    if len(by_position) == 1:
        return np.zeros(len(rows), np.uint8)
    first = np.zeros(records, np.uint8)
    for position, chunks in reversed([*enumerate(by_position)]):
        for rows_here in chunks:
            first[rows_here] = position
    return first[rows]
