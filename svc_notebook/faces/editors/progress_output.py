"""The output of a progress bar in a notebook: a line, and a button that cancels the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from svc_notebook.data.client import LineOutput
from svc_notebook.faces.editors.base import answer_while_busy
from svc_notebook.faces.editors.bundle import read_module, read_styles


class ProgressLine(anywidget.AnyWidget):
    """A line that its owner updates, and a Cancel button, which works while a cell runs."""

    _esm = read_module("progress.js")
    _css = read_styles("progress.css")

    line = traitlets.Unicode().tag(sync=True)
    cancelled = traitlets.Bool(False).tag(sync=True)

    def __init__(self, line: str, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        super().__init__(line=line)
        self.on_msg(lambda _, __, ___: self.cancel())
        answer_while_busy(self)

    def cancel(self) -> None:
        """Cancel the work; any message of a view does so."""
        self._cancel()
        self.cancelled = True

    def __repr__(self) -> str:
        return self.line


class CancellableOutput(LineOutput):
    """The widget while the work runs, then its last line, which a saved notebook contains."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        super().__init__()
        self._cancel = cancel
        self.widget: ProgressLine | None = None

    def show(self, line: str, *, is_first: bool) -> None:
        """Display the widget, or update its line."""
        if self.widget is None:
            self.widget = ProgressLine(line, self._cancel)
            shown: Any = self.widget._repr_mimebundle_() or ({}, {})
            self.publish({**shown[0], "text/plain": line}, update=False)
        else:
            self.widget.line = line

    def finish(self) -> None:
        """Replace the widget by its last line."""
        if self.widget is not None:
            self.publish({"text/plain": self._line}, update=True)
            self.widget.close()
