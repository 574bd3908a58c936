"""How far a long piece of work is: told by whoever does it, drawn by the thread that waits."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from tqdm.std import tqdm

DELAY = 0.5  # seconds before a bar shows: what is done sooner needs none


class Progress:
    """One bar: `tell` it from any thread, `draw` it from the thread that shows it.

    `shown` is yes, no, or by default: in notebooks and terminals, nowhere else.
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
        self._unit, self._label = unit and f" {unit}", label
        self._shown = _has_viewer() if shown is None else shown
        self._clock, self._began = clock, clock()
        self._bar: tqdm[Any] | None = None

    def tell(self, done: int, total: int | None = None) -> None:
        """Say how much is done; nothing is drawn by it."""
        self.done = done
        self.total = self.total if total is None else total

    def draw(self) -> None:
        """Draw the bar as it stands."""
        if not self._shown or (not self._bar and self._clock() - self._began < DELAY):
            return
        bar = self._bar = self._bar or self._open_bar()
        bar.total, bar.n = self.total, self.done
        bar.refresh()

    def _open_bar(self) -> tqdm[Any]:
        bar = _bar_class()(total=self.total, unit=self._unit, desc=self._label, dynamic_ncols=True)
        bar.start_t = self._began
        return bar

    def close(self) -> None:
        """Draw the bar a last time and leave it."""
        if self._bar:
            self.draw()
            self._bar.close()
            self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _has_viewer() -> bool:
    return _in_notebook() or sys.stderr.isatty()


def _in_notebook() -> bool:
    """Whether a kernel runs us; only one that did import IPython can."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@cache
def _bar_class() -> type[tqdm[Any]]:
    """Choose by hand: tqdm's own choice warns where ipywidgets is missing."""
    if _in_notebook() and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm as chosen
    else:
        from tqdm.std import tqdm as chosen  # type: ignore[assignment]
    # Its monitor is a thread that draws on its own, into whatever cell runs by then.
    return type("Bar", (chosen,), {"monitor_interval": 0})
