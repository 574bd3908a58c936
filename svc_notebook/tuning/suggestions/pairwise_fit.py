"""A weighted sum of numeric attributes, fitted to pairs of records with different grades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from svc_notebook.tuning.tables.tables import QUESTION

Floats = NDArray[np.float64]
MAX_NEWTON_STEPS = 50
STEP_TOLERANCE = 1e-8
RIDGE_STRENGTH = 1e-3  # of the mean loss; keeps the weights of equal attributes finite
SKEW_RATIO = 20.0  # maximum over median, from which an attribute counts by its logarithm
SCORE_DIGITS = 4


@dataclass(frozen=True)
class FittedAttribute:
    """One attribute of a sum: its weight, and how its values are made comparable."""

    name: str
    weight: float
    mean: float
    deviation: float
    by_logarithm: bool

    def scaled(self, values: Floats) -> Floats:
        """Scale values; a missing one counts as the mean."""
        scaled = np.log1p(np.maximum(values, 0)) if self.by_logarithm else values
        return np.nan_to_num((scaled - self.mean) / self.deviation)

    def __str__(self) -> str:
        shown = f"log(1 + {self.name})" if self.by_logarithm else self.name
        return f"{self.weight:+.3f} · ({shown} - {self.mean:.4g}) / {self.deviation:.4g}"


@dataclass(frozen=True)
class FittedSum:
    """A weighted sum of numeric attributes."""

    attributes: tuple[FittedAttribute, ...]

    def score(self, numbers: Sequence[Mapping[str, float]]) -> Floats:
        """Return the value of each record."""
        total = np.zeros(len(numbers))
        for attribute in self.attributes:
            values = np.array(
                [of_record.get(attribute.name, np.nan) for of_record in numbers], dtype=np.float64
            )
            total += attribute.weight * attribute.scaled(values)
        return np.round(total, SCORE_DIGITS)

    def __str__(self) -> str:
        return " ".join(map(str, self.attributes))


def fit_sum(
    judged: DataFrame, numbers: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> FittedSum:
    """Fit weights by logistic regression on pairs, in which each query counts the same.

    The probability that the better of two records has the higher sum is the logistic function
    of the difference of the sums (RankNet with one layer).
    """
    stored = judged[judged["objectID"].isin(list(numbers))].reset_index(drop=True)
    scales = [
        _scale(name, [numbers[object_id] for object_id in stored["objectID"]]) for name in names
    ]
    columns = [
        scale.scaled(
            np.array(
                [numbers[object_id].get(scale.name, np.nan) for object_id in stored["objectID"]]
            )
        )
        for scale in scales
    ]
    features = np.stack(columns, axis=1)
    parts = list(_pairs(stored, features))
    if not parts:
        return FittedSum(tuple(scales))
    differences = np.concatenate([rows for rows, _ in parts])
    shares = np.concatenate([np.full(len(rows), weight) for rows, weight in parts])
    weights = _solve(differences, shares / shares.sum())
    return FittedSum(
        tuple(
            FittedAttribute(s.name, float(w), s.mean, s.deviation, s.by_logarithm)
            for s, w in zip(scales, weights, strict=True)
        )
    )


def _scale(name: str, numbers: Sequence[Mapping[str, float]]) -> FittedAttribute:
    values = np.array([own.get(name, np.nan) for own in numbers], dtype=np.float64)
    present = values[~np.isnan(values)]
    skewed = len(present) > 0 and present.min() >= 0 and (
        present.max() > SKEW_RATIO * max(float(np.median(present)), 1e-9)
    )  # fmt: skip
    own = np.log1p(present) if skewed else present
    deviation = float(own.std()) if len(own) else 0.0
    return FittedAttribute(name, 0.0, float(own.mean()) if len(own) else 0.0, deviation or 1.0,
                           bool(skewed))  # fmt: skip


def _pairs(stored: DataFrame, features: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield for each query the differences, better less worse, and the weight of each."""
    for places in stored.groupby(QUESTION, sort=False).indices.values():
        grades = stored["rating"].to_numpy(dtype=np.float64)[places]
        better, worse = np.nonzero(grades[:, None] > grades[None, :])
        if len(better):
            of_query = features[places]
            yield of_query[better] - of_query[worse], 1 / len(better)


def _solve(differences: Floats, shares: Floats) -> Floats:
    """Minimize the mean logistic loss with a small ridge by Newton's method."""
    weights = np.zeros(differences.shape[1])
    ridge = RIDGE_STRENGTH * np.eye(len(weights))
    for _ in range(MAX_NEWTON_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(differences @ weights, -500, 500)))
        gradient = -differences.T @ (shares * wrong) + ridge @ weights
        curvature = (differences * (shares * wrong * (1 - wrong))[:, None]).T @ differences
        step = np.linalg.solve(curvature + ridge, gradient)
        weights = weights - step
        if np.abs(step).max(initial=0) < STEP_TOLERANCE:
            break
    return weights
