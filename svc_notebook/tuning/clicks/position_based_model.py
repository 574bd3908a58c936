"""The position-based model, fitted by expectation maximization."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svc_notebook.errors import BadInput

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
MAX_EM_ITERATIONS, EM_TOLERANCE = 2000, 1e-7
MAX_REMAINING_CHANGE = 0.01  # of an examination probability, after which a fit has converged


@dataclass(frozen=True)
class Examination:
    """The attractiveness of each pair, and the examination probability of each position.

    `moved_share` is the share of impressions at another position than the pair's most frequent.
    """

    attractive: Floats
    places: Whole
    examined: Floats
    rounds: int
    has_converged: bool
    moved_share: float


@dataclass(frozen=True)
class _Cells:
    """Impressions aggregated by pair and position, on which alone the fit depends."""

    pair: Whole
    position: Whole
    shown: Floats
    clicked: Floats


def fit_examination(
    pair: Whole, position: Whole, shown: Floats, clicked: Floats, pairs: int, prior: float
) -> Examination:
    """Fit P(click) = attractiveness of the pair · examination of the position.

    Raises `BadInput` if no pair was shown at two positions: then the two factors cannot be
    separated.
    """
    places, position_number = np.unique(position, return_inverse=True)
    cells = _add_up(pair, position_number, shown, clicked, len(places))
    if len(places) > 1 and len(np.unique(cells.pair)) == len(cells.pair):
        raise BadInput(
            "every hit was always shown at one position, so the model pbm cannot separate "
            "relevance from position; use coec or ctr, or randomize positions"
        )
    attractive, examined = np.full(pairs, 0.5), np.full(len(places), 0.5)
    rounds, moved, shapes = 0, 1.0, [examined]
    while rounds < MAX_EM_ITERATIONS and moved > EM_TOLERANCE:
        before = examined
        attractive, examined = _improve(cells, attractive, examined, pairs, prior)
        rounds, moved = rounds + 1, np.abs(examined - before).max(initial=0)
        shapes = [*shapes[-2:], examined / (examined.max(initial=0) or 1.0)]
    most = examined.max(initial=0) or 1.0
    return Examination(
        attractive * most, places, examined / most, rounds,
        bool(moved <= EM_TOLERANCE) or _remaining_change(shapes) < MAX_REMAINING_CHANGE,
        _moved_share(cells, pairs),
    )  # fmt: skip


def _remaining_change(shapes: Sequence[Floats]) -> float:
    """Estimate how far the examination would still change, as a geometric series of steps.

    It is relative to the most examined position: a common factor has no meaning.
    """
    if len(shapes) < 3:
        return np.inf
    earlier, latest = (np.abs(b - a).max(initial=0) for a, b in itertools.pairwise(shapes[-3:]))
    if not latest:
        return 0.0
    return float(latest / (1 - latest / earlier)) if latest < earlier else np.inf


def _moved_share(cells: _Cells, pairs: int) -> float:
    usual = np.zeros(pairs)
    np.maximum.at(usual, cells.pair, cells.shown)
    total = cells.shown.sum()
    return float(1 - usual.sum() / total) if total else 0.0


def _add_up(
    pair: Whole, position_number: Whole, shown: Floats, clicked: Floats, places: int
) -> _Cells:
    keys, at = np.unique(pair * places + position_number, return_inverse=True)
    return _Cells(keys // places, keys % places, sum_by(at, shown), sum_by(at, clicked))


def _improve(
    cells: _Cells, attractive: Floats, examined: Floats, pairs: int, prior: float
) -> tuple[Floats, Floats]:
    """One iteration: the probable attraction and examination given the clicks, then the shares."""
    a, e = attractive[cells.pair], examined[cells.position]
    missed = cells.shown - cells.clicked
    unclicked = np.maximum(1 - a * e, 1e-12)
    attracted = cells.clicked + missed * a * (1 - e) / unclicked
    looked = cells.clicked + missed * e * (1 - a) / unclicked
    n = sum_by(cells.pair, cells.shown, pairs) + prior
    good = sum_by(cells.pair, attracted, pairs) + prior / 2
    seen = sum_by(cells.position, cells.shown, len(examined))
    sight = sum_by(cells.position, looked, len(examined))
    return good / np.maximum(n, 1e-12), sight / np.maximum(seen, 1e-12)


def sum_by(at: Whole, values: Floats, size: int = 0) -> Floats:
    """Sum values over the rows of each number."""
    return np.bincount(at, values, minlength=size).astype(np.float64)
