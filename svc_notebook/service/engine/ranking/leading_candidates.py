"""Candidates with words at the first positions of the best attributes, found without other ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import LEADING_POSITIONS
from svc_notebook.service.engine.ranking.criteria import Candidates

# The numbers of positions at which enough of the best rows are sought.
TRIED_POSITIONS = (1, 2, 4, LEADING_POSITIONS)
# So many rows with all words at the first positions have one with adjacent words.
ADJACENT_FACTOR = 8


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
