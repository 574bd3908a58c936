"""Confidence intervals and significance tests by resampling, deterministic for a given seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svc_notebook.errors import BadInput

Floats = NDArray[np.float64]
RESAMPLES = 10_000
MAX_EXACT_QUERIES = 16
"""With so many differences or fewer, every way to flip them is tried: 65,536 at the most."""
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
    own, shares = _weighed(values, weights)
    even = bool((shares == shares[:1]).all())
    rng = np.random.default_rng(check_seed(seed))
    parts = []
    for count in _portions(resamples, len(own)):
        drawn = rng.integers(0, len(own), size=(count, len(own)), dtype=np.int32)
        if even:
            parts.append(own[drawn].mean(axis=1))
        else:
            parts.append((own * shares)[drawn].sum(axis=1) / shares[drawn].sum(axis=1))
    return np.concatenate(parts)


def interval(
    values: Sequence[float] | Floats,
    *,
    weights: Sequence[float] | Floats | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Return the mean of values with its 95 % bootstrap interval (percentiles)."""
    own, shares = _weighed(values, weights)
    if not len(own):
        return Interval(np.nan, np.nan, np.nan)
    mean = float((own * shares).sum() / shares.sum())
    if len(own) < 2:
        return Interval(mean, np.nan, np.nan)
    means = bootstrap_means(own, weights=shares, resamples=resamples, seed=seed)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(mean, float(low), float(high))


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
    own, shares = _weighed(deltas, weights)
    moved = (own * shares)[own != 0]
    if not len(moved):
        return 1.0
    seen = abs(moved.sum())
    least = seen - 1e-9 * np.abs(moved).sum()
    if len(moved) <= MAX_EXACT_QUERIES:
        signs = _every_sign(len(moved))
        return float((np.abs(signs @ moved) >= least).mean())
    rng = np.random.default_rng(check_seed(seed))
    extreme = 0
    for count in _portions(resamples, len(moved)):
        bits = rng.integers(0, 2, size=(count, len(moved)), dtype=np.int8)
        extreme += int((np.abs((bits * 2.0 - 1) @ moved) >= least).sum())
    return (extreme + 1) / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for multiple tests by Holm's step-down method; NaN is not counted."""
    given = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    stepped = given[order] * np.arange(len(order), 0, -1)
    corrected = given.copy()
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1) if len(order) else []
    return [float(p) for p in corrected]


def check_seed(seed: int) -> int:
    """Return a seed; raise `BadInput` for an invalid one."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput(f"`seed` is a whole number from 0, not {seed!r}")
    return seed


def check_resamples(resamples: int) -> int:
    """Return a number of resamples; raise `BadInput` for an invalid one."""
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise BadInput(f"`resamples` is a whole number from 1, not {resamples!r}")
    return resamples


def _weighed(
    values: Sequence[float] | Floats, weights: Sequence[float] | Floats | None
) -> tuple[Floats, Floats]:
    own = np.asarray(values, dtype=np.float64)
    shares = np.ones_like(own) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = ~np.isnan(own) & (shares > 0)
    return own[counts], shares[counts]


def _portions(resamples: int, width: int) -> Iterator[int]:
    step = max(1, _MAX_HELD_VALUES // max(1, width))
    for start in range(0, check_resamples(resamples), step):
        yield min(step, resamples - start)


def _every_sign(count: int) -> Floats:
    numbers = np.arange(2**count)[:, None]
    return np.asarray(((numbers >> np.arange(count)) & 1) * 2.0 - 1, dtype=np.float64)
