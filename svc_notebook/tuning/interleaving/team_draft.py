"""Team-draft interleaving: two ranked lists become one, in which each hit belongs to one of them.

Source: Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? (2008).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

A, B = "a", "b"


def draft_teams(
    first: Sequence[str], second: Sequence[str], length: int, seed: str
) -> list[tuple[str, str]]:
    """Return at most `length` ids in order, each with the variant that contributed it.

    Both variants choose in turn their best hit that is not there yet; in each round a coin decides
    which one begins. The same seed gives the same list, and a shorter list is its beginning.
    """
    coin = random.Random(hashlib.sha256(seed.encode("utf-8", "replace")).digest())
    lists = {A: iter(first), B: iter(second)}
    drafted: dict[str, str] = {}
    while len(drafted) < length:
        before = len(drafted)
        for variant in (A, B) if coin.random() < 0.5 else (B, A):
            hit = next(
                (candidate for candidate in lists[variant] if candidate not in drafted), None
            )
            if hit is not None:
                drafted[hit] = variant
        if len(drafted) == before:
            break
    return list(drafted.items())[:length]
