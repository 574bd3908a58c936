"""Plots of what is measured: the grades of judgments, two raters, and zero-result queries."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.data.declarations import described
from svc_notebook.data.plots import (
    ONE_AXES,
    Plot,
    background,
    clean,
    colours,
    draw_empty,
    hue_map,
    make_axes,
    short,
)
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.rater_agreement import by_rater
from svc_notebook.tuning.statistics import cohen
from svc_notebook.tuning.tables.sampling import zero_shares
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

ZERO_RESULTS_INCHES = 1.9
# More grades are drawn as a histogram.
MAX_GRADE_BARS = 12


@described(like=ONE_AXES)
def plot_grades(judgments: Table, *, axes: Any = None) -> Plot:
    """Plot the number of hits of each grade.


    Raises
    ------
    BadRecord

    Examples
    --------
    >>> axes = svc.tuning.plot_grades("judgments.csv")
    """
    judged = check_judgments(judgments)
    ratings = judged["rating"].dropna().to_numpy()
    queries = len(judged[QUESTION].drop_duplicates())
    labels, counts = _counted(ratings)
    axis: Axes = make_axes(axes, 1, 1, 0.9 + 0.3 * max(len(labels), 2))[0]
    unrateable = int(judged["unrateable"].sum())
    apart = f", {unrateable:,} unrateable" if unrateable else ""
    clean(axis, f"{len(ratings):,} ratings of {queries:,} queries{apart}")
    if not len(ratings):
        draw_empty(axis, "no rating")
        return Plot([axis])
    palette = colours()
    # Better grades are darker.
    shade = hue_map(lowest=palette.palest)
    shades = [shade(number / max(len(labels) - 1, 1)) for number in range(len(labels))]
    drawn = axis.barh(range(len(labels)), counts, color=shades, height=0.7)
    total = counts.sum()
    words = [f"{count:,}  {count / total:.0%}" for count in counts]
    axis.bar_label(drawn, words, padding=4, fontsize=8.5, color=palette.ink)
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylabel("grade", fontsize=8.5, color=palette.grey)
    axis.set_xlim(0, counts.max() * 1.18)
    axis.tick_params(left=False, bottom=False, labelbottom=False)
    axis.spines["bottom"].set_visible(False)
    return Plot([axis])


@described(like=ONE_AXES)
def plot_confusion(
    judgments: Table, raters: tuple[str, str] | None = None, *, axes: Any = None
) -> Plot:
    """Plot the confusion matrix of two raters.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID`, `rating` and `rater`.
    raters : tuple of two str, default the first two
        Names of the raters.

    Raises
    ------
    BadInput
        If there are fewer than two raters, or no such rater.
    BadRecord

    Examples
    --------
    >>> anna = pd.DataFrame({"query": "mug", "objectID": ["MUG-001", "MUG-002"], "rating": [3, 1]})
    >>> ben = anna.assign(rating=[2, 1])
    >>> judgments = pd.concat([anna.assign(rater="anna"), ben.assign(rater="ben")])
    >>> axes = svc.tuning.plot_confusion(judgments)
    """
    judged = check_judgments(judgments)
    first, other = _two(judged, raters)
    rated = by_rater(judged).reindex(columns=[first, other])
    both = rated.dropna().to_numpy(dtype=float)
    grades = np.unique(both) if len(both) else np.zeros(0)
    axis: Axes = make_axes(axes, 1, 1, 1.3 + 0.42 * max(len(grades), 3))[0]
    kappa = cohen(both, weighted=True) if len(both) else float("nan")
    words = f", kappa {kappa:.2f} (squared weights)" if kappa == kappa else ""
    clean(axis, f"{len(both):,} hits that {short(first, 20)} and {short(other, 20)} rated{words}")
    if not len(both):
        draw_empty(axis, "no hit was rated by both")
        return Plot([axis])
    _draw_counts(axis, both, grades)
    axis.set_ylabel(short(first), fontsize=8.5, color=colours().grey, parse_math=False)
    axis.set_xlabel(short(other), fontsize=8.5, color=colours().grey, parse_math=False)
    return Plot([axis])


def _counted(ratings: Any) -> tuple[list[str], Any]:
    grades, counts = np.unique(ratings, return_counts=True)
    if len(grades) <= MAX_GRADE_BARS:
        return [f"{grade:g}" for grade in grades], counts
    counts, edges = np.histogram(ratings, bins=MAX_GRADE_BARS - 2)
    return [f"{low:.2g} to {high:.2g}" for low, high in itertools.pairwise(edges)], counts


def _two(judged: DataFrame, raters: tuple[str, str] | None) -> tuple[str, str]:
    names = [str(name) for name in dict.fromkeys(judged["rater"])]
    if raters is None:
        if len(names) < 2:
            raise BadInput("two raters are needed, named in `rater`")
        return names[0], names[1]
    if isinstance(raters, str) or len(raters) != 2:
        raise BadInput(f"`raters` must be two names, such as ('ada', 'ben'), not {raters!r}")
    for name in raters:
        if name not in names:
            raise BadInput(f"no judgments of the rater {name!r}; raters are {', '.join(names)}")
    return raters


def _draw_counts(axis: Axes, both: Any, grades: Any) -> None:
    palette = colours()
    counts = np.zeros((len(grades), len(grades)))
    coded = np.searchsorted(grades, both)
    np.add.at(counts, (coded[:, 0], coded[:, 1]), 1)
    edges = np.arange(len(grades) + 1) - 0.5
    axis.pcolormesh(
        edges, edges, counts, cmap=hue_map(lowest=background()), edgecolors=palette.palest,
        linewidth=0.8,
    )  # fmt: skip
    for (row, column), count in np.ndenumerate(counts):
        ink = background() if count > 0.8 * counts.max() else palette.ink
        weight = "bold" if row == column else "normal"
        axis.text(column, row, f"{int(count):,}", ha="center", va="center", fontsize=8.5,
                  color=ink, weight=weight)  # fmt: skip
    labels = [f"{grade:g}" for grade in grades]
    axis.set_xticks(range(len(grades)), labels)
    axis.set_yticks(range(len(grades)), labels)
    axis.set_aspect("equal")
    axis.tick_params(length=0)
    axis.spines[["left", "bottom"]].set_visible(False)


@described(like=ONE_AXES)
def plot_zero_shares(log: DataFrame, *, axes: Any = None) -> Plot:
    """Plot the zero-result share of the searches of each stratum of a log.

    Parameters
    ----------
    log : DataFrame
        Result of `read_searches` or `read_logs`, or a table with the columns `query` and
        `nbHits`.

    Raises
    ------
    BadInput
        If the log does not contain the number of hits.

    Examples
    --------
    >>> log = pd.DataFrame({"query": ["mug", "toaster", "toaster"], "nbHits": [20, 0, 0]})
    >>> axes = svc.tuning.plot_zero_shares(log)
    """
    axis: Axes = make_axes(axes, 1, 1, ZERO_RESULTS_INCHES)[0]
    shares = zero_shares(log)
    *_, total = shares.to_dict("records")
    clean(axis, _describe_shares(total))
    rows = shares[(shares["stratum"] != "all") & (shares["searches"] > 0)]
    if rows.empty:
        draw_empty(axis, "no searches")
        return Plot([axis])
    palette = colours()
    axis.barh(range(len(rows)), rows["share"], color=palette.hue, height=0.62)
    for height, row in enumerate(rows.to_dict("records")):
        text = f"{row['share']:.1%}  ({row['zero']:,} of {row['searches']:,})"
        axis.annotate(
            text, (row["share"], height), (5, 0), textcoords="offset points", va="center",
            fontsize=8.5, color=palette.ink,
        )  # fmt: skip
    labels = [
        f"{name}, {count:,} quer{'y' if count == 1 else 'ies'}"
        for name, count in zip(rows["stratum"], rows["queries"], strict=True)
    ]
    axis.set_yticks(range(len(rows)), labels)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, (rows["share"].max() or 1) * 1.35)
    axis.xaxis.set_visible(False)
    axis.tick_params(left=False)
    axis.spines["bottom"].set_visible(False)
    return Plot([axis])


def _describe_shares(total: Any) -> str:
    if not total["searches"]:
        return "Zero-result searches"
    return (
        f"Zero-result searches: {total['share']:.1%} of {total['searches']:,}, by query frequency"
    )
