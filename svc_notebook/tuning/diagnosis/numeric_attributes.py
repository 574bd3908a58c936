"""Numeric attributes of records, and how far each agrees with the grades of the same query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame

MIN_FILLED_SHARE = 0.5  # of the judged records: those in which an attribute is a number
MAX_PAIRS_PER_QUERY = 20_000


class NumericAttribute(NamedTuple):
    """An attribute, and the share of pairs of records in which it is higher for the better one.

    `concordance` is 0.5 without any relation, 1 if a higher value always means a better grade;
    `pairs` is the number of pairs of records of the same query with different grades.
    """

    name: str
    concordance: float
    pairs: int

    @property
    def sort(self) -> str:
        """The custom ranking by the attribute, in the direction of the grades."""
        return f"desc({self.name})" if self.concordance >= 0.5 else f"asc({self.name})"


def numbers_of(record: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Return the numbers of a record by attribute path; booleans are left out."""
    numbers: dict[str, float] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            numbers |= numbers_of(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[f"{prefix}{name}"] = float(value)
    return numbers


def rank_attributes(
    judged: DataFrame, records: Mapping[str, Mapping[str, Any]]
) -> list[NumericAttribute]:
    """Return the numeric attributes of judged records, the most telling first."""
    numbers = {object_id: numbers_of(record) for object_id, record in records.items()}
    counts: dict[str, int] = {}
    for of_record in numbers.values():
        for name in of_record:
            counts[name] = counts.get(name, 0) + 1
    names = [name for name, n in counts.items() if n >= MIN_FILLED_SHARE * max(1, len(numbers))]
    rated = judged[judged["objectID"].isin(numbers) & judged["rating"].notna()]
    compared = [_compare(name, rated, numbers) for name in names]
    return sorted(
        (attribute for attribute in compared if attribute.pairs),
        key=lambda attribute: -abs(attribute.concordance - 0.5),
    )


def _compare(
    name: str, rated: DataFrame, numbers: Mapping[str, Mapping[str, float]]
) -> NumericAttribute:
    agreeing = pairs = 0.0
    for _, part in rated.groupby(["query", "filters"], sort=False):
        values = np.array([numbers[object_id].get(name, np.nan) for object_id in part["objectID"]])
        grades = part["rating"].to_numpy(dtype=np.float64)
        filled = ~np.isnan(values)
        better = grades[filled, None] > grades[None, filled]
        if not better.any():
            continue
        higher = np.sign(values[filled, None] - values[None, filled])[better]
        weight = min(1.0, MAX_PAIRS_PER_QUERY / len(higher))  # no query outweighs all others
        agreeing += weight * float(((higher + 1) / 2).sum())
        pairs += weight * len(higher)
    return NumericAttribute(name, agreeing / pairs if pairs else 0.5, round(pairs))
