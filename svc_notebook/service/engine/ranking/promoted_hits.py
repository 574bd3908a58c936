"""Promoted hits, which have fixed positions, and hidden hits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.search_plan import SearchPlan


@dataclass(frozen=True)
class Pin:
    """Records promoted to consecutive positions; with `filtered` they must pass the filters."""

    ids: tuple[str, ...]
    position: int
    filtered: bool = False


@dataclass(frozen=True)
class Pins:
    """Promoted and hidden hits of the rules; the first promotion of a record counts.

    `within` are filters that a promoted hit must pass in every case.
    """

    promoted: tuple[Pin, ...] = ()
    hidden: frozenset[str] = frozenset()
    within: Mapping[str, Any] = field(default_factory=dict)


NO_PINS = Pins()
# Higher than the length of any result list.
MAX_POSITION = 2**40


def without_hidden(readers: Sequence[SegmentReader], pins: Pins) -> Sequence[SegmentReader]:
    """Return the readers without hidden records."""
    return [reader.without(sorted(pins.hidden)) for reader in readers] if pins.hidden else readers


@dataclass(frozen=True, eq=False)
class Pinned:
    """The existing promoted records and their positions."""

    order: Order
    positions: Array

    @cached_property
    def ids(self) -> frozenset[str]:
        """The objectIDs of the promoted records."""
        return frozenset(self.order[:])

    def rows(self, segment: Segment) -> Array:
        """Return the promoted rows of a segment."""
        number = next((n for n, other in enumerate(self.order.segments) if other is segment), -1)
        pinned_rows: Array = self.order.rows[self.order.numbers == number]
        return pinned_rows

    def set_promoted(
        self, matches: Sequence[SegmentMatch], *, included: bool
    ) -> Sequence[SegmentMatch]:
        """Return the matches with all or without any promoted records."""
        if not len(self.positions):
            return matches
        return [_with_rows(match, self.rows(match.segment), included) for match in matches]

    def place(self, others: int, page: slice) -> tuple[Pinned, slice]:
        """Return them without gaps after the last of the `others` hits.

        Also return the slice of the other hits that fits on a page.
        """
        if not len(self.positions):
            return self, page
        positions = np.minimum(self.positions, others + np.arange(len(self.positions)))
        before_start, before_stop = np.searchsorted(positions, [page.start, page.stop]).tolist()
        span = slice(page.start - before_start, page.stop - before_stop)
        return Pinned(self.order, positions), span

    def insert(self, others: Order, page: slice) -> Order:
        """Return the page: the other hits with the promoted hits inserted."""
        if not len(self.positions):
            return others
        here = (self.positions >= page.start) & (self.positions < page.stop)
        if not here.any():
            return others
        promoted = np.zeros(len(others) + int(np.count_nonzero(here)), bool)
        promoted[self.positions[here] - page.start] = True
        shift = len(others.segments)
        numbers = np.empty(len(promoted), np.int16)
        rows = np.empty(len(promoted), np.int64)
        numbers[promoted], rows[promoted] = self.order.numbers[here] + shift, self.order.rows[here]
        numbers[~promoted], rows[~promoted] = others.numbers, others.rows
        return Order([*others.segments, *self.order.segments], numbers, rows, others.ranked)


NO_PROMOTED = Pinned(Order((), np.zeros(0, np.int16), np.zeros(0, np.int64)), np.zeros(0, np.int64))


def find_pinned(plan: SearchPlan, pins: Pins) -> Pinned:
    """Find the promoted records that exist."""
    if not pins.promoted:
        return NO_PROMOTED
    records = _find_candidates(plan, pins)
    positions = _choose_positions(_wanted_positions(pins.promoted, records))
    names = sorted(positions, key=positions.__getitem__)
    return Pinned(
        Order(
            [reader.segment for reader in plan.readers],
            np.array([records[name].reader for name in names], np.int16),
            np.array([records[name].row for name in names], np.int64),
        ),
        np.array([positions[name] for name in names], np.int64),
    )


class _PromotableRecord(NamedTuple):
    """A record that may be promoted: its reader, row, group, and whether it passes the filters."""

    reader: int
    row: int
    group: int
    passes: bool


def _find_candidates(plan: SearchPlan, pins: Pins) -> dict[str, _PromotableRecord]:
    names = sorted({name for pin in pins.promoted for name in pin.ids})
    bound = any(pin.filtered for pin in pins.promoted)
    within = SearchPlan(plan.readers, EffectiveParameters(plan.options.settings, pins.within))
    candidates = {}
    for number, reader in enumerate(plan.readers):
        allowed = within.eligible(reader)
        passing = plan.eligible(reader) if bound else allowed
        groups = reader.segment.groups if plan.options.distinct else np.zeros(len(allowed))
        for name, row in zip(names, reader.segment.ids.find_many(names).tolist(), strict=True):
            if row >= 0 and allowed[row]:
                candidates[name] = _PromotableRecord(
                    number, row, int(groups[row]), bool(passing[row])
                )
    return candidates


def _wanted_positions(
    pins: Iterable[Pin], records: Mapping[str, _PromotableRecord]
) -> Iterator[tuple[str, int]]:
    """Return each record once, and one record per group, with its requested position."""
    taken: set[str | int] = set()
    for pin in pins:
        position = min(pin.position, MAX_POSITION)
        for name in pin.ids:
            record = records.get(name)
            if record is None or (pin.filtered and not record.passes):
                continue
            group_or_id = record.group or name
            if group_or_id not in taken:
                yield name, position
                position += 1
                taken.add(group_or_id)


def _choose_positions(requested: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Assign each record its position, or the next free one."""
    positions: dict[str, int] = {}
    after: dict[int, int] = {}
    for name, position in requested:
        passed = [position]
        while position in after:
            position = after[position]
            passed.append(position)
        after.update(dict.fromkeys(passed, position + 1))
        positions[name] = position
    return positions


def _with_rows(match: SegmentMatch, rows: Array, value: bool) -> SegmentMatch:
    if not len(rows):
        return match
    mask = match.rows.copy()
    mask[rows] = value
    return replace(match, rows=mask)
