"""Click-through rate by position, raw and corrected for position, as table and plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from svc_notebook.plots.canvas import clean, colours, draw_empty, draw_legend, make_axes
from svc_notebook.tuning.clicks.impressions import check_impressions
from svc_notebook.tuning.clicks.models import ImpressionArrays, divide
from svc_notebook.tuning.clicks.position_based_model import fit_examination, sum_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


def positions(shown: DataFrame, *, smoothing: float = 2) -> DataFrame:
    """Return for each position `impressions, clicks, ctr, examination, corrected`.

    `examination` is the probability that a position is examined, relative to the most examined one,
    by the position-based model. `corrected` is `ctr / examination`: the click-through rate that the
    hits of this position would have at the most examined position. Raises `BadInput` as `pbm` does.
    """
    counted = ImpressionArrays.of(check_impressions(shown))
    found = fit_examination(
        counted.pair, counted.position, counted.shown, counted.clicked,
        len(counted.pairs), smoothing,
    )  # fmt: skip
    at = np.searchsorted(found.places, counted.position)
    n, c = sum_by(at, counted.shown), sum_by(at, counted.clicked)
    rate = divide(c, n)
    return DataFrame(
        {
            "position": found.places,
            "impressions": n,
            "clicks": c,
            "ctr": rate,
            "examination": found.examined,
            "corrected": divide(rate, found.examined),
        }
    )


HEIGHT_INCHES = 3.4
MAX_LABELLED_POSITIONS = 20
"""Positions beyond which values are not printed: they would cover each other."""


def plot_positions(shown: DataFrame, *, top: int = 20, axes: Any = None) -> Axes:
    """Draw the click-through rate of the first `top` positions, raw and corrected.

    Bars are raw rates; dots are the rates if every position were examined as much as the most
    examined one (see `positions`).
    """
    axis: Axes = make_axes(axes, 1, 1, HEIGHT_INCHES)[0]
    if shown.empty:
        clean(axis, "Click-through rate by position")
        draw_empty(axis, "no impressions")
        return axis
    rows = positions(shown).head(top)
    clean(axis, f"Click-through rate by position; {rows['impressions'].sum():,.0f} impressions")
    own = colours()
    axis.bar(rows["position"], rows["ctr"], width=0.7, color=own.palest, label="raw")
    axis.plot(
        rows["position"], rows["corrected"], color=own.hue, marker="o", markersize=4,
        linewidth=1, label="corrected for examination",
    )  # fmt: skip
    if len(rows) <= MAX_LABELLED_POSITIONS:
        _print_values(axis, rows)
    axis.set_xticks(rows["position"].tolist())
    axis.set_ylim(0, max(rows["ctr"].max(), rows["corrected"].max()) * 1.2 or 1)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.set_xlabel("position", fontsize=8.5, color=own.ink)
    draw_legend(axis)
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
