"""Ranking criteria: their order, which of two hits each ranks first, and phrases for values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.display import shorten, text_of
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import KeyRefused

Hit = Mapping[str, Any]

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
    steps = [Criterion(PROMOTED, ("_rankingInfo", PROMOTED), PROMOTED)]
    effective = _effective_settings(settings, params)
    if effective.get("mode") == "neuralSearch":
        steps.append(FUSED_SCORE)
    for entry in effective["ranking"]:
        if entry == "custom":
            steps += map(_sort, effective["customRanking"])
        elif entry in CRITERIA:
            member, first = CRITERIA[entry]
            replaced = bool(effective.get("enableReRanking")) and entry in REPLACED_BY_TEXT
            if replaced and TEXT_SCORE not in steps:
                steps.append(TEXT_SCORE)
            steps.append(Criterion(entry, ("_rankingInfo", member), first, replaced))
        else:
            steps.append(_sort(entry))
    if TEXT_SCORE not in steps:
        steps.append(TEXT_SCORE)
    if effective.get("typoTolerance") in ("min", "strict"):
        steps.sort(key=lambda step: step.name not in (PROMOTED, SEMANTIC, "typo"))
    return steps


def sorts_of(settings: Mapping[str, Any], params: Mapping[str, Any]) -> list[str]:
    """Return the attributes of records that the criteria compare."""
    steps = criteria_in_order(settings, params)
    return list(dict.fromkeys(".".join(s.path) for s in steps if s.path[0] != "_rankingInfo"))


def difference(
    hit: Mapping[str, Any], other: Mapping[str, Any], steps: Sequence[Criterion]
) -> Difference:
    """Find the first criterion in which two hits differ.

    A rule fixes the positions of the hits that it promotes, whatever their words.
    """
    for step in steps:
        if not compares(step, hit):
            continue
        here, there = value_at(hit, step), value_at(other, step)
        if here != there or (step.name == PROMOTED and here):
            return Difference(step.name, step.first, here, there)
    return Difference(TIE, "", hit["objectID"], other["objectID"])


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


class CriterionName(NamedTuple):
    """The name of a criterion in words, and which of two values ranks higher."""

    name: str
    order: str


NAMES = {
    PROMOTED: CriterionName("pinned", "hits that a rule pins have a fixed position"),
    "typo": CriterionName("typos", "fewer typos rank higher"),
    "geo": CriterionName("distance", "nearer hits rank higher"),
    "words": CriterionName("query words", "more query words rank higher"),
    "filters": CriterionName("optional filters", "a higher filter score ranks higher"),
    "proximity": CriterionName("proximity", "words closer together rank higher"),
    "attribute": CriterionName(
        "attribute", "matches in earlier attributes, and at earlier words, rank higher"
    ),
    "exact": CriterionName("exact words", "more exact words rank higher"),
    SEMANTIC: CriterionName(
        "words and meaning", "a higher score of words and meaning together ranks higher"
    ),
    TEXT: CriterionName("textual relevance", "a higher text score ranks higher"),
    TIE: CriterionName("objectID", "the local service ranks the lower objectID higher"),
}
SORT_NAMES = {"asc": "lowest first", "desc": "highest first"}
ATTRIBUTE_STEP = 1000  # `firstMatchedWord` is this times the attribute's position, plus the word's
MAX_VALUE_CHARACTERS = 60
_SORTED = re.compile(rf"({'|'.join(SORTS)})\((.*)\)")
_UNORDERED = re.compile(r"unordered\((.*)\)")
MIN_GROUPED_NUMBER = 10_000  # shorter numbers, such as years, have no thousands separator


def describe_value(criterion: str, value: Any, hit: Hit, searchable: Sequence[str] = ()) -> str:
    """Describe a criterion's value in words, such as `1 typo` or "2nd word of `title`".

    `searchable` is the ordered list of searchable attributes, by which `attribute` is encoded.
    """
    if criterion in SCORE_PHRASES:
        return SCORE_PHRASES[criterion](value, hit)
    if isinstance(value, int | float):
        if criterion == "attribute":
            return _describe_attribute(int(value), searchable)
        if criterion in PHRASES:
            return PHRASES[criterion](int(value), hit)
    return _describe_member(criterion, value)


def name_criterion(criterion: str) -> str:
    """Name a criterion in words: `typo` is "typos", `asc(size)` is "`size` (lowest first)"."""
    if sort := _SORTED.fullmatch(criterion):
        return f"`{sort[2]}` ({SORT_NAMES[sort[1]]})"
    return NAMES[criterion].name if criterion in NAMES else f"`{criterion}`"


def describe_order(criterion: str) -> str:
    """Describe which of two values ranks higher, such as "fewer typos rank higher"."""
    if sort := _SORTED.fullmatch(criterion):
        return f"{SORTS[sort[1]]} values rank higher"
    return NAMES[criterion].order if criterion in NAMES else "higher values rank higher"


def describe_reason(criterion: str, value: str, next_value: str) -> str:
    """Describe why a hit with the phrase `value` ranks above one with `next_value`."""
    if criterion == TIE:
        return f"all criteria are equal; {NAMES[TIE].order}"
    return f"{name_criterion(criterion)}: {value} vs {next_value}; {describe_order(criterion)}"


def ordinal(number: int) -> str:
    """Format 1 as `1st`, 2 as `2nd`, 11 as `11th`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def _describe_attribute(encoded: int, searchable: Sequence[str]) -> str:
    position, word = divmod(encoded, ATTRIBUTE_STEP)
    entry = searchable[position] if position < len(searchable) else ""
    if not entry:
        return f"{ordinal(word + 1)} word of the {ordinal(position + 1)} searchable attribute"
    names = [_UNORDERED.sub(r"\1", name.strip()) for name in entry.split(",")]
    shown = " or ".join(f"`{name}`" for name in names)
    # If the words of an attribute are unordered, the encoded position is always the first.
    ordered = len(names) == 1 and not _UNORDERED.fullmatch(entry.strip())
    return f"{ordinal(word + 1)} word of {shown}" if ordered else f"in {shown}"


def _describe_fused(value: Any, hit: Hit) -> str:
    if value is None:
        return "no fused score"
    info = hit.get("_rankingInfo") or {}
    similarity, feedback = info.get("semanticScore"), info.get("feedbackHits")
    shown = "" if similarity is None else f", similarity {similarity:,}"
    if similarity is not None and feedback:
        shown += f" to the query and {_count(feedback, 'hit', 'hits')}"
    return f"fused score {value:,}{shown}"


def _describe_proximity(distance: int, hit: Hit) -> str:
    if distance == 0:
        return "a single word"
    if distance == 1:
        return "words side by side"
    several = (hit.get("_rankingInfo") or {}).get("words") or 0
    return f"{distance} words apart" + (" in total" if several > 2 else "")


def _describe_distance(steps: int, hit: Hit) -> str:
    info = hit.get("_rankingInfo") or {}
    metres = (info.get("matchedGeoLocation") or {}).get("distance")
    if metres is None and info.get("geoPrecision"):
        metres = steps * info["geoPrecision"]
    return f"distance {steps:,}" if metres is None else f"{int(metres):,} m away"


def _describe_member(criterion: str, value: Any) -> str:
    sort = _SORTED.fullmatch(criterion)
    if value is None:
        return f"no `{sort[2] if sort else criterion}`"
    if isinstance(value, int | float) and abs(value) >= MIN_GROUPED_NUMBER:
        return f"{value:,}"
    return shorten(text_of(value), MAX_VALUE_CHARACTERS)


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}" if number else f"no {singular}"


# Phrases of values that a hit need not have, and of numbers.
SCORE_PHRASES: dict[str, Callable[[Any, Hit], str]] = {
    TIE: lambda value, hit: "equal in every criterion",
    PROMOTED: lambda value, hit: "pinned by a rule" if value else "not pinned",
    SEMANTIC: _describe_fused,
    TEXT: lambda value, hit: "no text score" if value is None else f"text score {value:,}",
}
PHRASES: dict[str, Callable[[int, Hit], str]] = {
    "typo": lambda value, hit: _count(value, "typo", "typos"),
    "geo": _describe_distance,
    "words": lambda value, hit: f"{_count(value, 'query word', 'query words')} found",
    "filters": lambda value, hit: f"filter score {value:,}",
    "proximity": _describe_proximity,
    "exact": lambda value, hit: _count(value, "exact word", "exact words"),
}
