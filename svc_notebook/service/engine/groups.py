"""Hits by group: the best few records of each value of attributeForDistinct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.match import Match
from svc_notebook.service.engine.plan import Plan
from svc_notebook.service.engine.ranking import Order

GROWTH = 4
"""How much further to look when the best records have too few groups among them."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """Records in order; those of one group follow each other, numbered from 0."""

    order: Order
    numbers: Sequence[int]


def count_groups(matches: Sequence[Match]) -> int:
    """Count the groups of what matches; a record in no group counts as one."""
    groups = np.concatenate([_groups_of(match) for match in matches] or [np.zeros(0, np.uint64)])
    return len(np.unique(groups[groups != 0])) + int(np.count_nonzero(groups == 0))


def find_leaders(plan: Plan, matches: Sequence[Match], wanted: int) -> Order:
    """Return the best record of each of the first `wanted` groups."""
    total = sum(match.count for match in matches)
    reach = min(total, wanted * GROWTH)
    while True:
        order = plan.rank(matches, reach)
        leaders = _first_of_each(_groups_in(order))
        if len(leaders) >= wanted or reach >= total:
            return order.take(leaders[:wanted])
        reach = min(total, reach * GROWTH)


def find_members(plan: Plan, matches: Sequence[Match], leaders: Order, most: int) -> Grouped:
    """Return the best `most` records of each leader's group, the leader first."""
    if most == 1:
        return Grouped(leaders, [0] * len(leaders))
    groups = _groups_in(leaders)
    inside = [
        replace(match, rows=match.rows & np.isin(match.segment.groups, groups[groups != 0]))
        for match in matches
    ]
    order = plan.rank(inside, sum(match.count for match in inside))
    return _put_together(leaders, order, most)


def only_leaders(plan: Plan, matches: Sequence[Match]) -> list[Match]:
    """Return the matches without all but the best record of each group."""
    leaders = find_leaders(plan, matches, sum(match.count for match in matches))
    kept = []
    for match in matches:
        rows = np.zeros_like(match.rows)
        for number, segment in enumerate(leaders.segments):
            if segment is match.segment:
                rows[leaders.rows[leaders.numbers == number]] = True
        kept.append(replace(match, rows=rows))
    return kept


def _put_together(leaders: Order, order: Order, most: int) -> Grouped:
    members: dict[int, list[int]] = {}
    for place, group in enumerate(_groups_in(order).tolist()):
        members.setdefault(group, []).append(place)
    segments = [*leaders.segments, *order.segments]
    numbers: list[int] = []
    rows: list[int] = []
    sequence: list[int] = []
    for place, group in enumerate(_groups_in(leaders).tolist()):
        source, shift = (order, len(leaders.segments)) if group else (leaders, 0)
        places = members[group][:most] if group else [place]
        numbers += (source.numbers[places] + shift).tolist()
        rows += source.rows[places].tolist()
        sequence += range(len(places))
    together = Order(segments, np.array(numbers, np.int16), np.array(rows, np.int64))
    return Grouped(together, sequence)


def _first_of_each(groups: Array) -> Array:
    _, first = np.unique(groups, return_index=True)
    return np.sort(np.concatenate([first[groups[first] != 0], np.flatnonzero(groups == 0)]))


def _groups_in(order: Order) -> Array:
    groups = np.zeros(len(order), np.uint64)
    for number, segment in enumerate(order.segments):
        chosen = order.numbers == number
        groups[chosen] = segment.groups[order.rows[chosen]]
    return groups


def _groups_of(match: Match) -> Array:
    return match.segment.groups[match.rows]
