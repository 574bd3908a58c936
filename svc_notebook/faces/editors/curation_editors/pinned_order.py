"""The hits of a query with the pins of a rule in their positions, computed without the service.

A dragged pin is therefore visible at once. Only a preview shows the exact effect of the rule.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.curation_editors.rule_checks import hidden
from svc_notebook.faces.editors.hit_cards import (
    POST,
    PRE,
    HitCard,
    HitDisplay,
    draw_hits,
    list_attributes,
)
from svc_notebook.faces.functions.pins import promoted

SHOWN_HITS = 20
# Members of a rule's params that are not search parameters, or that this module sets itself.
EXCLUDED_PARAMS = (
    "query", "automaticFacetFilters", "automaticOptionalFacetFilters", "page", "hitsPerPage",
)  # fmt: skip


class PlacedHit(TypedDict):
    """One hit in its position, as a view draws it; `missing` if the index does not have it."""

    id: str
    title: str
    lines: list[list[str]]
    more: int
    image: str
    json: NotRequired[str]
    pinned: bool
    missing: bool


class Arrangement(TypedDict):
    """The hits of the query as the rule edits it, with pins in position, and the hidden records."""

    query: str
    nbHits: int
    hits: list[PlacedHit]
    hidden: list[PlacedHit]
    attributes: list[str]


async def arrange(
    client: AsyncClient,
    index: str,
    query: str,
    consequence: Mapping[str, Any],
    params: Mapping[str, Any],
    display: HitDisplay,
) -> Arrangement:
    """Search without rules, then insert the pins of one consequence."""
    rule_params = consequence.get("params") or {}
    search_params: Any = {
        **params, **{k: v for k, v in rule_params.items() if k not in EXCLUDED_PARAMS},
        "enableRules": False, "hitsPerPage": 2 * SHOWN_HITS, "analytics": False,
        "highlightPreTag": PRE, "highlightPostTag": POST,
    }  # fmt: skip
    text = edit_query(query, rule_params.get("query"))
    answer = await client.search(index, text, **search_params)
    cards = {card["id"]: card for card in draw_hits(answer["hits"], [], display=display)}
    pins = consequence.get("promote") or []
    hidden_ids = hidden(consequence)
    unread = {*hidden_ids, *_pinned_ids(pins)} - cards.keys()
    cards |= await _read_cards(client, index, sorted(unread), display)
    order = put_pins([hit["objectID"] for hit in answer["hits"]], pins, hidden_ids)
    pinned = set(_pinned_ids(pins)) - set(hidden_ids)
    return {
        "query": text,
        "nbHits": answer["nbHits"],
        "hits": [_placed_hit(name, cards, name in pinned) for name in order[:SHOWN_HITS]],
        "hidden": [_placed_hit(name, cards, False) for name in hidden_ids],
        "attributes": list_attributes(answer["hits"]),
    }


def edit_query(query: str, how: Any) -> str:
    """Edit a query as a rule does; placeholders of facet values are not replaced."""
    if not isinstance(how, Mapping):
        return query if how is None else str(how)
    words = [(word, "") for word in how.get("remove") or ()]
    edits = [(edit["delete"], edit.get("insert") or "") for edit in how.get("edits") or ()]
    for deleted, inserted in [*words, *edits]:
        whole_word = rf"(?<!\w){re.escape(deleted.strip())}(?!\w)"
        query = re.sub(whole_word, lambda _, text=inserted: text, query, flags=re.IGNORECASE)  # type: ignore[misc]
    return " ".join(query.split())


async def read_titles(
    client: AsyncClient, index: str, names: Sequence[str], display: HitDisplay
) -> dict[str, str]:
    """Return the headlines of records by objectID; missing records are left out."""
    cards = await _read_cards(client, index, names, display)
    return {name: card["title"] for name, card in cards.items()}


async def _read_cards(
    client: AsyncClient, index: str, names: Sequence[str], display: HitDisplay
) -> dict[str, HitCard]:
    if not names:
        return {}
    requests: Any = [{"indexName": index, "objectID": name} for name in dict.fromkeys(names)]
    records = [record for record in (await client.get_objects(requests))["results"] if record]
    return {card["id"]: card for card in draw_hits(records, [], display=display)}


def put_pins(
    hits: Sequence[str], pins: Sequence[Mapping[str, Any]], hidden_ids: Sequence[str]
) -> list[str]:
    """Insert pinned records at their positions among the hits, and remove hidden ones."""
    names = set(_pinned_ids(pins))
    order = [name for name in hits if name not in names and name not in hidden_ids]
    slots: dict[int, str] = {}
    for pin in pins:
        at = pin["position"]
        for name in promoted(pin):
            if name not in (*slots.values(), *hidden_ids):
                at = next(slot for slot in itertools.count(at) if slot not in slots)
                slots[at] = name
    for at in sorted(slots):
        order.insert(at, slots[at])
    return order


def _pinned_ids(pins: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for pin in pins for name in promoted(pin)]


def _placed_hit(name: str, cards: Mapping[str, HitCard], pinned: bool) -> PlacedHit:
    card = cards.get(name)
    hit: PlacedHit = {
        "id": name, "title": card["title"] if card else "", "lines": card["lines"] if card else [],
        "more": card["more"] if card else 0, "image": card["image"] if card else "",
        "pinned": pinned, "missing": card is None,
    }  # fmt: skip
    if card and "json" in card:
        hit["json"] = card["json"]
    return hit
