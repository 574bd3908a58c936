"""Flatten records into columns, one for each path to scalars."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

Record = Mapping[str, Any]

MAX_DEPTH = 60
"""Objects nested deeper than this are stored but not indexed."""
MAX_CELLS_PER_VALUE = 4
"""Columns are read one by one if at least a fourth of all cells has a value."""


@dataclass
class Leaf:
    """The scalars under one path: `values[n]` belongs to record number `rows[n]`."""

    rows: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, rows: list[int], values: list[Any]) -> None:
        """Add values, keeping the rows in order."""
        if not self.rows or self.rows[-1] <= rows[0]:
            self.rows += rows
            self.values += values
            return
        together = sorted(
            zip(self.rows + rows, self.values + values, strict=True), key=lambda pair: pair[0]
        )
        self.rows, self.values = [row for row, _ in together], [value for _, value in together]


def read_leaves(records: Sequence[Record]) -> dict[str, Leaf]:
    """Flatten records: arrays give several values to one row, objects extend the path."""
    leaves: dict[str, Leaf] = {}
    waiting = deque((path, leaf, 1) for path, leaf in _columns(range(len(records)), records))
    while waiting:
        path, leaf, depth = waiting.popleft()
        kinds = set(map(type, leaf.values))
        if list in kinds or tuple in kinds:
            waiting.append((path, _unpack(leaf), depth))
            continue
        if dict in kinds:
            inner = _only(leaf, dict)
            if depth < MAX_DEPTH:
                waiting.extend(
                    (f"{path}.{name}", column, depth + 1)
                    for name, column in _columns(inner.rows, inner.values)
                )
            leaf = _without(leaf, dict)
        if type(None) in kinds:
            leaf = _without(leaf, type(None))
        if leaf.rows:
            leaves.setdefault(path, Leaf()).add(leaf.rows, leaf.values)
    return leaves


def number_text(value: float) -> str:
    """Write a number as text: whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    names = tuple(objects[0]) if objects else ()
    if all(tuple(one) == names for one in objects):
        columns = zip(*(one.values() for one in objects), strict=True)
        return [
            (name, Leaf(list(rows), list(values)))
            for name, values in zip(names, columns, strict=True)
        ]
    return _uneven_columns(rows, objects)


def _uneven_columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    names = dict.fromkeys(chain.from_iterable(objects))
    if len(names) * len(objects) > MAX_CELLS_PER_VALUE * sum(map(len, objects)):
        return _sparse_columns(rows, objects)
    return [(name, _read_column(rows, objects, name)) for name in names]


def _read_column(rows: Sequence[int], objects: Sequence[Record], name: str) -> Leaf:
    with suppress(KeyError):  # most columns have a value in each row
        return Leaf(list(rows), list(map(itemgetter(name), objects)))
    having = [(row, one) for row, one in zip(rows, objects, strict=True) if name in one]
    return Leaf([row for row, _ in having], [one[name] for _, one in having])


def _sparse_columns(rows: Sequence[int], objects: Sequence[Record]) -> list[tuple[str, Leaf]]:
    columns: dict[str, tuple[list[int], list[Any]]] = {}
    for row, one in zip(rows, objects, strict=True):
        for name, value in one.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = ([], [])
            column[0].append(row)
            column[1].append(value)
    return [(name, Leaf(*column)) for name, column in columns.items()]


def _unpack(leaf: Leaf) -> Leaf:
    unpacked = Leaf()
    for row, value in zip(leaf.rows, leaf.values, strict=True):
        if isinstance(value, list | tuple):
            unpacked.rows += [row] * len(value)
            unpacked.values += value
        else:
            unpacked.rows.append(row)
            unpacked.values.append(value)
    return unpacked


def _only(leaf: Leaf, kind: type) -> Leaf:
    pairs = zip(leaf.rows, leaf.values, strict=True)
    kept = [(row, value) for row, value in pairs if type(value) is kind]
    return Leaf([row for row, _ in kept], [value for _, value in kept])


def _without(leaf: Leaf, kind: type) -> Leaf:
    pairs = zip(leaf.rows, leaf.values, strict=True)
    kept = [(row, value) for row, value in pairs if type(value) is not kind]
    return Leaf([row for row, _ in kept], [value for _, value in kept])
