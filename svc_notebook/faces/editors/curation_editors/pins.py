"""Pins: the hits of a query with the pins of a rule, and rules that would pin or hide records.

The hits with their pins are computed without the service. A dragged pin is therefore visible at
once. Only a preview shows the exact effect of the rule.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from svc_notebook.data.client import RULES, AsyncClient, find_all
from svc_notebook.faces.editors.curation_editors.rule_checks import hidden
from svc_notebook.faces.editors.curation_editors.rule_description import (
    describe_conditions,
    describe_consequence,
)
from svc_notebook.faces.editors.hit_cards import (
    POST,
    PRE,
    HitCard,
    HitDisplay,
    draw_hits,
    list_attributes,
)
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.pins import (
    move_record,
    normalize_query,
    promoted,
    revise_rule,
    rule_of,
)
from svc_notebook.tuning.changes import by_id

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


class Placement(TypedDict):
    """A record to pin at a position, from 0, or to hide, for one query of an index."""

    index: str
    query: str
    objectID: str
    title: str
    where: Literal["pin", "hide"]
    position: int


class DraftedRule(TypedDict):
    """A rule as it is saved, None if it is new, and as the placements of its query make it."""

    id: str
    index: str
    query: str
    when: str
    then: str
    before: dict[str, Any] | None
    after: dict[str, Any]


def key_of(placement: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what placements of one record for one query have in common."""
    return placement["index"], normalize_query(placement["query"]), placement["objectID"]


def put_placement(placements: Sequence[Placement], new: Placement) -> list[Placement]:
    """Append a placement, or replace the one of the same record and query."""
    keys = [key_of(placement) for placement in placements]
    if key_of(new) not in keys:
        return [*placements, new]
    return [
        new if key == key_of(new) else placement
        for key, placement in zip(keys, placements, strict=True)
    ]


async def draft_rules(client: AsyncClient, placements: Sequence[Placement]) -> list[DraftedRule]:
    """Return the rule of each query with its placements; nothing is written."""
    indices = dict.fromkeys(placement["index"] for placement in placements)
    saved = {index: by_id(await find_all(client, RULES, index)) for index in indices}
    drafts: list[DraftedRule] = []
    for (index, query), placed in _by_query(placements).items():
        before = rule_of(query, saved[index])
        after = {**before, "consequence": _place(before["consequence"], placed)}
        drafts.append({
            "id": before["objectID"], "index": index, "query": query,
            "when": describe_conditions(after), "then": describe_consequence(after),
            "before": before if before["objectID"] in saved[index] else None, "after": after,
        })  # fmt: skip
    return drafts


async def write_rules(client: AsyncClient, placements: Sequence[Placement]) -> list[WriteSummary]:
    """Write the rule of each query, each as one change of the journal."""
    return [
        await revise_rule(
            client, index, query, _describe(placed), {},
            lambda consequence, placed=placed: _place(consequence, placed),  # type: ignore[misc]
        )
        for (index, query), placed in _by_query(placements).items()
    ]  # fmt: skip


def _by_query(placements: Sequence[Placement]) -> dict[tuple[str, str], list[Placement]]:
    """Group placements by index and query; the first spelling of a query names its group."""
    groups: dict[tuple[str, str], list[Placement]] = {}
    spellings: dict[tuple[str, str], str] = {}
    for placement in placements:
        query = spellings.setdefault(key_of(placement)[:2], placement["query"])
        groups.setdefault((placement["index"], query), []).append(placement)
    return groups


def _describe(placements: Iterable[Placement]) -> str:
    """Describe placements for the journal."""
    return "; ".join(f"{placement['where']} {placement['objectID']}" for placement in placements)


def _place(consequence: Mapping[str, Any], placements: Iterable[Placement]) -> dict[str, Any]:
    moved = dict(consequence)
    for placement in placements:
        moved = move_record(moved, placement["objectID"], placement["where"], placement["position"])
    return moved
