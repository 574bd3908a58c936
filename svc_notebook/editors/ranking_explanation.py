"""The ranking explanation of a hit: its criteria in order, and the decisive criterion."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.api.parameters import default_of

_BY_ATTRIBUTE = re.compile(r"(asc|desc)\((.+)\)")

# For each criterion: the member of `_rankingInfo` with its value, and whether lower is better.
RANKING_INFO: dict[str, tuple[str, bool]] = {
    "typo": ("nbTypos", True),
    "geo": ("geoDistance", True),
    "words": ("words", False),
    "filters": ("filters", False),
    "proximity": ("proximityDistance", True),
    "attribute": ("firstMatchedWord", True),
    "exact": ("nbExactWords", False),
}


class CriterionRow(TypedDict):
    """One criterion of one hit; `best` is "least" or "most"."""

    criterion: str
    value: Any
    best: str


def criteria_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the criteria of an index, with `custom` expanded."""
    ranking: list[str] = settings.get("ranking") or default_of("ranking")
    custom: list[str] = settings.get("customRanking") or []
    return [name for entry in ranking for name in (custom if entry == "custom" else [entry])]


def list_criteria(hit: Mapping[str, Any], criteria: Sequence[str]) -> list[CriterionRow]:
    """Return the value of each criterion of one hit."""
    return [_criterion_row(hit, criterion) for criterion in criteria]


def find_decisive(one: Sequence[CriterionRow], other: Sequence[CriterionRow]) -> str:
    """Return the first criterion in which two hits differ, otherwise the objectID."""
    differing = (
        row["criterion"]
        for row, other_row in zip(one, other, strict=True)
        if row["value"] != other_row["value"]
    )
    return next(differing, "objectID")


def _criterion_row(hit: Mapping[str, Any], criterion: str) -> CriterionRow:
    if found := _BY_ATTRIBUTE.fullmatch(criterion):
        return {
            "criterion": criterion, "value": find_member(hit, found[2]),
            "best": "least" if found[1] == "asc" else "most",
        }  # fmt: skip
    name, lower_is_better = RANKING_INFO.get(criterion, (criterion, True))
    value = hit.get("_rankingInfo", {}).get(name)
    return {"criterion": criterion, "value": value, "best": "least" if lower_is_better else "most"}


def find_member(record: Any, path: str) -> Any:
    """Return the value at a dotted path of a record; None if there is none."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    first, dot, rest = path.partition(".")
    if dot and isinstance(record, Mapping):
        return find_member(record.get(first), rest)
    return None
