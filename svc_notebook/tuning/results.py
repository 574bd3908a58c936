"""The results that summaries and plots read: a comparison of runs and a search over variants.

The classes are protocols, so that a result can summarize and plot itself without an import cycle.
`span` and `p_value` write numbers of all of them.
"""

from __future__ import annotations

import math
from typing import Protocol

from pandas import DataFrame

from svc_notebook.core.display import NO_VALUE, format_difference


class ComparedRuns(Protocol):
    """A comparison of runs; `svc_notebook.tuning.evaluation.comparison.Comparison` is one."""

    @property
    def base(self) -> str:
        """The name of the base run."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the runs that are compared with it."""

    @property
    def metrics(self) -> list[str]:
        """The metrics."""

    @property
    def scores(self) -> DataFrame:
        """Every query's score `before` and `after`, and the `delta`."""

    @property
    def long(self) -> DataFrame:
        """The scores of all runs as `evaluate` returns them."""

    @property
    def moves(self) -> DataFrame:
        """Every hit with its ranks before and after."""

    @property
    def rbo(self) -> DataFrame:
        """The rank-biased overlap of the rankings of each query."""

    @property
    def seed(self) -> int:
        """The seed of the resampling."""

    @property
    def resamples(self) -> int:
        """The number of resamples."""

    def run_of(self, name: str) -> DataFrame:
        """Return the hits of one run."""

    def test(self) -> DataFrame:
        """Test each run and metric against the base."""


class SearchSizes(Protocol):
    """The numbers of queries of a search over variants."""

    @property
    def tune(self) -> int:
        """The number of queries that variants are selected on."""

    @property
    def holdout(self) -> int:
        """The number of queries that the finalists are tested on."""


class SearchedVariants(Protocol):
    """A search over variants; `svc_notebook.tuning.variants.result.Search` is one."""

    @property
    def metric(self) -> str:
        """The metric."""

    @property
    def plan(self) -> SearchSizes:
        """The numbers of queries."""

    @property
    def trace(self) -> DataFrame:
        """One row for each trial."""

    @property
    def holdout(self) -> object | None:
        """The comparison on the held-out queries; None if the search was stopped."""

    def test(self) -> DataFrame:
        """Test the finalists on the held-out queries."""


def span(low: float, high: float) -> str:
    """Format an interval, if there is one."""
    return "" if math.isnan(low) else f"[{format_difference(low)}, {format_difference(high)}]"


def p_value(p: float) -> str:
    """Format a p-value."""
    if math.isnan(p):
        return NO_VALUE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
