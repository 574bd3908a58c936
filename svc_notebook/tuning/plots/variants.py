"""Heatmap of queries by runs: how well each run answers each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.plots.canvas import (
    Plot,
    background,
    check_columns,
    clean,
    colours,
    draw_empty,
    make_axes,
)
from svc_notebook.tuning.plots.labels import plain_title, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

ROW_INCHES = 0.25


def plot_variants(
    scores: DataFrame, metric: str | None = None, *, top: int = 25, axes: Any = None
) -> Plot:
    """Plot the scores of queries by run as a heatmap.

    Parameters
    ----------
    scores : DataFrame
        Result of `evaluate`.
    metric : str, default the first
        Name of the metric.
    top : int, default 25
        Maximum number of queries, those whose scores differ most; 1 or more.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If a column is missing, the metric does not exist, or `top` is less than 1.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> scores = svc.tuning.evaluate(pd.concat([before, after]), "judgments.csv")
    >>> axes = svc.tuning.plot_variants(scores)
    """
    check_columns(scores, ("run", "query", "filters", "metric", "value"), "evaluate(…)")
    if top < 1:
        raise BadInput("`top` must be 1 or more")
    metrics = list(dict.fromkeys(scores["metric"]))
    metric = metric or (metrics[0] if metrics else "")
    if metrics and metric not in metrics:
        raise BadInput(f"the scores have no metric `{metric}`{did_you_mean(metric, metrics)}")
    part = scores[scores["metric"] == metric]
    table = part.pivot(index=["query", "filters"], columns="run", values="value")
    runs = list(dict.fromkeys(part["run"]))
    table = table[runs]
    apart = (table.max(axis=1) - table.min(axis=1)).fillna(0).sort_values(ascending=False)
    table = table.loc[apart.index[:top]]
    axis: Axes = make_axes(axes, 1, 1, 1.3 + ROW_INCHES * max(len(table), 3))[0]
    more = (
        f", the {len(table)} of {len(apart):,} queries that differ most" if len(apart) > top else ""
    )
    clean(axis, f"{metric} by query and run{more}")
    plain_title(axis)
    if table.empty:
        draw_empty(axis, "no scores")
        return Plot([axis])
    _draw(axis, table.to_numpy(dtype=float), [_label(*key) for key in table.index], runs)
    return Plot([axis])


def _label(query: str, filters: str) -> str:
    return short(f"{query}  ({filters})" if filters else query) or "(empty)"


def _draw(axis: Axes, values: Any, queries: list[str], runs: list[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    palette = colours()
    shades = LinearSegmentedColormap.from_list(
        "hue", [background(), palette.palest, palette.pale, palette.hue]
    )
    highest = max(float(np.nanmax(values, initial=0)), 1e-9)
    axis.pcolormesh(
        np.arange(len(runs) + 1) - 0.5, np.arange(len(queries) + 1) - 0.5,
        np.ma.masked_invalid(values), cmap=shades, vmin=0, vmax=highest, edgecolors=background(),
        linewidth=1.5,
    )  # fmt: skip
    for (row, column), value in np.ndenumerate(values):
        text = "" if np.isnan(value) else f"{value:.2f}"
        ink = background() if value > 0.8 * highest else palette.ink
        axis.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)
    axis.set_yticks(range(len(queries)), queries, parse_math=False)
    axis.set_xticks(range(len(runs)), [short(run, 26) for run in runs], parse_math=False)
    axis.xaxis.tick_top()
    axis.tick_params(length=0, pad=4)
    axis.set_ylim(len(queries) - 0.5, -0.5)
    axis.set_xlim(-0.5, len(runs) - 0.5)
    axis.spines[["left", "bottom"]].set_visible(False)
