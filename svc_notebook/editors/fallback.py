"""The HTML fallback of a widget, which is visible where the widget cannot be shown.

It is a separate output, so that it follows the editor without redrawing the widget. Where the
widget is live, its style sheet hides the fallback.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import IPython.display

from svc_notebook.editors import event_loop

_notebook: Any = IPython.display
REFRESH_DELAY_SECONDS = 1.0  # after the last change


class Fallback:
    """The HTML fallback of one editor in one notebook."""

    def __init__(self, write_html: Callable[[], str]) -> None:
        self._write = write_html
        self._handles: list[Any] = []
        self._pending: asyncio.Task[None] | None = None

    def show(self, widget: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Display a widget, and the HTML as a second output below it."""
        _notebook.display(widget, metadata=metadata, raw=True)
        if handle := _notebook.display(self._html(), display_id=True):
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
            handle.update(self._html())

    def _html(self) -> Any:
        return _notebook.HTML(f'<div class="svc-fallback">{self._write()}</div>')
