"""Labels of plots, and the metric and run of a comparison that a plot shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_notebook.display import shorten
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svc_notebook.tuning.results import ComparedRuns

MAX_LABEL_CHARACTERS = 38


def short(text: str, longest: int = MAX_LABEL_CHARACTERS) -> str:
    """Shorten a label at its end."""
    return shorten(text, longest)


def plain_title(axes: Axes) -> None:
    """Escape `$` in a title."""
    for title in (axes.title, getattr(axes, "_left_title", axes.title)):
        title.set_parse_math(False)


def pick(comparison: ComparedRuns, metric: str | None, run: str | None) -> tuple[str, str]:
    """Return the metric and the run to draw; by default the first of each."""
    if not hasattr(comparison, "variants"):
        raise BadInput("this is not a comparison of runs; svc.tuning.compare returns one")
    metrics, runs = comparison.metrics, comparison.variants
    chosen = metric or metrics[0]
    if chosen not in metrics:
        listed = ", ".join(metrics)
        raise BadInput(f"this compares {listed}, not `{chosen}`{did_you_mean(chosen, metrics)}")
    named = run or runs[0]
    if named not in runs:
        raise BadInput(f"the comparison has no run `{named}`{did_you_mean(named, runs)}")
    return chosen, named
