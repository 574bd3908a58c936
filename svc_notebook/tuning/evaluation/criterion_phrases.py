"""Phrases for the value that a hit has for a ranking criterion."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from svc_notebook.display import shorten, text_of
from svc_notebook.tuning.evaluation.criteria import PROMOTED, SORTS, TIE

Hit = Mapping[str, Any]
ATTRIBUTE_STEP = 1000  # `firstMatchedWord` is this times the attribute's position, plus the word's
MAX_VALUE_CHARACTERS = 60
_SORT = re.compile(rf"(?:{'|'.join(SORTS)})\((.*)\)")
_UNORDERED = re.compile(r"unordered\((.*)\)")


def describe_value(criterion: str, value: Any, hit: Hit, searchable: Sequence[str] = ()) -> str:
    """Describe a criterion's value in words, such as `1 typo` or "2nd word of `title`".

    `searchable` is the ordered list of searchable attributes, by which `attribute` is encoded.
    """
    if criterion == TIE:
        return "equal in every criterion"
    if criterion == PROMOTED:
        return "pinned by a rule" if value else "not pinned"
    if criterion == "attribute" and isinstance(value, int | float):
        return _describe_attribute(int(value), searchable)
    if criterion in PHRASES and isinstance(value, int | float):
        return PHRASES[criterion](int(value), hit)
    return _describe_member(criterion, value)


def ordinal(number: int) -> str:
    """Format 1 as `1st`, 2 as `2nd`, 11 as `11th`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def _describe_attribute(encoded: int, searchable: Sequence[str]) -> str:
    place, word = divmod(encoded, ATTRIBUTE_STEP)
    entry = searchable[place] if place < len(searchable) else ""
    if not entry:
        return f"{ordinal(word + 1)} word of the {ordinal(place + 1)} searchable attribute"
    names = [_UNORDERED.sub(r"\1", name.strip()) for name in entry.split(",")]
    shown = " or ".join(f"`{name}`" for name in names)
    # If the words of an attribute are unordered, the encoded position is always the first.
    ordered = len(names) == 1 and not _UNORDERED.fullmatch(entry.strip())
    return f"{ordinal(word + 1)} word of {shown}" if ordered else f"in {shown}"


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
    sort = _SORT.fullmatch(criterion)
    if value is None:
        return f"no `{sort[1] if sort else criterion}`"
    return shorten(text_of(value), MAX_VALUE_CHARACTERS)


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}" if number else f"no {one}"


PHRASES: dict[str, Callable[[int, Hit], str]] = {
    "typo": lambda value, hit: _count(value, "typo", "typos"),
    "geo": _describe_distance,
    "words": lambda value, hit: f"{_count(value, 'query word', 'query words')} found",
    "filters": lambda value, hit: f"filter score {value:,}",
    "proximity": _describe_proximity,
    "exact": lambda value, hit: _count(value, "exact word", "exact words"),
}
