"""Statistics: intervals and tests by resampling, deterministic for a seed; rater agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svc_notebook.core.display import NO_VALUE, format_difference
from svc_notebook.errors import BadInput

Floats = NDArray[np.float64]
RESAMPLES = 10_000
KAPPA_RESAMPLES = 1000
# Smaller differences are rounding errors.
TIE_TOLERANCE = 1e-9
# Up to this number of differences all combinations of signs are tried, at most 65,536.
MAX_EXACT_QUERIES = 16
# With fewer differing queries, a bootstrap interval of the mean is too narrow. Fewer queries do not
# suffice to choose between variants.
FEW_QUERIES = 20
# The evidence that decides; without a preference, at most one comparison in 20 ever has it.
DECISIVE_EVIDENCE = 20.0
_MAX_HELD_VALUES = 2_000_000  # values in memory at once


class Interval(NamedTuple):
    """A mean, and the 95 % interval of resampled means; none for fewer than two values."""

    mean: float
    low: float
    high: float


def bootstrap_means(
    values: Sequence[float] | Floats,
    *,
    weights: Sequence[float] | Floats | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Floats:
    """Resample the values with replacement repeatedly; return the mean of each resample."""
    weighed, shares = _weighed(values, weights)
    even = bool((shares == shares[:1]).all())
    rng = np.random.default_rng(check_seed(seed))
    parts = []
    for count in _portions(resamples, len(weighed)):
        drawn = rng.integers(0, len(weighed), size=(count, len(weighed)), dtype=np.int32)
        if even:
            parts.append(weighed[drawn].mean(axis=1))
        else:
            parts.append((weighed * shares)[drawn].sum(axis=1) / shares[drawn].sum(axis=1))
    return np.concatenate(parts)


def interval(
    values: Sequence[float] | Floats,
    *,
    weights: Sequence[float] | Floats | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Return the mean of values with its 95 % bootstrap interval (percentiles)."""
    weighed, shares = _weighed(values, weights)
    if not len(weighed):
        return Interval(np.nan, np.nan, np.nan)
    mean = float((weighed * shares).sum() / shares.sum())
    if len(weighed) < 2:
        return Interval(mean, np.nan, np.nan)
    means = bootstrap_means(weighed, weights=shares, resamples=resamples, seed=seed)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(mean, float(low), float(high))


def t_interval(
    values: Sequence[float] | Floats, *, weights: Sequence[float] | Floats | None = None
) -> Interval:
    """Return the mean of values with its 95 % interval by Student's t distribution.

    It is wider than the bootstrap interval for few values, whose resamples vary too little.
    Weights reduce the number of values that count (Kish).
    """
    weighed, shares = _weighed(values, weights)
    if not len(weighed):
        return Interval(np.nan, np.nan, np.nan)
    part = shares / shares.sum()
    mean = float((weighed * part).sum())
    count = 1 / float((part**2).sum())
    if count < 2 - TIE_TOLERANCE:
        return Interval(mean, np.nan, np.nan)
    variance = float((part * (weighed - mean) ** 2).sum()) * count / (count - 1)
    reach = t_quantile(round(count) - 1) * float(np.sqrt(variance / count))
    return Interval(mean, mean - reach, mean + reach)


def t_quantile(freedom: int, probability: float = 0.975) -> float:
    """Return a quantile above 0.5 of Student's t distribution, by bisection."""
    low, high = 0.0, 1.0
    while _t_probability(high, freedom) < probability:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_probability(middle, freedom) < probability else (
            low, middle
        )  # fmt: skip
    return (low + high) / 2


def _t_probability(t: float, freedom: int) -> float:
    """Return the distribution function (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, total, term = math.cos(angle), 0.0, 1.0
    for step in range(freedom % 2, freedom - 1, 2):
        total += term
        term *= cosine**2 * (step + 1) / (step + 2)
    if freedom % 2 == 0:
        return 0.5 + total * math.sin(angle) / 2
    return 0.5 + (angle + total * math.sin(angle) * cosine) / math.pi


def sign_flip(
    deltas: Sequence[float] | Floats,
    *,
    weights: Sequence[float] | Floats | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> float:
    """Test paired differences: two-sided p-value of their mean under random signs.

    Exact for few differences; otherwise from `resamples` draws that include the data, so never 0.
    """
    weighed, shares = _weighed(deltas, weights)
    moved = (weighed * shares)[weighed != 0]
    if not len(moved):
        return 1.0
    observed = abs(moved.sum())
    threshold = observed - 1e-9 * np.abs(moved).sum()
    if len(moved) <= MAX_EXACT_QUERIES:
        signs = _every_sign(len(moved))
        return float((np.abs(signs @ moved) >= threshold).mean())
    rng = np.random.default_rng(check_seed(seed))
    extreme = 0
    for count in _portions(resamples, len(moved)):
        bits = rng.integers(0, 2, size=(count, len(moved)), dtype=np.int8)
        extreme += int((np.abs((bits * 2.0 - 1) @ moved) >= threshold).sum())
    return (extreme + 1) / (resamples + 1)


def max_sign_flips(
    deltas: Floats, chance: float, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """Test the first of several variants against the best of all under random signs (max-T).

    Each row has the paired differences of a variant, and a query has the same sign in all rows.
    Returns the one-sided p-value of the first row, corrected for the number of rows, and the
    standardized sum that the best row exceeds with the probability `chance`.
    """
    lengths = np.sqrt((deltas**2).sum(axis=1))
    if not lengths[0] > 0:
        return 1.0, math.inf
    moved = (deltas != 0).any(axis=0)
    rows = (deltas / np.where(lengths > 0, lengths, 1)[:, None])[lengths > 0][:, moved].T
    observed = float(rows[:, 0].sum())
    if len(rows) <= MAX_EXACT_QUERIES:
        best = (_every_sign(len(rows)) @ rows).max(axis=1)
        p = float((best >= observed - TIE_TOLERANCE).mean())
        return p, float(np.quantile(best, 1 - chance))
    rng = np.random.default_rng(check_seed(seed))
    parts = []
    for count in _portions(resamples, max(rows.shape)):
        bits = rng.integers(0, 2, size=(count, len(rows)), dtype=np.int8)
        parts.append(((bits * 2.0 - 1) @ rows).max(axis=1))
    best = np.concatenate(parts)
    p = (int((best >= observed - TIE_TOLERANCE).sum()) + 1) / (len(best) + 1)
    return p, float(np.quantile(best, 1 - chance))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for multiple tests by Holm's step-down method; NaN is not counted."""
    given = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    stepped = given[order] * np.arange(len(order), 0, -1)
    corrected = given.copy()
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1) if len(order) else []
    return [float(p) for p in corrected]


def cohen(pair: Floats, *, weighted: bool) -> float:
    """Compute Cohen's kappa of two columns of ratings; `weighted` uses squared distances."""
    grades, coded = np.unique(pair, return_inverse=True)
    coded = coded.reshape(pair.shape)
    observed = np.zeros((len(grades), len(grades)))
    np.add.at(observed, (coded[:, 0], coded[:, 1]), 1)
    apart = (grades[:, None] - grades) ** 2 if weighted else grades[:, None] != grades
    chance = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / max(len(pair), 1)
    return _beyond((observed * apart).sum(), (chance * apart).sum())


def bootstrap_kappa(
    pair: Floats, *, weighted: bool, seed: int, resamples: int = KAPPA_RESAMPLES
) -> tuple[float, float, float]:
    """Return Cohen's kappa of two columns of ratings and its 95 % bootstrap interval."""
    rng = np.random.default_rng(seed)
    kappas = [
        cohen(pair[rng.integers(0, len(pair), len(pair))], weighted=weighted)
        for _ in range(resamples)
    ]
    defined = np.array(kappas)[~np.isnan(kappas)]
    low, high = np.quantile(defined, (0.025, 0.975)) if len(defined) else (np.nan, np.nan)
    return cohen(pair, weighted=weighted), float(low), float(high)


def fleiss(values: Floats) -> float:
    """Compute Fleiss' kappa of ratings that every rater has given."""
    if not len(values):
        return np.nan
    raters = values.shape[1]
    grades = np.unique(values)
    counts = (values[:, :, None] == grades).sum(axis=1)
    equal = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    chance = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return _beyond(1 - equal.mean(), 1 - chance)


def krippendorff(values: Floats) -> float:
    """Compute Krippendorff's alpha for ordered grades; ratings can be missing."""
    grades = np.unique(values[~np.isnan(values)])
    counts = (values[:, :, None] == grades).sum(axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts):
        return np.nan
    pairs = counts.sum(axis=1) - 1
    together = (counts / pairs[:, None]).T @ counts - np.diag((counts / pairs[:, None]).sum(axis=0))
    totals = together.sum(axis=0)
    upto = np.cumsum(totals) - totals / 2
    apart = (upto[:, None] - upto) ** 2
    chance = np.outer(totals, totals) / (totals.sum() - 1)
    return _beyond((together * apart).sum(), (chance * apart).sum())


def weigh_evidence(first: int, second: int) -> float:
    """Return the likelihood ratio of an unknown preference, each as likely, and of none."""
    total = first + second
    logarithm = total * math.log(2) - math.log(total + 1) - log_binomial(total, first)
    return math.exp(min(logarithm, 700.0))


def log_binomial(total: int, count: int) -> float:
    """Return the logarithm of the number of ways to choose."""
    return math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)


def span(low: float, high: float) -> str:
    """Format an interval, if there is one."""
    return "" if math.isnan(low) else f"[{format_difference(low)}, {format_difference(high)}]"


def p_value(p: float) -> str:
    """Format a p-value."""
    if math.isnan(p):
        return NO_VALUE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def check_seed(seed: int) -> int:
    """Return a seed; raise `BadInput` for an invalid one."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput(f"`seed` must be a whole number, 0 or more, not {seed!r}")
    return seed


def check_resamples(resamples: int) -> int:
    """Return a number of resamples; raise `BadInput` for an invalid one."""
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise BadInput(f"`resamples` must be a whole number, 1 or more, not {resamples!r}")
    return resamples


def _weighed(
    values: Sequence[float] | Floats, weights: Sequence[float] | Floats | None
) -> tuple[Floats, Floats]:
    weighed = np.asarray(values, dtype=np.float64)
    shares = np.ones_like(weighed) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = ~np.isnan(weighed) & (shares > 0)
    return weighed[counts], shares[counts]


def _portions(resamples: int, width: int) -> Iterator[int]:
    step = max(1, _MAX_HELD_VALUES // max(1, width))
    for start in range(0, check_resamples(resamples), step):
        yield min(step, resamples - start)


def _every_sign(count: int) -> Floats:
    numbers = np.arange(2**count)[:, None]
    return np.asarray(((numbers >> np.arange(count)) & 1) * 2.0 - 1, dtype=np.float64)


def _beyond(observed: float, chance: float) -> float:
    """Return one minus observed over expected disagreement; NaN if none is expected."""
    return float(1 - observed / chance) if chance > 0 else np.nan
