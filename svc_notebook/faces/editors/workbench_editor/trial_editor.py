"""The trial of a workbench's drafts: searches and a score with them, before they are applied."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import traitlets

from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.faces.editors.error_display import explain
from svc_notebook.faces.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.faces.editors.query_editor.draft_search import DraftTarget
from svc_notebook.faces.editors.query_editor.editor import QueryEditor
from svc_notebook.faces.editors.workbench_editor.change_set import (
    Changes,
    Part,
)
from svc_notebook.faces.editors.workbench_editor.draft_trial import (
    CopyNeeded,
    DraftTrial,
    measure_change,
    no_trial,
)

SCORE_DELAY_SECONDS = 0.4  # after the last change: a score searches for every judged query


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
        self._trying: Future[None] | None = None

    def _try_soon(self) -> None:
        if self._ready and not self._is_closing:
            self._trying = event_loop.begin(self._try())

    async def _follow_up(self) -> None:
        if self._trying:
            await asyncio.wrap_future(self._trying)

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
