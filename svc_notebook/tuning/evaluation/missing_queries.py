"""Queries without rows in a run: runs made elsewhere leave out queries without results."""

from __future__ import annotations

import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.api.warning import warn_user
from svc_notebook.tuning.tables.schema import RUNS
from svc_notebook.tuning.tables.tables import QUESTION, Queries, check_queries


def add_missing_rows(
    runs: DataFrame, judgments: DataFrame, queries: Queries | None
) -> tuple[DataFrame, dict[str, int]]:
    """Add to checked runs a row without a hit for each missing query; count these by run.

    The expected queries are `queries`; else those of any of the runs, and, for a run without the
    number of hits, every judged query: `tuning.run` writes a row for each query, other tools only
    for hits.
    """
    if runs.empty:
        return runs, {}
    present = runs[QUESTION].drop_duplicates()
    if queries is not None:
        expected = check_queries(queries)[QUESTION].drop_duplicates()
        all_expected = expected
    else:
        expected = present
        judged = judgments.loc[judgments["rating"].notna(), QUESTION]
        all_expected = pd.concat([present, judged]).drop_duplicates()
    parts, counts = [runs], {}
    for name, own in runs.groupby("run", sort=False):
        missing = _find_missing(
            expected if own["nbHits"].notna().any() else all_expected, own[QUESTION]
        )
        counts[str(name)] = len(missing)
        if len(missing):
            parts.append(_empty_rows(str(name), missing, runs))
    return (pd.concat(parts, ignore_index=True) if len(parts) > 1 else runs), counts


def warn_of_missing(counts: dict[str, int], runs: DataFrame) -> None:
    """Warn how many queries of each run are treated as queries without hits."""
    messages = []
    for name, count in counts.items():
        if count:
            expected = len(runs.loc[runs["run"] == name, QUESTION].drop_duplicates())
            messages.append(describe_missing(name, count, expected))
    if messages:
        warn_user("; ".join(messages))


def describe_missing(run: str, count: int, expected: int) -> str:
    """Describe that a run has no row for some of its queries."""
    return (
        f"{count:,} of {expected:,} queries {'has' if count == 1 else 'have'} no row in `{run}`: "
        "without hits, scored 0"
    )


def _find_missing(expected: DataFrame, own: DataFrame) -> DataFrame:
    """Return the queries that a run does not contain."""
    known = pd.MultiIndex.from_frame(own.drop_duplicates())
    return expected[~pd.MultiIndex.from_frame(expected).isin(known)]


def _empty_rows(run: str, questions: DataFrame, template: DataFrame) -> DataFrame:
    """Build the row of each query without hits, with the dtypes of a checked run."""
    count = len(questions)
    found = {
        name: Series([None] * count, dtype=template[name].dtype)
        for name in RUNS
        if name not in ("run", "error", "queryID", *QUESTION)
    }
    texts = {"run": [run] * count, "error": [""] * count, "queryID": [""] * count}
    texts |= {name: questions[name].tolist() for name in QUESTION}
    rows = DataFrame({**found, **{n: Series(v, dtype=template[n].dtype) for n, v in texts.items()}})
    rows["nbHits"] = Series([0] * count, dtype=template["nbHits"].dtype)
    rows["sorted"] = Series([{} for _ in range(count)], dtype=object)
    return rows[list(RUNS)]
