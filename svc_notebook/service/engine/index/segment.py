"""A segment: immutable arrays for some records, ordered by objectID; and its live records."""

from __future__ import annotations

import math
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from svc_notebook.core.tokenization.tokenizer import split_camel
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.attribute_lengths import (
    MAX_STORED_ATTRIBUTES,
    LengthTotals,
    add_up,
    count_words,
    group_lengths,
    measure_lengths,
    merge_word_counts,
    no_word_counts,
)
from svc_notebook.service.engine.index.columns import (
    NUMBER_TYPES,
    Labels,
    Numbers,
    join_labels,
    join_numbers,
    label_hash,
)
from svc_notebook.service.engine.index.flatten import Leaf, Record, number_text, read_leaves
from svc_notebook.service.engine.index.geo_points import LATITUDE, LONGITUDE, GeoPoints, read_places
from svc_notebook.service.engine.index.postings import Postings, merge
from svc_notebook.service.engine.index.schema import (
    INTERNAL,
    OBJECT_ID,
    TAGS,
    Schema,
    Sorted,
    is_covered,
)
from svc_notebook.service.engine.term_dictionary import TermDictionary, union

Column = TypeVar("Column", Labels, Numbers)

# The sort value of any text in a numeric sort: texts come after numbers.
TEXT_SORT_VALUE = np.finfo(np.float64).max
MAX_SORT_NUMBER = np.nextafter(TEXT_SORT_VALUE, 0)
# Presorted orders kept per segment, four bytes per record each.
MAX_PRESORTED_ORDERS = 8
# Tables of attribute lengths kept per segment: indices that share it may group differently.
MAX_LENGTH_TABLES = 2


class SortKey(NamedTuple):
    """Sort values of an attribute: a number per row, NaN for none.

    A text is `TEXT_SORT_VALUE` and a code. Codes number the names from 1; 0 means that the row has
    no text.
    """

    numbers: Array
    codes: Array | None
    names: TermDictionary | None

    def sort_values(self, rows: Array | slice, *, descending: bool) -> Array:
        """Return sortable numbers of rows; those without the attribute are last in either order."""
        numbers = self.numbers[rows]
        sort_values = -numbers if descending else numbers
        return np.where(np.isnan(sort_values), np.inf, sort_values)


@dataclass(frozen=True, eq=False)
class Segment:
    """The immutable data of some records for search, filters, facets and sorting."""

    ids: TermDictionary
    slots: tuple[str, ...]
    postings: Postings
    labels: Mapping[str, Labels]
    texts: Mapping[str, Labels]
    numbers: Mapping[str, Numbers]
    groups: Array
    # The words of each attribute in each record; empty if they are counted when first needed.
    word_counts: Array
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    # Whether its arrays are memory-mapped from its file.
    mapped: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, records: Sequence[Record], schema: Schema) -> Segment:
        """Index records with distinct ids, given in the order of their ids."""
        leaves = read_leaves(records)
        slots, texts, rows, numbers = _read_texts(leaves, schema)
        postings = Postings.of(texts, rows, numbers, len(records), schema.rules)
        return cls(
            TermDictionary.of([record[OBJECT_ID] for record in records]),
            slots,
            postings,
            {path: Labels.of(leaves[path]) for path in _find_facets(leaves, schema)},
            _read_sort_texts(leaves, schema),
            _read_numbers(leaves) | read_places(records),
            _read_groups(leaves, len(records), schema.distinct),
            count_words(postings, len(slots)),
        )

    def with_presorted_orders_of(self, other: Segment) -> Segment:
        """Copy the presorted orders of another segment of the same records."""
        self._orders.update(other._orders)
        return self

    @cached_property
    def places(self) -> GeoPoints:
        """The geo points of the records."""
        return GeoPoints.of(self.numbers)

    @cached_property
    def grouping(self) -> tuple[Array, Array]:
        """The distinct groups in ascending order, and the index of each row's group."""
        groups, places = np.unique(self.groups, return_inverse=True)
        return groups, places.astype(np.int32)

    def length_totals(self, groups: Array, count: int, alive: Array) -> LengthTotals:
        """Return the totals of the lengths of live records."""
        lengths, totals = self.lengths(groups, count)
        living = int(np.count_nonzero(alive))
        if living == len(self):
            return totals
        # Adding up the fewer of both is faster.
        if 2 * living < len(self):
            return add_up(lengths[:, np.flatnonzero(alive)])
        return totals.minus(add_up(lengths[:, np.flatnonzero(~alive)]))

    def lengths(self, groups: Array, count: int) -> tuple[Array, LengthTotals]:
        """Return the words of each record, a row for each group of attributes, and their totals.

        They are cached.
        """
        key = count, groups.tobytes()
        measured = self._lengths.get(key)
        if measured is None:
            if len(self.word_counts):
                lengths = group_lengths(self.word_counts, groups, count)
            else:
                lengths = measure_lengths(self.postings, groups, count)
            measured = lengths, add_up(lengths)
            if len(self._lengths) >= MAX_LENGTH_TABLES:
                self._lengths.clear()
            self._lengths[key] = measured
        return measured

    @cached_property
    def _lengths(self) -> dict[tuple[int, bytes], tuple[Array, LengthTotals]]:
        return {}

    def sort_key(self, path: str) -> SortKey:
        """Return the sort values of an attribute; the first of several values counts."""
        key = self._sort_keys.get(path)
        if key is None:
            key = self._sort_keys[path] = self._read_sort_key(path)
        return key

    def presorted_order(self, sorts: tuple[Sorted, ...]) -> Array | None:
        """Return the presorted order by attributes, then ids; None if not computed."""
        return self._orders.get(sorts)

    def presort(self, sorts: tuple[Sorted, ...]) -> None:
        """Compute a presorted order; the oldest are dropped beyond `MAX_PRESORTED_ORDERS`."""
        orders = self._orders
        if sorts not in orders:
            columns = [column for sort in sorts for column in self._sort_columns(sort)]
            order = np.lexsort([np.arange(len(self)), *reversed(columns)])
            orders[sorts] = order.astype(np.int32)
        while len(orders) > MAX_PRESORTED_ORDERS:
            del orders[next(iter(orders))]

    def _sort_columns(self, sort: Sorted) -> Iterator[Array]:
        key = self.sort_key(sort.path)
        yield key.sort_values(slice(None), descending=sort.descending)
        if key.codes is not None:
            yield -key.codes if sort.descending else key.codes

    @cached_property
    def _orders(self) -> dict[tuple[Sorted, ...], Array]:
        return {}

    @cached_property
    def _sort_keys(self) -> dict[str, SortKey]:
        return {}

    def _read_sort_key(self, path: str) -> SortKey:
        numbers, texts = self.numbers.get(path), self.texts.get(path)
        keys = numbers.first(len(self)) if numbers else np.full(len(self), np.nan)
        np.clip(keys, -MAX_SORT_NUMBER, MAX_SORT_NUMBER, out=keys)
        if texts is None:
            return SortKey(keys, None, None)
        codes = np.zeros(len(self), np.int32)
        codes[texts.rows[::-1]] = texts.codes[::-1]
        mask = np.zeros(len(self), bool)
        mask[texts.rows] = True
        keys[mask & np.isnan(keys)] = TEXT_SORT_VALUE
        return SortKey(keys, np.where(keys == TEXT_SORT_VALUE, codes + 1, 0), texts.names)


def merge_segments(many: Sequence[Segment], alive: Sequence[Array]) -> Segment:
    """Merge segments without their deleted records."""
    ids, moved = _merge_ids(many, alive)
    slots = many[0].slots
    if any(segment.slots != slots for segment in many):
        many, slots = _with_same_slots(many)
    return Segment(
        ids,
        slots,
        merge([segment.postings for segment in many], moved, len(ids)),
        _merge_columns([segment.labels for segment in many], moved, join_labels),
        _merge_columns([segment.texts for segment in many], moved, join_labels),
        _merge_columns([segment.numbers for segment in many], moved, join_numbers),
        _merge_groups(many, moved, len(ids)),
        merge_word_counts([segment.word_counts for segment in many], moved, len(slots), len(ids)),
    )


def _merge_ids(
    many: Sequence[Segment], alive: Sequence[Array]
) -> tuple[TermDictionary, list[Array]]:
    """Return the remaining ids, and the new row of each row of each segment, or -1."""
    ids, places = union(
        [segment.ids.select(mask) for segment, mask in zip(many, alive, strict=True)]
    )
    moved = [np.full(len(mask), -1, np.int32) for mask in alive]
    for rows, mask, numbers in zip(moved, alive, places, strict=True):
        rows[mask] = numbers
    return ids, moved


def _with_same_slots(many: Sequence[Segment]) -> tuple[list[Segment], tuple[str, ...]]:
    """Renumber the attributes of segments that have different ones."""
    slots = tuple(sorted(set().union(*(segment.slots for segment in many))))
    number = {path: position for position, path in enumerate(slots)}
    return [_renumber_slots(segment, slots, number) for segment in many], slots


def _renumber_slots(segment: Segment, slots: tuple[str, ...], number: Mapping[str, int]) -> Segment:
    to = np.array([number[path] for path in segment.slots], np.int32)
    word_counts = no_word_counts()
    if len(segment.word_counts) and len(slots) <= MAX_STORED_ATTRIBUTES:
        word_counts = np.zeros((len(slots), len(segment)), np.uint16)
        word_counts[to] = segment.word_counts
    postings = segment.postings.with_slots(to)
    return Segment(
        segment.ids,
        slots,
        postings,
        segment.labels,
        segment.texts,
        segment.numbers,
        segment.groups,
        word_counts,
    )


def _merge_columns(
    many: Sequence[Mapping[str, Column]],
    moved: Sequence[Array],
    join: Callable[[Sequence[Column]], Column],
) -> dict[str, Column]:
    """Merge the columns of each path; empty columns are dropped."""
    columns: dict[str, list[Column]] = {}
    for paths, rows in zip(many, moved, strict=True):
        for path, column in paths.items():
            columns.setdefault(path, []).append(column.moved(rows))
    joined = {path: join(parts) for path, parts in columns.items()}
    return {path: column for path, column in joined.items() if len(column.rows)}


def _merge_groups(many: Sequence[Segment], moved: Sequence[Array], records: int) -> Array:
    if not any(len(segment.groups) for segment in many):
        return np.zeros(0, np.uint64)
    groups = np.zeros(records, np.uint64)
    for segment, rows in zip(many, moved, strict=True):
        groups[rows[rows >= 0]] = segment.groups[rows >= 0]
    return groups


def _read_texts(
    leaves: Mapping[str, Leaf], schema: Schema
) -> tuple[tuple[str, ...], list[str], Array, Array]:
    """Return the searched paths, and their texts ordered by row, then path."""
    searched = [path for path in sorted(leaves) if _is_searched(path, schema)]
    everything = not schema.searched
    text_leaves = {
        path: leaf
        for path in searched
        if (leaf := _texts_of(leaves[path], everything=everything)).rows
    }
    slots, columns = tuple(text_leaves), [leaf.row_numbers for leaf in text_leaves.values()]
    texts = [
        [*map(split_camel, leaf.values)] if path in schema.rules.camel else leaf.values
        for path, leaf in text_leaves.items()
    ]
    if not columns:
        return slots, [], np.zeros(0, np.int32), np.zeros(0, np.int32)
    numbers = np.repeat(np.arange(len(slots), dtype=np.int32), [*map(len, columns)])
    rows = np.concatenate(columns)
    # Stable: the texts of a row stay in the order of their paths.
    order = np.argsort(rows, kind="stable")
    together = [*chain.from_iterable(texts)]
    return slots, [together[n] for n in order.tolist()], rows[order], numbers[order]


def _is_searched(path: str, schema: Schema) -> bool:
    if not schema.searched:
        return path not in INTERNAL
    return is_covered(path, schema.searched)


def _texts_of(leaf: Leaf, *, everything: bool) -> Leaf:
    """Return the searchable values: texts, and numbers if the attribute is named."""
    leaf = leaf.only({str} if everything else {str} | NUMBER_TYPES)
    if leaf.kinds <= {str}:
        return leaf
    written = [value if type(value) is str else number_text(value) for value in leaf.values]
    return Leaf(leaf.rows, written)


def _find_facets(leaves: Mapping[str, Leaf], schema: Schema) -> Iterable[str]:
    return (path for path in (*schema.facets, TAGS) if path in leaves)


def _read_numbers(leaves: Mapping[str, Leaf]) -> dict[str, Numbers]:
    """Return the numbers of every path except geo points, which are read separately."""
    columns = {path: Numbers.of(leaf) for path, leaf in leaves.items()}
    return {
        path: column
        for path, column in columns.items()
        if column is not None and path not in (LATITUDE, LONGITUDE)
    }


def _read_sort_texts(leaves: Mapping[str, Leaf], schema: Schema) -> dict[str, Labels]:
    labels = {}
    for path in schema.sorts & leaves.keys():
        texts = leaves[path].only({str, bool})
        if texts.rows:
            labels[path] = Labels.of(texts)
    return labels


def _read_groups(leaves: Mapping[str, Leaf], records: int, path: str) -> Array:
    """Return the group hash of each record, 0 for none."""
    groups = np.zeros(records if path else 0, np.uint64)
    if path and (leaf := leaves.get(path)):
        for row, value in zip(reversed(leaf.rows), reversed(leaf.values), strict=True):
            if (text := _read_group_text(value)) is not None:
                groups[row] = label_hash(text)
    return groups


def _read_group_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(round(value)) if math.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class SegmentReader:
    """An immutable pair of a segment and the mask of its live rows."""

    segment: Segment
    alive: Array

    @classmethod
    def of(cls, segment: Segment) -> SegmentReader:
        """Return a reader with all rows alive."""
        return cls(segment, np.ones(len(segment), bool))

    @cached_property
    def count(self) -> int:
        """The number of live records."""
        return int(np.count_nonzero(self.alive))

    def without(self, ids: Sequence[str]) -> SegmentReader:
        """Return a reader with these records deleted; their ids are in ascending order."""
        segment_ids = self.segment.ids
        if not len(segment_ids):
            return self
        # Most loads are in the order of their ids, which are then in few segments.
        first, last = (
            bisect_left(ids, segment_ids[0]),
            bisect_right(ids, segment_ids[len(segment_ids) - 1]),
        )
        rows = segment_ids.find_many(ids[first:last])
        rows = rows[rows >= 0]
        if not self.alive[rows].any():
            return self
        alive = self.alive.copy()
        alive[rows] = False
        return SegmentReader(self.segment, alive)


def merge_readers(readers: Sequence[SegmentReader]) -> SegmentReader:
    """Merge several readers into one without deleted records."""
    return SegmentReader.of(
        merge_segments([reader.segment for reader in readers], [reader.alive for reader in readers])
    )


def apply_deletions(
    merged: SegmentReader,
    readers_before: Sequence[SegmentReader],
    readers_now: Sequence[SegmentReader],
) -> SegmentReader:
    """Delete from a merged reader the records deleted from its parts since they were read."""
    deleted = sorted(
        name
        for old, new in zip(readers_before, readers_now, strict=True)
        for name in old.segment.ids.take(np.flatnonzero(old.alive & ~new.alive))
    )
    return merged.without(deleted) if deleted else merged
