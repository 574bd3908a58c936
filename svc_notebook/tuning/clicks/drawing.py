"""Clicks, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_notebook.plots.canvas import clean, colours, make_axes, say_empty, tell_key
from svc_notebook.tuning.clicks.placing import positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

HEIGHT = 3.4
LABELLED = 20
"""Positions beyond which values are not printed: they would cover each other."""


def plot_positions(shown: DataFrame, *, top: int = 20, axes: Any = None) -> Axes:
    """Draw the click-through rate of the first `top` positions, as it is and corrected.

    Bars are what was clicked; dots are what would be, if every position were looked at as much as
    the one that is looked at most (see `positions`).
    """
    axis: Axes = make_axes(axes, 1, 1, HEIGHT)[0]
    if shown.empty:
        clean(axis, "Click-through rate by position")
        say_empty(axis, "nothing was shown")
        return axis
    rows = positions(shown).head(top)
    clean(axis, f"Click-through rate by position; {rows['impressions'].sum():,.0f} impressions")
    own = colours()
    axis.bar(rows["position"], rows["ctr"], width=0.7, color=own.palest, label="as it is")
    axis.plot(
        rows["position"], rows["corrected"], color=own.hue, marker="o", markersize=4,
        linewidth=1, label="corrected for what is looked at",
    )  # fmt: skip
    if len(rows) <= LABELLED:
        _print_values(axis, rows)
    axis.set_xticks(rows["position"].tolist())
    axis.set_ylim(0, max(rows["ctr"].max(), rows["corrected"].max()) * 1.2 or 1)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.set_xlabel("position", fontsize=8.5, color=own.ink)
    tell_key(axis)
    return axis


def _print_values(axis: Axes, rows: DataFrame) -> None:
    own = colours()
    for _, row in rows.iterrows():
        axis.annotate(
            f"{row['ctr']:.1%}", (row["position"], 0), (0, 4), textcoords="offset points",
            ha="center", fontsize=7.5, color=own.ink,
        )  # fmt: skip
        axis.annotate(
            f"{row['corrected']:.0%}", (row["position"], row["corrected"]), (0, 7),
            textcoords="offset points", ha="center", fontsize=7.5, color=own.hue,
        )  # fmt: skip
