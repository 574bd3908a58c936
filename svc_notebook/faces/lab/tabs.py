"""Editors in tabs of their own: made without a cell, and closed with their tab."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from svc_notebook.data import session
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.faces import editors
from svc_notebook.faces.editors.rpc import call

KINDS = (
    "workbench", "query", "settings", "synonyms", "rules", "judgments", "analytics", "crawler",
    "overview",
)  # fmt: skip


@dataclass(frozen=True)
class Tab:
    """An editor in a tab: its kind, the client and the index or crawler, and the widget."""

    kind: str
    name: str
    client: Client
    editor: Any


# By the ids of their models. A page that is loaded again finds the editors of its tabs here.
_tabs: dict[str, Tab] = {}


def find_editor(model: str) -> Any:
    """Return the open editor of a model; None if it is closed."""
    tab = _tabs.get(model)
    return tab and tab.editor


def _make_editor(kind: str, name: str, client: Client) -> Any:
    """Make an editor, or the overview of the service that has the name."""
    if kind == "overview":
        from svc_notebook.faces.editors.overview_panel import OverviewPanel

        return OverviewPanel(name, client=client)
    return getattr(editors, kind)(name, client=client)


class TabCalls:
    """Calls that open and close the editors of tabs."""

    @call
    async def open_editor(self, kind: str, name: str) -> dict[str, Any]:
        """Open an editor of the current client: the id of its model, and its title.

        One that is open is returned with its drafts.
        """
        if kind not in KINDS:
            raise BadInput(f"there is no editor `{kind}`; use one of {', '.join(KINDS)}")
        client = session.current()
        for model, tab in _tabs.items():
            if (tab.kind, tab.name) == (kind, name) and tab.client is client:
                return {"model": model, "title": tab.editor.title}
        # An editor waits for its first answers, which this thread brings.
        editor = await asyncio.to_thread(_make_editor, kind, name, client)
        _tabs[editor.model_id] = Tab(kind, name, client, editor)
        return {"model": editor.model_id, "title": editor.title}

    @call
    def has_changes(self, model: str) -> bool:
        """Return whether closing an editor loses changes."""
        editor = find_editor(model)
        return editor is not None and bool(editor.is_unsaved)

    @call
    async def close_editor(self, model: str) -> None:
        """Close an editor, and drop its temporary copy; without effect if it is closed."""
        if tab := _tabs.pop(model, None):
            await asyncio.to_thread(tab.editor.close)
