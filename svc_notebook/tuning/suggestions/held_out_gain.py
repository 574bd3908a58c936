"""The gain of a suggestion, on other queries than those that it comes from.

The queries that contain a word are divided into two halves. What one half suggests is measured on
the other, so that no query measures what its own judgments suggested.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.tuning.evaluation.missing_queries import add_missing_rows
from svc_notebook.tuning.evaluation.scores import count_failures, score_runs
from svc_notebook.tuning.statistics import t_interval
from svc_notebook.tuning.tables.tables import QUESTION

METRIC = "ndcg@10"
GAIN_COLUMNS = ["measured", "before", "after", "delta", "low", "high"]


class HeldOutGain(NamedTuple):
    """Mean scores of the measured queries before and after, and the 95 % t interval of the gain."""

    measured: int
    before: float
    after: float
    delta: float
    low: float
    high: float

    @property
    def is_proposed(self) -> bool:
        """Whether a gain was measured; else a suggestion is listed last."""
        return self.measured > 0 and self.delta > 0


UNMEASURED = HeldOutGain(0, np.nan, np.nan, np.nan, np.nan, np.nan)


def halves_of(queries: Iterable[str]) -> dict[str, int]:
    """Divide queries into two halves, by their texts alone."""
    ordered = sorted(set(queries), key=lambda text: hashlib.sha256(text.encode()).digest())
    return {text: number % 2 for number, text in enumerate(ordered)}


def other_queries(containing: Iterable[str], sources: Collection[str]) -> set[str]:
    """Return the queries that may measure a suggestion which comes from `sources`."""
    halves = halves_of(containing)
    suggesting = {halves[text] for text in sources if text in halves}
    return {text for text, half in halves.items() if suggesting - {half}}


def measure_gain(
    before: DataFrame,
    after: DataFrame,
    judged: DataFrame | None,
    queries: Collection[str],
) -> HeldOutGain:
    """Compare two runs on some of their queries."""
    if judged is None or not queries:
        return UNMEASURED
    scores_before, scores_after = (_scores(hits, judged, queries) for hits in (before, after))
    both = (
        pd.concat([scores_before, scores_after], axis=1, join="inner")
        .dropna()
        .to_numpy(dtype=np.float64)
    )
    if not len(both):
        return UNMEASURED
    delta, low, high = t_interval(both[:, 1] - both[:, 0])
    old, new = both.mean(axis=0)
    return HeldOutGain(len(both), float(old), float(new), delta, low, high)


def _scores(hits: DataFrame, judged: DataFrame, queries: Collection[str]) -> DataFrame:
    of_queries = hits[hits["query"].isin(list(queries))].reset_index(drop=True)
    judged_here = judged[judged["query"].isin(list(queries))].reset_index(drop=True)
    if of_queries.empty or judged_here.empty:
        return DataFrame({"value": []})
    complete, _ = add_missing_rows(of_queries, judged_here, None)
    scored: Any = score_runs(
        complete, judged_here, METRIC, unjudged="zero", gains=None, relevant=1.0, queries=None,
        warns=False,
    )  # fmt: skip
    return DataFrame(count_failures(scored).set_index(QUESTION)[["value"]])
