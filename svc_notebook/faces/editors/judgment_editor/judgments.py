"""Judgments as rows that an editor changes, their file, and the scores of their queries.

One row is one rating of one hit of one query. A rating of 0, an unrateable hit and a hit without a
rating are different. `svc_notebook.tuning` validates the rows; the metrics, their treatment of
unjudged hits and the intervals are its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from pandas import DataFrame

from svc_notebook.errors import BadOption
from svc_notebook.faces.editors.judgment_editor.pool import Pooled, PoolVariant
from svc_notebook.tuning.evaluation import score_runs, summary
from svc_notebook.tuning.tables import (
    JUDGMENTS,
    KINDS,
    Question,
    check_judgments,
    check_runs,
    is_missing,
    write_table,
)
from svc_notebook.tuning.tables import now as now

Row = dict[str, Any]
Key = tuple[str, str, str, str]

FAMILIES = ("ndcg", "p", "rr", "ap")  # metrics that a view offers
MAX_CUTOFF = 10
MAX_HISTORY = 400  # points of the line, a judgment each; the oldest are dropped


def read_judgments(given: Any) -> list[Row]:
    """Validate judgments, given as a DataFrame or as rows; additional columns stay."""
    frame = check_judgments(given)
    records = frame.astype(object).to_dict("records")
    return [
        {
            str(name): _to_json(value)
            for name, value in row.items()
            if name in JUDGMENTS or not is_missing(value)
        }
        for row in records
    ]


def to_frame(rows: Iterable[Row]) -> DataFrame:
    """Return rows as a DataFrame of judgments, additional columns last."""
    return check_judgments(list(rows))


def check_file(file: str | os.PathLike[str]) -> Path:
    """Return the path of a file of judgments; raise `BadOption` for an invalid one."""
    path = Path(file)
    if path.suffix not in KINDS:
        raise BadOption(f"unsupported format `{path.suffix}`; use {' or '.join(KINDS)}")
    if not path.parent.is_dir():
        raise BadOption(f"the folder {path.parent} of {path.name} does not exist")
    return path


def read_file(path: Path) -> DataFrame:
    """Read a file of judgments."""
    return check_judgments(path)


def write_file(path: Path, frame: DataFrame) -> None:
    """Replace a file of judgments atomically."""
    write_table(frame, path)


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the query, filters, objectID and rater of a judgment."""
    return row["query"], row["filters"], row["objectID"], row["rater"]


def is_worth_storing(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a rating, a note or is unrateable."""
    return row["rating"] is not None or row["unrateable"] or bool(row["note"])


def is_judged(row: Mapping[str, Any] | None) -> bool:
    """Return whether a hit is rated or unrateable."""
    return row is not None and (row["rating"] is not None or row["unrateable"])


def read_initial(file: Path | None, judgments: Any) -> list[Row]:
    """Return the judgments of an existing file, or else those that are passed."""
    if file and file.exists():
        if judgments is not None:
            raise BadOption(f"{file} already has judgments: omit `judgments`")
        judgments = read_file(file)
    return [] if judgments is None else read_judgments(judgments)


def find_row(rows: list[Row], key: Key) -> Row:
    """Return the row of a key, empty if there is none."""
    return next((row for row in rows if key_of(row) == key), {})


def replace_row(rows: list[Row], key: Key, row: Row) -> list[Row]:
    """Replace the row of a key, or append it; remove it if it has no content."""
    new_rows = [row] if is_worth_storing(row) else []
    position = next((n for n, other in enumerate(rows) if key_of(other) == key), len(rows))
    return [*rows[:position], *new_rows, *rows[position + 1 :]]


def _to_json(value: Any) -> Any:
    """Return a JSON value: None for a missing value, text for a time."""
    if is_missing(value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


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
