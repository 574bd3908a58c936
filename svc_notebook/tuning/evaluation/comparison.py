"""Comparison of two or more runs: differences, their size, and their statistical significance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.comparison_summary import write_html, write_text
from svc_notebook.tuning.evaluation.ranked_lists import find_moves, find_overlaps, known_gains
from svc_notebook.tuning.evaluation.runs import add_missing_rows, warn_of_missing
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, score_runs
from svc_notebook.tuning.plots.comparisons import plot_deltas
from svc_notebook.tuning.statistics import (
    RESAMPLES,
    TIE_TOLERANCE,
    check_resamples,
    check_seed,
    holm,
    interval,
    sign_flip,
    t_interval,
)
from svc_notebook.tuning.tables.tables import QUESTION, Queries, Table, check_judgments, check_runs

if TYPE_CHECKING:
    from svc_notebook.data.plots import Plot

PAIRED = [
    "run", *QUESTION, "metric", "before", "after", "delta", "judged_before", "judged_after",
    "hits_before", "hits_after", "n_relevant",
]  # fmt: skip
TESTED = [
    "run", "metric", "before", "after", "delta", "low", "high", "p", "p_holm", "wins", "ties",
    "losses", "queries", "left_out", "judged_before", "judged_after", "t_low", "t_high",
]  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """One base run and the runs compared with it; displayed as HTML in notebooks.

    Attributes
    ----------
    base : str
        Name of the base run.
    variants : tuple of str
        Names of the runs compared with it.
    runs : DataFrame
        Hits of all runs, as `run` returns them.
    long : DataFrame
        Scores of all runs, as `evaluate` returns them.
    gains : DataFrame
        Known gain of each judged hit.
    seed : int, default 0
        Seed of the random numbers.
    resamples : int, default 10000
        Number of resamples of intervals and tests.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> compared = svc.tuning.compare(before, after, "judgments.csv")
    >>> compared.moves[["query", "objectID", "rank_before", "rank_after"]]
    """

    base: str
    variants: tuple[str, ...]
    runs: DataFrame = field(repr=False)
    long: DataFrame = field(repr=False)
    gains: DataFrame = field(repr=False)
    seed: int = 0
    resamples: int = RESAMPLES

    @cached_property
    def scores(self) -> DataFrame:
        """Each query's score before and after, for each run and metric.

        Columns: `run`, `query`, `filters` and `metric` (str), `before`, `after`, `delta`,
        `judged_before` and `judged_after` (float64), `hits_before`, `hits_after` and
        `n_relevant` (int64), and those of `weight`, `stratum` and `split` that the scores have.
        """
        old = self.long[self.long["run"] == self.base]
        parts = [
            _pair(old, self.long[self.long["run"] == name]).assign(run=name)
            for name in self.variants
        ]
        frame = pd.concat(parts, ignore_index=True)
        further = [name for name in frame if name not in PAIRED]
        return frame[[*PAIRED, *further]]

    @cached_property
    def moves(self) -> DataFrame:
        """Each hit with its ranks before and after.

        Columns: `run`, `query`, `filters` and `objectID` (str), `rank_before`, `rank_after` and
        `moved` (Int64, ranks gained), `kind` (str, `up`, `down`, `same`, `entered` or `left`)
        and `gain` (float64, NaN if unjudged).
        """
        return pd.concat(
            [find_moves(self.run_of(self.base), self.run_of(name), self.gains)
             for name in self.variants],
            ignore_index=True,
        )  # fmt: skip

    @cached_property
    def rbo(self) -> DataFrame:
        """The similarity of the rankings of each query.

        Columns: `run`, `query` and `filters` (str) and `rbo` (float64, rank-biased overlap from
        0 to 1).
        """
        return pd.concat(
            [find_overlaps(self.run_of(self.base), self.run_of(name)) for name in self.variants],
            ignore_index=True,
        )

    @property
    def metrics(self) -> list[str]:
        """The metrics, in the requested order."""
        return list(dict.fromkeys(self.long["metric"]))

    def run_of(self, name: str) -> DataFrame:
        """Return the hits of one run.

        Parameters
        ----------
        name : str
            Name of the run.

        Returns
        -------
        DataFrame
            One row per hit, as `run` returns it.
        """
        return self.runs[self.runs["run"] == name]

    def test(self) -> DataFrame:
        """Test each run and metric against the base, paired by query.

        Returns
        -------
        DataFrame
            One row per run and metric: `run` and `metric` (str), `before`, `after` and `delta`
            (float64, means), `low` and `high` (float64, 95 % bootstrap interval of the mean
            difference), `p` (float64, of a paired sign-flip test), `p_holm` (float64, corrected
            for the number of runs), `wins`, `ties`, `losses` and `queries` (int64), `left_out`
            (int64, queries without a value in both runs), `judged_before` and `judged_after`
            (float64, shares of judged hits), `t_low` and `t_high` (float64, 95 % interval by the
            t distribution, to go by if fewer than 20 queries differ).
        """
        return self._tested.copy()

    def plot(self, metric: str | None = None, *, run: str | None = None, axes: Any = None) -> Plot:
        """Plot the difference of each query by one metric.

        Parameters
        ----------
        metric : str, default the first
            Name of the metric.
        run : str, default the first
            Name of the run that is compared with the base.
        axes : Axes or sequence of Axes, default None
            Axes to draw into; None creates a figure.

        Returns
        -------
        Plot
            The plot, which has the methods of its axes.

        Raises
        ------
        BadInput
            If the metric or the run does not exist.
        """
        drawn: Plot = plot_deltas(self, metric, run=run, axes=axes)
        return drawn

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write the comparison to one self-contained HTML file.

        Parameters
        ----------
        path : path
            File to write; its suffix is `.html`.
        **options
            Options of `svc.tuning.report`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        BadInput
            If the suffix is not supported.
        """
        from svc_notebook.tuning import report

        return report(self, path=path, **options)

    @cached_property
    def _tested(self) -> DataFrame:
        rows = [
            {"run": run, "metric": metric, **_test(part, self.resamples, self.seed)}
            for (run, metric), part in self.scores.groupby(["run", "metric"], sort=False)
        ]
        frame = DataFrame(rows, columns=[name for name in TESTED if name != "p_holm"])
        frame["p_holm"] = frame.groupby("metric", sort=False)["p"].transform(
            lambda values: holm(values.tolist())
        )
        frame.attrs["svc"] = {**self.long.attrs.get("svc", {}), "seed": self.seed}
        return frame[TESTED]

    def __repr__(self) -> str:
        return write_text(self)

    def _repr_html_(self) -> str:
        return write_html(self)


@described()
def compare(
    a: Table,
    b: Table | Sequence[DataFrame] | Mapping[str, DataFrame],
    judgments: Table,
    metrics: str | Iterable[str] = METRICS,
    *,
    unjudged: Unjudged = "zero",
    gains: Mapping[float, float] | None = None,
    relevant: float = 1.0,
    queries: Queries | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare a run with another, or with several.

    Parameters
    ----------
    a : DataFrame, list of dict or path
        Base run, as `run` returns it.
    b : DataFrame, list or dict of DataFrame, or path
        Runs to compare with it: a table, a list of tables, or tables by name.
    metrics : str or list of str, default 'ndcg@10'
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`.
    queries : str, list, DataFrame or path, default None
        Queries with `weight`, `stratum` and `split`.
    resamples : int, default 10000
        Number of resamples of intervals and tests.

    Returns
    -------
    Comparison
        The scores and differences of each query, with the methods `test`, `plot` and `report`.

    Raises
    ------
    BadInput
        If `a` is not one run, or an option is not valid.
    BadRecord
        If a row of a table is not valid.

    Examples
    --------
    >>> before = svc.tuning.run("products", "judgments.csv")
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", "judgments.csv", name="most reviewed")
    >>> compared = svc.tuning.compare(before, after, "judgments.csv")
    >>> compared.test()[["metric", "wins", "losses"]]
        metric  wins  losses
    0  ndcg@10     8       0
    """
    check_seed(seed)
    check_resamples(resamples)
    base = check_runs(a)
    if base.empty:
        raise BadInput("`a` has no query")
    if base["run"].nunique() != 1:
        raise BadInput(f"`a` must contain one run, not {base['run'].nunique()}")
    others = list(_others(b))
    if not others:
        raise BadInput("`b` has no run")
    base_name = str(base["run"].iloc[0])
    named = _apart([base_name, *(name for name, _ in others)])
    frames = [base, *(frame for _, frame in others)]
    runs = pd.concat(
        [frame.assign(run=name) for name, frame in zip(named, frames, strict=True)],
        ignore_index=True,
    )
    judged = check_judgments(judgments)
    runs, absent = add_missing_rows(runs, judged, queries)
    long = score_runs(
        runs, judged, metrics, unjudged=unjudged, gains=gains, relevant=relevant, queries=queries
    )
    long.attrs["svc"]["absent"] = absent
    warn_of_missing(absent, runs)
    return Comparison(
        base_name, tuple(named[1:]), runs, long, known_gains(judged, gains), seed, resamples
    )


def _others(given: Any) -> Iterator[tuple[str, DataFrame]]:
    """Split runs by name."""
    if isinstance(given, Mapping):
        for name, run in given.items():
            yield str(name), check_runs(run)
        return
    several = isinstance(given, list | tuple) and all(isinstance(run, DataFrame) for run in given)
    for table in given if several else [given]:
        checked = check_runs(table)
        for name, part in checked.groupby("run", sort=False):
            yield str(name), part


def _apart(names: Sequence[str]) -> list[str]:
    """Make the names of runs unique: `products`, `products (2)`."""
    unique: list[str] = []
    for name in names:
        tries = (name if n == 1 else f"{name} ({n})" for n in range(1, len(names) + 1))
        unique.append(next(candidate for candidate in tries if candidate not in unique))
    return unique


def _pair(old: DataFrame, new: DataFrame) -> DataFrame:
    both = old.merge(new, on=[*QUESTION, "metric"], suffixes=("_before", "_after"), sort=False)
    optional = [name for name in ("weight", "stratum", "split") if name in old]
    shown = {
        **{name: both[name] for name in [*QUESTION, "metric"]},
        "before": both["value_before"], "after": both["value_after"],
        "delta": both["value_after"] - both["value_before"],
        "judged_before": both["judged_at_k_before"], "judged_after": both["judged_at_k_after"],
        "hits_before": both["n_hits_before"], "hits_after": both["n_hits_after"],
        "n_relevant": both["n_relevant_before"],
        **{name: both[f"{name}_before"] for name in optional},
    }  # fmt: skip
    return DataFrame(shown)


def _test(part: DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    paired = part[part["delta"].notna()]
    deltas = np.where(paired["delta"].abs() <= TIE_TOLERANCE, 0.0, paired["delta"])
    weights = paired["weight"].fillna(1).to_numpy() if "weight" in paired else None
    options: Any = {"weights": weights, "resamples": resamples, "seed": seed}
    mean, low, high = interval(deltas, **options)
    _, t_low, t_high = t_interval(deltas, weights=weights)
    shares = np.ones(len(paired)) if weights is None else weights
    averages = {
        name: float((paired[name] * shares).sum() / shares.sum()) if shares.sum() else np.nan
        for name in ("before", "after")
    }
    return {
        **averages, "delta": mean, "low": low, "high": high,
        "p": sign_flip(deltas, **options) if len(paired) else np.nan,
        "wins": int((deltas > 0).sum()), "ties": int((deltas == 0).sum()),
        "losses": int((deltas < 0).sum()), "queries": len(paired),
        "left_out": len(part) - len(paired),
        "judged_before": part["judged_before"].mean(), "judged_after": part["judged_after"].mean(),
        "t_low": t_low, "t_high": t_high,
    }  # fmt: skip
