"""The settings editor: its value is an index's settings, `None` for those to be reset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

import traitlets

from svc_notebook.core.api.parameters import Settings as Shape
from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import write_table
from svc_notebook.data.client import Tasks, check_attributes
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.base import JSON, Editor
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import (
    Draft,
    changed_settings,
    complete_settings,
    find_setting_conflicts,
    invert_settings,
    list_setting_changes,
    rebase_settings,
    show_setting,
    tidy_settings,
    without_defaults,
)
from svc_notebook.faces.editors.fallback import write_line
from svc_notebook.faces.editors.hit_cards import list_searchable
from svc_notebook.faces.editors.parameter_panel import (
    MODIFIERS,
    check_entries,
    find_problems,
    list_settings,
    read_attributes,
    read_parameter,
)
from svc_notebook.faces.editors.rpc import call, explain, finish, report_progress, wait_for
from svc_notebook.faces.editors.search_comparison import Copy, preview
from svc_notebook.faces.editors.snippets import write_settings
from svc_notebook.faces.editors.traits import Texts
from svc_notebook.tuning.changes import as_parameters, holds, noting

Settings = dict[str, Any]


class SettingsEditor(Editor):
    """Change the settings of an index, and preview their effect on queries.

    `value` is the settings, with `None` for those to be reset; settings that a value set in Python
    does not name stay. `previews` has the results of `queries` with the saved settings and with the
    draft, `history` the applied changes. With `forward`, replicas are changed as well.
    """

    title: ClassVar[str] = "Settings editor"
    needs: ClassVar[str] = "editSettings"
    _esm = read_module("settings.js")
    _css = read_styles("kit/kit.css", "query.css", "settings.css")

    decided = ("draft",)

    draft: Any = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    queries: Any = Texts("query").tag(sync=True)
    forward = traitlets.Bool(False).tag(sync=True)
    changes: Any = traitlets.List().tag(sync=True, **JSON)
    problems: Any = traitlets.List().tag(sync=True, **JSON)
    previews: Any = traitlets.Dict().tag(sync=True, **JSON)
    history: Any = traitlets.List().tag(sync=True, **JSON)

    def __init__(
        self, index: str, *, queries: Any = (), forward: bool = False, **options: Any
    ) -> None:
        self._copy: Copy | None = None
        self._preview_count = 0
        self._is_open = False
        self._preview_lock = asyncio.Lock()
        super().__init__(index, queries=queries, forward=forward, **options)

    # Methods of the base class.

    async def load(self) -> Settings:
        """Read the settings; `primary`, which a replica has, cannot be changed and is removed."""
        saved: Any = dict(await self.client.get_settings(self.index))
        self._follows = saved.pop("primary", "")
        return dict(saved)

    def check(self, value: Any) -> Settings:
        """Validate settings, their types and the entries of attribute lists."""
        if not isinstance(value, dict):
            raise BadInput("the value of a settings editor must be a dict: settings")
        checked = check_members(value, Shape, "")
        for name in MODIFIERS:
            check_entries(name, checked.get(name) or [])
        return complete_settings(self.saved, checked)

    async def save(self, saved: Settings, value: Settings) -> Tasks:
        """Send only the changed settings; raise `BadOption` if one was also changed elsewhere."""
        await self.refuse_conflicts(saved, value)
        changes: Any = changed_settings(saved, value)
        more: Any = {"forwardToReplicas": True} if self.forward else {}
        return dict(await self.client.set_settings(self.index, changes, **more))

    async def refuse_conflicts(self, saved: Settings, value: Settings) -> None:
        """Raise `BadOption` if a changed setting was also changed elsewhere."""
        changes = changed_settings(saved, value)
        now = await self.load()
        if conflicts := find_setting_conflicts(saved, now, changes):
            name = conflicts[0]
            raise BadOption(
                f"`{name}` was changed elsewhere to {show_setting(now.get(name))}: "
                "reload to see the change; yours stay"
            )

    async def is_saved(self, saved: Settings, value: Settings) -> bool:
        """Return whether the changed settings have the values of the draft."""
        changes = changed_settings(saved, value)
        return await holds(self.client, self.index, "settings", changes)

    def journal_change(self, saved: Settings, value: Settings) -> AbstractAsyncContextManager[None]:
        """Record in the journal the previous values of the changed settings."""
        changes = changed_settings(saved, value)
        note = self.title.lower()
        return noting(self.client, self.index, {"settings": changes}, note=note)

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the changed settings; None resets a setting."""
        return {"draft": changed_settings(draft.saved, draft.value)}

    def write_html(self) -> str:
        """Return the changes and the settings as HTML tables."""
        changes = [
            (c["name"], c["how"], show_setting(c["before"]), show_setting(c["after"]))
            for c in self.changes
        ]
        rows = [
            (name, show_setting(member), show_setting(default_of(name)))
            for name, member in self.value.items()
            if member is not None
        ]
        parts = [write_line("Unsaved changes"), write_table(("", "", "before", "after"), changes)]
        return "".join(parts if changes else []) + write_table(("setting", "", "default"), rows)

    def codes(self) -> dict[str, str]:
        """Return the changes as code; without changes, what differs from the defaults."""
        changes = changed_settings(self.changed_from, self.value)
        changes = changes or without_defaults(self.value)
        return write_settings(self.client.connection, self.index, changes, forward=self.forward)

    # Methods for cells.

    def apply(self) -> None:
        """Write the draft to the service; warn about attributes that no record has."""
        changes = changed_settings(self.saved, self.value)
        wait_for(check_attributes(self.client, self.index, changes)).warn()
        super().apply()

    def close(self) -> None:
        """Close the editor, and drop its copy of the index."""
        if self._copy:
            finish(self.drop_copy)
        super().close()

    # Calls for views.

    @call
    def put(self, name: str, text: str) -> None:
        """Set one setting to the typed value; an empty text returns to the saved value."""
        rest = {key: member for key, member in self.value.items() if key != name}
        self.edit({**rest, name: read_parameter(name, text)} if text.strip() else rest)

    @call
    def pin(self, query: str) -> None:
        """Add a query to the preview."""
        self.queries = [*(other for other in self.queries if other != query), query]

    @call
    def unpin(self, query: str) -> None:
        """Remove a query from the preview."""
        self.queries = [other for other in self.queries if other != query]

    @call
    def reach(self, forward: bool) -> None:
        """Set whether replicas are changed as well."""
        self.forward = forward

    @call
    def settings(self) -> list[Any]:
        """List every setting."""
        return list(list_settings())

    @call
    async def write(self) -> None:
        """Apply the draft, add it to the history, and read the settings that the service stored."""
        saved = self.saved
        changes = changed_settings(saved, self.value)
        if not changes:
            return
        await super().write()
        self.note_applied(saved, changes)
        await self.refresh()

    def take_applied(self, value: Settings) -> None:
        """Take settings as saved that another editor has applied."""
        self.note_applied(self.saved, changed_settings(self.saved, value))
        super().take_applied(value)

    def note_applied(self, saved: Settings, changes: Settings) -> None:
        """Add changes that were applied to the history."""
        back = invert_settings(saved, changes)
        self.history = [{"when": time.time(), "before": back, "after": changes}, *self.history]

    @call
    async def refresh(self) -> None:
        """Read the saved settings; edited settings stay."""
        saved = await self._load_again(error=None)
        draft, value = self._draft, rebase_settings(self.saved, self.value, saved)
        self._set_draft(Draft(value=value, saved=saved, past=draft.past, future=draft.future))

    @call
    def take_back(self, place: int) -> None:
        """Draft the reversal of one applied change."""
        self.edit({**self.value, **self.history[place]["before"]})

    @call
    async def make_copy(self) -> None:
        """Copy the index to preview settings that are not search parameters; see `drop_copy`."""
        await self.drop_copy()
        copy = Copy(self.client, self.index)
        report_progress(0, 0, f"copying {self.index} to {copy.name}")
        await copy.make(self.saved)
        self._copy = copy
        await self._preview()

    @call
    async def drop_copy(self) -> None:
        """Delete the copy."""
        copy, self._copy = self._copy, None
        if copy:
            await copy.drop()
            await self._preview()

    @call
    async def look(self) -> None:
        """Repeat the preview."""
        await self._preview()

    # Internals.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        attributes = await read_attributes(self.client, self.index)
        self._update_state(attributes=attributes, follows=self._follows)
        self._is_open = True
        self.problems = find_problems(self.value, [a["name"] for a in attributes])
        await self._preview()

    def _set_draft(self, draft: Draft) -> None:
        value = tidy_settings(draft.saved, draft.value)
        super()._set_draft(Draft(value, draft.saved, draft.past, draft.future))
        self.changes = list_setting_changes(self.saved, value)
        if self._is_open:
            names = [a["name"] for a in self.state["attributes"]]
            self.problems = find_problems(value, names)
            self._begin_follow_up(self._preview())

    @traitlets.observe("queries")
    def _preview_queries(self, _: Any) -> None:
        if self._is_open:
            (event_loop.begin if event_loop.is_here() else wait_for)(self._preview())

    async def _preview(self) -> None:
        """Preview the draft; of several waiting previews only the last runs."""
        self._preview_count += 1
        number = self._preview_count
        async with self._preview_lock:
            if number == self._preview_count:
                await self._preview_once()

    async def _preview_once(self) -> None:
        value, copy = self.value, self._copy
        changes = changed_settings(self.saved, value)
        params, others = as_parameters(changes, value)
        after: tuple[str, Mapping[str, Any]] = (copy.name, {}) if copy else (self.index, params)
        facts = {
            "by": "" if not changes else "copy" if copy else "parameters",
            "others": others, "copy": copy.name if copy else "",
        }  # fmt: skip
        try:
            if copy:
                await copy.configure(value)
            previews = await preview(
                self.client, self.index, self.queries, after, list_searchable(value)
            )
        except Exception as error:
            self.previews = {**self.previews, **facts, "error": explain(error)}
        else:
            self.previews = {**facts, "queries": previews}
