"""Plot of an interleaving: the share of users who prefer a variant, and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.plots.canvas import Plot, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.statistics import DECISIVE_EVIDENCE

if TYPE_CHECKING:
    from svc_notebook.tuning.interleaving.outcome import InterleavingOutcome

HEIGHT_INCHES = 2.8


def plot_interleaving(outcome: InterleavingOutcome, *, axes: Any = None) -> Plot:
    """Draw the share of users who prefer b, and the evidence, after each user with a preference."""
    drawn = make_axes(axes, 1, 2, HEIGHT_INCHES)
    left, right = drawn
    palette = colours()
    preferred = outcome.users["preferred"]
    chosen = (preferred[preferred != ""] == "b").to_numpy()
    counts = np.arange(1, len(chosen) + 1)
    low, high = outcome.interval()
    clean(left, f"users who prefer b: {outcome.share:.0%} [{low:.0%}, {high:.0%}]")
    clean(right, f"evidence; decides at {DECISIVE_EVIDENCE:g}")
    if not len(chosen):
        for axis in (left, right):
            draw_empty(axis, "no user has a preference yet")
        return drawn
    left.axhline(0.5, color=palette.grey, linewidth=0.8, zorder=0)
    left.plot(counts, np.cumsum(chosen) / counts, color=palette.hue, linewidth=1.6)
    left.set_ylim(0, 1)
    right.axhline(DECISIVE_EVIDENCE, color=palette.grey, linewidth=0.8, linestyle="--", zorder=0)
    right.plot(counts, outcome.evidence(), color=palette.hue, linewidth=1.6)
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xlabel("users with a preference", fontsize=8.5, color=palette.ink)
    return drawn
