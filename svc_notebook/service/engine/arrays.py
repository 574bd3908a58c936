"""The array types of the engine, and array helpers that several of its modules use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = Mapping[str, Array]


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
