"""The parts of the queries of a search: those that select, those held out, and those guarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

from svc_notebook.core.display import format_number
from svc_notebook.errors import BadInput
from svc_notebook.tuning.statistics import TIE_TOLERANCE
from svc_notebook.tuning.tables.sampling import split
from svc_notebook.tuning.tables.schema import relevant_from
from svc_notebook.tuning.tables.tables import QUESTION, check_queries
from svc_notebook.tuning.variants.spaces import Variant

MIN_QUERIES_PER_PART = 2

MAX_GUARDED_VARIANTS = 12


def part_queries(queries: DataFrame, share: float, seed: int) -> tuple[DataFrame, DataFrame]:
    """Split queries in two: as marked, else by `split`; shuffled, because some are tried first."""
    marked = mark_queries(queries, share, seed)
    shuffled = marked.sample(frac=1, random_state=seed)
    tune, held = (shuffled[shuffled["split"] == side] for side in ("tune", "holdout"))
    is_marked = marked is queries
    for side, rows in (("tune", tune), ("holdout", held)):
        if rows.empty and is_marked:
            raise BadInput(
                f"none of the {len(queries)} queries is marked `{side}` in the column `split`; "
                "mark some, or drop the column to hold out a share of the queries"
            )
    if min(len(tune), len(held)) < MIN_QUERIES_PER_PART:
        raise BadInput(
            f"{len(queries)} queries are too few: {len(tune)} to tune and {len(held)} to hold out"
        )
    return tune.reset_index(drop=True), held.reset_index(drop=True)


def tune_part(queries: DataFrame, share: float, seed: int) -> DataFrame:
    """Return the queries that a search with the same arguments selects on; all for a share of 0."""
    marked = mark_queries(queries, share, seed) if share else queries.assign(split="tune")
    tune = marked[marked["split"] == "tune"]
    if len(tune) < MIN_QUERIES_PER_PART:
        raise BadInput(
            f"{len(tune)} of the {len(queries)} queries can be read, the others are held out; "
            f"at least {MIN_QUERIES_PER_PART} are necessary, and holdout=0 reads all"
        )
    return tune.reset_index(drop=True)


def mark_queries(queries: DataFrame, share: float, seed: int) -> DataFrame:
    """Mark queries as `tune` and `holdout`, unless they are."""
    return queries if (queries["split"] != "").any() else split(queries, share, seed)


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
