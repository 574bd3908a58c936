"""Say why hits stand in the order they stand in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

from pandas import DataFrame

from svc_notebook.api.parameters import SearchOptions, default_of
from svc_notebook.client import AsyncClient
from svc_notebook.errors import KeyRefused
from svc_notebook.frames.columns import finished
from svc_notebook.verbs.clients import AnyClient, asynchronous

# The member of `_rankingInfo` that each criterion compares, and which of two stands first.
CRITERIA = {
    "typo": ("nbTypos", "fewer"),
    "geo": ("geoDistance", "nearer"),
    "words": ("words", "more"),
    "filters": ("filters", "more"),
    "proximity": ("proximityDistance", "nearer"),
    "attribute": ("firstMatchedWord", "earlier"),
    "exact": ("nbExactWords", "more"),
}
SORTS = {"asc": "lower", "desc": "higher"}
COLUMNS = ["rank", "objectID", "before", "criterion", "first", "value", "other"]
_SORT = re.compile(r"(asc|desc)\((.*)\)")


class Step(NamedTuple):
    """One criterion: its name, the path of what it compares, and which of two stands first."""

    name: str
    path: tuple[str, ...]
    first: str


async def explain(
    index: str,
    query: str = "",
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Say for each hit why it stands before the next: the first criterion in which they differ.

    Columns `rank`, `objectID`, `before` (the next one's id), `criterion`, `first` (which of two
    values stands first), `value`, `other` (the next one's). Hits equal in every criterion differ
    in `tie` alone: the local service puts the lower objectID first.
    """
    own = asynchronous(client)
    asked: Any = {**params, "getRankingInfo": True, "attributesToRetrieve": ["*"]}
    answer = await own.search(index, query, attributesToHighlight=[], **asked)
    steps = _steps(await _settings_of(own, index), params)
    start = answer.get("offset", answer.get("page", 0) * answer.get("hitsPerPage", 0)) + 1
    rows = [
        (rank, one["objectID"], other["objectID"], *_difference(one, other, steps))
        for rank, (one, other) in enumerate(itertools.pairwise(answer["hits"]), start)
    ]
    frame = DataFrame(rows, columns=COLUMNS, dtype=object)
    texts = dict.fromkeys(["objectID", "before", "criterion", "first"], "str")
    facts = {"index": index, "query": query, "params": dict(params), "nbHits": answer["nbHits"]}
    return finished(frame.astype({"rank": "int64", **texts}), facts, None)


async def _settings_of(client: AsyncClient, index: str) -> Mapping[str, Any]:
    """The index's settings; the defaults for a key that may not read them."""
    try:
        return await client.get_settings(index)
    except KeyRefused:
        return {}


def _steps(settings: Mapping[str, Any], params: Mapping[str, Any]) -> list[Step]:
    found = [Step("promoted", ("_rankingInfo", "promoted"), "promoted")]
    asked = {**settings, **{name: value for name, value in params.items() if value is not None}}
    for entry in asked.get("ranking") or default_of("ranking"):
        if entry == "custom":
            found += map(_sort, asked.get("customRanking") or ())
        elif entry in CRITERIA:
            member, first = CRITERIA[entry]
            found.append(Step(entry, ("_rankingInfo", member), first))
        else:
            found.append(_sort(entry))
    strict = params.get("typoTolerance", settings.get("typoTolerance")) in ("min", "strict")
    return (
        sorted(found, key=lambda step: step.name not in ("promoted", "typo")) if strict else found
    )


def _sort(entry: str) -> Step:
    sort = _SORT.fullmatch(entry)
    order, attribute = (sort[1], sort[2]) if sort else ("desc", entry)
    return Step(entry, tuple(attribute.split(".")), SORTS[order])


def _difference(
    one: Mapping[str, Any], other: Mapping[str, Any], steps: Sequence[Step]
) -> tuple[str, str, Any, Any]:
    for step in steps:
        here, there = _at(one, step.path), _at(other, step.path)
        if here != there:
            return step.name, step.first, here, there
    return "tie", "", one["objectID"], other["objectID"]


def _at(hit: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = hit
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
