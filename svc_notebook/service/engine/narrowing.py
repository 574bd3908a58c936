"""How many words a hit needs where none of many is needed: the further down, the more.

The first thousand hits need one word. Each further thousand needs one more, or, of ten words and
more, a fifth of them more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.match import Match
from svc_notebook.service.engine.query import Query
from svc_notebook.service.engine.ranking import Order

FEWEST = 4
"""Queries of fewer words stay as they are."""
STAGE = 1000
MANY = 10
SHARE = 5

Rank = Callable[[Sequence[Match], int], Order]


def narrow(query: Query, matches: list[Match], rank: Rank) -> list[Match]:
    """Return the matches without the records that have too few words for where they stand."""
    words = len(query.words)
    if words < FEWEST or not all(word.optional for word in query.words):
        return matches
    if sum(match.count for match in matches) <= STAGE:
        return matches
    step = words // SHARE if words >= MANY else 1
    kept = [np.zeros_like(match.rows) for match in matches]
    for needed in range(1, words + 1, step):
        if not _keep_stage(_with_words(matches, needed), kept, rank):
            break
    return [replace(match, rows=rows) for match, rows in zip(matches, kept, strict=True)]


def _keep_stage(matches: Sequence[Match], kept: Sequence[Array], rank: Rank) -> bool:
    """Keep the next thousand, after those kept before; return whether there may be more."""
    pairs = list(zip(matches, kept, strict=True))
    before = sum(int(np.count_nonzero(match.rows & rows)) for match, rows in pairs)
    order = rank(matches, before + STAGE)
    for match, rows in pairs:
        for number, segment in enumerate(order.segments):
            if segment is match.segment:
                rows[order.rows[order.numbers == number]] = True
    return len(order) == before + STAGE


def _with_words(matches: Sequence[Match], needed: int) -> list[Match]:
    fewer = []
    for match in matches:
        rows = np.flatnonzero(match.rows)
        enough = np.zeros_like(match.rows)
        enough[rows[match.word_count(rows) >= needed]] = True
        fewer.append(replace(match, rows=enough))
    return fewer
