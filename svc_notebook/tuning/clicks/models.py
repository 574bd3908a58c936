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

from svc_notebook.errors import BadInput
from svc_notebook.tuning.clicks.position_based_model import Floats, Whole, fit_examination, sum_by

Model = Literal["ctr", "dctr", "coec", "sdbn", "pbm"]
PAIR = ["query", "filters", "objectID"]


@dataclass(frozen=True)
class Counted:
    """Impressions as arrays: row by row its pair, position, impressions and clicks."""

    pairs: DataFrame
    pair: Whole
    position: Whole
    shown: Floats
    clicked: Floats
    session: Whole | None

    @classmethod
    def of(cls, frame: DataFrame) -> Counted:
        """Count checked impressions; those of a session in the order of their positions."""
        together = "session" in frame
        own = frame.sort_values(["session", "position"], kind="stable") if together else frame
        grouped = own.groupby(PAIR, sort=True)
        pairs = grouped.size().index.to_frame(index=False)
        return cls(
            pairs=pairs,
            pair=np.asarray(grouped.ngroup(), dtype=np.intp),
            position=np.asarray(own["position"], dtype=np.intp),
            shown=own["impressions"].to_numpy(dtype=np.float64),
            clicked=own["clicks"].to_numpy(dtype=np.float64),
            session=pd.factorize(own["session"])[0].astype(np.intp) if together else None,
        )

    def add_up(self, values: Floats) -> Floats:
        """Sum a value of each row over the rows of each pair."""
        return sum_by(self.pair, values, len(self.pairs))

    def rates(self) -> tuple[Whole, Floats]:
        """The positions, and which part of what was shown at each was clicked."""
        places, at = np.unique(self.position, return_inverse=True)
        shown, clicked = sum_by(at, self.shown), sum_by(at, self.clicked)
        return places, np.nan_to_num(divide(clicked, shown))


class Fitted(NamedTuple):
    """A value for each pair, what it was made of, and what is told beside."""

    rating: Floats
    columns: Mapping[str, Floats] = MappingProxyType({})
    told: Mapping[str, Any] = MappingProxyType({})


def divide(one: Floats, other: Floats) -> Floats:
    """Divide; what has nothing to be divided by is not known."""
    known = np.full(len(one), np.nan)
    np.divide(one, other, out=known, where=other > 0)
    return known


def ctr(counted: Counted, smoothing: float) -> Fitted:
    """Click-through rate: (c + s·m) / (n + s), where m is the rate of all impressions together.

    It knows no positions: what stands first is clicked more, however good it is.
    """
    n, c = counted.add_up(counted.shown), counted.add_up(counted.clicked)
    mean = c.sum() / n.sum() if n.sum() else 0.0
    return Fitted(divide(c + smoothing * mean, n + smoothing))


def dctr(counted: Counted, smoothing: float) -> Fitted:
    """Document-based click-through rate of the literature: (c + s/2) / (n + s).

    A hit of which nothing is known has an even chance; positions are not looked at.
    """
    n, c = counted.add_up(counted.shown), counted.add_up(counted.clicked)
    return Fitted(divide(c + smoothing / 2, n + smoothing))


def coec(counted: Counted, smoothing: float) -> Fitted:
    """Clicks over expected clicks: (c + s) / (e + s).

    e is what all hits at the same positions are clicked on average, summed over the pair's
    impressions. 1 is as good as what usually stands there.
    """
    places, rates = counted.rates()
    usual = rates[np.searchsorted(places, counted.position)]
    c, e = counted.add_up(counted.clicked), counted.add_up(counted.shown * usual)
    return Fitted(divide(c + smoothing, e + smoothing), {"expected": e})


def sdbn(counted: Counted, smoothing: float) -> Fitted:
    """Simplified dynamic Bayesian network: attractiveness times satisfaction.

    Who searches looks from the top down to the last click of the session, or at all hits where
    nothing was clicked. Attractiveness is (c + s/2) / (x + s), x being the pair's impressions that
    were looked at; satisfaction (l + s/2) / (c + s), l those clicks that were the last.
    """
    if counted.session is None:
        raise BadInput(
            "the model sdbn has to know what was shown together: give a column `session`, a queryID"
        )
    if (counted.shown != 1).any():
        raise BadInput("the model sdbn reads single impressions: give `clicked`, not sums")
    clicked = counted.clicked > 0
    last = np.full(counted.session.max(initial=-1) + 1, -1, dtype=np.intp)
    np.maximum.at(last, counted.session[clicked], counted.position[clicked])
    limit = last[counted.session]
    seen = (limit < 0) | (counted.position <= limit)
    x, c = counted.add_up(seen.astype(np.float64)), counted.add_up(counted.clicked)
    ends = counted.add_up((clicked & (counted.position == limit)).astype(np.float64))
    attractive = divide(c + smoothing / 2, x + smoothing)
    satisfying = divide(ends + smoothing / 2, c + smoothing)
    return Fitted(
        np.where((c == 0) & (smoothing == 0) & (x > 0), 0.0, attractive * satisfying),
        {"attractiveness": attractive, "satisfaction": satisfying},
    )


def pbm(counted: Counted, smoothing: float) -> Fitted:
    """Position-based model: the attractiveness of a hit wherever it stands.

    A hit is clicked if it is looked at, which depends on its position alone, and attracts. Both
    are found by expectation maximization, attractiveness with a prior worth s impressions of
    which half attract; the position that is looked at most is 1.
    """
    found = fit_examination(
        counted.pair,
        counted.position,
        counted.shown,
        counted.clicked,
        len(counted.pairs),
        smoothing,
    )
    told = {
        "examination": {
            int(k): float(v) for k, v in zip(found.places, found.examined, strict=True)
        },
        "rounds": found.rounds,
    }
    return Fitted(found.attractive, {}, told)


class Method(NamedTuple):
    """A model, its smoothing unless told otherwise, and what its values are, in a few words."""

    fit: Callable[[Counted, float], Fitted]
    smoothing: float
    words: str


MODELS: dict[str, Method] = {
    "ctr": Method(ctr, 0, "clicks per impression"),
    "dctr": Method(dctr, 2, "clicks per impression, with an even chance to begin with"),
    "coec": Method(coec, 0, "clicks over what is usual at the same positions; 1 is usual"),
    "sdbn": Method(sdbn, 2, "attractiveness times satisfaction down to the last click"),
    "pbm": Method(pbm, 2, "attractiveness, the effect of positions taken out"),
}
