"""Combinations of choices in which every two choices occur together, and a share of them.

The full product of the tables here has 10,000 rows. Faults of first minutes need two things at a
time, an import and an act for instance, so rows are enough in which every pair occurs. `make test`
runs a sixth of them, others on the next day (`tests/rotation.py`), and `.ci/run` a third where the
package changed, so that six days or three run every pair. Without `--quick`, a run takes all rows.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
# Candidates per row; more give fewer rows.
TRIALS = 40
SEED = 27

Pair = tuple[tuple[str, str], tuple[str, str]]


def cover_pairs(choices: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return rows with one choice of each name, in which any two choices occur together."""
    chance = random.Random(SEED)
    missing = {
        ((first, a), (second, b))
        for first, second in itertools.combinations(choices, 2)
        for a in choices[first]
        for b in choices[second]
    }
    rows = []
    while missing:
        (name, value), (other, second) = min(missing)
        candidates = (
            {each: chance.choice(values) for each, values in choices.items()}
            | {name: value, other: second}
            for _ in range(TRIALS)
        )
        row = max(candidates, key=lambda row: len(_pairs(row) & missing))
        missing -= _pairs(row)
        rows.append(row)
    return rows


def _pairs(row: Mapping[str, str]) -> set[Pair]:
    return set(itertools.combinations(row.items(), 2))
