"""Plots of measurements, drawn with matplotlib: one hue, printed values, darker for what matters.

Each function draws into `axes` or a new figure, and returns the axes.
"""

from __future__ import annotations

from svc_notebook.tuning.plots.deltas import plot_deltas, plot_density
from svc_notebook.tuning.plots.grades import plot_confusion, plot_grades
from svc_notebook.tuning.plots.judged_share import plot_judged
from svc_notebook.tuning.plots.top_hits import plot_tops
from svc_notebook.tuning.plots.variants import plot_variants
from svc_notebook.tuning.plots.zero_results import plot_zero_shares

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
