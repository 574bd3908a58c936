"""Click-through rate by position, raw and corrected for position, as table and plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from svc_notebook.data.declarations import check_arguments, described
from svc_notebook.data.plots import (
    ONE_AXES,
    Plot,
    clean,
    colours,
    draw_empty,
    draw_legend,
    make_axes,
)
from svc_notebook.tuning.clicks.impressions import check_impressions
from svc_notebook.tuning.clicks.models import ImpressionArrays, divide, fit_examination, sum_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@check_arguments
def positions(shown: DataFrame, *, smoothing: float = 2) -> DataFrame:
    """Return the click-through rate of each position, raw and corrected.

    Parameters
    ----------
    shown : DataFrame
        Impressions, as `impressions` returns them, or a table with the columns `query`,
        `objectID`, `position`, `clicks` and `impressions`.
    smoothing : float, default 2
        Number of impressions of the prior, of which half attract.

    Returns
    -------
    DataFrame
        One row per position: `position` (int64), `impressions` and `clicks` (float64), `ctr`
        (float64), `examination` (float64, probability that the position is examined, relative
        to the most examined one) and `corrected` (float64, `ctr` divided by `examination`).

    Raises
    ------
    BadInput
        If every hit was always shown at one position.
    BadRecord
        If a row is not valid.

    Examples
    --------
    >>> shown = pd.DataFrame({
    ...     "query": "mug", "objectID": ["MUG-001", "MUG-002"] * 2, "position": [1, 2, 2, 1],
    ...     "clicks": [30, 12, 18, 20], "impressions": 100,
    ... })
    >>> svc.tuning.clicks.positions(shown)[["position", "clicks", "ctr"]]
       position  clicks   ctr
    0         1    50.0  0.25
    1         2    30.0  0.15
    """
    counted = ImpressionArrays.of(check_impressions(shown))
    fitted = fit_examination(
        counted.pair, counted.position, counted.shown, counted.clicked,
        len(counted.pairs), smoothing,
    )  # fmt: skip
    at = np.searchsorted(fitted.places, counted.position)
    n, c = sum_by(at, counted.shown), sum_by(at, counted.clicked)
    rate = divide(c, n)
    return DataFrame(
        {
            "position": fitted.places,
            "impressions": n,
            "clicks": c,
            "ctr": rate,
            "examination": fitted.examined,
            "corrected": divide(rate, fitted.examined),
        }
    )


HEIGHT_INCHES = 3.4
# Positions beyond which values are not printed: they would cover each other.
MAX_LABELLED_POSITIONS = 20


@check_arguments
@described(like=ONE_AXES)
def plot_positions(shown: DataFrame, *, top: int = 20, axes: Any = None) -> Plot:
    """Plot the click-through rate of each position, raw and corrected.

    Parameters
    ----------
    shown : DataFrame
        Impressions, as `impressions` returns them, or a table with the columns `query`,
        `objectID`, `position`, `clicks` and `impressions`.
    top : int, default 20
        Maximum number of positions.

    Raises
    ------
    BadInput
        If every hit was always shown at one position.
    BadRecord
        If a row is not valid.

    Examples
    --------
    >>> shown = pd.DataFrame({
    ...     "query": "mug", "objectID": ["MUG-001", "MUG-002"] * 2, "position": [1, 2, 2, 1],
    ...     "clicks": [30, 12, 18, 20], "impressions": 100,
    ... })
    >>> axes = svc.tuning.clicks.plot_positions(shown)
    """
    axis: Axes = make_axes(axes, 1, 1, HEIGHT_INCHES)[0]
    if shown.empty:
        clean(axis, "Click-through rate by position")
        draw_empty(axis, "no impressions")
        return Plot([axis])
    rows = positions(shown).head(top)
    clean(axis, f"Click-through rate by position; {rows['impressions'].sum():,.0f} impressions")
    palette = colours()
    axis.bar(rows["position"], rows["ctr"], width=0.7, color=palette.palest, label="raw")
    axis.plot(
        rows["position"], rows["corrected"], color=palette.hue, marker="o", markersize=4,
        linewidth=1, label="corrected for examination",
    )  # fmt: skip
    if len(rows) <= MAX_LABELLED_POSITIONS:
        _print_values(axis, rows)
    axis.set_xticks(rows["position"].tolist())
    axis.set_ylim(0, max(rows["ctr"].max(), rows["corrected"].max()) * 1.2 or 1)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.set_xlabel("position", fontsize=8.5, color=palette.ink)
    draw_legend(axis)
    return Plot([axis])


def _print_values(axis: Axes, rows: DataFrame) -> None:
    palette = colours()
    for _, row in rows.iterrows():
        axis.annotate(
            f"{row['ctr']:.1%}", (row["position"], 0), (0, 4), textcoords="offset points",
            ha="center", fontsize=7.5, color=palette.ink,
        )  # fmt: skip
        axis.annotate(
            f"{row['corrected']:.0%}", (row["position"], row["corrected"]), (0, 7),
            textcoords="offset points", ha="center", fontsize=7.5, color=palette.hue,
        )  # fmt: skip
