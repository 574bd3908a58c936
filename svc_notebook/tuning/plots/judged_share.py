"""Plot of the judged share of a run's hits beside the score that depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.plots.canvas import Plot, check_columns, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.plots.labels import plain_title, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from pandas import DataFrame

NEEDED = ("run", "metric", "mean", "low", "high", "judged")


def plot_judged(summary: DataFrame, metric: str | None = None, *, axes: Any = None) -> Plot:
    """Plot the mean of each run with its interval, and the share of judged hits.

    Parameters
    ----------
    summary : DataFrame
        Result of `summary`.
    metric : str, default the first
        Name of the metric.
    axes : sequence of two Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The axes of means and shares.

    Raises
    ------
    BadInput
        If a column is missing, or the metric does not exist.

    Examples
    --------
    >>> mean, share = svc.tuning.plot_judged(svc.tuning.measure("products", "judgments.csv"))
    """
    check_columns(summary, NEEDED, "summary(scores)")
    metrics = list(dict.fromkeys(summary["metric"]))
    metric = metric or (metrics[0] if metrics else "")
    if metrics and metric not in metrics:
        raise BadInput(f"the summary has no metric `{metric}`{did_you_mean(metric, metrics)}")
    rows = summary[summary["metric"] == metric]
    height = 0.9 + 0.36 * max(len(rows), 1)
    drawn = make_axes(axes, 1, 2, height, sharey=True, width_ratios=[3, 2])
    titles = (f"{metric}, 95 % interval", "judged share of the hits")
    for axis, title in zip(drawn, titles, strict=True):
        clean(axis, title)
        plain_title(axis)
        if rows.empty:
            draw_empty(axis, "no scores")
    if not rows.empty:
        _draw(drawn, rows)
    return drawn


def _draw(drawn: Sequence[Axes], rows: DataFrame) -> None:
    palette = colours()
    left, right = drawn
    places = range(len(rows))
    for height, row in zip(places, rows.to_dict("records"), strict=True):
        left.plot(
            [row["low"], row["high"]], [height] * 2, color=palette.pale, lw=5, solid_capstyle="butt"
        )
        left.plot([row["mean"]], [height], "o", color=palette.hue, ms=6)
        left.text(row["mean"], height - 0.24, f"{row['mean']:.3f}", ha="center", va="bottom",
                  fontsize=8.5, color=palette.ink)  # fmt: skip
        right.barh([height], [row["judged"]], color=palette.pale, height=0.5)
        right.text(row["judged"], height, f"  {row['judged']:.0%}", va="center", fontsize=8.5,
                   color=palette.ink)  # fmt: skip
    left.set_yticks(list(places), [short(name, 34) for name in rows["run"]], parse_math=False)
    left.set_ylim(len(rows) - 0.4, -0.75)
    left.tick_params(left=False)
    left.margins(x=0.12)
    right.set_xlim(0, 1.18)
    right.tick_params(left=False, bottom=False, labelbottom=False, labelleft=False)
    for axis in drawn:
        axis.spines["left"].set_visible(False)
    right.spines["bottom"].set_visible(False)
