"""Plots of this package's DataFrames, drawn with matplotlib.

Each function takes the DataFrame of a reader, draws into `axes` or a new figure, and returns the
axes.
"""

from __future__ import annotations

from svc_notebook.data.plots.analytics import (
    plot_ab_test,
    plot_click_positions,
    plot_clusters,
    plot_crawl,
    plot_facets,
    plot_key_use,
    plot_search_counts,
)
from svc_notebook.data.plots.canvas import (
    MAX_LABEL_CHARACTERS,
    ONE_AXES,
    Plot,
    background,
    check_columns,
    check_top,
    clean,
    colours,
    draw_empty,
    draw_legend,
    hue_map,
    make_axes,
    short,
)
from svc_notebook.data.plots.changes import plot_changes
from svc_notebook.data.plots.operation import plot_events, plot_index_sizes, plot_logs, plot_tasks

__all__ = [
    "MAX_LABEL_CHARACTERS",
    "ONE_AXES",
    "Plot",
    "background",
    "check_columns",
    "check_top",
    "clean",
    "colours",
    "draw_empty",
    "draw_legend",
    "hue_map",
    "make_axes",
    "plot_ab_test",
    "plot_changes",
    "plot_click_positions",
    "plot_clusters",
    "plot_crawl",
    "plot_events",
    "plot_facets",
    "plot_index_sizes",
    "plot_key_use",
    "plot_logs",
    "plot_search_counts",
    "plot_tasks",
    "short",
]
