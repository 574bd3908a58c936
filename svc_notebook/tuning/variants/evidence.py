"""Evidence for a variant: whether its gain on the tune queries may be chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svc_notebook.core.display import format_count
from svc_notebook.tuning.statistics import FEW_QUERIES, Floats, max_sign_flips

# The probability, at most, with which a variant is chosen if none differs from the index.
MAX_CHANCE = 0.05
POWER_ERRORS = 0.84  # standard errors beyond the critical value, for a power of 80 %


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
    least = max(0, FEW_QUERIES - len(chosen))
    more: int | None = least
    if gain <= 0:
        more = least or None
    elif p > MAX_CHANCE:
        error = float(measured.std(ddof=1)) if len(measured) > 1 else math.inf
        needed = ((critical + POWER_ERRORS) * error / gain) ** 2
        more = max(least, math.ceil(needed) - len(measured), 1) if math.isfinite(needed) else least
    if more:
        more = math.ceil(more / tune_share)
    return Evidence(len(chosen), len(tried), p, gain, more, per_query)
