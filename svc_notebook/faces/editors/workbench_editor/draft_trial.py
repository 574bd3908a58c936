"""The trial of a draft: its hits, and its effect on the score of the judged queries."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pandas as pd

from svc_notebook.data.client import AsyncClient, ResourceKind, count_records
from svc_notebook.faces.editors.error_display import Explanation
from svc_notebook.faces.editors.judgment_editor.rows import Row, is_judged, to_frame
from svc_notebook.faces.editors.query_editor.draft_search import DraftTarget
from svc_notebook.faces.editors.settings_editor.temporary_copy import Copy
from svc_notebook.tuning.changes import as_parameters
from svc_notebook.tuning.evaluation import Comparison, known_gains, run, score_runs

# A larger index is copied only when the user agrees: a copy takes time, and may cost money.
MAX_UNASKED_COPY_RECORDS = 100_000

METRIC = "ndcg@10"
SCORED_HITS = 10  # of each query
SAVED, DRAFT = "saved", "draft"


class TrialState(TypedDict):
    """How the draft is tried, as a view shows it; `busy` while that is being prepared.

    `needs` are the parts that need a copy of the index, which has `records`, and waits for the
    user's agreement.
    """

    by: Literal["", "parameters", "copy"]
    busy: bool
    copy: str
    needs: list[str]
    records: int
    error: Explanation | None
    score: ScoreChange | None


def no_trial(copy: str = "") -> TrialState:
    """Return the state without a draft."""
    return {
        "by": "", "busy": False, "copy": copy, "needs": [], "records": 0, "error": None,
        "score": None,
    }  # fmt: skip


@dataclass(frozen=True)
class CopyNeeded:
    """The draft needs a copy of a large index, for which the user has to agree."""

    parts: list[str]
    records: int


class DraftTrial:
    """Finds where a draft is searched; keeps the copy of the index until it is dropped."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client, self._index = client, index
        self._copy: Copy | None = None
        self.may_copy = False

    @property
    def copy_name(self) -> str:
        """The name of the copy; empty if there is none."""
        return self._copy.name if self._copy else ""

    async def prepare(
        self,
        changes: Mapping[str, Mapping[str, Any]],
        saved: Mapping[str, Any],
        values: Mapping[str, Any],
        kinds: Mapping[str, ResourceKind],
    ) -> DraftTarget | CopyNeeded:
        """Return where the draft is searched; `CopyNeeded` if that needs the user's agreement.

        `saved` and `values` are the whole parts before and after the changes.
        """
        settings = values["settings"]
        params, others = as_parameters(changes.get("settings", {}), settings)
        needs = [*others, *(part for part in kinds if changes.get(part))]
        if not needs:
            return DraftTarget(self._index, params, settings)
        if self._copy is None:
            if not self.may_copy:
                records = await count_records(self._client, self._index)
                if records > MAX_UNASKED_COPY_RECORDS:
                    return CopyNeeded(needs, records)
            copy = Copy(self._client, self._index)
            await copy.make(saved["settings"], {part: saved[part] for part in kinds})
            self._copy = copy
        await self._copy.configure(settings)
        for part, kind in kinds.items():
            await self._copy.replace(kind, values[part])
        return DraftTarget(self._copy.name, {}, settings)

    async def drop(self) -> None:
        """Delete the copy."""
        copy, self._copy = self._copy, None
        if copy:
            await copy.drop()


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
