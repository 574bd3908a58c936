"""Flatten records into columns, one for each path to scalars."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import Any

import numpy as np

from svc_notebook.service.engine.arrays import Array

Record = Mapping[str, Any]

# Objects nested deeper than this are stored but not indexed.
MAX_DEPTH = 60
_NO_SCALARS = {dict, type(None)}
_MISSING = object()
# Columns are read one by one if at least a fourth of all cells has a value.
MAX_CELLS_PER_VALUE = 4


@dataclass
class Leaf:
    """The scalars under one path: `values[n]` belongs to record number `rows[n]`.

    The rows are a `range` if each of some consecutive records has one value.
    """

    rows: Sequence[int]
    values: list[Any]

    @cached_property
    def kinds(self) -> Set[type]:
        """The types of the values."""
        return set(map(type, self.values))

    @property
    def row_numbers(self) -> Array:
        """The rows as an array."""
        if isinstance(self.rows, range):
            return np.arange(self.rows.start, self.rows.stop, dtype=np.int32)
        return np.array(self.rows, np.int32)

    def only(self, kinds: Set[type]) -> Leaf:
        """Return the values of some types, this leaf if they are all."""
        if self.kinds <= kinds:
            return self
        if self.kinds.isdisjoint(kinds):
            return Leaf([], [])
        kept = [type(value) in kinds for value in self.values]
        return Leaf([*compress(self.rows, kept)], [*compress(self.values, kept)])

    def joined(self, other: Leaf) -> Leaf:
        """Return the values of both in the order of their rows."""
        pairs = zip([*self.rows, *other.rows], self.values + other.values, strict=True)
        together = sorted(pairs, key=itemgetter(0))
        return Leaf([row for row, _ in together], [value for _, value in together])


def read_leaves(records: Sequence[Record]) -> dict[str, Leaf]:
    """Flatten records: arrays give several values to one row, objects extend the path."""
    leaves: dict[str, Leaf] = {}
    waiting = deque((path, leaf, 1) for path, leaf in _columns(range(len(records)), records))
    while waiting:
        path, leaf, depth = waiting.popleft()
        kinds = leaf.kinds
        if list in kinds or tuple in kinds:
            waiting.append((path, _unpack(leaf), depth))
            continue
        if dict in kinds and depth < MAX_DEPTH:
            waiting.extend(_members_of(path, leaf.only({dict}), depth + 1))
        if not kinds.isdisjoint(_NO_SCALARS):
            leaf = leaf.only(kinds - _NO_SCALARS)
        if leaf.rows:
            leaves[path] = leaves[path].joined(leaf) if path in leaves else leaf
    return leaves


def _members_of(path: str, objects: Leaf, depth: int) -> Iterator[tuple[str, Leaf, int]]:
    """Return the leaves of the members of objects, with their paths."""
    for name, column in _columns(objects.rows, objects.values):
        yield f"{path}.{name}", column, depth


def number_text(value: float) -> str:
    """Write a number as text: whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    names = tuple(objects[0]) if objects else ()
    if all(tuple(record) == names for record in objects):
        # One pass over the objects, and one over the values of each column.
        cells = [*chain.from_iterable(record.values() for record in objects)]
        return [(name, Leaf(rows, cells[n :: len(names)])) for n, name in enumerate(names)]
    return _uneven_columns(rows, objects)


def _uneven_columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    forms = dict.fromkeys(map(tuple, objects))  # few, even of many objects
    names = dict.fromkeys(chain.from_iterable(forms))
    if len(names) * len(objects) > MAX_CELLS_PER_VALUE * sum(map(len, objects)):
        return _sparse_columns(rows, objects)
    return [(name, _read_column(rows, objects, name)) for name in names]


def _read_column(rows: Sequence[int], objects: Sequence[Record], name: str) -> Leaf:
    with suppress(KeyError):  # most columns have a value in each row
        return Leaf(rows, list(map(itemgetter(name), objects)))
    values = [record.get(name, _MISSING) for record in objects]
    having = [value is not _MISSING for value in values]
    return Leaf([*compress(rows, having)], [*compress(values, having)])


def _sparse_columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    columns: dict[str, tuple[list[int], list[Any]]] = {}
    for row, record in zip(rows, objects, strict=True):
        for name, value in record.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = ([], [])
            column[0].append(row)
            column[1].append(value)
    return [(name, Leaf(*column)) for name, column in columns.items()]


def _unpack(leaf: Leaf) -> Leaf:
    rows: list[int] = []
    values: list[Any] = []
    for row, value in zip(leaf.rows, leaf.values, strict=True):
        if isinstance(value, list | tuple):
            rows += [row] * len(value)
            values += value
        else:
            rows.append(row)
            values.append(value)
    return Leaf(rows, values)
