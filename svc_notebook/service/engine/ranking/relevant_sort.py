"""Relevant sort: select the hits that are relevant enough to be sorted by an attribute.

Hits with equal values in all criteria about words and filters form one relevance level; the
positions of words and geo distances are ignored. `relevancyStrictness` is the percentage of levels
that are dropped, least relevant first. The best level is never dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.search_plan import SearchPlan

# How many values of a criterion count as equal; for attribute, 1000 ignores the word position.
WIDTHS = {"typo": 1, "words": 1, "filters": 1, "proximity": 1, "attribute": 1000, "exact": 1}


def keep_relevant(plan: SearchPlan, matches: Sequence[SegmentMatch]) -> Sequence[SegmentMatch]:
    """Return the matches without hits that are not relevant enough."""
    strictness = plan.options["relevancyStrictness"]
    if not strictness or not any(match.words for match in matches):
        return matches
    rows = [np.flatnonzero(match.rows) for match in matches]
    candidates = [plan.candidates(*pair) for pair in zip(matches, rows, strict=True)]
    steps = _number_steps(candidates, [step for step in plan.steps if step in WIDTHS])
    count = int(steps.max(initial=-1)) + 1
    kept = np.split(
        steps < max(1, -(-count * (100 - strictness) // 100)),
        np.cumsum([len(match_rows) for match_rows in rows])[:-1],
    )
    return [
        replace(match, rows=_marked(match, match_rows[keep]))
        for match, match_rows, keep in zip(matches, rows, kept, strict=True)
    ]


def _number_steps(candidates: Sequence[Candidates], criteria: Sequence[str]) -> Array:
    """Return each row's relevance level, 0 for the best; earlier criteria take precedence."""
    steps = np.zeros(sum(len(part.rows) for part in candidates), np.int64)
    for criterion in criteria:
        columns = [part.column(criterion) for part in candidates]
        if any(column is not None for column in columns):
            values = np.concatenate(
                [
                    np.zeros(len(part.rows), np.int64) if column is None else column
                    for part, column in zip(candidates, columns, strict=True)
                ]
            )
            _, codes = np.unique(values // WIDTHS[criterion], return_inverse=True)
            # Renumber after each criterion, so that no number exceeds the row count.
            _, steps = np.unique(steps * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    return steps


def _marked(match: SegmentMatch, rows: Array) -> Array:
    mask = np.zeros_like(match.rows)
    mask[rows] = True
    return mask
