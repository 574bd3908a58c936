"""The ranking explanation of hits: why each ranks below the one above, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from svc_notebook.tuning.evaluation import (
    PROMOTED,
    TEXT,
    TIE,
    Criterion,
    compares,
    criteria_in_order,
    describe_order,
    describe_reason,
    describe_value,
    difference,
    name_criterion,
    value_at,
)

Hit = Mapping[str, Any]
FILTERS = "filters"
OPTIONAL_CRITERIA = (PROMOTED, "geo", FILTERS, TEXT)  # listed only for searches that use them


class Ranking(NamedTuple):
    """The criteria of a search in order, the searchable attributes and the chosen filters."""

    criteria: Sequence[Criterion] = ()
    searchable: Sequence[str] = ()
    filters: Sequence[str] = ()

    def name(self, criterion: str) -> str:
        """Name a criterion; that of filters by the filters that the user has chosen."""
        if criterion == FILTERS and self.filters:
            return f"filters {', '.join(self.filters)}"
        return name_criterion(criterion)


class Neighbour(TypedDict):
    """The hit above or below, and what decides between the two hits; `place` counts from 1."""

    id: str
    title: str
    place: int
    decisive: str
    reason: str


class CriterionRow(TypedDict):
    """One criterion: its name, its order in words, and the values of the hit and its neighbours."""

    criterion: str
    name: str
    order: str
    values: list[str]


class RankExplanation(TypedDict):
    """The explanation of one hit's rank; `values` of a row are of above, this hit and below."""

    above: Neighbour | None
    below: Neighbour | None
    rows: list[CriterionRow]


def ranking_of(
    settings: Mapping[str, Any], params: Mapping[str, Any], filters: Sequence[str] = ()
) -> Ranking:
    """Return the ranking of a search: parameters override settings.

    `filters` are the filters that the user has chosen, as a view names them.
    """
    searchable = settings.get("searchableAttributes") or ()
    return Ranking(criteria_in_order(settings, params), searchable, filters)


def explain_lower(above: Hit, hit: Hit, ranking: Ranking) -> str:
    """Explain in one line why a hit ranks below the hit above."""
    criterion, _, upper, lower = difference(above, hit, ranking.criteria)
    if criterion == PROMOTED:
        return "Pinned by a rule" if lower else "Ranked lower: a rule pins the hit above"
    if criterion == TIE:
        return "Ranked lower by objectID: all criteria are equal"
    return (
        f"Ranked lower by {ranking.name(criterion)}: "
        f"{describe_value(criterion, lower, hit, ranking.searchable)} vs "
        f"{describe_value(criterion, upper, above, ranking.searchable)}"
    )


def explain_rank(
    hits: Sequence[Hit], titles: Sequence[str], position: int, ranking: Ranking, before: int = 0
) -> RankExplanation:
    """Explain the rank of the hit at `position` of a page; `before` counts earlier hits."""
    near = [
        hits[at] if 0 <= at < len(hits) else None for at in (position - 1, position, position + 1)
    ]  # fmt: skip
    above, hit, below = near

    def neighbour(upper: Hit | None, lower: Hit | None, at: int) -> Neighbour | None:
        if upper is None or lower is None:
            return None
        decisive = difference(upper, lower, ranking.criteria).criterion
        return {
            "id": str(hits[at]["objectID"]), "title": titles[at], "place": before + at + 1,
            "decisive": decisive, "reason": _compare(upper, lower, decisive, ranking),
        }  # fmt: skip

    rows: list[CriterionRow] = [
        {
            "criterion": step.name, "name": ranking.name(step.name),
            "order": describe_order(step.name),
            "values": [_describe(near_hit, step, ranking) for near_hit in near],
        }
        for step in ranking.criteria
        if compares(step, hits[position])
        if step.name not in OPTIONAL_CRITERIA
        or any(value_at(near_hit, step) for near_hit in near if near_hit)
    ]  # fmt: skip
    return {
        "above": neighbour(above, hit, position - 1), "below": neighbour(hit, below, position + 1),
        "rows": rows,
    }  # fmt: skip


def _compare(upper: Hit, lower: Hit, criterion: str, ranking: Ranking) -> str:
    """Describe the values that decide between two hits, that of the upper first."""
    values = ["", ""]
    if criterion != TIE:
        step = next(step for step in ranking.criteria if step.name == criterion)
        values = [_describe(hit, step, ranking) for hit in (upper, lower)]
    reason = describe_reason(criterion, *values)
    return f"{reason[:1].upper()}{reason[1:]}"


def _describe(hit: Hit | None, step: Criterion, ranking: Ranking) -> str:
    if hit is None:
        return ""
    return describe_value(step.name, value_at(hit, step), hit, ranking.searchable)
