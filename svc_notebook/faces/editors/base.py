"""The base class of all editors: a value that is drafted, checked, applied and undone.

The state is kept in Python; a view calls methods and draws the synced traits. A subclass defines
how its value is read (`load`), validated (`check`), written (`save`), rendered without a browser
(`write_html`) and written as code (`codes`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, nullcontext
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Literal

import anywidget
import traitlets

from svc_notebook.core.api.secured_keys import read_secured_key
from svc_notebook.core.api.validation import same
from svc_notebook.core.display import Html
from svc_notebook.data.client import AsyncClient, Tasks, write_and_wait
from svc_notebook.data.session import AnyClient, asynchronous, follow_connection
from svc_notebook.errors import BadOption, CallFailed, KeyRefused, NotFound, SvcError
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.bundle import read_library
from svc_notebook.faces.editors.changes import Draft, list_interrupted
from svc_notebook.faces.editors.fallback import Fallback, write_json, write_line
from svc_notebook.faces.editors.hit_cards import DENSITIES, HitDisplay, list_searchable
from svc_notebook.faces.editors.rpc import (
    CallDispatcher,
    call,
    explain,
    plain,
    report_progress,
    run_on_loop,
    wait_for,
)
from svc_notebook.faces.editors.traits import DecisionTraits, Height
from svc_notebook.tuning.changes import End, end_interrupted


async def find_missing_right(client: AsyncClient, right: str, index: str) -> str:
    """Return why the key may not write to the index; empty if it may, or if that is unknown."""
    if not right:
        return ""
    secret = client.connection.api_key.reveal()
    if read_secured_key(secret):
        return "a secured key can only search"
    try:
        key = await client.get_key(secret)
    except CallFailed:  # the admin key is not in the list of keys
        return ""
    if right not in key["acl"]:
        return f"the key lacks the right `{right}`"
    patterns = key.get("indexes") or ["*"]
    if not any(fnmatchcase(index, pattern) for pattern in patterns):
        return f"the key is not for the index `{index}`"
    return ""


Step = Literal["undo", "redo", "revert"]
JSON = {"to_json": lambda value, _: plain(value)}


class Editor(DecisionTraits):
    """An editor of something that belongs to an index."""

    title: ClassVar[str] = "Editor"
    needs: ClassVar[str] = ""  # the right that applying needs; an editor without one does not apply

    value = traitlets.Any().tag(sync=True, **JSON)
    state = traitlets.Dict(read_only=True).tag(sync=True, **JSON)
    height = Height().tag(sync=True)
    hit_density = traitlets.Enum(DENSITIES, "cards").tag(sync=True)
    hit_attributes = traitlets.List(traitlets.Unicode(), None, allow_none=True).tag(sync=True)
    images = traitlets.Bool(False).tag(sync=True)  # fetch pictures from other hosts
    fallback_class = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(
        self, index: str, *, client: AnyClient | None = None, value: Any = None, **more: Any
    ) -> None:
        self.index = index
        self.client = asynchronous(client)
        if client is None:
            follow_connection(self)
        self._draft = Draft.of(None)
        self._opened: Any = None  # the saved value when the editor was opened
        self._ready = False
        self.searchable: Sequence[str] = ()  # attributes, for the headlines of hits
        self._follow_up_work: Future[None] | None = None
        self._dispatcher = CallDispatcher(self, self._send_safely)
        self._fallback = Fallback(self.snapshot, self.__repr__)
        super().__init__(**more)
        self.set_trait("fallback_class", self._fallback.class_name)
        self.on_msg(lambda _, content, __: self._dispatcher.accept(content))
        answer_while_busy(self)
        wait_for(self._begin(value))

    # Methods that subclasses override.

    async def load(self) -> Any:
        """Read the saved value."""
        return None

    async def find_missing_right(self) -> str:
        """Return why the key may not write; empty if it may."""
        return await find_missing_right(self.client, self.needs, self.index)

    def check(self, value: Any) -> Any:
        """Return the valid form of a value; raise `BadInput` for an invalid one."""
        return value

    async def save(self, saved: Any, value: Any) -> Tasks:
        """Write the difference of two values; return the tasks to wait for."""
        raise BadOption(f"the {self.title.lower()} does not apply changes")

    async def is_saved(self, saved: Any, value: Any) -> bool:
        """Return whether the saved value is visible; called if the key may not read tasks."""
        return same(await self.load(), value)

    def journal_change(self, saved: Any, value: Any) -> AbstractAsyncContextManager[None]:
        """Record an applied change in the journal; the base class records nothing."""
        return nullcontext()

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the decisions that a draft contains, by the name of their trait."""
        return {}

    def write_html(self) -> str:
        """Return the last state as HTML; see `svc_notebook.faces.editors.fallback`."""
        return write_json(self.value)

    def codes(self) -> dict[str, str]:
        """Return the value as code: the text for each language."""
        return {}

    def draw_hits_again(self) -> None:
        """Draw the current hits in another display; the base class has none."""

    def take_connection(self, client: AsyncClient) -> None:
        """Use the new connection of the session if it is to the same application.

        A view reads again then; an editor without one does not, for widgets of cells that were run
        again never end. Another application has other data: the draft is not for it, and the editor
        says so.
        """
        same_application = client.connection.app_id == self.client.connection.app_id
        if not self._ready:
            return
        facts: dict[str, Any] = {}
        if same_application:
            self.client = client
            facts["outdated"] = True
        other = "" if same_application else client.connection.app_id
        facts |= {"address": self.client.connection.address, "sessionApplication": other}
        run_on_loop(lambda: self._update_state(**facts))

    # Methods for an editor that contains this one, and applies its draft.

    def leave_applying(self) -> None:
        """Leave applying to another editor: views show neither Apply nor Revert."""
        self._update_state(applies=False)

    def draft_value(self, value: Any) -> None:
        """Put a checked value into the draft."""
        self._change_draft(lambda draft: draft.put(value))

    def take_applied(self, value: Any) -> None:
        """Take a value as saved that another editor has applied."""
        self._change_draft(lambda draft: draft.keep(value))

    async def write_value(self, saved: Any, value: Any) -> None:
        """Write the difference of two values, and wait until it is published."""
        await write_and_wait(
            self.client, self.save(saved, value), index=self.index,
            confirm=lambda: self.is_saved(saved, value), on_progress=report_progress,
        )  # fmt: skip

    async def note_interrupted(self) -> None:
        """Show the interrupted changes of the parts of the index that this editor writes."""
        if self.needs == "editSettings":
            self._update_state(interrupted=await list_interrupted(self.client, self.index))

    # Methods for cells.

    def apply(self) -> None:
        """Write the draft to the service and wait until it is published."""
        wait_for(self.write())

    def reload(self) -> None:
        """Read the saved value again; an edited draft stays."""
        wait_for(self.refresh())

    def undo(self) -> None:
        """Undo the last change."""
        self._change_draft(lambda draft: draft.undo())

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._change_draft(lambda draft: draft.redo())

    def revert(self) -> None:
        """Return to the saved value."""
        self._change_draft(lambda draft: draft.revert())

    @property
    def saved(self) -> Any:
        """The value as it was when last read or applied."""
        return self._draft.saved

    @property
    def dirty(self) -> bool:
        """Whether the value differs from what is saved."""
        return self._draft.is_dirty

    @property
    def changed_from(self) -> Any:
        """The value from which code starts: saved, or before this editor applied changes."""
        return self.saved if self.dirty else self._opened

    @property
    def is_unsaved(self) -> bool:
        """Whether closing the editor loses changes."""
        return bool(self.needs) and self.dirty

    def snapshot(self) -> Html:
        """Return the last state as HTML that needs no kernel, script or style sheet."""
        lines = [write_line(change["text"]) for change in self.state.get("interrupted", ())]
        title = write_line(f"{self.title}: {self.index}", tag="strong")
        return Html("".join([title, *lines]) + self.write_html())

    # Calls for views.

    @call
    def edit(self, value: Any, merge: bool = False) -> None:
        """Set the value from a view; `merge` joins it with the previous change to one undo step."""
        self._refuse_read_only()
        checked = self.check(value)
        self._change_draft(lambda draft: draft.put(checked, merge=merge))

    @call
    def go(self, step: Step) -> None:
        """Undo, redo or revert."""
        {"undo": self.undo, "redo": self.redo, "revert": self.revert}[step]()

    @call
    async def write(self) -> None:
        """Apply the draft; a failed call leaves it unchanged."""
        self._refuse_read_only()
        value = self._draft.value
        self._update_state(busy="applying", error=None)
        try:
            async with self.journal_change(self._draft.saved, value):
                await self.write_value(self._draft.saved, value)
        except Exception as error:
            self._update_state(error=explain(error))
            raise
        finally:
            self._update_state(busy="")
        await self.note_interrupted()
        self._set_draft(self._draft.keep(value))

    @call
    async def refresh(self) -> None:
        """Read the saved value."""
        saved = await self._load_again()
        self._set_draft(self._draft.rebase(saved))

    @call
    async def read_again(self) -> None:
        """Read with the new connection of the session, once for all views."""
        if not self.state.get("outdated"):
            return
        self._update_state(outdated=False)
        try:
            self._update_state(readOnly=await self.find_missing_right())
            await self.refresh()
        except SvcError as error:
            self._update_state(error=explain(error))

    @call
    async def end_interrupted(self, change: str, end: End) -> None:
        """Finish an interrupted change of the index, or take it back; an edited draft stays."""
        self._refuse_read_only()
        self._update_state(busy="applying")
        try:
            await end_interrupted(self.client, self.index, change, end)
        finally:
            self._update_state(busy="")
        await self.refresh()

    @call
    def code(self) -> dict[str, str]:
        """Return the value as code."""
        return self.codes()

    @call
    def read_tokenizer(self) -> str:
        """Return the module that splits code into tokens, for fields with code."""
        return read_library("prism.js")

    def emit(self, event: str, **facts: Any) -> None:
        """Send an event to every view."""
        self._send_safely({"event": event, **plain(facts)})

    # Internals.

    @property
    def _hit_display(self) -> HitDisplay:
        return HitDisplay(self.hit_density, self.hit_attributes, self.searchable)

    async def _read_searchable(self) -> None:
        """Read which attributes the index searches, if the key can."""
        try:
            self.searchable = list_searchable(await self.client.get_settings(self.index))
        except (KeyRefused, NotFound):
            self.searchable = ()

    @traitlets.observe("hit_density", "hit_attributes")
    def _take_hit_display(self, _: Any) -> None:
        if self._ready:
            run_on_loop(self.draw_hits_again)

    async def _begin(self, value: Any) -> None:
        missing_right, saved = await asyncio.gather(self.find_missing_right(), self.load())
        self._draft, self._opened = Draft.of(saved), saved
        if value is not None:
            self._draft = self._draft.put(self.check(value))
        self._ready = True
        self._update_state(
            index=self.index, address=self.client.connection.address, title=self.title,
            applies=bool(self.needs), readOnly=missing_right, busy="", error=None,
        )  # fmt: skip
        await self.note_interrupted()
        self._set_draft(self._draft)

    async def _load_again(self, **facts: Any) -> Any:
        """Read the saved value, and the interrupted changes, while views show that."""
        self._update_state(busy="loading", **facts)
        try:
            saved = await self.load()
        finally:
            self._update_state(busy="")
        await self.note_interrupted()
        return saved

    def _change_draft(self, change: Callable[[Draft], Draft]) -> None:
        """Change the draft on the editors' loop: a cell and a view can change it at once."""
        run_on_loop(lambda: self._set_draft(change(self._draft)))
        if not event_loop.is_here():
            event_loop.run(self._follow_up())

    def _begin_follow_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that follows a change, such as a search; views do not wait for it."""
        self._follow_up_work = event_loop.begin(work)

    async def _follow_up(self) -> None:
        """Wait for the work that a change starts, so that the cell that made it sees the result."""
        if self._follow_up_work:
            await asyncio.wrap_future(self._follow_up_work)

    def _set_draft(self, draft: Draft) -> None:
        """Set the draft, and update the traits and the fallback."""
        self._draft = draft
        self.value = draft.value
        self.set_decisions(self.list_decisions(draft))
        # The error of applying was about the previous draft.
        cleared = {"error": None} if self.needs else {}
        self._update_state(
            dirty=draft.is_dirty, undo=bool(draft.past), redo=bool(draft.future), **cleared
        )
        self._fallback.follow()

    def _update_state(self, **facts: Any) -> None:
        state = {**self.state, **facts}
        if state != self.state:
            self.set_trait("state", state)

    def _refuse_read_only(self) -> None:
        if reason := self.state.get("readOnly"):
            raise BadOption(f"this editor is read-only: {reason}")

    @traitlets.validate("value")
    def _check_value(self, proposal: Any) -> Any:
        value = proposal["value"]
        return value if not self._ready or value is self._draft.value else self.check(value)

    @traitlets.observe("value")
    def _take_value(self, change: Any) -> None:
        if self._ready and not same(change["new"], self._draft.value):
            self._change_draft(lambda draft: draft.put(change["new"]))

    def _send_safely(self, message: dict[str, Any]) -> None:
        if self.comm is not None:
            self.send(message)

    def _ipython_display_(self) -> None:
        self._fallback.show(*(self._repr_mimebundle_() or ({}, {})))

    def __repr__(self) -> str:
        return f"<{self.title}: {self.index}>"


def answer_while_busy(widget: anywidget.AnyWidget) -> None:
    """Let the front end choose the thread that receives its messages.

    Some kernels send the messages of a widget to the thread that last displayed it. For a widget
    displayed by a cell this is the thread that runs cells, which answers only after the cell.
    """
    if hasattr(widget.comm, "_reply_subshell_for"):
        widget.comm._reply_subshell_for = None
