"""Plots of judgments: the distribution of grades, and where two raters differ."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.plots.canvas import Plot, background, clean, colours, draw_empty, make_axes
from svc_notebook.tuning.plots.labels import plain_title, short
from svc_notebook.tuning.statistics import cohen
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

# More grades are drawn as a histogram.
MAX_GRADE_BARS = 12


def plot_grades(judgments: Table, *, axes: Any = None) -> Plot:
    """Plot the number of hits of each grade.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadRecord
        If a judgment is not valid.

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
    shades = [_shade(number / max(len(labels) - 1, 1)) for number in range(len(labels))]
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
    axes : Axes or sequence of Axes, default None
        Axes to draw into; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If there are fewer than two raters, or no such rater.
    BadRecord
        If a judgment is not valid.

    Examples
    --------
    >>> anna = pd.DataFrame({"query": "mug", "objectID": ["MUG-001", "MUG-002"], "rating": [3, 1]})
    >>> ben = anna.assign(rating=[2, 1])
    >>> judgments = pd.concat([anna.assign(rater="anna"), ben.assign(rater="ben")])
    >>> axes = svc.tuning.plot_confusion(judgments)
    """
    judged = check_judgments(judgments)
    first, other = _two(judged, raters)
    both = _paired(judged, first, other)
    grades = np.unique(both) if len(both) else np.zeros(0)
    axis: Axes = make_axes(axes, 1, 1, 1.3 + 0.42 * max(len(grades), 3))[0]
    kappa = cohen(both, weighted=True) if len(both) else float("nan")
    words = f", kappa {kappa:.2f} (squared weights)" if kappa == kappa else ""
    clean(axis, f"{len(both):,} hits that {short(first, 20)} and {short(other, 20)} rated{words}")
    plain_title(axis)
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


def _shade(share: float) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    palette = colours()
    return LinearSegmentedColormap.from_list("hue", [palette.palest, palette.pale, palette.hue])(
        share
    )


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


def _paired(judged: DataFrame, one: str, other: str) -> Any:
    rated = judged[judged["rating"].notna() & judged["rater"].isin([one, other])]
    table = rated.pivot(index=[*QUESTION, "objectID"], columns="rater", values="rating")
    table = table.reindex(columns=[one, other]).dropna()
    return table.to_numpy(dtype=float)


def _draw_counts(axis: Axes, both: Any, grades: Any) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    palette = colours()
    counts = np.zeros((len(grades), len(grades)))
    coded = np.searchsorted(grades, both)
    np.add.at(counts, (coded[:, 0], coded[:, 1]), 1)
    shades = LinearSegmentedColormap.from_list(
        "hue", [background(), palette.palest, palette.pale, palette.hue]
    )
    edges = np.arange(len(grades) + 1) - 0.5
    axis.pcolormesh(edges, edges, counts, cmap=shades, edgecolors=palette.palest, linewidth=0.8)
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
