"""Searches with a draft of the index's configuration, and how its hits moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.query_editor.search import count_before

Params = dict[str, Any]
PAGING = ("page", "offset", "length", "hitsPerPage")
COMPARED_HITS = 200  # without the draft; a hit below them counts as new


@dataclass(frozen=True)
class DraftTarget:
    """Where a draft is searched: an index, added parameters, and the settings in effect."""

    index: str
    params: Params
    settings: Mapping[str, Any]


async def find_places(client: AsyncClient, index: str, params: Params) -> dict[str, int]:
    """Return the places, from 1, of the first hits by objectID."""
    options: Any = {
        "hitsPerPage": COMPARED_HITS, "attributesToRetrieve": ["objectID"],
        "attributesToHighlight": [], "attributesToSnippet": [], "facets": [], "analytics": False,
    }  # fmt: skip
    rest: Any = {name: value for name, value in params.items() if name not in PAGING}
    answer: Any = await client.search(index, **{**rest, **options})
    return {hit["objectID"]: rank for rank, hit in enumerate(answer["hits"], 1)}


def mark_moves(answer: Mapping[str, Any], before: Mapping[str, int]) -> dict[str, Any]:
    """Add to each card its place without the draft as `previous`, 0 if new, and count the moves.

    `left` is the number of hits that were on this page without the draft and are not on it now.
    """
    cards = [{**card, "previous": before.get(card["id"], 0)} for card in answer["hits"]]
    first = count_before(answer) + 1
    places = range(first, first + answer.get("hitsPerPage", answer.get("length", 0)))
    ids = {card["id"] for card in cards}
    counts = {
        "gained": sum(card["previous"] == 0 for card in cards),
        "moved": sum(card["previous"] not in (0, card["place"]) for card in cards),
        "left": sum(rank in places and name not in ids for name, rank in before.items()),
    }
    return {**answer, "hits": cards, "moves": counts}
