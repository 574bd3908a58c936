"""The effect of a draft on the score of the judged queries."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, TypedDict

import pandas as pd

from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.judgment_editor.rows import Row, is_judged, to_frame
from svc_notebook.faces.editors.query_editor.draft_search import DraftTarget
from svc_notebook.tuning.evaluation import Comparison, known_gains, run, score_runs

METRIC = "ndcg@10"
SCORED_HITS = 10  # of each query
SAVED, DRAFT = "saved", "draft"


class ScoreChange(TypedDict):
    """The mean score before and after, and the 95 % interval of the difference.

    Members are None where nothing is known; `judged` is the judged share of the draft's hits.
    """

    metric: str
    before: float | None
    after: float | None
    delta: float | None
    low: float | None
    high: float | None
    queries: int
    judged: float | None


async def measure_change(
    client: AsyncClient, index: str, target: DraftTarget, judgments: Sequence[Row]
) -> ScoreChange | None:
    """Search for the judged queries with and without a draft; None without judgments."""
    judged = [row for row in judgments if is_judged(row)]
    if not judged:
        return None
    frame = to_frame(judged)
    params: Any = {
        name: value for name, value in target.params.items() if name not in ("hitsPerPage", "page")
    }
    before, after = await asyncio.gather(
        run(index, frame, k=SCORED_HITS, name=SAVED, client=client),
        run(target.index, frame, params, k=SCORED_HITS, name=DRAFT, client=client),
    )
    return await asyncio.to_thread(_compare, before, after, frame)


def _compare(before: pd.DataFrame, after: pd.DataFrame, frame: pd.DataFrame) -> ScoreChange:
    runs = pd.concat([before, after], ignore_index=True)
    scores = score_runs(
        runs, frame, METRIC, unjudged="zero", gains=None, relevant=1.0, queries=None, warns=False
    )
    compared = Comparison(SAVED, (DRAFT,), runs, scores, known_gains(frame, None))
    [row] = compared.test().to_dict("records")
    return {
        "metric": METRIC, "before": _known(row["before"]), "after": _known(row["after"]),
        "delta": _known(row["delta"]), "low": _known(row["low"]), "high": _known(row["high"]),
        "queries": int(row["queries"]), "judged": _known(row["judged_after"]),
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def describe_change(score: ScoreChange) -> str:
    """Describe the change of a score in a few words."""
    if score["before"] is None or score["after"] is None or score["delta"] is None:
        return f"{score['metric']}: no judged query has hits in both"
    low, high = score["low"], score["high"]
    interval = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return (
        f"{score['metric']}: {score['before']:.3f} → {score['after']:.3f}, "
        f"{score['delta']:+.3f}{interval}, {score['queries']:,} judged queries"
    )
