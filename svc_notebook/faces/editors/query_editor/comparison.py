"""Comparison of two searches: hits that are new, dropped out or moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.display import shorten, text_of
from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.hit_cards import POST, PRE, HitDisplay, draw_hits

SHOWN_HITS = 20  # of each search
MAX_NAMED = 2  # members by which a search is named; others are counted
MAX_NAME_CHARACTERS = 60  # of one member


class ComparedSearch(TypedDict):
    """The results of one of the two searches, named by what differs."""

    index: str
    name: str
    nbHits: int
    hits: list[dict[str, Any]]
    applied: list[str]  # rules, if the service reports them


class SideBySide(TypedDict):
    """The two searches, and the pairs of places of the hits that both have."""

    sides: list[ComparedSearch]
    shared: list[list[int]]
    gained: int
    lost: int
    moved: int


async def compare(
    client: AsyncClient,
    sides: Sequence[tuple[str, Mapping[str, Any]]],
    searchable: Sequence[str] = (),
) -> SideBySide:
    """Run both searches in one request, and compare their first hits."""
    requests: Any = [_request(index, params) for index, params in sides]
    answers: Any = (await client.search_many(requests))["results"]
    display = HitDisplay(searchable=searchable)
    names = name_sides(sides)
    drawn = [
        _side(index, name, answer, display)
        for (index, _), name, answer in zip(sides, names, answers, strict=True)
    ]
    _tell_apart([hit for side in drawn for hit in side["hits"]])
    places = [{hit["id"]: rank for rank, hit in enumerate(side["hits"])} for side in drawn]
    left, right = places
    shared = [[left[key], right[key]] for key in left if key in right]
    return {
        "sides": drawn, "shared": shared,
        "gained": len(right.keys() - left.keys()), "lost": len(left.keys() - right.keys()),
        "moved": sum(rank_before != other for rank_before, other in shared),
    }  # fmt: skip


def _tell_apart(hits: Sequence[dict[str, Any]]) -> None:
    """Give hits with the same headline an attribute in which they differ, else their objectID."""
    by_title: dict[str, dict[str, dict[str, str]]] = {}
    for hit in hits:
        by_title.setdefault(hit["title"], {})[hit["id"]] = dict(hit["lines"])
    for hit in hits:
        others = by_title[hit["title"]]
        names = dict(hit.pop("lines")) if len(others) > 1 else {}
        differing = (
            value
            for name, value in names.items()
            if len({lines.get(name) for lines in others.values()}) == len(others)
        )
        hit["detail"] = next(differing, hit["id"]) if len(others) > 1 else ""


def _request(index: str, params: Mapping[str, Any]) -> dict[str, Any]:
    added = {"hitsPerPage": SHOWN_HITS, "page": 0, "highlightPreTag": PRE, "highlightPostTag": POST}
    kept = {name: value for name, value in params.items() if name not in ("offset", "length")}
    return {**kept, **added, "indexName": index}


def name_sides(
    sides: Sequence[tuple[str, Mapping[str, Any]]], settings: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Name two searches by the index and the members in which they differ.

    A member that one search lacks has there its value in `settings`, or its default.
    """
    (index, params), (other_index, other) = sides
    differing = [
        name for name in dict.fromkeys([*other, *params]) if params.get(name) != other.get(name)
    ]
    names = []
    for own_index, side_params in ((index, params), (other_index, other)):
        parts = [own_index] if index != other_index else []
        parts += [_name_value(name, side_params, settings or {}) for name in differing[:MAX_NAMED]]
        if len(differing) > MAX_NAMED:
            parts.append(f"{len(differing) - MAX_NAMED} more")
        names.append(", ".join(parts))
    return names[0] or "This search", names[1] or "The same search"


def _name_value(name: str, params: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    if name in params or settings.get(name) is not None:
        value = params[name] if name in params else settings[name]
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        text = ", ".join(value) if is_list else text_of(value)
        return shorten(f"{name}: {text or 'empty'}", MAX_NAME_CHARACTERS)
    return f"{name}: not set" if default_of(name) is None else f"{name}: default"


def _side(index: str, name: str, answer: Mapping[str, Any], display: HitDisplay) -> ComparedSearch:
    cards = draw_hits(answer["hits"], display=display)
    hits = [
        {member: card[member] for member in ("id", "title", "image", "lines")} for card in cards
    ]
    applied = [rule["objectID"] for rule in answer.get("appliedRules", ())]
    return {
        "index": index,
        "name": name,
        "nbHits": answer["nbHits"],
        "hits": hits,
        "applied": applied,
    }
