"""Comparison of two searches: hits that are new, dropped out or moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.editors.hit_cards import POST, PRE, HitDisplay, draw_hits

SHOWN_HITS = 20  # of each search


class ComparedSearch(TypedDict):
    """The results of one of the two searches."""

    index: str
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
    drawn = [
        _side(index, answer, display) for (index, _), answer in zip(sides, answers, strict=True)
    ]
    places = [{hit["id"]: place for place, hit in enumerate(side["hits"])} for side in drawn]
    left, right = places
    shared = [[left[key], right[key]] for key in left if key in right]
    return {
        "sides": drawn, "shared": shared,
        "gained": len(right.keys() - left.keys()), "lost": len(left.keys() - right.keys()),
        "moved": sum(one != other for one, other in shared),
    }  # fmt: skip


def _request(index: str, params: Mapping[str, Any]) -> dict[str, Any]:
    added = {"hitsPerPage": SHOWN_HITS, "page": 0, "highlightPreTag": PRE, "highlightPostTag": POST}
    kept = {name: value for name, value in params.items() if name not in ("offset", "length")}
    return {**kept, **added, "indexName": index}


def _side(index: str, answer: Mapping[str, Any], display: HitDisplay) -> ComparedSearch:
    cards = draw_hits(answer["hits"], [], display=display)
    hits = [{name: card[name] for name in ("id", "title", "image")} for card in cards]
    applied = [rule["objectID"] for rule in answer.get("appliedRules", ())]
    return {"index": index, "nbHits": answer["nbHits"], "hits": hits, "applied": applied}
