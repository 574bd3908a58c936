"""What every editor is: a value that is drafted, checked, applied and undone.

Python holds the truth; a view proposes by calls and draws what it is told. An editor says how its
value is read (`load`), held against rules (`check`), written (`save`), shown without a browser
(`picture`) and done in code (`codes`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Literal

import anywidget
import traitlets

from svc_notebook.api.secured_keys import read_secured_key
from svc_notebook.api.validation import same
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import write_and_wait
from svc_notebook.client.tasks import Tasks
from svc_notebook.display import Html
from svc_notebook.editors import event_loop
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.error_display import explain
from svc_notebook.editors.fallback import Fallback
from svc_notebook.editors.js_values import plain
from svc_notebook.editors.rpc import CallDispatcher, call, on_stage, tell_progress, wait_for
from svc_notebook.editors.snapshot import write_json, write_line
from svc_notebook.errors import BadOption, CallFailed
from svc_notebook.session.connection import AnyClient, asynchronous


async def find_lack(client: AsyncClient, right: str, index: str) -> str:
    """Say why the key may not write here, or nothing where it may or nobody knows."""
    if not right:
        return ""
    secret = client.connection.api_key.reveal()
    if read_secured_key(secret):
        return "a secured key only searches"
    try:
        key = await client.get_key(secret)
    except CallFailed:  # what is no key among keys, and yet a key, is the admin's
        return ""
    if right not in key["acl"]:
        return f"the key lacks the right `{right}`"
    patterns = key.get("indexes") or ["*"]
    if not any(fnmatchcase(index, pattern) for pattern in patterns):
        return f"the key is not for the index `{index}`"
    return ""


Step = Literal["undo", "redo", "revert"]
JSON = {"to_json": lambda value, _: plain(value)}


class Editor(anywidget.AnyWidget):
    """An editor of something that belongs to an index."""

    title: ClassVar[str] = "Editor"
    needs: ClassVar[str] = ""  # the right that applying takes; without one, nothing is applied

    value = traitlets.Any().tag(sync=True, **JSON)
    state = traitlets.Dict(read_only=True).tag(sync=True, **JSON)

    def __init__(
        self, index: str, *, client: AnyClient | None = None, value: Any = None, **more: Any
    ) -> None:
        self.index = index
        self.client = asynchronous(client)
        self._draft = Draft.of(None)
        self._ready = False
        self._desk = CallDispatcher(self, self._send_safely)
        self._fallback = Fallback(self.snapshot)
        super().__init__(**more)
        self.on_msg(lambda _, content, __: self._desk.take(content))
        _answer_while_busy(self)
        wait_for(self._begin(value))

    # What an editor says of itself.

    async def load(self) -> Any:
        """Read the value as it is saved."""
        return None

    async def find_lack(self) -> str:
        """Say why the key may not write, or nothing where it may."""
        return await find_lack(self.client, self.needs, self.index)

    def check(self, value: Any) -> Any:
        """Return a value that may be kept, or raise `BadInput`."""
        return value

    async def save(self, saved: Any, value: Any) -> Tasks:
        """Write what differs between two values; return the tasks to wait for."""
        raise BadOption(f"the {self.title.lower()} has nothing to apply")

    async def is_saved(self, saved: Any, value: Any) -> bool:
        """Say whether what `save` wrote is visible; called where the key may not read tasks."""
        return same(await self.load(), value)

    def noting(self, saved: Any, value: Any) -> AbstractAsyncContextManager[None]:
        """Keep what applying changes, so that it can be undone later; by itself, nothing is."""
        return nullcontext()

    def picture(self) -> str:
        """Write the last state as HTML; see `svc_notebook.editors.snapshot`."""
        return write_json(self.value)

    def codes(self) -> dict[str, str]:
        """The value as code: a text by the language's name."""
        return {}

    # For cells.

    def apply(self) -> None:
        """Write the draft to the service and wait until it is published."""
        wait_for(self.write())

    def reload(self) -> None:
        """Read what is saved anew; a draft that was edited stays."""
        wait_for(self.refresh())

    def undo(self) -> None:
        """Take the last change back."""
        self._change_draft(lambda draft: draft.undo())

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._change_draft(lambda draft: draft.redo())

    def revert(self) -> None:
        """Go back to what is saved."""
        self._change_draft(lambda draft: draft.revert())

    @property
    def saved(self) -> Any:
        """The value as it was when last read or applied."""
        return self._draft.saved

    @property
    def dirty(self) -> bool:
        """Whether the value differs from what is saved."""
        return self._draft.is_dirty

    def snapshot(self) -> Html:
        """Return the last state as HTML that needs no kernel, script or style sheet."""
        return Html(write_line(f"{self.title}: {self.index}", tag="strong") + self.picture())

    # For views.

    @call
    def edit(self, value: Any, merge: bool = False) -> None:
        """Take a value from a view; `merge` makes one step of it and the change before."""
        self._refuse_read_only()
        checked = self.check(value)
        self._change_draft(lambda draft: draft.put(checked, merge=merge))

    @call
    def go(self, step: Step) -> None:
        """Undo, redo or revert."""
        {"undo": self.undo, "redo": self.redo, "revert": self.revert}[step]()

    @call
    async def write(self) -> None:
        """Apply the draft; a call that fails leaves it as it was."""
        self._refuse_read_only()
        value = self._draft.value
        self._tell(busy="applying", error=None)
        try:
            async with self.noting(self._draft.saved, value):
                saved = self._draft.saved
                await write_and_wait(
                    self.client,
                    self.save(saved, value),
                    index=self.index,
                    confirm=lambda: self.is_saved(saved, value),
                    on_progress=tell_progress,
                )
        except Exception as error:
            self._tell(error=explain(error))
            raise
        finally:
            self._tell(busy="")
        self._settle(self._draft.keep(value))

    @call
    async def refresh(self) -> None:
        """Read what is saved."""
        self._tell(busy="loading")
        try:
            saved = await self.load()
        finally:
            self._tell(busy="")
        self._settle(self._draft.rebase(saved))

    @call
    def code(self) -> dict[str, str]:
        """Give the value as code."""
        return self.codes()

    def tell(self, event: str, **facts: Any) -> None:
        """Tell every view that something happened."""
        self._send_safely({"event": event, **plain(facts)})

    # The rest.

    async def _begin(self, value: Any) -> None:
        lack, saved = await asyncio.gather(self.find_lack(), self.load())
        self._draft = Draft.of(saved)
        if value is not None:
            self._draft = self._draft.put(self.check(value))
        self._ready = True
        self._tell(
            index=self.index, address=self.client.connection.address, title=self.title,
            applies=bool(self.needs), readOnly=lack, busy="", error=None,
        )  # fmt: skip
        self._settle(self._draft)

    def _change_draft(self, change: Callable[[Draft], Draft]) -> None:
        """Change the draft in turn: a cell and a view may both be at it."""
        on_stage(lambda: self._settle(change(self._draft)))
        if not event_loop.is_here():
            event_loop.run(self._follow_up())

    async def _follow_up(self) -> None:
        """Wait for what a change brings about, for a cell that made it."""

    def _settle(self, draft: Draft) -> None:
        """Take a draft for the truth and let everyone know."""
        self._draft = draft
        self.value = draft.value
        # What applying met was said of another draft.
        settled = {"error": None} if self.needs else {}
        self._tell(dirty=draft.is_dirty, undo=bool(draft.past), redo=bool(draft.future), **settled)
        self._fallback.follow()

    def _tell(self, **facts: Any) -> None:
        told = {**self.state, **facts}
        if told != self.state:
            self.set_trait("state", told)

    def _refuse_read_only(self) -> None:
        if lack := self.state.get("readOnly"):
            raise BadOption(f"this editor is read-only: {lack}")

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


def _answer_while_busy(editor: Editor) -> None:
    """Let a front end choose the thread on which its messages arrive.

    Some kernels send a widget's messages to the thread that last drew it, which for one made by
    a cell is the thread that runs cells: it would answer only after the running cell.
    """
    if hasattr(editor.comm, "_reply_subshell_for"):
        editor.comm._reply_subshell_for = None
