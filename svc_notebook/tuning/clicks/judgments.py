"""Judgments from clicks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pandas import DataFrame, Series

from svc_notebook.data.declarations import check_arguments
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.clicks.impressions import Action, check_impressions, impressions
from svc_notebook.tuning.clicks.models import MODELS, ImpressionArrays, Model
from svc_notebook.tuning.tables.tables import check_judgments

QUERY_COLUMNS = ["query", "filters"]


@check_arguments
def judgments(
    shown: DataFrame,
    searches: DataFrame | None = None,
    *,
    model: Model = "coec",
    minimum: float = 10,
    smoothing: float | None = None,
    grades: int | Sequence[float] | None = None,
    action: Action = "click",
    settle: float = 0,
    rater: str = "clicks",
) -> DataFrame:
    """Estimate judgments from clicks.

    Parameters
    ----------
    shown : DataFrame
        Events, as `svc.read_events` returns them, with `searches`; or impressions, as
        `impressions` returns them.
    searches : DataFrame, default None
        Searches that the events belong to, as `svc.read_searches` returns them.
    model : {'ctr', 'dctr', 'coec', 'sdbn', 'pbm'}, default 'coec'
        Click model; `svc.tuning.clicks.MODELS` describes the ratings of each.
    minimum : float, default 10
        Minimum number of impressions of a query and a hit.
    smoothing : float, default that of the model
        Strength of the prior, 0 or more.
    grades : int or list of float, default None
        Whole-number grades: the best grade, given to the best hit of each query, or rising
        limits of ratings; None keeps ratings.
    action : {'click', 'conversion'}, default 'click'
        Type of event that counts.
    settle : float, default 0
        Seconds within which a later search of the same user replaces a search, unless one
        of its hits was clicked.
    rater : str, default 'clicks'
        Name of the rater.

    Returns
    -------
    DataFrame
        One row per query and hit, with the columns of `svc.tuning.check_judgments`, then
        `impressions` and `clicks` (float64) and the columns of the model.

    Raises
    ------
    BadInput
        If an option is not valid, or no hit has enough impressions.
    BadRecord
        If a row is not valid.

    Examples
    --------
    >>> shown = pd.DataFrame({
    ...     "query": "mug", "objectID": ["MUG-001", "MUG-002"], "position": [1, 2],
    ...     "clicks": [30, 12], "impressions": 100,
    ... })
    >>> judgments = svc.tuning.clicks.judgments(shown, model="ctr")
    >>> judgments[["query", "objectID", "rating"]]
      query objectID  rating
    0   mug  MUG-001    0.30
    1   mug  MUG-002    0.12
    """
    if model not in MODELS:
        raise BadInput(
            f"`model` must be one of {', '.join(MODELS)}, not {model!r}"
            f"{did_you_mean(model, MODELS)}"
        )
    if searches is not None:
        shown = impressions(shown, searches, action=action, settle=settle)
    method = MODELS[model]
    strength = method.smoothing if smoothing is None else smoothing
    if strength < 0:
        raise BadInput(f"`smoothing` must be 0 or more, not {strength}")
    counted = ImpressionArrays.of(check_impressions(shown))
    fitted = method.fit(counted, strength)
    frame = counted.pairs.assign(
        rating=fitted.rating,
        rater=rater,
        source="click",
        impressions=counted.add_up(counted.shown),
        clicks=counted.add_up(counted.clicked),
        **fitted.columns,
    )
    kept = _known(frame, minimum)
    kept["rating"] = grade(kept, grades)
    judged = check_judgments(kept)
    judged.attrs["svc"] = {
        "model": model, "rating": method.words, "smoothing": strength, "minimum": minimum,
        "grades": list(grades) if isinstance(grades, Sequence) else grades,
        "left_out": len(frame) - len(kept), **fitted.facts,
    }  # fmt: skip
    return judged


def _known(frame: DataFrame, minimum: float) -> DataFrame:
    enough = (frame["impressions"] >= minimum) & frame["rating"].notna()
    if not enough.any():
        most = frame["impressions"].max() if len(frame) else 0
        raise BadInput(
            f"no hit was shown {minimum:g} times for one query, the maximum is {most:g}; collect "
            f"more events, or lower the limit: minimum={max(most, 1):g}"
        )
    return frame[enough].reset_index(drop=True)


def grade(frame: DataFrame, grades: int | Sequence[float] | None) -> Series[float]:
    """Convert ratings to grades, as in `judgments`; raise `BadInput` for invalid grades."""
    rating = frame["rating"]
    if grades is None:
        return rating
    if isinstance(grades, int):
        if grades < 1:
            raise BadInput(f"`grades` is the best grade, 1 or more, not {grades}")
        best = frame.groupby(QUERY_COLUMNS)["rating"].transform("max")
        part = (rating / best.where(best > 0)).fillna(0)
        return Series(np.floor(part.to_numpy() * grades + 0.5), frame.index)
    limits = np.array(list(grades), dtype=np.float64)
    if not len(limits) or (np.diff(limits) <= 0).any():
        raise BadInput(
            f"`grades` must be limits in ascending order, such as [0.5, 1, 2], not {list(grades)}"
        )
    reached = np.searchsorted(limits, rating.to_numpy(), side="right")
    return Series(reached.astype(np.float64), frame.index)
