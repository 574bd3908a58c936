"""Click-through rate by position, as it is and with the effect of the position taken out."""

from __future__ import annotations

import numpy as np
from pandas import DataFrame

from svc_notebook.tuning.clicks.examining import fit_examination, sum_by
from svc_notebook.tuning.clicks.models import Counted, divide
from svc_notebook.tuning.clicks.showing import check_impressions


def positions(shown: DataFrame, *, smoothing: float = 2) -> DataFrame:
    """Tell for each position `impressions, clicks, ctr, examination, corrected`.

    `examination` is how much a position is looked at beside the one that is looked at most, by the
    position-based model. `corrected` is `ctr / examination`: the rate at which what stands there
    would be clicked if it stood where everybody looks. Raises `BadInput` as `pbm` does.
    """
    counted = Counted.of(check_impressions(shown))
    found = fit_examination(
        counted.pair, counted.position, counted.shown, counted.clicked,
        len(counted.pairs), smoothing,
    )  # fmt: skip
    at = np.searchsorted(found.places, counted.position)
    n, c = sum_by(at, counted.shown), sum_by(at, counted.clicked)
    rate = divide(c, n)
    return DataFrame(
        {
            "position": found.places,
            "impressions": n,
            "clicks": c,
            "ctr": rate,
            "examination": found.examined,
            "corrected": divide(rate, found.examined),
        }
    )
