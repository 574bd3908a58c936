"""The array types of the engine, and array helpers that several of its modules use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]
# Numbers looked up at one time: so many stay in the processor's cache.
BLOCK_NUMBERS = 1 << 18


def add_prefix(name: str, arrays: Arrays) -> dict[str, Array]:
    """Prefix the names of arrays, so that several groups of arrays fit in one file."""
    return {f"{name}/{key}": array for key, array in arrays.items()}


def group_by_prefix(arrays: Arrays) -> dict[str, dict[str, Array]]:
    """Undo `add_prefix`: group arrays by the name before the last slash."""
    groups: dict[str, dict[str, Array]] = {}
    for key, array in arrays.items():
        name, _, rest = key.rpartition("/")
        groups.setdefault(name, {})[rest] = array
    return groups


def concatenate_ranges(starts: Array, lengths: Array) -> Array:
    """Return start, start + 1, ... for each range, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def make_mask(rows: Array, records: int) -> Array:
    """Return a mask with these rows set."""
    mask = np.zeros(records, bool)
    mask[rows] = True
    return mask


def find_members(mask: Array, numbers: Array) -> Array:
    """Return the indices of the numbers that a mask contains.

    NumPy looks up numbers of its own index type only. Converting them in blocks is faster than
    converting them at once.
    """
    if len(numbers) <= BLOCK_NUMBERS:
        return np.flatnonzero(mask[numbers])
    converted, members = np.empty(BLOCK_NUMBERS, np.intp), np.empty(BLOCK_NUMBERS, bool)
    indices = []
    for start in range(0, len(numbers), BLOCK_NUMBERS):
        numbers_here = numbers[start : start + BLOCK_NUMBERS]
        size = len(numbers_here)
        converted[:size] = numbers_here
        mask.take(converted[:size], out=members[:size], mode="clip")
        indices.append(np.flatnonzero(members[:size]) + start)
    return np.concatenate(indices)
