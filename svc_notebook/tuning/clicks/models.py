"""Click models: estimates from clicks of how relevant a hit is for a query.

Each model takes counted impressions and returns a value for each pair of a query and a hit. In
the formulas n is the number of impressions of a pair, c the number of those that were clicked,
and s is `smoothing`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import BadInput

Model = Literal["ctr", "dctr", "coec", "sdbn", "pbm"]
MIN_MOVED_SHARE = 0.05  # of the impressions, from which positions can be compared
PAIR = ["query", "filters", "objectID"]

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
MAX_EM_ITERATIONS, EM_TOLERANCE = 2000, 1e-7
MAX_REMAINING_CHANGE = 0.01  # of an examination probability, after which a fit has converged


@dataclass(frozen=True)
class ImpressionArrays:
    """Impressions as arrays: for each row its pair, position, impressions and clicks."""

    pairs: DataFrame
    pair: Whole
    position: Whole
    shown: Floats
    clicked: Floats
    session: Whole | None

    @classmethod
    def of(cls, frame: DataFrame) -> ImpressionArrays:
        """Count checked impressions; those of a session in the order of their positions."""
        by_session = "session" in frame
        ordered = frame.sort_values(["session", "position"], kind="stable") if by_session else frame
        grouped = ordered.groupby(PAIR, sort=True)
        pairs = grouped.size().index.to_frame(index=False)
        return cls(
            pairs=pairs,
            pair=np.asarray(grouped.ngroup(), dtype=np.intp),
            position=np.asarray(ordered["position"], dtype=np.intp),
            shown=ordered["impressions"].to_numpy(dtype=np.float64),
            clicked=ordered["clicks"].to_numpy(dtype=np.float64),
            session=pd.factorize(ordered["session"])[0].astype(np.intp) if by_session else None,
        )

    def add_up(self, values: Floats) -> Floats:
        """Sum a value of each row over the rows of each pair."""
        return sum_by(self.pair, values, len(self.pairs))

    def rates(self) -> tuple[Whole, Floats]:
        """Return the positions, and the click-through rate at each."""
        places, at = np.unique(self.position, return_inverse=True)
        shown, clicked = sum_by(at, self.shown), sum_by(at, self.clicked)
        return places, np.nan_to_num(divide(clicked, shown))


class FittedModel(NamedTuple):
    """A value for each pair, the counts it is based on, and additional facts."""

    rating: Floats
    columns: Mapping[str, Floats] = MappingProxyType({})
    facts: Mapping[str, Any] = MappingProxyType({})


def divide(dividends: Floats, divisors: Floats) -> Floats:
    """Divide; division by zero gives NaN."""
    quotients = np.full(len(dividends), np.nan)
    np.divide(dividends, divisors, out=quotients, where=divisors > 0)
    return quotients


def ctr(counted: ImpressionArrays, smoothing: float) -> FittedModel:
    """Click-through rate: (c + s·m) / (n + s), where m is the rate of all impressions together.

    It ignores positions: the first hit is clicked more often, however relevant it is.
    """
    n, c = counted.add_up(counted.shown), counted.add_up(counted.clicked)
    mean = c.sum() / n.sum() if n.sum() else 0.0
    return FittedModel(divide(c + smoothing * mean, n + smoothing))


def dctr(counted: ImpressionArrays, smoothing: float) -> FittedModel:
    """Document-based click-through rate of the literature: (c + s/2) / (n + s).

    A hit without impressions has the rate 1/2; positions are ignored.
    """
    n, c = counted.add_up(counted.shown), counted.add_up(counted.clicked)
    return FittedModel(divide(c + smoothing / 2, n + smoothing))


def coec(counted: ImpressionArrays, smoothing: float) -> FittedModel:
    """Clicks over expected clicks: (c + s) / (e + s).

    e is the mean click-through rate of all hits at the same positions, summed over the pair's
    impressions. 1 is as relevant as the average hit at that position.
    """
    places, rates = counted.rates()
    usual = rates[np.searchsorted(places, counted.position)]
    c, e = counted.add_up(counted.clicked), counted.add_up(counted.shown * usual)
    return FittedModel(divide(c + smoothing, e + smoothing), {"expected": e})


def sdbn(counted: ImpressionArrays, smoothing: float) -> FittedModel:
    """Simplified dynamic Bayesian network: attractiveness times satisfaction.

    Users examine hits from the top down to the last click of the session, or all hits of a session
    without clicks. Attractiveness is (c + s/2) / (x + s), where x is the number of examined
    impressions of the pair; satisfaction is (l + s/2) / (c + s), where l is the number of clicks
    that were the last.
    """
    if counted.session is None:
        raise BadInput(
            "the model sdbn needs to know which hits were shown together: give a column `session`"
        )
    if (counted.shown != 1).any():
        raise BadInput("the model sdbn needs single impressions: give `clicked`, not sums")
    clicked = counted.clicked > 0
    last = np.full(counted.session.max(initial=-1) + 1, -1, dtype=np.intp)
    np.maximum.at(last, counted.session[clicked], counted.position[clicked])
    limit = last[counted.session]
    seen = (limit < 0) | (counted.position <= limit)
    x, c = counted.add_up(seen.astype(np.float64)), counted.add_up(counted.clicked)
    ends = counted.add_up((clicked & (counted.position == limit)).astype(np.float64))
    attractive = divide(c + smoothing / 2, x + smoothing)
    satisfying = divide(ends + smoothing / 2, c + smoothing)
    return FittedModel(
        np.where((c == 0) & (smoothing == 0) & (x > 0), 0.0, attractive * satisfying),
        {"attractiveness": attractive, "satisfaction": satisfying},
    )


def pbm(counted: ImpressionArrays, smoothing: float) -> FittedModel:
    """Position-based model: the attractiveness of a hit independent of its position.

    A hit is clicked if it is examined, which depends on its position alone, and attractive. Both
    are fitted by expectation maximization, attractiveness with a prior of s impressions of which
    half attract; the most examined position has the value 1.
    """
    fitted = fit_examination(
        counted.pair,
        counted.position,
        counted.shown,
        counted.clicked,
        len(counted.pairs),
        smoothing,
    )
    facts = {
        "examination": {
            int(k): float(v) for k, v in zip(fitted.places, fitted.examined, strict=True)
        },
        "rounds": fitted.rounds,
        "converged": fitted.has_converged,
        "moved_share": fitted.moved_share,
    }
    if not fitted.has_converged:
        warn_user(
            f"the model pbm has not converged after {fitted.rounds:,} rounds, so its ratings are "
            "not reliable; collect more events, raise `smoothing`, or use coec"
        )
    if len(fitted.places) > 1 and fitted.moved_share < MIN_MOVED_SHARE:
        warn_user(
            f"only {fitted.moved_share:.1%} of the impressions are at another position than the "
            "hit's usual one, so the model pbm can hardly separate relevance from position; use "
            "coec, or randomize positions"
        )
    return FittedModel(fitted.attractive, {}, facts)


class Method(NamedTuple):
    """A model, its default smoothing, and a short description of its values."""

    fit: Callable[[ImpressionArrays, float], FittedModel]
    smoothing: float
    words: str


MODELS: dict[str, Method] = {
    "ctr": Method(ctr, 0, "clicks per impression"),
    "dctr": Method(dctr, 2, "clicks per impression, with a uniform prior"),
    "coec": Method(coec, 0, "clicks over those expected at the same positions; 1 is average"),
    "sdbn": Method(sdbn, 2, "attractiveness times satisfaction, for hits up to the last click"),
    "pbm": Method(pbm, 2, "attractiveness, with the effect of positions removed"),
}


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
