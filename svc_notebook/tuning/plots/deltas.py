"""Plots of score differences per query, and of the uncertainty of their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.display import format_difference
from svc_notebook.errors import BadInput
from svc_notebook.plots.canvas import Plot, background, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.number_format import p_value, span
from svc_notebook.tuning.plots.labels import pick, plain_title, short
from svc_notebook.tuning.statistics import TIE_TOLERANCE, bootstrap_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from svc_notebook.tuning.results import ComparedRuns

# Inches that one query takes where each has its label.
ROW_INCHES = 0.24
STRIP_INCHES = 3.2


def plot_deltas(
    comparison: ComparedRuns,
    metric: str | None = None,
    *,
    run: str | None = None,
    top: int = 8,
    axes: Any = None,
) -> Plot:
    """Plot the difference of each query by one metric, sorted, with labels of the largest.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    metric : str, default the first
        Name of the metric.
    run : str, default the first
        Name of the run that is compared with the base.
    top : int, default 8
        Number of labelled gains and of labelled losses, 1 or more.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If the metric or the run does not exist, or `top` is less than 1.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> axes = svc.tuning.plot_deltas(svc.tuning.compare(before, after, "judgments.csv"))
    """
    if top < 1:
        raise BadInput("`top` must be 1 or more")
    metric, run = pick(comparison, metric, run)
    rows = comparison.scores
    part = rows[(rows["run"] == run) & (rows["metric"] == metric)].dropna(subset="delta")
    moved = part[part["delta"].abs() > TIE_TOLERANCE].sort_values(
        "delta", ascending=False, kind="stable"
    )
    shown = _ends(moved, top)
    axis: Axes = make_axes(axes, 1, 1, 1.1 + ROW_INCHES * max(len(shown), 4))[0]
    tested = comparison.test()
    row = tested[(tested["run"] == run) & (tested["metric"] == metric)].iloc[0]
    clean(axis, _title(row))
    plain_title(axis)
    if moved.empty:
        draw_empty(axis, f"no query's {metric} differs")
        return Plot([axis])
    _draw_bars(axis, shown, len(moved) - len(shown))
    return Plot([axis])


def _title(row: Any) -> str:
    mean = f"{format_difference(row['delta'], 3)} {span(row['low'], row['high'])}".strip()
    return (
        f"{row['metric']}, {short(str(row['run']), 32)}: mean {mean};  "
        f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost"
    )


def _ends(moved: DataFrame, top: int) -> DataFrame:
    """Keep the most extreme values of both ends."""
    import pandas as pd

    if len(moved) <= 2 * top:
        return moved
    won, lost = moved[moved["delta"] > 0], moved[moved["delta"] < 0]
    spare = max(0, top - len(won)) + top, max(0, top - len(lost)) + top
    return pd.concat([won.head(spare[1]), lost.tail(spare[0])])


def _draw_bars(axis: Axes, shown: DataFrame, left_out: int) -> None:
    palette = colours()
    deltas = shown["delta"].to_numpy()
    # A gap for left-out queries, between the gains and the losses.
    gap = int((deltas > 0).sum())
    places = np.arange(len(shown)) + (np.arange(len(shown)) >= gap) * (1.0 if left_out else 0.0)
    axis.barh(
        places, deltas, color=[palette.hue if d > 0 else palette.pale for d in deltas], height=0.7
    )
    reach = float(np.abs(deltas).max())
    for height, row in zip(places, shown.to_dict("records"), strict=True):
        _write_words(axis, height, row)
    if left_out:
        axis.text(
            0, gap, f"  {left_out:,} more that differ less  ", ha="center", va="center",
            fontsize=8, color=palette.grey, backgroundcolor=background(), zorder=3,
        )  # fmt: skip
    axis.axvline(0, color=palette.grey, lw=0.8)
    axis.set_ylim(places.max() + 0.7, -0.7)
    axis.set_xlim(-1.75 * reach, 1.75 * reach)
    axis.set_yticks([])
    axis.set_xticks([])
    axis.spines[["left", "bottom"]].set_visible(False)


def _write_words(axis: Axes, place: float, row: Any) -> None:
    """Write a query on the empty side of its bar, and its result at the bar's end."""
    palette, delta = colours(), row["delta"]
    side, away = (1, "right") if delta > 0 else (-1, "left")
    near = "left" if delta > 0 else "right"
    label = short(f"{row['query']}  ({row['filters']})" if row["filters"] else row["query"])
    words = [
        (0.0, -5, away, label or "(empty)", 8.5, palette.ink),
        (delta, 5, near, format_difference(delta, 2), 8.5, palette.ink),
        (delta, 41, near, f"{row['before']:.2f} → {row['after']:.2f}", 7.5, palette.grey),
    ]
    for x, aside, alignment, text, size, colour in words:
        axis.annotate(
            text, (x, place), (side * aside, 0), textcoords="offset points", ha=alignment,
            va="center", fontsize=size, color=colour, parse_math=False,
        )  # fmt: skip


def plot_density(comparison: ComparedRuns, metric: str | None = None, *, axes: Any = None) -> Plot:
    """Plot the distribution of each run's mean difference over resamples, with its 95 % interval.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    metric : str, default the first
        Name of the metric.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If the metric does not exist.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> axes = svc.tuning.plot_density(svc.tuning.compare(before, after, "judgments.csv"))
    """
    metric, _ = pick(comparison, metric, None)
    names = comparison.variants
    axis: Axes = make_axes(axes, 1, 1, 1.2 + 0.95 * len(names))[0]
    palette = colours()
    clean(axis, f"mean difference of {metric} to {short(comparison.base, 40)}, resampled")
    plain_title(axis)
    scores = comparison.scores[comparison.scores["metric"] == metric].dropna(subset="delta")
    if scores.groupby("run").size().max() < 2 or scores.empty:
        draw_empty(axis, "there are too few queries to resample")
        return Plot([axis])
    tested = comparison.test().set_index(["run", "metric"])
    for number, name in enumerate(names):
        part = scores[scores["run"] == name]
        if len(part) < 2:
            continue
        weights = part["weight"].fillna(1).to_numpy() if "weight" in part else None
        means = bootstrap_means(
            part["delta"].to_numpy(), weights=weights, resamples=comparison.resamples,
            seed=comparison.seed,
        )  # fmt: skip
        _draw_ridge(
            axis, len(names) - 1 - number, means, tested.loc[(name, metric)], short(name, 60)
        )
    axis.axvline(0, color=palette.grey, lw=0.8, ls=(0, (4, 3)))
    axis.set_yticks([])
    axis.set_ylim(-0.3, len(names) + 0.02)
    axis.spines["left"].set_visible(False)
    return Plot([axis])


def _draw_ridge(axis: Axes, base: float, means: Any, row: Any, name: str) -> None:
    palette = colours()
    if np.ptp(means) > TIE_TOLERANCE:  # if no query differs, the mean has no spread
        _fill_ridge(axis, base, means, row)
    axis.plot([row["delta"]] * 2, [base, base + 0.62], color=palette.hue, lw=1.8)
    axis.axhline(base, color=palette.palest, lw=0.8)
    between = span(row["low"], row["high"])
    words = f"{format_difference(row['delta'], 3)}  {between}   p {p_value(row['p_holm'])}"
    axis.text(
        row["delta"], base + 0.66, words, ha="center", va="bottom", fontsize=8.5, color=palette.ink
    )
    axis.text(
        0.0, base - 0.04, name, ha="left", va="top", fontsize=8.5, color=palette.grey,
        transform=axis.get_yaxis_transform(), parse_math=False,
    )  # fmt: skip


def _fill_ridge(axis: Axes, base: float, means: Any, row: Any) -> None:
    palette = colours()
    counts, edges = np.histogram(means, bins=80)
    smooth = np.convolve(counts, np.hanning(9) / np.hanning(9).sum(), mode="same")
    heights = smooth / max(smooth.max(), 1) * 0.62
    centres = (edges[:-1] + edges[1:]) / 2
    inside = (centres >= row["low"]) & (centres <= row["high"])
    axis.fill_between(centres, base, base + heights, color=palette.palest, lw=0)
    axis.fill_between(centres[inside], base, base + heights[inside], color=palette.pale, lw=0)
