"""The scores of the judged queries, computed while grades are given.

The metrics, their treatment of unjudged hits and the intervals are those of `svc_notebook.tuning`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict

from pandas import DataFrame

from svc_notebook.faces.editors.judgment_editor.pool import Pooled, PoolVariant
from svc_notebook.faces.editors.judgment_editor.rows import Row, to_frame
from svc_notebook.tuning.evaluation import score_runs, summary
from svc_notebook.tuning.tables import Question, check_runs

FAMILIES = ("ndcg", "p", "rr", "ap")  # metrics that a view offers
MAX_CUTOFF = 10
MAX_HISTORY = 400  # points of the line, a judgment each; the oldest are dropped


class VariantScore(TypedDict):
    """The score of one variant; None where nothing is known yet.

    `upper` is the score if all unjudged hits had the best grade; of a single query, `low` and
    `high` are None.
    """

    variant: str
    mean: float | None
    low: float | None
    high: float | None
    upper: float | None
    judged: float | None
    queries: int
    without_hits: int
    without_relevant: int


def list_metrics(depth: int) -> list[str]:
    """Return the metrics that can be computed for pools of this depth."""
    return [f"{family}@{min(depth, MAX_CUTOFF)}" for family in FAMILIES]


def to_runs(
    questions: Sequence[Question],
    pools: Sequence[Sequence[Pooled]],
    variants: Sequence[PoolVariant],
) -> DataFrame:
    """Return the hits of each variant as runs; a query without hits has a row without one."""
    rows: list[dict[str, Any]] = []
    for variant in variants:
        for question, pooled in zip(questions, pools, strict=True):
            about = {"run": variant.name, "query": question.query, "filters": question.filters}
            hits = [
                {**about, "rank": hit.places[variant.name], "objectID": hit.id}
                for hit in pooled
                if variant.name in hit.places
            ]
            rows += hits or [{**about, "rank": None, "objectID": None}]
    return check_runs(rows)


def measure(
    runs: DataFrame, judgments: Sequence[Row], questions: Sequence[Question], metric: str
) -> tuple[list[VariantScore], list[list[VariantScore]]]:
    """Return the score of the whole set by variant, and those of each query."""
    weights = [{"query": asked.query, "filters": asked.filters, "weight": asked.weight}
               for asked in questions]  # fmt: skip
    scores = score_runs(
        runs, to_frame(judgments), metric, unjudged="bound", gains=None, relevant=1.0,
        queries=weights, warns=False,
    )  # fmt: skip
    whole = [_of_set(row) for row in summary(scores).to_dict("records")]
    scores_by_question: dict[tuple[str, str], list[VariantScore]] = {}
    for row in scores.to_dict("records"):
        scores_by_question.setdefault((row["query"], row["filters"]), []).append(_of_query(row))
    return whole, [scores_by_question[question.key] for question in questions]


def append_point(
    history: Sequence[Sequence[float | None]], whole: Sequence[VariantScore]
) -> list[Sequence[float | None]]:
    """Append the mean of each variant to the line of scores, unless nothing is known or new."""
    point = [score["mean"] for score in whole]
    if all(mean is None for mean in point) or (history and list(history[-1]) == point):
        return [*history]
    return [*history, point][-MAX_HISTORY:]


def describe_score(score: VariantScore) -> str:
    """Describe a score with its interval in a few words."""
    if score["mean"] is None:
        return f"{score['variant']}: no score yet"
    low, high = score["low"], score["high"]
    interval = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{score['variant']}: {score['mean']:.3f}{interval}, {score['judged'] or 0:.0%} judged"


def _of_set(row: dict[Any, Any]) -> VariantScore:
    return {
        "variant": row["run"], "mean": _known(row["mean"]), "low": _known(row["low"]),
        "high": _known(row["high"]), "upper": _known(row["mean"] + row["residual"]),
        "judged": _known(row["judged"]), "queries": row["queries"],
        "without_hits": row["without_hits"], "without_relevant": row["without_relevant"],
    }  # fmt: skip


def _of_query(row: dict[Any, Any]) -> VariantScore:
    return {
        "variant": row["run"], "mean": _known(row["value"]), "low": None, "high": None,
        "upper": _known(row["value"] + row["residual"]), "judged": _known(row["judged_at_k"]),
        "queries": int(not math.isnan(row["value"])), "without_hits": int(not row["n_hits"]),
        "without_relevant": int(not row["n_relevant"]),
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
