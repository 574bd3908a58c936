"""The trial of a workbench's drafts: searches and a score with them, before they are applied."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pandas as pd
import traitlets

from svc_notebook.data.client import AsyncClient, ResourceKind, count_records
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.changes import (
    Changes,
    Part,
)
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.faces.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.faces.editors.judgment_editor.judgments import Row, is_judged, or_none, to_frame
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.query_editor.search import DraftTarget
from svc_notebook.faces.editors.rpc import Explanation, explain
from svc_notebook.faces.editors.search_comparison import Copy
from svc_notebook.tuning.changes import as_parameters
from svc_notebook.tuning.evaluation import Comparison, known_gains, run, score_runs

# A larger index is copied only when the user agrees: a copy takes time, and may cost money.
MAX_UNASKED_COPY_RECORDS = 100_000

METRIC = "ndcg@10"
SCORED_HITS = 10  # of each query
SAVED, DRAFT = "saved", "draft"

SCORE_DELAY_SECONDS = 0.4  # after the last change: a score searches for every judged query


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
        "metric": METRIC, "before": or_none(row["before"]), "after": or_none(row["after"]),
        "delta": or_none(row["delta"]), "low": or_none(row["low"]), "high": or_none(row["high"]),
        "queries": int(row["queries"]), "judged": or_none(row["judged_after"]),
    }  # fmt: skip


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


class TrialEditor(Editor):
    """An editor of several linked drafts, with which it searches before they are applied.

    `trial` is how the drafts are searched, and the score of the judged queries with them.
    """

    trial: Any = traitlets.Dict({**no_trial()}).tag(sync=True, **JSON)

    query: QueryEditor
    synonyms: SynonymEditor
    rules: RuleEditor
    judgments: JudgmentEditor
    _drafted: dict[Part, Any]

    def _begin_trials(self, index: str, client: AnyClient | None) -> None:
        """Prepare trials; called before the base class begins to load."""
        self._trial = DraftTrial(asynchronous(client), index)
        self._target: DraftTarget | None = None
        self._trial_count = 0
        self._trial_lock = asyncio.Lock()
        self._trial_task: asyncio.Task[Any] | None = None  # that makes or changes the copy
        self._is_closing = False
        self._measure_count = 0

    def _try_soon(self) -> None:
        if self._ready and not self._is_closing:
            self._begin_follow_up(self._try())

    async def _end_trial(self) -> None:
        """Stop the running trial, then drop the copy."""
        if self._trial_task:
            self._trial_task.cancel()
        async with self._trial_lock:
            await self._trial.drop()

    async def _try(self) -> None:
        """Search with the drafts, then measure; of several waiting trials only the last runs."""
        self._trial_count += 1
        number = self._trial_count
        async with self._trial_lock:
            if number == self._trial_count and not self._is_closing:
                self._trial_task = asyncio.current_task()
                try:
                    await self._try_once()
                finally:
                    self._trial_task = None
        if number == self._trial_count:
            await self._measure_soon()

    async def _try_once(self) -> None:
        changes, before = self._draft.value, self._target
        facts: Any = no_trial(self._trial.copy_name)
        self._target = None
        if changes:
            self.trial = {**self.trial, "busy": True}
            try:
                facts |= await self._find_target(changes)
            except Exception as error:
                facts["error"] = explain(error)
            facts["score"] = self.trial["score"] if self._target else None
        self.trial = {**facts, "copy": self._trial.copy_name}
        if self._target or before:
            await self.query.try_draft(self._target)

    async def _find_target(self, changes: Changes) -> dict[str, Any]:
        """Set where the drafts are searched; return facts of the trial."""
        lists: dict[str, Any] = {"synonyms": self.synonyms, "rules": self.rules}
        for part, editor in lists.items():
            if part in changes:
                editor.refuse_faults()
        target = await self._trial.prepare(
            changes,
            {part: editor.saved for part, editor in self._drafted.items()},
            {part: editor.value for part, editor in self._drafted.items()},
            {part: editor.kind for part, editor in lists.items()},
        )
        if isinstance(target, CopyNeeded):
            return {"needs": target.parts, "records": target.records}
        self._target = target
        return {"by": "parameters" if target.index == self.index else "copy"}

    async def _measure_soon(self) -> None:
        """Measure the score of the judged queries, unless the draft or a judgment changes again."""
        self._measure_count += 1
        number, target = self._measure_count, self._target
        if target is None:
            return
        await asyncio.sleep(SCORE_DELAY_SECONDS)
        if number != self._measure_count or target is not self._target:
            return
        facts: dict[str, Any] = {"score": None}
        try:
            rows = self.judgments.value
            facts["score"] = await measure_change(self.client, self.index, target, rows)
        except Exception as error:
            facts["error"] = explain(error)
        if number == self._measure_count and target is self._target:
            self.trial = {**self.trial, **facts}
            self._fallback.follow()
