"""The rating from which a record counts as relevant, for scales of people and of clicks."""

from __future__ import annotations

from pandas import DataFrame

RELEVANT_GRADE = 1.0
RELEVANT_SHARE = 0.5  # of the best rating, on scales below 1 such as click-through rates


def relevant_from(judged: DataFrame) -> float:
    """Return the least rating of a relevant record: 1, or half the best one if none reaches 1."""
    best = float(judged["rating"].max()) if judged["rating"].notna().any() else RELEVANT_GRADE
    return RELEVANT_GRADE if best >= RELEVANT_GRADE else max(best * RELEVANT_SHARE, 1e-9)
