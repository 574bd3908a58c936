"""Click models: estimates from clicks of how relevant a hit is for a query.

Each model takes counted impressions and returns a value for each pair of a query and a hit. In
the formulas n is the number of impressions of a pair, c the number of those that were clicked,
and s is `smoothing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.core.api.warning import warn_user
from svc_notebook.errors import BadInput
from svc_notebook.tuning.clicks.position_based_model import Floats, Whole, fit_examination, sum_by

Model = Literal["ctr", "dctr", "coec", "sdbn", "pbm"]
MIN_MOVED_SHARE = 0.05  # of the impressions, from which positions can be compared
PAIR = ["query", "filters", "objectID"]


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
