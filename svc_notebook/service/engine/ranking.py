"""The ranking: criterion after criterion, first inside each segment, then across them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.criteria import Candidates
from svc_notebook.service.engine.names import Names
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.segment import Segment
from svc_notebook.service.engine.shape import Sorted, read_sort

Step = str | Sorted


@dataclass(frozen=True, eq=False)
class Key:
    """One column of values to sort by, lower first; texts also have their names."""

    values: Array
    names: Names | None = None
    descending: bool = False

    def take(self, kept: Array) -> Key:
        """Return the key of some of the rows."""
        return Key(self.values[kept], self.names, self.descending)

    def digits(self) -> Array:
        """Return numbers that sort as the key does, within its segment."""
        return -self.values if self.descending else self.values


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best rows of one segment, and the keys that say so, in no order yet."""

    segment: Segment
    rows: Array
    keys: Sequence[Key]


def read_steps(options: Options) -> list[Step]:
    """Return the ranking of a search; `min` and `strict` put typos first."""
    steps: list[Step] = []
    for entry in options["ranking"]:
        if entry == "custom":
            steps += [read_sort(text, "customRanking") for text in options["customRanking"]]
        elif entry in CRITERIA:
            steps.append(entry)
        else:
            steps.append(read_sort(entry, "ranking"))
    if options.typo_tolerance in ("min", "strict"):
        steps = ["typo", *(step for step in steps if step != "typo")]
    if options.sorts_relevant:
        steps.sort(key=lambda step: isinstance(step, str))
    return steps


CRITERIA = ("typo", "geo", "words", "filters", "proximity", "attribute", "exact")


def rank_segment(candidates: Candidates, steps: Sequence[Step], wanted: int) -> Ranked:
    """Return the rows that can be among the best `wanted`, with their keys.

    After each criterion only the rows that may still get there go on to the next, dearer one.
    """
    keys: list[Key] = []
    tied = np.ones(len(candidates.rows), bool)
    for step in steps:
        for key in _read_keys(candidates, step, keys):
            keys.append(key)
            if len(tied) <= wanted:
                continue
            kept, tied = _narrow(key.digits(), tied, wanted)
            if not kept.all():
                keys = [key.take(kept) for key in keys]
                candidates.keep(kept)
    if len(tied) > wanted:
        kept = ~tied
        kept[np.flatnonzero(tied)[: wanted - int(np.count_nonzero(kept))]] = True
        keys = [key.take(kept) for key in keys]
        candidates.keep(kept)
    return Ranked(candidates.match.segment, candidates.rows, keys)


def _read_keys(candidates: Candidates, step: Step, before: Sequence[Key]) -> Iterator[Key]:
    if isinstance(step, Sorted):
        yield from _read_sort_keys(candidates, step)
        return
    if (column := candidates.column(step)) is not None:
        yield Key(column)


def _read_sort_keys(candidates: Candidates, step: Sorted) -> Iterator[Key]:
    key = candidates.match.segment.sort_key(step.path)
    yield Key(key.digits(candidates.rows, descending=step.descending))
    # Read only now: the first key may have dropped rows.
    rows = candidates.rows
    codes = np.zeros(len(rows), np.int32) if key.codes is None else key.codes[rows]
    yield Key(codes, key.names, step.descending)


def _narrow(digits: Array, tied: Array, wanted: int) -> tuple[Array, Array]:
    """Return which rows go on, and which of those are tied at the edge."""
    rows = np.flatnonzero(tied)
    left = wanted - (len(tied) - len(rows))
    kept = np.ones(len(tied), bool)
    if len(rows) <= left:
        return kept, tied
    values = digits[rows]
    if values.min() == values.max():
        return kept, tied
    edge = np.partition(values, left - 1)[left - 1] if left else np.min(values)
    kept[rows[values > edge]] = False
    still = tied.copy()
    still[rows[values < edge]] = False
    return kept, still[kept]


@dataclass(frozen=True, eq=False)
class Order:
    """Rows of several segments in their final order; `order[i:j]` are objectIDs."""

    segments: Sequence[Segment]
    numbers: Array
    rows: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, span: slice) -> list[str]:
        numbers, rows = self.numbers[span], self.rows[span]
        found = np.empty(len(rows), object)
        for number in np.unique(numbers).tolist():
            chosen = numbers == number
            found[chosen] = self.segments[number].ids.take(rows[chosen])
        return list(found)

    def take(self, places: Array | slice) -> Order:
        """Return the order of some of the places only."""
        return Order(self.segments, self.numbers[places], self.rows[places])


def order_all(ranked: Sequence[Ranked]) -> Order:
    """Merge what segments ranked; what is equal by every criterion is ordered by objectID."""
    segments = [one.segment for one in ranked]
    if not ranked:
        return Order(segments, np.zeros(0, np.int16), np.zeros(0, np.int64))
    numbers = np.repeat(np.arange(len(ranked), dtype=np.int16), [len(one.rows) for one in ranked])
    rows = np.concatenate([one.rows for one in ranked])
    unsorted = Order(segments, numbers, rows)
    keys = [_join_keys(column) for column in zip(*(one.keys for one in ranked), strict=True)]
    last = rows if len(ranked) == 1 else _id_ranks(unsorted)
    return unsorted.take(np.lexsort([last, *reversed(keys)]))


def _join_keys(column: Sequence[Key]) -> Array:
    """Number texts anew, so that they compare across segments."""
    if len(column) == 1 or not any(key.names for key in column):
        return np.concatenate([key.digits() for key in column])
    texts = [text for key in column for text in _read_codes(key)]
    place = {text: number for number, text in enumerate(sorted(set(texts)))}
    digits = np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))
    return -digits if column[0].descending else digits


def _read_codes(key: Key) -> list[str]:
    if key.names is None:
        return [""] * len(key.values)
    texts = np.full(len(key.values), "", object)
    texts[key.values > 0] = key.names.take(key.values[key.values > 0] - 1)
    return list(texts)


def _id_ranks(order: Order) -> Array:
    ids = order[:]
    ranks = np.empty(len(ids), np.int64)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return ranks
