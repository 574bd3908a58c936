"""The two parts of the queries of a search: those that select, and those that are held out."""

from __future__ import annotations

from pandas import DataFrame

from svc_notebook.errors import BadInput
from svc_notebook.tuning.tables.sampling import split

MIN_QUERIES_PER_PART = 2


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
