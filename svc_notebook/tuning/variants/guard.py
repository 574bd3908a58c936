"""The guard of a search: judged queries whose score must not fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

from svc_notebook.core.display import format_number
from svc_notebook.errors import BadInput
from svc_notebook.tuning.statistics import TIE_TOLERANCE
from svc_notebook.tuning.tables.schema import relevant_from
from svc_notebook.tuning.tables.tables import QUESTION, check_queries
from svc_notebook.tuning.variants.spaces import Variant

MAX_GUARDED_VARIANTS = 12


@dataclass(frozen=True)
class GuardLoss:
    """A guarded query whose score a variant lowers."""

    variant: Variant
    query: str
    filters: str
    before: float
    after: float

    def __str__(self) -> str:
        filters = f" ({self.filters})" if self.filters else ""
        scores = f"{format_number(self.before)} → {format_number(self.after)}"
        return f"refused by the guard: {self.variant} lowers {self.query!r}{filters}, {scores}"


def check_guard(guard: Any, judgments: DataFrame) -> DataFrame:
    """Return the guarded queries; raise `BadInput` for one without a relevant judgment."""
    queries = check_queries(guard)
    if queries.empty:
        raise BadInput("`guard` has no query; pass queries with judgments, or no guard")
    relevant = judgments[judgments["rating"] >= relevant_from(judgments)]
    judged = set(relevant[QUESTION].itertuples(index=False, name=None))
    for query, filters in queries[QUESTION].itertuples(index=False, name=None):
        if (query, filters) not in judged:
            raise BadInput(
                f"the query {query!r} of `guard` has no relevant judgment, so that its score "
                "cannot fall; judge it, or leave it out"
            )
    return queries


def find_losses(
    variant: Variant,
    queries: DataFrame,
    before: Sequence[float | None],
    after: Sequence[float | None],
) -> list[GuardLoss]:
    """Return the guarded queries whose score falls; one without a score after it has 0."""
    keys = queries[QUESTION].itertuples(index=False, name=None)
    return [
        GuardLoss(variant, str(query), str(filters), old, new or 0.0)
        for (query, filters), old, new in zip(keys, before, after, strict=True)
        if old is not None and (new or 0.0) < old - TIE_TOLERANCE
    ]
