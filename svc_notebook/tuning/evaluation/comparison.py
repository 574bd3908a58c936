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

from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.comparison_summary import write_html, write_text
from svc_notebook.tuning.evaluation.missing_queries import add_missing_rows, warn_of_missing
from svc_notebook.tuning.evaluation.rank_changes import find_moves, find_overlaps
from svc_notebook.tuning.evaluation.ranked_lists import known_gains
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, score_runs
from svc_notebook.tuning.plots.deltas import plot_deltas
from svc_notebook.tuning.statistics import (
    RESAMPLES,
    TIE_TOLERANCE,
    check_resamples,
    check_seed,
    holm,
    interval,
    sign_flip,
)
from svc_notebook.tuning.tables.tables import QUESTION, Queries, Table, check_judgments, check_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAIRED = [
    "run", *QUESTION, "metric", "before", "after", "delta", "judged_before", "judged_after",
    "hits_before", "hits_after", "n_relevant",
]  # fmt: skip
TESTED = [
    "run", "metric", "before", "after", "delta", "low", "high", "p", "p_holm", "wins", "ties",
    "losses", "queries", "left_out", "judged_before", "judged_after",
]  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """One base run and one or more runs compared with it; displayed as HTML in notebooks.

    `runs` and `long` are the runs and their scores as `evaluate` returns them, `gains` the known
    gain of each hit.
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
        """Every query's score `before` and `after`, and the `delta`, for each run and metric."""
        old = self.long[self.long["run"] == self.base]
        parts = [
            _pair(old, self.long[self.long["run"] == name]).assign(run=name)
            for name in self.variants
        ]
        frame = pd.concat(parts, ignore_index=True)
        own = [name for name in frame if name not in PAIRED]
        return frame[[*PAIRED, *own]]

    @cached_property
    def moves(self) -> DataFrame:
        """Every hit with its ranks before and after, its gain, and how far it `moved`."""
        return pd.concat(
            [find_moves(self.run_of(self.base), self.run_of(name), self.gains)
             for name in self.variants],
            ignore_index=True,
        )  # fmt: skip

    @cached_property
    def rbo(self) -> DataFrame:
        """The similarity of the rankings of each query: rank-biased overlap, from 0 to 1."""
        return pd.concat(
            [find_overlaps(self.run_of(self.base), self.run_of(name)) for name in self.variants],
            ignore_index=True,
        )

    @property
    def metrics(self) -> list[str]:
        """The metrics, in the requested order."""
        return list(dict.fromkeys(self.long["metric"]))

    def run_of(self, name: str) -> DataFrame:
        """Return the hits of one run."""
        return self.runs[self.runs["run"] == name]

    def test(self) -> DataFrame:
        """Test each run and metric against the base, paired by query.

        `delta` is the mean difference, `low` and `high` its 95 % bootstrap interval, `p` the
        p-value of a paired sign-flip test, `p_holm` corrected for the number of runs. A query
        without a value in both runs is left out.
        """
        return self._tested.copy()

    def plot(self, metric: str | None = None, *, run: str | None = None, axes: Any = None) -> Axes:
        """Draw the difference of each query by one metric, by default the first."""
        drawn: Axes = plot_deltas(self, metric, run=run, axes=axes)
        return drawn

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write this comparison to one self-contained HTML file; see `tuning.report`."""
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
    """Compare a run with another, or with several: a table of them, a list, or a dict by name.

    A query without a row in a run counts as one without hits, and scores 0, as in `evaluate`; such
    queries are counted and reported. Options are those of `evaluate`; the same `seed` gives the
    same intervals and tests. Returns a `Comparison`.
    """
    check_seed(seed)
    check_resamples(resamples)
    base = check_runs(a)
    if base.empty:
        raise BadInput("`a` has no query")
    if base["run"].nunique() != 1:
        raise BadInput(f"`a` must be one run, not {base['run'].nunique()}")
    others = list(_others(b))
    if not others:
        raise BadInput("`b` has no run")
    own = str(base["run"].iloc[0])
    named = _apart([own, *(name for name, _ in others)])
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
        own, tuple(named[1:]), runs, long, known_gains(judged, gains), seed, resamples
    )


def _others(given: Any) -> Iterator[tuple[str, DataFrame]]:
    """Split runs by name."""
    if isinstance(given, Mapping):
        for name, one in given.items():
            yield str(name), check_runs(one)
        return
    several = isinstance(given, list | tuple) and all(isinstance(one, DataFrame) for one in given)
    for table in given if several else [given]:
        checked = check_runs(table)
        for name, part in checked.groupby("run", sort=False):
            yield str(name), part


def _apart(names: Sequence[str]) -> list[str]:
    """Make the names of runs unique: `products`, `products (2)`."""
    found: list[str] = []
    for name in names:
        tries = (name if n == 1 else f"{name} ({n})" for n in range(1, len(names) + 1))
        found.append(next(one for one in tries if one not in found))
    return found


def _pair(old: DataFrame, new: DataFrame) -> DataFrame:
    both = old.merge(new, on=[*QUESTION, "metric"], suffixes=("_before", "_after"), sort=False)
    own = [name for name in ("weight", "stratum", "split") if name in old]
    shown = {
        **{name: both[name] for name in [*QUESTION, "metric"]},
        "before": both["value_before"], "after": both["value_after"],
        "delta": both["value_after"] - both["value_before"],
        "judged_before": both["judged_at_k_before"], "judged_after": both["judged_at_k_after"],
        "hits_before": both["n_hits_before"], "hits_after": both["n_hits_after"],
        "n_relevant": both["n_relevant_before"],
        **{name: both[f"{name}_before"] for name in own},
    }  # fmt: skip
    return DataFrame(shown)


def _test(part: DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    paired = part[part["delta"].notna()]
    deltas = np.where(paired["delta"].abs() <= TIE_TOLERANCE, 0.0, paired["delta"])
    weights = paired["weight"].fillna(1).to_numpy() if "weight" in paired else None
    options: Any = {"weights": weights, "resamples": resamples, "seed": seed}
    mean, low, high = interval(deltas, **options)
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
    }  # fmt: skip
