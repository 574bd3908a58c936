"""The HTML fallback of a widget, which is visible where the widget cannot be shown.

It is a separate output, so that it follows the editor without redrawing the widget. A live view
hides the fallback of its own editor, and no other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from html import escape
from typing import Any
from uuid import uuid4

import IPython.display

from svc_notebook.core.display import escape_lines
from svc_notebook.faces.editors import event_loop

_notebook: Any = IPython.display
REFRESH_DELAY_SECONDS = 1.0  # after the last change

SNAPSHOT_ROWS = 200  # of one table


class Fallback:
    """The HTML fallback of one editor in one notebook."""

    def __init__(self, write_html: Callable[[], str], describe: Callable[[], str]) -> None:
        self.class_name = f"svc-fallback-{uuid4().hex}"
        self._write = write_html
        self._describe = describe
        self._handles: list[Any] = []
        self._pending: asyncio.Task[None] | None = None

    def show(self, widget: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Display a widget, and the HTML as a second output below it.

        The text is part of the second output alone: exports and terminals would repeat it. An
        export that cannot show the widget takes the empty HTML.
        """
        view = {mime: data for mime, data in widget.items() if mime != "text/plain"}
        view["text/html"] = ""
        _notebook.display(view, metadata=metadata, raw=True)
        if handle := _notebook.display(self._bundle(), raw=True, display_id=True):
            self._handles.append(handle)

    def follow(self) -> None:
        """Update the HTML after a delay, once for all changes within the delay."""
        if self._handles:
            event_loop.begin(self._schedule())

    async def _schedule(self) -> None:
        if self._pending:
            self._pending.cancel()
        self._pending = asyncio.create_task(self._update())

    async def _update(self) -> None:
        await asyncio.sleep(REFRESH_DELAY_SECONDS)
        self._pending = None
        for handle in self._handles:
            handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        html = f'<div class="svc-fallback {self.class_name}">{self._write()}</div>'
        return {"text/html": html, "text/plain": self._describe()}


def write_line(text: str, *, tag: str = "p") -> str:
    """Write one paragraph, or heading, of text."""
    return f"<{tag}>{escape_lines(text)}</{tag}>"


def write_json(value: Any) -> str:
    """Write a value as JSON."""
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False, default=str))}</pre>"
