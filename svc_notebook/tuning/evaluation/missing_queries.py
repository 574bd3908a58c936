"""Queries without rows in a run: runs made elsewhere leave out queries without results."""

from __future__ import annotations

import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.api.warning import warn_user
from svc_notebook.tuning.tables.schema import RUNS
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries


def add_absent(
    runs: DataFrame, judgments: DataFrame, queries: Queries | None
) -> tuple[DataFrame, dict[str, int]]:
    """Give checked runs a row without a hit for each query they lack; count these by run.

    What was asked is `queries`; else what any of the runs has, and, for a run that does not say
    how many hits there were, every judged query: `tuning.run` has a row for each query it made,
    others have rows for hits alone.
    """
    if runs.empty:
        return runs, {}
    present = runs[QUESTION].drop_duplicates()
    if queries is not None:
        asked = check_queries(queries)[QUESTION].drop_duplicates()
        widest = asked
    else:
        asked = present
        judged = judgments.loc[judgments["rating"].notna(), QUESTION]
        widest = pd.concat([present, judged]).drop_duplicates()
    parts, counts = [runs], {}
    for name, own in runs.groupby("run", sort=False):
        lacking = _without(asked if own["nbHits"].notna().any() else widest, own[QUESTION])
        counts[str(name)] = len(lacking)
        if len(lacking):
            parts.append(_empty_rows(str(name), lacking, runs))
    return (pd.concat(parts, ignore_index=True) if len(parts) > 1 else runs), counts


def warn_of_absent(counts: dict[str, int], runs: DataFrame) -> None:
    """Say how many queries of each run were taken to be without hits."""
    told = []
    for name, count in counts.items():
        if count:
            asked = len(runs.loc[runs["run"] == name, QUESTION].drop_duplicates())
            told.append(say_absent(name, count, asked))
    if told:
        warn_user("; ".join(told))


def say_absent(run: str, count: int, asked: int) -> str:
    """Say that a run has no row for some of its queries."""
    return (
        f"{count:,} of {asked:,} queries {'has' if count == 1 else 'have'} no row in `{run}`: "
        "without hits, scored 0"
    )


def _without(asked: DataFrame, own: DataFrame) -> DataFrame:
    """Return the questions that a run lacks."""
    known = pd.MultiIndex.from_frame(own.drop_duplicates())
    return asked[~pd.MultiIndex.from_frame(asked).isin(known)]


def _empty_rows(run: str, questions: DataFrame, like: DataFrame) -> DataFrame:
    """Make the row of each query without hits, of the dtypes that a checked run has."""
    count = len(questions)
    found = {
        name: Series([None] * count, dtype=like[name].dtype)
        for name in RUNS
        if name not in ("run", "error", "queryID", *QUESTION)
    }
    texts = {"run": [run] * count, "error": [""] * count, "queryID": [""] * count}
    texts |= {name: questions[name].tolist() for name in QUESTION}
    rows = DataFrame({**found, **{n: Series(v, dtype=like[n].dtype) for n, v in texts.items()}})
    rows["nbHits"] = Series([0] * count, dtype=like["nbHits"].dtype)
    rows["sorted"] = Series([{} for _ in range(count)], dtype=object)
    return rows[list(RUNS)]
