"""The settings editor: its value is an index's settings, `None` for those to be reset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

import traitlets

from svc_notebook.api.parameters import Settings as Shape
from svc_notebook.api.parameters import default_of
from svc_notebook.api.validation import check_members
from svc_notebook.client.attribute_checks import check_attributes
from svc_notebook.client.tasks import Tasks
from svc_notebook.display import write_table
from svc_notebook.editors import event_loop
from svc_notebook.editors.base import JSON, Editor
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.error_display import explain
from svc_notebook.editors.query_editor.panel import read_parameter
from svc_notebook.editors.rpc import call, tell_progress, wait_for
from svc_notebook.editors.settings_editor import changes as changing
from svc_notebook.editors.settings_editor.known_attributes import look_at
from svc_notebook.editors.settings_editor.panel import (
    AROUND,
    check_entries,
    find_problems,
    list_settings,
)
from svc_notebook.editors.settings_editor.preview import Copy, preview
from svc_notebook.editors.snapshot import write_line
from svc_notebook.editors.snippets import write_settings
from svc_notebook.editors.traits import Texts
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.tuning.changes.journalled_write import noting
from svc_notebook.tuning.changes.parameter_overrides import as_parameters
from svc_notebook.tuning.changes.state import holds

Settings = dict[str, Any]


class SettingsEditor(Editor):
    """Change how an index searches and ranks, and see on queries what comes of it.

    `value` is the settings, those to be reset as `None`; a value set in Python leaves as they
    are the settings it does not name. `queries` are searched before and after the draft, in
    `previews`; `history` holds what was applied. With `forward`, replicas change with the index.
    """

    title: ClassVar[str] = "Settings editor"
    needs: ClassVar[str] = "editSettings"
    _esm = read_module("settings.js")
    _css = read_styles("kit/kit.css", "query.css", "settings.css")

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
        self._asked = 0
        self._opened = False
        self._turns = asyncio.Lock()
        self._looking: Future[None] | None = None
        super().__init__(index, queries=queries, forward=forward, **options)

    # What an editor says of itself.

    async def load(self) -> Settings:
        """Read the settings; whom a replica follows is none that could be changed."""
        told: Any = dict(await self.client.get_settings(self.index))
        self._follows = told.pop("primary", "")
        return dict(told)

    def check(self, value: Any) -> Settings:
        """Take settings only, each of its type, with entries that mean something."""
        if not isinstance(value, dict):
            raise BadInput("the value of a settings editor is settings, as a dict")
        checked = check_members(value, Shape, "")
        for name in AROUND:
            check_entries(name, checked.get(name) or [])
        return changing.complete(self.saved, checked)

    async def save(self, saved: Settings, value: Settings) -> Tasks:
        """Send what changed and nothing else, unless somebody else changed the same."""
        changes = changing.changes_of(saved, value)
        now = await self.load()
        if conflicts := changing.find_conflicts(saved, now, changes):
            name = conflicts[0]
            raise BadOption(
                f"`{name}` was changed meanwhile, to {changing.show(now.get(name))}: "
                "reload to see it; your changes stay"
            )
        more: Any = {"forwardToReplicas": True} if self.forward else {}
        wanted: Any = changes
        return dict(await self.client.set_settings(self.index, wanted, **more))

    async def is_saved(self, saved: Settings, value: Settings) -> bool:
        """Say whether the settings that change are as they should be."""
        changes = changing.changes_of(saved, value)
        return await holds(self.client, self.index, "settings", changes)

    def noting(self, saved: Settings, value: Settings) -> AbstractAsyncContextManager[None]:
        """Keep what the settings that change were."""
        changes = changing.changes_of(saved, value)
        note = self.title.lower()
        return noting(self.client, self.index, {"settings": changes}, note=note)

    def picture(self) -> str:
        """Write what is set and what would change as tables."""
        changes = [
            (c["name"], c["how"], changing.show(c["before"]), changing.show(c["after"]))
            for c in self.changes
        ]
        rows = [
            (name, changing.show(member), changing.show(default_of(name)))
            for name, member in self.value.items()
            if member is not None
        ]
        told = [write_line("Not applied yet"), write_table(("", "", "before", "after"), changes)]
        return "".join(told if changes else []) + write_table(("setting", "", "default"), rows)

    def codes(self) -> dict[str, str]:
        """The changes in Python, as a magic and for a terminal; without any, all settings."""
        changes = changing.changes_of(self.saved, self.value) or self.value
        return write_settings(self.client.connection, self.index, changes, forward=self.forward)

    # For cells.

    def apply(self) -> None:
        """Write the draft to the service; warns of attributes that no record has."""
        changes = changing.changes_of(self.saved, self.value)
        wait_for(check_attributes(self.client, self.index, changes)).warn()
        super().apply()

    def close(self) -> None:
        """Close the editor, and drop the copy that it tried settings on."""
        if self._copy and not event_loop.is_here():
            wait_for(self.drop_copy())
        super().close()

    # For views.

    @call
    def put(self, name: str, text: str) -> None:
        """Set one setting to what was typed; nothing typed goes back to what is saved."""
        rest = {key: member for key, member in self.value.items() if key != name}
        self.edit({**rest, name: read_parameter(name, text)} if text.strip() else rest)

    @call
    def pin(self, query: str) -> None:
        """Search for one more query before and after the draft."""
        self.queries = [*(other for other in self.queries if other != query), query]

    @call
    def unpin(self, query: str) -> None:
        """Search no more for a query."""
        self.queries = [other for other in self.queries if other != query]

    @call
    def reach(self, forward: bool) -> None:
        """Let replicas change with the index, or not."""
        self.forward = forward

    @call
    def settings(self) -> list[Any]:
        """List every setting."""
        return list(list_settings())

    @call
    async def write(self) -> None:
        """Apply the draft, keep it in the history, and read what the service made of it."""
        saved = self.saved
        changes = changing.changes_of(saved, self.value)
        if not changes:
            return
        await super().write()
        back = changing.inverse(saved, changes)
        now = {"when": time.time(), "before": back, "after": changes}
        self.history = [now, *self.history]
        await self.refresh()

    @call
    async def refresh(self) -> None:
        """Read what is saved; what was edited stays, the rest follows."""
        self._tell(busy="loading", error=None)
        try:
            saved = await self.load()
        finally:
            self._tell(busy="")
        draft, value = self._draft, changing.rebase(self.saved, self.value, saved)
        self._settle(Draft(value=value, saved=saved, past=draft.past, future=draft.future))

    @call
    def take_back(self, place: int) -> None:
        """Draft the way back from one change that was applied."""
        self.edit({**self.value, **self.history[place]["before"]})

    @call
    async def make_copy(self) -> None:
        """Copy the index, to try settings that no search can name; see `drop_copy`."""
        await self.drop_copy()
        copy = Copy(self.client, self.index)
        tell_progress(0, 0, f"copying {self.index} to {copy.name}")
        await copy.make(self.saved)
        self._copy = copy
        await self._look()

    @call
    async def drop_copy(self) -> None:
        """Delete the copy."""
        copy, self._copy = self._copy, None
        if copy:
            await copy.drop()
            await self._look()

    @call
    async def look(self) -> None:
        """Search for the pinned queries anew."""
        await self._look()

    # The rest.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        found = await look_at(self.client, self.index)
        self._tell(attributes=found, follows=self._follows)
        self._opened = True
        self.problems = find_problems(self.value, [a["name"] for a in found])
        await self._look()

    def _settle(self, draft: Draft) -> None:
        value = changing.tidy(draft.saved, draft.value)
        super()._settle(Draft(value, draft.saved, draft.past, draft.future))
        self.changes = changing.list_changes(self.saved, value)
        if self._opened:
            names = [a["name"] for a in self.state["attributes"]]
            self.problems = find_problems(value, names)
            self._looking = event_loop.begin(self._look())

    async def _follow_up(self) -> None:
        if self._looking:
            await asyncio.wrap_future(self._looking)

    @traitlets.observe("queries")
    def _take_queries(self, _: Any) -> None:
        if getattr(self, "_opened", False):
            self._look_soon()

    def _look_soon(self) -> None:
        if event_loop.is_here():
            event_loop.begin(self._look())
        else:
            wait_for(self._look())

    async def _look(self) -> None:
        """Preview the draft as it is, once at a time; of those that wait the last is enough."""
        self._asked += 1
        turn = self._asked
        async with self._turns:
            if turn == self._asked:
                await self._look_once()

    async def _look_once(self) -> None:
        value, copy = self.value, self._copy
        changes = changing.changes_of(self.saved, value)
        params, others = as_parameters(changes, value)
        after: tuple[str, Mapping[str, Any]] = (copy.name, {}) if copy else (self.index, params)
        told = {
            "by": "" if not changes else "copy" if copy else "parameters",
            "others": others, "copy": copy.name if copy else "",
        }  # fmt: skip
        try:
            if copy:
                await copy.configure(value)
            found = await preview(self.client, self.index, self.queries, after)
        except Exception as error:
            self.previews = {**self.previews, **told, "error": explain(error)}
        else:
            self.previews = {**told, "queries": found}
