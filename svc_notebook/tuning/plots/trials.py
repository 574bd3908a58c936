"""Plot of the trials of a variant search: the gain in selection and on held-out queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.display import format_difference
from svc_notebook.plots.canvas import Plot, background, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.plots.labels import plain_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svc_notebook.tuning.results import SearchedVariants

HEIGHT_INCHES = 3.4


def plot_search(found: SearchedVariants, *, axes: Any = None) -> Plot:
    """Draw a variant search: each trial's gain on the tune queries, then the held-out finalists.

    A trial on a part of the queries is hollow; the line is the best so far. The second axes shows
    each finalist's gain on the tune queries and on the held-out queries, with its interval.
    """
    drawn = make_axes(axes, 1, 2, HEIGHT_INCHES, width_ratios=[5, 4], sharey=axes is None)
    left, right = drawn
    _draw_trials(left, found)
    _draw_finalists(right, found)
    return drawn


def _draw_trials(axis: Axes, found: SearchedVariants) -> None:
    palette, trace = colours(), found.trace
    whole = (trace["queries"] == found.plan.tune).to_numpy()
    places, deltas = trace["trial"].to_numpy(), trace["delta"].to_numpy(dtype=float)
    axis.axhline(0, color=palette.grey, linewidth=0.8, zorder=0)
    axis.scatter(places[~whole], deltas[~whole], s=18, facecolors="none", edgecolors=palette.pale)
    axis.scatter(places[whole], deltas[whole], s=18, color=palette.pale)
    if whole.any():
        best = np.maximum.accumulate(deltas[whole])
        axis.step(places[whole], best, where="post", color=palette.hue, linewidth=1.6)
        axis.annotate(
            format_difference(best[-1]), (places[whole][-1], best[-1]), (0, 5),
            textcoords="offset points", ha="right", fontsize=8.5, color=palette.ink,
        )  # fmt: skip
    clean(axis, f"{found.metric}: gain of each trial on {found.plan.tune:,} tune queries")
    axis.set_xlabel("trial", fontsize=8.5, color=palette.ink)


def _draw_finalists(axis: Axes, found: SearchedVariants) -> None:
    palette = colours()
    clean(axis, f"the best on {found.plan.holdout:,} held-out queries")
    plain_title(axis)
    if found.holdout is None:
        draw_empty(axis, "nothing was held out")
        return
    axis.axhline(0, color=palette.grey, linewidth=0.8, zorder=0)
    rows = found.test().to_dict("records")
    for number, row in enumerate(rows):
        tuned, held = row["tune_delta"], row["delta"]
        axis.plot([number - 0.18, number + 0.18], [tuned, held], color=palette.pale, linewidth=1.2)
        axis.vlines(number + 0.18, row["low"], row["high"], color=palette.hue, linewidth=1.4)
        axis.scatter(
            [number - 0.18], [tuned], s=26, facecolor=background(), edgecolor=palette.hue, zorder=3
        )
        axis.scatter([number + 0.18], [held], s=26, color=palette.hue, zorder=3)
        axis.annotate(
            format_difference(held, 3), (number + 0.18, held), (6, -3), textcoords="offset points",
            fontsize=8.5, color=palette.ink,
        )  # fmt: skip

    axis.set_xticks(range(len(rows)), [f"{number + 1}" for number in range(len(rows))])
    axis.set_xlabel("finalist: tune (hollow), held out", fontsize=8.5, color=palette.ink)
    axis.set_xlim(-0.6, len(rows) - 0.3)
