"""The result of a search over variants, and the evidence for the best one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from svc_notebook.core.api.parameters import LOCAL_PARAMETERS
from svc_notebook.core.display import format_count, format_difference, write_headed
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.request_part import write_code
from svc_notebook.tuning.changes.snapshots import Snapshot
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.comparison import Comparison
from svc_notebook.tuning.evaluation.comparison_summary import (
    definitions,
    describe_few,
    describe_row,
)
from svc_notebook.tuning.plots.runs import plot_search
from svc_notebook.tuning.statistics import FEW_QUERIES, Floats, max_sign_flips
from svc_notebook.tuning.variants.query_parts import GuardLoss
from svc_notebook.tuning.variants.spaces import TrialPlan, Variant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The probability, at most, with which a variant is chosen if none differs from the index.
MAX_CHANCE = 0.05
POWER_ERRORS = 0.84  # standard errors beyond the critical value, for a power of 80 %


@dataclass(frozen=True, repr=False, eq=False)
class Search:
    """The result of a search over variants; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the index.
    metric : str
        Metric that selected variants.
    plan : TrialPlan
        Plan of the search.
    trace : DataFrame
        One row per trial: `trial` (int64), `variant` (str), one column (object) for each
        name of the space, `queries` (int64), `score` and `delta` (float64, mean and its
        difference to the index on the same queries), `judged` (float64, share of judged
        hits), `zero` (int64, zero-result queries) and `best` (bool, best so far on all
        queries).
    holdout : Comparison or None
        Comparison of the index with the finalists on the held-out queries; None without
        finalists or if the search was stopped.
    finalists : tuple of Variant
        Best variants on the queries used for tuning, by score; with the sampler `coordinate`
        those that it kept come first, the last one at the top.
    before : Snapshot
        Settings, synonyms and rules of the index before the search.
    diagnosis : RelevanceDiagnosis or None
        RelevanceDiagnosis that proposed the space; None if the space was given.
    compared : tuple of Variant
        Variants compared on the held-out queries: the finalists and, if the space was
        diagnosed, the text score alone.
    weighed : tuple of Evidence
        Evidence for each finalist: `p` (float, probability that any of the tried variants gains
        as much by chance), `is_sufficient` (bool) and `more_queries` (int or None, number of
        judged queries to add).
    losses : tuple of GuardLoss
        Queries of `guard` that a variant lowers, which is refused for it: `variant` (Variant),
        `query` and `filters` (str), `before` and `after` (float).

    Examples
    --------
    >>> space = {"customRanking": [["desc(reviews)"], ["asc(price)"]]}
    >>> found = svc.tuning.search("products", space, judgments="judgments.csv")
    >>> found.trace[["variant", "queries", "best"]]
    >>> found.change
    {'settings': {'customRanking': ['desc(reviews)']}}
    """

    index: str
    metric: str
    plan: TrialPlan
    trace: DataFrame = field(repr=False)
    holdout: Comparison | None = field(repr=False)
    finalists: tuple[Variant, ...] = field(repr=False)
    before: Snapshot = field(repr=False)
    diagnosis: RelevanceDiagnosis | None = field(default=None, repr=False)
    compared: tuple[Variant, ...] = field(default=(), repr=False)
    weighed: tuple[Evidence, ...] = field(default=(), repr=False)
    losses: tuple[GuardLoss, ...] = field(default=(), repr=False)

    @property
    def chosen(self) -> Variant | None:
        """The first finalist whose gain is hardly chance; None without one."""
        pairs = zip(self.finalists, self.weighed, strict=False)
        return next((finalist for finalist, evidence in pairs if evidence.is_sufficient), None)

    @property
    def evidence(self) -> Evidence | None:
        """The evidence for the chosen variant, else for the first finalist; None without any."""
        chosen = self.chosen
        if chosen is not None:
            return self.weighed[self.finalists.index(chosen)]
        return next(iter(self.weighed), None)

    @property
    def best(self) -> dict[str, Any]:
        """The values of the chosen variant; empty if none is certain to beat the index."""
        return dict(self.chosen.choices) if self.chosen else {}

    @property
    def change(self) -> dict[str, Any]:
        """The chosen variant as a change by scope, for `tuning.impact` and `tuning.apply`.

        `request` contains the parameters that each search must have; no index can save them.
        Empty without a chosen variant.
        """
        best = self.chosen
        if best is None:
            return {}
        parts: dict[str, Any] = {scope: dict(part) for scope, part in best.parts.items()}
        return {**parts, **({"request": best.request} if best.request else {})}

    @property
    def code(self) -> str:
        """The request part of the best variant as Python code; empty without one."""
        request = self.change.get("request")
        return write_code(self.index, request) if request else ""

    def test(self) -> DataFrame:
        """Test the compared variants on the held-out queries, corrected for their number (Holm).

        `tune_delta` is the difference on the tune queries, which is biased upwards by the
        selection.
        """
        if self.holdout is None:
            raise BadInput("nothing was held out: the search was stopped, or found nothing better")
        whole = self.trace[self.trace["queries"] == self.plan.tune]
        tuned = dict(zip(whole["variant"], whole["delta"], strict=True))
        frame = self.holdout.test()
        frame.insert(2, "tune_delta", [tuned[str(variant)] for variant in self.compared])
        return frame

    def plot(self, *, axes: Any = None) -> Sequence[Axes]:
        """Draw each trial's gain on the tune queries, and the held-out finalists; two axes."""
        return plot_search(self, axes=axes)

    def report(self, path: str | Path) -> Any:
        """Write the result to one self-contained HTML file."""
        from svc_notebook.tuning import report

        return report(self, path=path)

    def __repr__(self) -> str:
        return "\n".join(_describe(self))

    def _repr_html_(self) -> str:
        return write_headed(*_describe(self))


def _describe(search: Search) -> list[str]:
    done = f"{len(search.trace):,} trials, {int(search.trace['queries'].sum()):,} searches"
    lines = [f"{search.index}: {search.plan!r}"]
    refused = {str(loss.variant): str(loss) for loss in search.losses}  # one query of each
    lines += refused.values()
    if not search.finalists:
        better = "no variant that the guard permits" if refused else "no variant"
        return [*lines, f"{done}: {better} was better than the current index"]
    chosen = search.chosen
    what = "selected" if chosen else "not proposed, best"
    lines.append(f"{done}; {what} on the tune queries: {chosen or search.finalists[0]}")
    if search.evidence and str(search.evidence):
        lines.append(str(search.evidence))
    local = LOCAL_PARAMETERS.intersection(search.best)
    if local:
        lines.append(f"{', '.join(sorted(local))}: only the local service has it, and `svc.deploy` "
                     "leaves it out for a hosted one")  # fmt: skip
    if search.holdout is None:
        return [*lines, "stopped before the best were held out"]
    several = len(search.compared) > 1
    for row in search.test().to_dict("records"):
        held = "  ".join(describe_row(row, several))
        lines.append(f"{row['run']}: tune {format_difference(row['tune_delta'])}, held out {held}")
    lines += describe_few(search.test().to_dict("records"), several)
    return [*lines, *(f"{name}: {words}" for name, words in definitions(search.holdout))]


@dataclass(frozen=True)
class Evidence:
    """The evidence for the best variant on the tune queries.

    `p` is the probability that any of the tried variants gains as much by chance. `more_queries`
    is the estimated number of judged queries to add; None if the observed gain permits none.
    """

    queries: int
    variants: int
    p: float
    gain: float
    more_queries: int | None
    judgments_per_query: float

    @property
    def is_sufficient(self) -> bool:
        """Whether the gain is hardly chance."""
        return self.gain > 0 and self.p <= MAX_CHANCE

    def __str__(self) -> str:
        if self.gain <= 0 and self.queries >= FEW_QUERIES:
            return ""
        if self.is_sufficient and not self.more_queries:
            return ""
        counted = format_count(self.queries, "tune query", "tune queries")
        chance = f"any of {self.variants:,} variants gains as much by chance with p {self.p:.2g}"
        return f"not enough to choose: {counted}, {chance}; {self._advice()}"

    def _advice(self) -> str:
        if self.more_queries is None:
            return "more queries may show no gain either"
        judgments = math.ceil(self.more_queries * self.judgments_per_query)
        return (
            f"judge about {self.more_queries:,} more queries "
            f"(about {judgments:,} judgments at {self.judgments_per_query:.3g} for each)"
        )


def weigh(
    chosen: Floats, tried: Sequence[Floats], *, tune_share: float, per_query: float, seed: int
) -> Evidence:
    """Return the evidence for the differences of the chosen variant among those of all tried.

    Each array has one difference to the index for each tune query, NaN without one.
    `tune_share` is the share of the judged queries that are tune queries.
    """
    table = np.nan_to_num(np.array([chosen, *tried], dtype=np.float64))
    p, critical = max_sign_flips(table, MAX_CHANCE, seed=seed)
    measured = chosen[~np.isnan(chosen)]
    gain = float(measured.mean()) if len(measured) else 0.0
    missing_queries = max(0, FEW_QUERIES - len(chosen))
    more: int | None = missing_queries
    if gain <= 0:
        more = missing_queries or None
    elif p > MAX_CHANCE:
        error = float(measured.std(ddof=1)) if len(measured) > 1 else math.inf
        needed = ((critical + POWER_ERRORS) * error / gain) ** 2
        more = (
            max(missing_queries, math.ceil(needed) - len(measured), 1)
            if math.isfinite(needed)
            else missing_queries
        )
    if more:
        more = math.ceil(more / tune_share)
    return Evidence(len(chosen), len(tried), p, gain, more, per_query)
