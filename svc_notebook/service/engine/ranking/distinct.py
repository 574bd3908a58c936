"""Distinct: the best records of each value of attributeForDistinct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.ranking.promoted_hits import Pinned
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.search_plan import SearchPlan

NO_GROUPS = np.zeros(0, np.uint64)
# Growth of the ranked window while the best records contain too few groups.
WINDOW_GROWTH = 4


@dataclass(frozen=True, eq=False)
class Grouped:
    """Records in order; those of one group are adjacent and numbered from 0."""

    order: Order
    numbers: Sequence[int]


def count_groups(matches: Sequence[SegmentMatch]) -> int:
    """Count the groups of the matching records; a record without a group counts as one."""
    ungrouped, group_arrays = 0, []
    for match in matches:
        groups, places = match.segment.grouping
        here = np.bincount(places[match.rows], minlength=len(groups))
        ungrouped += int(here[groups == 0].sum())
        group_arrays.append(groups[(here > 0) & (groups != 0)])
    joined = (
        group_arrays[0]
        if len(group_arrays) == 1
        else np.unique(np.concatenate([NO_GROUPS, *group_arrays]))
    )
    return len(joined) + ungrouped


def find_leaders(plan: SearchPlan, matches: Sequence[SegmentMatch], max_leaders: int) -> Order:
    """Return the best record of each of the first `wanted` groups."""
    total = sum(match.count for match in matches)
    window = min(total, max_leaders * WINDOW_GROWTH)
    while True:
        order = plan.rank(matches, window)
        leaders = _first_of_each(_groups_in(order))
        if len(leaders) >= max_leaders or window >= total:
            return order.take(leaders[:max_leaders])
        window = min(total, window * WINDOW_GROWTH)


def find_members(
    plan: SearchPlan, matches: Sequence[SegmentMatch], leaders: Order, max_hits: int
) -> Grouped:
    """Return the best `max_hits` records of each leader's group, the leader first."""
    if max_hits == 1:
        return Grouped(leaders, [0] * len(leaders))
    groups = _groups_in(leaders)
    inside = [
        replace(match, rows=match.rows & np.isin(match.segment.groups, groups[groups != 0]))
        for match in matches
    ]
    order = plan.rank(inside, sum(match.count for match in inside))
    return _join_groups(leaders, order, max_hits)


def without_groups(matches: Sequence[SegmentMatch], pinned: Pinned) -> Sequence[SegmentMatch]:
    """Return the matches, which have no promoted records, without others of their groups."""
    groups = _groups_in(pinned.order)
    if not groups.any():
        return matches
    leading = groups[groups != 0]
    return [
        replace(match, rows=match.rows & ~np.isin(match.segment.groups, leading))
        for match in matches
    ]


def only_leaders(
    plan: SearchPlan, matches: Sequence[SegmentMatch], pinned: Pinned
) -> Sequence[SegmentMatch]:
    """Return the matches with only the best record of each group, and promoted records."""
    others = without_groups(pinned.set_promoted(matches, included=False), pinned)
    leaders = find_leaders(plan, others, sum(match.count for match in others))
    kept = []
    for match in matches:
        rows = np.zeros_like(match.rows)
        for number, segment in enumerate(leaders.segments):
            if segment is match.segment:
                rows[leaders.rows[leaders.numbers == number]] = True
        kept.append(replace(match, rows=rows))
    return pinned.set_promoted(kept, included=True)


def _join_groups(leaders: Order, order: Order, max_hits: int) -> Grouped:
    members: dict[int, list[int]] = {}
    leading = set(_rows_in(leaders))
    groups, order_rows = _groups_in(order).tolist(), _rows_in(order)
    for position, (group, row) in enumerate(zip(groups, order_rows, strict=True)):
        if row not in leading:
            members.setdefault(group, []).append(position)
    shift = len(leaders.segments)
    numbers: list[int] = []
    rows: list[int] = []
    sequence: list[int] = []
    for position, group in enumerate(_groups_in(leaders).tolist()):
        places = members.get(group, [])[: max_hits - 1] if group else []
        numbers += [int(leaders.numbers[position]), *(order.numbers[places] + shift).tolist()]
        rows += [int(leaders.rows[position]), *order.rows[places].tolist()]
        sequence += range(len(places) + 1)
    segments = [*leaders.segments, *order.segments]
    joined = Order(segments, np.array(numbers, np.int16), np.array(rows, np.int64), order.ranked)
    return Grouped(joined, sequence)


def _rows_in(order: Order) -> list[tuple[Segment, int]]:
    """Return the segment and row at each position."""
    pairs = zip(order.numbers.tolist(), order.rows.tolist(), strict=True)
    return [(order.segments[number], row) for number, row in pairs]


def _first_of_each(groups: Array) -> Array:
    _, first = np.unique(groups, return_index=True)
    return np.sort(np.concatenate([first[groups[first] != 0], np.flatnonzero(groups == 0)]))


def _groups_in(order: Order) -> Array:
    groups = np.zeros(len(order), np.uint64)
    for number, segment in enumerate(order.segments):
        chosen = order.numbers == number
        groups[chosen] = segment.groups[order.rows[chosen]]
    return groups
