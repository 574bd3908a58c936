"""Plots of measurements, drawn with matplotlib: one hue, printed values, darker for what matters.

Each function draws into `axes` or a new figure, and returns the axes.
"""

from __future__ import annotations

from svc_notebook.tuning.plots.comparisons import plot_deltas, plot_density, plot_tops
from svc_notebook.tuning.plots.inputs import plot_confusion, plot_grades, plot_zero_shares
from svc_notebook.tuning.plots.runs import plot_judged, plot_variants

__all__ = [
    "plot_confusion",
    "plot_deltas",
    "plot_density",
    "plot_grades",
    "plot_judged",
    "plot_tops",
    "plot_variants",
    "plot_zero_shares",
]
