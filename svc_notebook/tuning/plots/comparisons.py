"""Plots of two compared runs: score differences, their uncertainty, and the hits of one query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svc_notebook.core.display import format_difference
from svc_notebook.data.declarations import described
from svc_notebook.data.plots import (
    MAX_LABEL_CHARACTERS,
    ONE_AXES,
    Plot,
    background,
    check_top,
    clean,
    colours,
    draw_empty,
    make_axes,
    short,
)
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.statistics import TIE_TOLERANCE, bootstrap_means, p_value, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    # The name that signatures show.
    from svc_notebook.tuning.evaluation.comparison import Comparison as ComparedRuns

# Heights of a query with its difference and of a hit.
QUERY_INCHES, HIT_INCHES = 0.24, 0.34


@described(like=ONE_AXES)
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
    run : str, default the first
        Name of the run that is compared with the base.
    top : int, default 8
        Number of labelled gains and of labelled losses, 1 or more.

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
    check_top(top)
    metric, run = _pick(comparison, metric, run)
    rows = comparison.scores
    part = rows[(rows["run"] == run) & (rows["metric"] == metric)].dropna(subset="delta")
    moved = part[part["delta"].abs() > TIE_TOLERANCE].sort_values(
        "delta", ascending=False, kind="stable"
    )
    shown = _ends(moved, top)
    axis: Axes = make_axes(axes, 1, 1, 1.1 + QUERY_INCHES * max(len(shown), 4))[0]
    tested = comparison.test()
    row = tested[(tested["run"] == run) & (tested["metric"] == metric)].iloc[0]
    clean(axis, _describe_run(row))
    if moved.empty:
        draw_empty(axis, f"no query's {metric} differs")
        return Plot([axis])
    _draw_bars(axis, shown, len(moved) - len(shown))
    return Plot([axis])


def _pick(comparison: ComparedRuns, metric: str | None, run: str | None) -> tuple[str, str]:
    """Return the metric and the run to draw; by default the first of each."""
    if not hasattr(comparison, "variants"):
        raise BadInput("this is not a comparison of runs; svc.tuning.compare returns one")
    metrics, runs = comparison.metrics, comparison.variants
    chosen = metric or metrics[0]
    if chosen not in metrics:
        listed = ", ".join(metrics)
        raise BadInput(f"this compares {listed}, not `{chosen}`{did_you_mean(chosen, metrics)}")
    named = run or runs[0]
    if named not in runs:
        raise BadInput(f"the comparison has no run `{named}`{did_you_mean(named, runs)}")
    return chosen, named


def query_label(query: str, filters: str, max_characters: int = MAX_LABEL_CHARACTERS) -> str:
    """Return the label of a query with its filters."""
    return short(f"{query}  ({filters})" if filters else query, max_characters)


def _describe_run(row: Any) -> str:
    mean = f"{format_difference(row['delta'], 3)} {span(row['low'], row['high'])}".strip()
    return (
        f"{row['metric']}, {short(str(row['run']), 32)}: mean {mean};  "
        f"{row['wins']} won, {row['ties']} tied, {row['losses']} lost"
    )


def _ends(moved: DataFrame, top: int) -> DataFrame:
    """Keep the most extreme values of both ends."""
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
    rows = np.arange(len(shown))
    heights = rows + (rows >= gap) * (1.0 if left_out else 0.0)
    axis.barh(
        heights, deltas, color=[palette.hue if d > 0 else palette.pale for d in deltas], height=0.7
    )
    reach = float(np.abs(deltas).max())
    for height, row in zip(heights, shown.to_dict("records"), strict=True):
        _write_words(axis, height, row)
    if left_out:
        axis.text(
            0, gap, f"  {left_out:,} more that differ less  ", ha="center", va="center",
            fontsize=8, color=palette.grey, backgroundcolor=background(), zorder=3,
        )  # fmt: skip
    axis.axvline(0, color=palette.grey, lw=0.8)
    axis.set_ylim(heights.max() + 0.7, -0.7)
    axis.set_xlim(-1.75 * reach, 1.75 * reach)
    axis.set_yticks([])
    axis.set_xticks([])
    axis.spines[["left", "bottom"]].set_visible(False)


def _write_words(axis: Axes, height: float, row: Any) -> None:
    """Write a query on the empty side of its bar, and its result at the bar's end."""
    palette, delta = colours(), row["delta"]
    side, away = (1, "right") if delta > 0 else (-1, "left")
    near = "left" if delta > 0 else "right"
    label = query_label(row["query"], row["filters"])
    words = [
        (0.0, -5, away, label or "(empty)", 8.5, palette.ink),
        (delta, 5, near, format_difference(delta, 2), 8.5, palette.ink),
        (delta, 41, near, f"{row['before']:.2f} → {row['after']:.2f}", 7.5, palette.grey),
    ]
    for x, aside, alignment, text, size, colour in words:
        axis.annotate(
            text, (x, height), (side * aside, 0), textcoords="offset points", ha=alignment,
            va="center", fontsize=size, color=colour, parse_math=False,
        )  # fmt: skip


@described(like=ONE_AXES)
def plot_density(comparison: ComparedRuns, metric: str | None = None, *, axes: Any = None) -> Plot:
    """Plot the distribution of each run's mean difference over resamples, with its 95 % interval.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.

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
    metric, _ = _pick(comparison, metric, None)
    names = comparison.variants
    axis: Axes = make_axes(axes, 1, 1, 1.2 + 0.95 * len(names))[0]
    palette = colours()
    clean(axis, f"mean difference of {metric} to {short(comparison.base, 40)}, resampled")
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


@described(like=ONE_AXES)
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
    metric, run = _pick(comparison, None, run)
    rows = comparison.moves
    part = rows[(rows["run"] == run) & (rows["query"] == query) & (rows["filters"] == filters)]
    if part.empty:
        queries = rows["query"].unique()
        if query not in set(queries):
            raise BadInput(f"neither run has hits of {query!r}{did_you_mean(query, queries)}")
        raise BadInput(f"give the `filters` of {query!r}, as in the run")
    deepest = int(part[["rank_before", "rank_after"]].max().max())
    axis: Axes = make_axes(axes, 1, 1, 1.2 + HIT_INCHES * deepest)[0]
    clean(axis, _describe_query(comparison, metric, run, query, filters))
    for row in part.to_dict("records"):
        _draw_hit(axis, row, titles if titles is not None else {})
    _draw_heads(axis, comparison.base, run, deepest)
    return Plot([axis])


def _describe_query(
    comparison: ComparedRuns, metric: str, run: str, query: str, filters: str
) -> str:
    rows = comparison.scores
    scores = rows[
        (rows["run"] == run) & (rows["metric"] == metric)
        & (rows["query"] == query) & (rows["filters"] == filters)
    ].iloc[0]  # fmt: skip
    label = query_label(query, filters, 50)
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
    ranks = [row["rank_before"], row["rank_after"]]
    is_listed = [not pd.isna(rank) for rank in ranks]
    if all(is_listed):
        colour, width = (palette.palest, 1.4) if stays else (palette.hue, 1.6)
        axis.plot([0.05, 0.95], [float(rank) for rank in ranks], color=colour, lw=width, zorder=1)
    label = short(str(titles.get(row["objectID"], row["objectID"])), 34)
    for x, position, shown in zip((0.0, 1.0), ranks, is_listed, strict=True):
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
