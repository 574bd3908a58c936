"""The workbench: the query editor beside the other editors of an index, with one Apply."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import traitlets

from svc_notebook.core.api.validation import same
from svc_notebook.core.display import write_table
from svc_notebook.data.client import AsyncClient, check_attributes
from svc_notebook.data.session import AnyClient
from svc_notebook.errors import UNCERTAIN_FAILURES, BadInput, Stopped, SvcError
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import (
    AppliedChange,
    Changes,
    Draft,
    Part,
    diff_part,
    is_same_part,
    list_applied,
    list_setting_changes,
    order_parts,
    patch_part,
    show_setting,
)
from svc_notebook.faces.editors.curation_editors.rules import RuleEditor
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS, write_line
from svc_notebook.faces.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.faces.editors.query_editor.editor import Action, QueryEditor
from svc_notebook.faces.editors.rpc import call, explain, finish, report_progress, wait_for
from svc_notebook.faces.editors.service_panels import AnalyticsPanel, Step
from svc_notebook.faces.editors.settings_editor import SettingsEditor
from svc_notebook.faces.editors.snippets import make_synonym, write_change
from svc_notebook.faces.editors.traits import WORKBENCH_HEIGHT_PIXELS
from svc_notebook.faces.editors.workbench_editor.trial import (
    DraftTrial,
    TrialEditor,
    describe_change,
)
from svc_notebook.tuning.changes import history, noting, undo
from svc_notebook.tuning.proposed_changes import read_proposal

UNDO_STEP_SECONDS = 1.2  # changes of one part within this time are one undo step
NOTE = "workbench"  # in the journal


class Workbench(TrialEditor):
    """The editors of an index, linked: all drafts show in the hits, and one Apply writes them.

    `query`, `settings`, `synonyms`, `rules`, `judgments` and `analytics` are the editors. `value`
    is the changes of all drafts, as `svc.tuning.apply` takes them; `draft` is the same. `trial` is
    how the drafts are searched, and the score of the judged queries with them.
    """

    title: ClassVar[str] = "Workbench"
    needs: ClassVar[str] = "editSettings"
    _esm = read_module("workbench.js")
    _css = read_styles("kit/kit.css", "workbench.css")

    decided = ("search", "selected", "judged", "draft")

    search: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    selected = traitlets.Unicode(None, allow_none=True, read_only=True).tag(sync=True)
    judged: Any = traitlets.List(read_only=True)
    draft: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    parts: Any = traitlets.Dict().tag(sync=True, to_json=lambda parts, _: _write_references(parts))
    forward = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        index: str,
        *,
        params: Mapping[str, Any] | None = None,
        client: AnyClient | None = None,
        images: bool = False,
        height: int | None = WORKBENCH_HEIGHT_PIXELS,
        judging: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        common: Any = {"client": client, "height": height}
        self._begin_trials(index, client)
        self._touched: tuple[str, float] = ("", 0.0)
        made: list[Editor] = []

        def make(kind: Any, **specific: Any) -> Any:
            made.append(kind(index, **common, **specific))
            return made[-1]

        try:
            self.query = make(QueryEditor, value=params, images=images)
            self.settings: SettingsEditor = make(SettingsEditor)
            self.synonyms = make(SynonymEditor)
            self.rules = make(RuleEditor)
            self.judgments = make(JudgmentEditor, images=images, **judging or {})
            self.analytics: AnalyticsPanel = make(AnalyticsPanel, waits=True)
            self._drafted = {
                "settings": self.settings, "synonyms": self.synonyms, "rules": self.rules,
            }  # fmt: skip
            linked: dict[str, Editor] = {
                "query": self.query, "judgments": self.judgments, "analytics": self.analytics,
            }  # fmt: skip
            parts = linked | {str(part): editor for part, editor in self._drafted.items()}
            super().__init__(index, parts=parts, **common, **options)
        except BaseException:
            for editor in made:
                editor.close()
            raise
        self._link()

    # Methods of the base class.

    def take_connection(self, client: AsyncClient) -> None:
        """Use the new connection, with a new copy for drafts."""
        before = self.client
        super().take_connection(client)
        if self.client is not before:
            self._trial = DraftTrial(client, self.index)

    async def load(self) -> Changes:
        """Return no changes: the value when all parts are saved."""
        return {}

    def check(self, value: Any) -> Changes:
        """Validate changes; those that make no difference are left out."""
        if not isinstance(value, dict):
            raise BadInput("the value of a workbench must be a dict: settings, synonyms and rules")
        if unknown := value.keys() - self._drafted.keys():
            raise BadInput(f"a workbench has no part `{min(unknown, key=str)}`")
        given = {part: changes for part, changes in value.items() if changes}
        proposed = read_proposal(given) if given else {}
        checked: Changes = {}
        for part, changes in proposed.items():
            editor = self._drafted[part]
            whole = editor.check(patch_part(part, editor.saved, changes))
            if difference := diff_part(part, editor.saved, whole):
                checked[part] = difference
        return checked

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the changes of all drafts, and the decisions in the query and judgment editors."""
        query, judged = self.query, self.judgments.judged
        searched = {"search": query.value, "selected": query.selected}
        return {**searched, "judged": judged, "draft": draft.value}

    def write_html(self) -> str:
        """Return the changes, the score with them, and the hits as HTML tables."""
        rows = [
            (part, name, "" if after is None else show_setting(after))
            for part, changes in self.value.items()
            for name, after in changes.items()
        ]
        more = f", the first {SNAPSHOT_ROWS} of {len(rows):,}" if len(rows) > SNAPSHOT_ROWS else ""
        head = write_line(f"Unsaved changes{more}")
        table = head + write_table(("", "", "after"), rows[:SNAPSHOT_ROWS])
        score = self.trial.get("score")
        measured = write_line(describe_change(score)) if score else ""
        return (table + measured if rows else "") + self.query.write_html()

    def codes(self) -> dict[str, str]:
        """Return the changes as code: the drafts, else what was applied, else the search."""
        changes = self.value or self._collect_since_opened()
        if not changes:
            return self.query.codes()
        order = order_parts(changes, self.settings.changed_from)
        codes = [self._drafted[part].codes() for part in order]
        return write_change(self.index, changes, codes, forward=self.forward)

    def close(self) -> None:
        """Close the workbench and its editors, and drop the copy of the index."""
        self._is_closing = True
        try:
            finish(self._end_trial)
        finally:
            for editor in self.parts.values():
                editor.close()
            super().close()

    # Methods for cells.

    @property
    def is_unsaved(self) -> bool:
        """Whether closing the workbench loses drafts or judgments."""
        return self.dirty or self.judgments.is_unsaved

    def apply(self) -> None:
        """Write all drafts to the service; warn about attributes that no record has."""
        changes = self.value.get("settings", {})
        wait_for(check_attributes(self.client, self.index, changes)).warn()
        super().apply()

    # Calls for views.

    @call
    async def write(self) -> None:
        """Apply all drafts as one change of the journal.

        Nothing is written if a part has errors or was changed elsewhere. If a write fails or is
        stopped, the error has the parts that are applied; the drafts of the others stay.
        """
        self._refuse_read_only()
        changes = self._collect()
        if not changes:
            return
        saved = {part: editor.saved for part, editor in self._drafted.items()}
        values = {part: editor.value for part, editor in self._drafted.items()}
        order = order_parts(changes, saved["settings"])
        applied: list[Part] = []
        is_started, failure, note = False, None, ""
        self._update_state(busy="applying", error=None)
        try:
            for part in order:
                await self._drafted[part].refuse_conflicts(saved[part], values[part])
            async with noting(self.client, self.index, changes, note=NOTE):  # type: ignore[arg-type]
                is_started = True
                for number, part in enumerate(order):
                    report_progress(number, len(order), f"applying the {part}")
                    work = self._drafted[part].write_value(saved[part], values[part])
                    await _raise_stopped(work)
                    applied.append(part)
        except Exception as error:
            failure = error
        finally:
            self._update_state(busy="")
        for part in applied:
            self._drafted[part].take_applied(values[part])
        if is_started:  # also after a failure: a write that failed may have had an effect
            unread = await self._follow_saved()
            note = self._describe_outcome(failure, applied, order, unread) if failure else ""
            self.emit("applied")
        if failure:
            if note:
                failure.add_note(note)
            self._update_state(error=explain(failure))
            raise failure

    @call
    async def review(self) -> dict[str, Any]:
        """Return the changes by part, in the order in which they are written, with warnings."""
        return {
            "order": order_parts(self._collect(), self.settings.saved),
            "settings": list_setting_changes(self.settings.saved, self.settings.value),
            "problems": self.settings.problems,
            "synonyms": await self.synonyms.review(),
            "rules": await self.rules.review(),
            "replicas": self.settings.value.get("replicas") or [],
        }

    @call
    async def refresh(self) -> None:
        """Read all parts again; drafts stay."""
        async with self._trial_lock:  # a running trial may be making the copy
            await self._trial.drop()
        for editor in self._drafted.values():
            await editor.refresh()
        await self._follow_saved()

    @call
    async def applied(self) -> list[AppliedChange]:
        """List the changes of the index in the journal, newest first."""
        return list_applied(await history(self.index, client=self.client))

    @call
    async def undo_applied(self, change: str) -> None:
        """Undo one applied change, by its id; drafts stay."""
        self._refuse_read_only()
        await undo(self.index, change, client=self.client)
        await self._follow_saved()
        self.emit("applied")

    @call
    async def copy_index(self) -> None:
        """Try the draft on a copy of the index, however large the index is."""
        self._trial.may_copy = True
        await self._try()

    @call
    async def judge_query(self) -> None:
        """Open the sheet of the current query in the judgment editor."""
        value = self.query.value
        filters = value.get("filters")
        await self.judgments.ask(
            value.get("query", ""), filters if isinstance(filters, str) else ""
        )

    @call
    def reach(self, forward: bool) -> None:
        """Set whether replicas are changed as well."""
        self.forward = forward

    @call
    def show_rule(self, id: str) -> None:  # noqa: A002 - the name in the view
        """Let the views of the rule editor select a rule."""
        self.rules.emit("drafted", id=id)

    # Internals.

    def _link(self) -> None:
        """Follow the editors: drafts, judgments, and hits that are pinned or hidden."""
        for part, editor in self._drafted.items():
            editor.leave_applying()
            editor.observe(lambda _, part=part: event_loop.begin(self._gather(part)), "value")
        self.judgments.observe(lambda _: event_loop.begin(self._measure_soon()), "value")
        for editor, names in ((self.query, ["value", "selected"]), (self.judgments, ["judged"])):
            editor.observe(lambda _: self.set_decisions(self.list_decisions(self._draft)), names)
        self.analytics.take_steps(self._continue_with)
        if not self.rules.state["readOnly"]:
            self.query.on_pin(lambda hit: self._draft_rule("pin", hit))
            self.query.on_hide(lambda hit: self._draft_rule("hide", hit))
        if self.value:
            wait_for(self._try())

    async def _continue_with(
        self, step: Step, queries: Sequence[str], words: Sequence[str]
    ) -> None:
        """Search a query, draft its synonym, or open the sheets of queries."""
        if step == "search":
            self.query.edit({**self.query.value, "query": queries[0]})
        elif step == "synonym":
            self.synonyms.put(make_synonym(queries[0], words))
        else:
            for query in reversed(queries):
                await self.judgments.ask(query)
        self.emit("continued", step=step)

    def _draft_rule(self, action: Action, hit: Mapping[str, Any]) -> None:
        query, object_id = hit["query"], hit["objectID"]
        if action == "pin":
            rule = self.rules.pin(query, object_id, hit["position"])
        else:
            rule = self.rules.hide(query, object_id)
        self.emit("drafted", id=rule)

    async def _gather(self, part: str) -> None:
        """Take the changes of all drafts after one of them has changed."""
        value, now = self._collect(), time.monotonic()
        if same(value, self._draft.value):
            return
        before, at = self._touched
        self._touched = (part, now)
        merge = before == part and now - at < UNDO_STEP_SECONDS
        self._set_draft(self._draft.put(value, merge=merge))

    def _collect(self) -> Changes:
        return self._diff({part: editor.saved for part, editor in self._drafted.items()})

    def _collect_since_opened(self) -> Changes:
        """Return the changes that code repeats: drafts, and what this workbench applied."""
        return self._diff({part: editor.changed_from for part, editor in self._drafted.items()})

    def _diff(self, before: Mapping[Part, Any]) -> Changes:
        """Return the differences of all drafts from the parts `before`."""
        collected = {
            str(part): diff_part(part, before[part], editor.value)
            for part, editor in self._drafted.items()
        }
        return {part: changes for part, changes in collected.items() if changes}

    def _change_draft(self, change: Callable[[Draft], Draft]) -> None:
        """Change the draft, after pending changes of the editors."""
        super()._change_draft(lambda draft: change(draft.put(self._collect())))

    def _set_draft(self, draft: Draft) -> None:
        """Set the draft, give each editor its part, and search with all of them."""
        super()._set_draft(draft)
        for part, editor in self._drafted.items():
            whole = patch_part(part, editor.saved, draft.value.get(part, {}))
            if not is_same_part(part, editor.value, whole):
                editor.draft_value(whole)
        self._try_soon()

    async def _follow_saved(self) -> set[Part]:
        """Read the saved parts again after a change; return those that could not be read.

        Drafts stay, and their undo steps start again.
        """
        unread = set[Part]()
        for part, editor in self._drafted.items():
            try:
                await editor.refresh()
            except SvcError:  # the draft stays as it is
                unread.add(part)
        with suppress(SvcError):
            await self.query.follow_saved()
        await self.note_interrupted()
        self._set_draft(Draft.of({}).put(self._collect()))
        return unread

    def _describe_outcome(
        self, failure: Exception, applied: list[Part], order: list[Part], unread: set[Part]
    ) -> str:
        """Describe the applied part of a failed write; empty without one.

        A write whose response is lost may have had an effect, or may have one later.
        """
        open_parts = {*self._collect(), *unread}
        done = [part for part in order if part in applied or part not in open_parts]
        rest = [part for part in order if part not in done]
        unknown: list[Part] = []
        if isinstance(failure, UNCERTAIN_FAILURES):
            begun = len(applied) + 1 - len(done)
            unknown, rest = rest[:begun], rest[begun:]
        return _describe_partial(self.index, done, unknown, rest) if done or unknown else ""

    @traitlets.observe("forward")
    def _pass_forward(self, _: Any) -> None:
        for editor in self._drafted.values():
            editor.forward = self.forward

    @traitlets.observe("height")
    def _pass_height(self, _: Any) -> None:
        for editor in self.parts.values():
            editor.height = self.height


def _write_references(parts: Mapping[str, Editor]) -> dict[str, str]:
    """Return editors as the references to their models that front ends resolve."""
    return {name: f"IPY_MODEL_{editor.model_id}" for name, editor in parts.items()}


async def _raise_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Await work; raise `Stopped` if it is cancelled, so that the outcome is read and told."""
    try:
        await work
    except asyncio.CancelledError:
        raise Stopped("applying was stopped") from None


def _describe_partial(index: str, done: list[Part], unknown: list[Part], rest: list[Part]) -> str:
    """Describe the parts that a failed write has applied, may have applied, and has not."""
    parts = []
    if done:
        parts.append(
            f"the {' and '.join(done)} of {index} are applied, and svc.tuning.undo({index!r}) "
            "reverts them"
        )
    if unknown:
        parts.append(
            f"it is not known whether the {' and '.join(unknown)} of {index} are applied: reload "
            "later"
        )
    if rest:
        parts.append(f"the {' and '.join(rest)} are not, their drafts stay")
    return "; ".join(parts)
