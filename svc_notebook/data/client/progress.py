"""Progress bars: updated from any thread, drawn by the thread that waits."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from svc_notebook.core.terminal import escape_controls, is_terminal

if TYPE_CHECKING:
    from tqdm.std import tqdm

PROGRESS_DELAY_SECONDS = 0.5  # seconds before a bar is shown; shorter work shows none
# A line with a Cancel button. Widgets need packages that this one does not, so it is imported when
# a notebook shows a bar.
_CANCELLABLE_OUTPUT = "svc_notebook.faces.editors.progress_output"


class Progress:
    """A progress bar: `update` is called from any thread, `draw` from the thread that displays it.

    It is the `on_progress` of its work. `shown` is True, False or, by default, whether there is a
    notebook or a terminal. `stop` is set when the user cancels the work.
    """

    def __init__(
        self,
        total: int | None = None,
        *,
        unit: str = "",
        label: str = "",
        shown: bool | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.done, self.total = 0, total
        self._unit, self._label = unit and f" {unit}", escape_controls(label)
        self._shown = _has_viewer() if shown is None else shown and sys.stderr is not None
        self._clock, self._began = clock, clock()
        self.stop = Event()
        self._step = ""  # what is done now, beside the count
        self._bar: tqdm[Any] | None = None
        self._output: LineOutput | None = None
        self._drawn: tuple[int, int | None, str, int] | None = None

    def update(self, done: int, total: int | None = None) -> None:
        """Set how much is done, without drawing."""
        self.done, self._step = done, ""
        self.total = self.total if total is None else total

    __call__ = update

    def publish(self, published: int, tasks: int) -> None:
        """Set how many tasks of the work are published after all of it was sent."""
        self._step = f"publishing: {published:,} of {tasks:,} task{'s' * (tasks != 1)}"

    def draw(self) -> None:
        """Draw the bar if it changed; at least once a second, because it shows times."""
        passed = self._clock() - self._began
        state = (self.done, self.total, self._step, int(passed))
        if (
            not self._shown
            or state == self._drawn
            or (self._bar is None and passed < PROGRESS_DELAY_SECONDS)
        ):
            return
        if self._bar is None:  # a bar of unknown total has no truth value
            self._bar = self._open_bar()
        bar, self._drawn = self._bar, state
        bar.total, bar.n = self.total, self.done
        bar.set_postfix_str(self._step, refresh=False)
        bar.refresh()

    def _open_bar(self) -> tqdm[Any]:
        self._output = _open_output(self.stop.set) if in_notebook() else None
        bar = _bar_class()(
            total=self.total,
            unit=self._unit,
            desc=self._label,
            dynamic_ncols=True,
            delay=1e-9,  # the first drawing shows the current state, not zero
            file=self._output or sys.stderr,
        )
        bar.start_t = self._began
        return bar

    def close(self) -> None:
        """Draw the final state and close the bar."""
        if self._bar is not None:
            self._bar.total, self._bar.n = self.total, self.done
            self._bar.set_postfix_str("", refresh=False)
            self._bar.close()
            self._bar = None
        if self._output is not None:
            self._output.finish()
            self._output = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _has_viewer() -> bool:
    return in_notebook() or is_terminal(sys.stderr)


def in_notebook() -> bool:
    """Return whether the code runs in a Jupyter kernel."""
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(_shell()).__mro__)


def _shell() -> Any:
    """Return IPython's shell, or None outside IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


class LineOutput(io.TextIOBase):
    """One output of a cell, updated with each line; a saved notebook contains the last one."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self._place = {"display_id": uuid4().hex}
        self._line = ""

    def write(self, text: str) -> int:
        """Show a line, unless it is the one that is shown."""
        line = text.strip()
        if line and line != self._line:
            self.show(line, is_first=not self._line)
            self._line = line
        return len(text)

    def show(self, line: str, *, is_first: bool) -> None:
        """Display a line, or update the displayed one."""
        self.publish({"text/plain": line}, update=not is_first)

    def publish(self, data: dict[str, Any], *, update: bool) -> None:
        """Display data, or update the displayed data."""
        _shell().display_pub.publish(data, transient=self._place, update=update)

    def finish(self) -> None:
        """Leave the last line alone."""


def _open_output(cancel: Callable[[], None]) -> LineOutput:
    """Return a line with a button that calls `cancel`; without widgets, a line alone."""
    try:
        output: LineOutput = import_module(_CANCELLABLE_OUTPUT).CancellableOutput(cancel)
    except ImportError:
        return LineOutput()
    return output


@cache
def _bar_class() -> type[tqdm[Any]]:
    """Return the text bar, for notebooks too.

    A widget bar is saved in its first state, at zero. tqdm's monitor is a thread that draws on its
    own, into the cell that runs at that time, so it is disabled.
    """
    from tqdm.std import tqdm as chosen

    def format_meter(**facts: Any) -> str:
        text: str = chosen.format_meter(**facts)
        return text.replace(f", ?{facts['unit']}/s", "")  # the rate is not known yet

    return type(
        "Bar", (chosen,), {"monitor_interval": 0, "format_meter": staticmethod(format_meter)}
    )
