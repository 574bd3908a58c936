"""Plot of zero-result queries by query frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_notebook.plots.canvas import Plot, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.tables.sampling import zero_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

HEIGHT_INCHES = 1.9


def plot_zero_shares(log: DataFrame, *, axes: Any = None) -> Plot:
    """Plot the zero-result share of the searches of each stratum of a log.

    Parameters
    ----------
    log : DataFrame
        Result of `read_searches` or `read_logs`, or a table with the columns `query` and
        `nbHits`.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If the log does not contain the number of hits.

    Examples
    --------
    >>> log = pd.DataFrame({"query": ["mug", "toaster", "toaster"], "nbHits": [20, 0, 0]})
    >>> axes = svc.tuning.plot_zero_shares(log)
    """
    axis: Axes = make_axes(axes, 1, 1, HEIGHT_INCHES)[0]
    shares = zero_shares(log)
    *_, total = shares.to_dict("records")
    clean(axis, _title(total))
    rows = shares[(shares["stratum"] != "all") & (shares["searches"] > 0)]
    if rows.empty:
        draw_empty(axis, "no searches")
        return Plot([axis])
    palette = colours()
    places = range(len(rows))
    axis.barh(places, rows["share"], color=palette.hue, height=0.62)
    for height, row in zip(places, rows.to_dict("records"), strict=True):
        text = f"{row['share']:.1%}  ({row['zero']:,} of {row['searches']:,})"
        axis.annotate(
            text, (row["share"], height), (5, 0), textcoords="offset points", va="center",
            fontsize=8.5, color=palette.ink,
        )  # fmt: skip
    labels = [
        f"{name}, {count:,} quer{'y' if count == 1 else 'ies'}"
        for name, count in zip(rows["stratum"], rows["queries"], strict=True)
    ]
    axis.set_yticks(list(places), labels)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, (rows["share"].max() or 1) * 1.35)
    axis.xaxis.set_visible(False)
    axis.tick_params(left=False)
    axis.spines["bottom"].set_visible(False)
    return Plot([axis])


def _title(total: Any) -> str:
    if not total["searches"]:
        return "Zero-result searches"
    return (
        f"Zero-result searches: {total['share']:.1%} of {total['searches']:,}, by query frequency"
    )
