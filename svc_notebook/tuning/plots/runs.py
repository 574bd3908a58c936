"""Plots of measured runs: scores by query, means beside the judged share, and a variant search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.core.display import format_difference
from svc_notebook.data.declarations import described
from svc_notebook.data.plots import (
    ONE_AXES,
    Plot,
    background,
    check_columns,
    check_top,
    clean,
    colours,
    draw_empty,
    hue_map,
    make_axes,
    short,
)
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.plots.comparisons import query_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from svc_notebook.tuning.variants.result import Search

NEEDED = ("run", "metric", "mean", "low", "high", "judged")
# Heights of the plot of a search, and of a query with its scores.
SEARCH_INCHES, QUERY_INCHES = 3.4, 0.25


def plot_search(search: Search, *, axes: Any = None) -> Plot:
    """Draw a variant search: each trial's gain on the tune queries, then the held-out finalists.

    A trial on a part of the queries is hollow; the line is the best so far. The second axes shows
    each finalist's gain on the tune queries and on the held-out queries, with its interval.
    """
    drawn = make_axes(axes, 1, 2, SEARCH_INCHES, width_ratios=[5, 4], sharey=axes is None)
    left, right = drawn
    _draw_trials(left, search)
    _draw_finalists(right, search)
    return Plot(drawn)


def _draw_trials(axis: Axes, search: Search) -> None:
    palette, trace = colours(), search.trace
    whole = (trace["queries"] == search.plan.tune).to_numpy()
    numbers, deltas = trace["trial"].to_numpy(), trace["delta"].to_numpy(dtype=float)
    axis.axhline(0, color=palette.grey, linewidth=0.8, zorder=0)
    axis.scatter(numbers[~whole], deltas[~whole], s=18, facecolors="none", edgecolors=palette.pale)
    axis.scatter(numbers[whole], deltas[whole], s=18, color=palette.pale)
    if whole.any():
        best = np.maximum.accumulate(deltas[whole])
        axis.step(numbers[whole], best, where="post", color=palette.hue, linewidth=1.6)
        axis.annotate(
            format_difference(best[-1]), (numbers[whole][-1], best[-1]), (0, 5),
            textcoords="offset points", ha="right", fontsize=8.5, color=palette.ink,
        )  # fmt: skip
    clean(axis, f"{search.metric}: gain of each trial on {search.plan.tune:,} tune queries")
    axis.set_xlabel("trial", fontsize=8.5, color=palette.ink)


def _draw_finalists(axis: Axes, search: Search) -> None:
    palette = colours()
    clean(axis, f"the best on {search.plan.holdout:,} held-out queries")
    if search.holdout is None:
        draw_empty(axis, "nothing was held out")
        return
    axis.axhline(0, color=palette.grey, linewidth=0.8, zorder=0)
    rows = search.test().to_dict("records")
    for number, row in enumerate(rows):
        tuned, held = row["tune_delta"], row["delta"]
        axis.plot([number - 0.18, number + 0.18], [tuned, held], color=palette.pale, linewidth=1.2)
        axis.vlines(number + 0.18, row["low"], row["high"], color=palette.hue, linewidth=1.4)
        axis.scatter(
            [number - 0.18], [tuned], s=26, facecolor=background(), edgecolor=palette.hue, zorder=3
        )
        axis.scatter([number + 0.18], [held], s=26, color=palette.hue, zorder=3)
        axis.annotate(
            format_difference(held, 3), (number + 0.18, held), (6, -3), textcoords="offset points",
            fontsize=8.5, color=palette.ink,
        )  # fmt: skip

    axis.set_xticks(range(len(rows)), [f"{number + 1}" for number in range(len(rows))])
    axis.set_xlabel("finalist: tune (hollow), held out", fontsize=8.5, color=palette.ink)
    axis.set_xlim(-0.6, len(rows) - 0.3)


@described(like=ONE_AXES)
def plot_variants(
    scores: DataFrame, metric: str | None = None, *, top: int = 25, axes: Any = None
) -> Plot:
    """Plot the scores of queries by run as a heatmap.

    Parameters
    ----------
    scores : DataFrame
        Result of `evaluate`.
    top : int, default 25
        Maximum number of queries, those whose scores differ most; 1 or more.

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
    check_top(top)
    metric, part = _of_metric(scores, metric, "scores have")
    table = part.pivot(index=["query", "filters"], columns="run", values="value")
    runs = list(dict.fromkeys(part["run"]))
    table = table[runs]
    apart = (table.max(axis=1) - table.min(axis=1)).fillna(0).sort_values(ascending=False)
    table = table.loc[apart.index[:top]]
    axis: Axes = make_axes(axes, 1, 1, 1.3 + QUERY_INCHES * max(len(table), 3))[0]
    more = (
        f", the {len(table)} of {len(apart):,} queries that differ most" if len(apart) > top else ""
    )
    clean(axis, f"{metric} by query and run{more}")
    if table.empty:
        draw_empty(axis, "no scores")
        return Plot([axis])
    queries = [query_label(*key) or "(empty)" for key in table.index]
    _draw_heatmap(axis, table.to_numpy(dtype=float), queries, runs)
    return Plot([axis])


def _of_metric(rows: DataFrame, metric: str | None, holder: str) -> tuple[str, DataFrame]:
    """Return the metric to draw, by default the first, and its rows."""
    metrics = list(dict.fromkeys(rows["metric"]))
    metric = metric or (metrics[0] if metrics else "")
    if metrics and metric not in metrics:
        raise BadInput(f"the {holder} no metric `{metric}`{did_you_mean(metric, metrics)}")
    return metric, rows[rows["metric"] == metric]


def _draw_heatmap(axis: Axes, values: Any, queries: list[str], runs: list[str]) -> None:
    palette = colours()
    highest = max(float(np.nanmax(values, initial=0)), 1e-9)
    axis.pcolormesh(
        np.arange(len(runs) + 1) - 0.5, np.arange(len(queries) + 1) - 0.5,
        np.ma.masked_invalid(values), cmap=hue_map(lowest=background()), vmin=0,
        vmax=highest, edgecolors=background(),
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


@described()
def plot_judged(summary: DataFrame, metric: str | None = None, *, axes: Any = None) -> Plot:
    """Plot the mean of each run with its interval, and the share of judged hits.

    Parameters
    ----------
    summary : DataFrame
        Result of `summary`.
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
    metric, rows = _of_metric(summary, metric, "summary has")
    height = 0.9 + 0.36 * max(len(rows), 1)
    drawn = make_axes(axes, 1, 2, height, sharey=True, width_ratios=[3, 2])
    titles = (f"{metric}, 95 % interval", "judged share of the hits")
    for axis, title in zip(drawn, titles, strict=True):
        clean(axis, title)
        if rows.empty:
            draw_empty(axis, "no scores")
    if not rows.empty:
        _draw_shares(drawn, rows)
    return Plot(drawn)


def _draw_shares(drawn: Sequence[Axes], rows: DataFrame) -> None:
    palette = colours()
    left, right = drawn
    for height, row in enumerate(rows.to_dict("records")):
        left.plot(
            [row["low"], row["high"]], [height] * 2, color=palette.pale, lw=5, solid_capstyle="butt"
        )
        left.plot([row["mean"]], [height], "o", color=palette.hue, ms=6)
        left.text(row["mean"], height - 0.24, f"{row['mean']:.3f}", ha="center", va="bottom",
                  fontsize=8.5, color=palette.ink)  # fmt: skip
        right.barh([height], [row["judged"]], color=palette.pale, height=0.5)
        right.text(row["judged"], height, f"  {row['judged']:.0%}", va="center", fontsize=8.5,
                   color=palette.ink)  # fmt: skip
    left.set_yticks(range(len(rows)), [short(name, 34) for name in rows["run"]], parse_math=False)
    left.set_ylim(len(rows) - 0.4, -0.75)
    left.tick_params(left=False)
    left.margins(x=0.12)
    right.set_xlim(0, 1.18)
    right.tick_params(left=False, bottom=False, labelbottom=False, labelleft=False)
    for axis in drawn:
        axis.spines["left"].set_visible(False)
    right.spines["bottom"].set_visible(False)
