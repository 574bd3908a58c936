"""Plot of the top hits of one query in two runs, side by side, and their rank changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.display import format_difference
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.plots.canvas import Plot, background, clean, colours, make_axes
from svc_notebook.tuning.plots.labels import pick, plain_title, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svc_notebook.tuning.results import ComparedRuns

ROW_INCHES = 0.34


def plot_tops(
    comparison: ComparedRuns,
    query: str,
    *,
    filters: str = "",
    run: str | None = None,
    titles: Mapping[str, str] | None = None,
    axes: Any = None,
) -> Plot:
    """Plot the hits of one query before and after, with their ratings.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    query : str
        Query whose hits are drawn.
    filters : str, default ""
        Filters of the query.
    run : str, default the first
        Name of the run that is compared with the base.
    titles : dict or Series, default None
        Titles of records by objectID.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If neither run has hits of the query, or the run does not exist.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> compared = svc.tuning.compare(before, after, "judgments.csv")
    >>> titles = svc.samples.products().set_index("sku")["name"]
    >>> axes = svc.tuning.plot_tops(compared, "mug", titles=titles)
    """
    metric, run = pick(comparison, None, run)
    rows = comparison.moves
    part = rows[(rows["run"] == run) & (rows["query"] == query) & (rows["filters"] == filters)]
    if part.empty:
        queries = rows["query"].unique()
        if query not in set(queries):
            raise BadInput(f"neither run has hits of {query!r}{did_you_mean(query, queries)}")
        raise BadInput(f"give the `filters` of {query!r}, as in the run")
    deepest = int(part[["rank_before", "rank_after"]].max().max())
    axis: Axes = make_axes(axes, 1, 1, 1.2 + ROW_INCHES * deepest)[0]
    clean(axis, _title(comparison, metric, run, query, filters))
    plain_title(axis)
    for row in part.to_dict("records"):
        _draw_hit(axis, row, titles if titles is not None else {})
    _draw_heads(axis, comparison.base, run, deepest)
    return Plot([axis])


def _title(comparison: ComparedRuns, metric: str, run: str, query: str, filters: str) -> str:
    rows = comparison.scores
    scores = rows[
        (rows["run"] == run) & (rows["metric"] == metric)
        & (rows["query"] == query) & (rows["filters"] == filters)
    ].iloc[0]  # fmt: skip
    label = short(f"{query}  ({filters})" if filters else query, 50)
    if scores["delta"] != scores["delta"]:
        return label
    before, after, delta = scores["before"], scores["after"], format_difference(scores["delta"], 3)
    return f"“{label}”   {metric} {before:.3f} → {after:.3f}  ({delta})"


def _draw_heads(axis: Axes, base: str, run: str, deepest: int) -> None:
    palette = colours()
    for x, name, side in ((0.0, base, "right"), (1.0, run, "left")):
        axis.text(x, 0.25, short(name, 44), ha=side, va="center", fontsize=8.5, color=palette.grey,
                  parse_math=False)  # fmt: skip
    axis.set_xlim(-1.35, 2.35)
    axis.set_ylim(deepest + 0.6, -0.2)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[["left", "bottom"]].set_visible(False)


def _draw_hit(axis: Axes, row: Mapping[Any, Any], titles: Mapping[str, str]) -> None:
    palette = colours()
    stays = row["kind"] == "same"
    places = [row["rank_before"], row["rank_after"]]
    is_listed = [not pd.isna(position) for position in places]
    if all(is_listed):
        colour, width = (palette.palest, 1.4) if stays else (palette.hue, 1.6)
        axis.plot(
            [0.05, 0.95], [float(position) for position in places], color=colour, lw=width, zorder=1
        )
    label = short(str(titles.get(row["objectID"], row["objectID"])), 34)
    for x, position, shown in ((0.0, places[0], is_listed[0]), (1.0, places[1], is_listed[1])):
        if not shown:
            continue
        _draw_mark(axis, x, float(position), row["gain"])
        alone = not all(is_listed)
        axis.text(
            x + (-0.07 if x == 0 else 0.07), float(position), f"{label}  {position}" if x == 0 else
            f"{position}  {label}", ha="right" if x == 0 else "left", va="center", fontsize=8.5,
            color=palette.ink if alone or not stays else palette.grey, parse_math=False,
        )  # fmt: skip


def _draw_mark(axis: Axes, x: float, y: float, gain: float) -> None:
    palette = colours()
    unjudged = gain != gain
    shade = background() if unjudged else palette.hue if gain > 0 else palette.pale
    axis.scatter([x], [y], s=130, color=shade, edgecolors=palette.hue, linewidths=1.2, zorder=2)
    if not unjudged:
        ink = background() if gain > 0 else palette.ink
        axis.text(x, y, f"{gain:g}"[:3], ha="center", va="center", fontsize=7, color=ink, zorder=3)
