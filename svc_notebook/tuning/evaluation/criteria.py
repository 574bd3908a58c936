"""Ranking criteria: their order, and which of two hits each criterion ranks first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from svc_notebook.api.parameters import default_of
from svc_notebook.client import AsyncClient
from svc_notebook.errors import KeyRefused

# The member of `_rankingInfo` that each criterion compares, and which of two ranks first.
CRITERIA = {
    "typo": ("nbTypos", "fewer"),
    "geo": ("geoDistance", "nearer"),
    "words": ("words", "more"),
    "filters": ("filters", "more"),
    "proximity": ("proximityDistance", "nearer"),
    "attribute": ("firstMatchedWord", "earlier"),
    "exact": ("nbExactWords", "more"),
}
# Textual relevance breaks ties in the local service; re-ranking puts it in the place of others.
TEXT = "text"
# In the mode `neuralSearch`, the local service fuses the order of all criteria with similarity.
SEMANTIC = "semantic"
REPLACED_BY_TEXT = ("proximity", "attribute", "exact")
SORTS = {"asc": "lower", "desc": "higher"}
LESS_FIRST = ("fewer", "nearer", "earlier", "lower")
# The columns of runs, and their `_rankingInfo` member; `filters` in runs is a query's filter.
RANKING = {
    "nbTypos": "nbTypos",
    "geoDistance": "geoDistance",
    "words": "words",
    "optionalFilters": "filters",
    "proximityDistance": "proximityDistance",
    "firstMatchedWord": "firstMatchedWord",
    "nbExactWords": "nbExactWords",
    "userScore": "userScore",
    "textScore": "textScore",
    "semanticScore": "semanticScore",
    "fusedScore": "fusedScore",
    "promoted": "promoted",
}
DECIDING = (
    "ranking", "customRanking", "typoTolerance", "searchableAttributes", "enableReRanking",
    "mode", "semanticSearch", "attributeWeights",
)  # fmt: skip
PROMOTED = "promoted"
TIE = "tie"
_SORT = re.compile(r"(asc|desc)\((.*)\)")


class Criterion(NamedTuple):
    """One criterion: its name, the path of the compared value, and which of two ranks first.

    With `replaced`, it does not compare hits that have a text score, by which a service re-ranked.
    """

    name: str
    path: tuple[str, ...]
    first: str
    replaced: bool = False


TEXT_SCORE = Criterion(TEXT, ("_rankingInfo", "textScore"), "higher")
FUSED_SCORE = Criterion(SEMANTIC, ("_rankingInfo", "fusedScore"), "higher")


class Difference(NamedTuple):
    """The first criterion in which two hits differ, and both values."""

    criterion: str
    first: str
    value: Any
    other: Any


async def ranking_of(client: AsyncClient, index: str) -> dict[str, Any]:
    """Return the settings that determine the order; defaults for a key that cannot read them."""
    try:
        settings: Mapping[str, Any] = await client.get_settings(index)
    except KeyRefused:
        return {}
    return {name: settings[name] for name in DECIDING if settings.get(name) is not None}


def criteria_in_order(settings: Mapping[str, Any], params: Mapping[str, Any]) -> list[Criterion]:
    """Return the criteria in order."""
    found = [Criterion(PROMOTED, ("_rankingInfo", PROMOTED), PROMOTED)]
    effective = _effective_settings(settings, params)
    if effective.get("mode") == "neuralSearch":
        found.append(FUSED_SCORE)
    for entry in effective["ranking"]:
        if entry == "custom":
            found += map(_sort, effective["customRanking"])
        elif entry in CRITERIA:
            member, first = CRITERIA[entry]
            replaced = bool(effective.get("enableReRanking")) and entry in REPLACED_BY_TEXT
            if replaced and TEXT_SCORE not in found:
                found.append(TEXT_SCORE)
            found.append(Criterion(entry, ("_rankingInfo", member), first, replaced))
        else:
            found.append(_sort(entry))
    if TEXT_SCORE not in found:
        found.append(TEXT_SCORE)
    strict = effective.get("typoTolerance") in ("min", "strict")
    return (
        sorted(found, key=lambda step: step.name not in (PROMOTED, SEMANTIC, "typo"))
        if strict
        else found
    )


def sorts_of(settings: Mapping[str, Any], params: Mapping[str, Any]) -> list[str]:
    """Return the attributes of records that the criteria compare."""
    steps = criteria_in_order(settings, params)
    return list(dict.fromkeys(".".join(s.path) for s in steps if s.path[0] != "_rankingInfo"))


def difference(
    one: Mapping[str, Any], other: Mapping[str, Any], steps: Sequence[Criterion]
) -> Difference:
    """Find the first criterion in which two hits differ.

    A rule fixes the positions of the hits that it promotes, whatever their words.
    """
    for step in steps:
        if not compares(step, one):
            continue
        here, there = value_at(one, step), value_at(other, step)
        if here != there or (step.name == PROMOTED and here):
            return Difference(step.name, step.first, here, there)
    return Difference(TIE, "", one["objectID"], other["objectID"])


def ranks_first(difference: Difference) -> bool:
    """Return whether the criterion in which two hits differ ranks the first one higher."""
    _, first, here, there = difference
    if here is None or there is None:
        return there is None
    return bool(here < there) if first in (*LESS_FIRST, "") else bool(here > there)


def compares(step: Criterion, hit: Mapping[str, Any]) -> bool:
    """Return whether a criterion compares a hit; those that re-ranking replaces do not."""
    return not (step.replaced and value_at(hit, TEXT_SCORE) is not None)


def value_at(hit: Mapping[str, Any], step: Criterion) -> Any:
    """Return the value of a hit for a criterion."""
    value: Any = hit
    for name in step.path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _effective_settings(settings: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    effective = {**settings, **{name: value for name, value in params.items() if value is not None}}
    effective["ranking"] = effective.get("ranking") or default_of("ranking")
    effective["customRanking"] = effective.get("customRanking") or []
    return effective


def _sort(entry: str) -> Criterion:
    sort = _SORT.fullmatch(entry)
    order, attribute = (sort[1], sort[2]) if sort else ("desc", entry)
    return Criterion(entry, tuple(attribute.split(".")), SORTS[order])
