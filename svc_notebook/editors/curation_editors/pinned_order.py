"""The hits of a query in the order that the pins of a rule give, computed without the service.

A dragged pin is visible at once; the exact effect of the rule is shown by a preview.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.editors.curation_editors.rule_checks import hidden, promoted
from svc_notebook.editors.hit_cards import POST, PRE, draw_hits

SHOWN_HITS = 20  # hits shown
# What only a rule may say, and what a search is asked with here besides.
OWN = ("query", "automaticFacetFilters", "automaticOptionalFacetFilters", "page", "hitsPerPage")


class PlacedHit(TypedDict):
    """One hit in its place."""

    id: str
    title: str
    pinned: bool
    missing: bool


class Arrangement(TypedDict):
    """What a query as the rule leaves it finds, with its pins in place, and what it hides."""

    query: str
    nbHits: int
    hits: list[PlacedHit]
    hidden: list[PlacedHit]


async def arrange(
    client: AsyncClient,
    index: str,
    query: str,
    consequence: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Arrangement:
    """Search without any rule, and put this one's pins in place."""
    own = {k: v for k, v in (consequence.get("params") or {}).items() if k not in OWN}
    asked: Any = {
        **params, **own, "enableRules": False, "hitsPerPage": 2 * SHOWN_HITS, "analytics": False,
        "highlightPreTag": PRE, "highlightPostTag": POST,
    }  # fmt: skip
    text = edit_query(query, (consequence.get("params") or {}).get("query"))
    found = await client.search(index, text, **asked)
    titles = {card["id"]: card["title"] for card in draw_hits(found["hits"], [])}
    pins = consequence.get("promote") or []
    away = hidden(consequence)
    titles |= await read_titles(
        client, index, [n for n in (*away, *_names(pins)) if n not in titles]
    )
    order = put_pins([hit["objectID"] for hit in found["hits"]], pins, away)
    pinned = set(_names(pins)) - set(away)
    return {
        "query": text,
        "nbHits": found["nbHits"],
        "hits": [_arranged(name, titles, name in pinned) for name in order[:SHOWN_HITS]],
        "hidden": [_arranged(name, titles, False) for name in away],
    }


def edit_query(query: str, how: Any) -> str:
    """Do to a query what a rule does to it; what a facet's value would stand for stays."""
    if not isinstance(how, Mapping):
        return query if how is None else str(how)
    words = [(word, "") for word in how.get("remove") or ()]
    edits = [(edit["delete"], edit.get("insert") or "") for edit in how.get("edits") or ()]
    for gone, come in [*words, *edits]:
        whole = rf"(?<!\w){re.escape(gone.strip())}(?!\w)"
        query = re.sub(whole, lambda _, text=come: text, query, flags=re.IGNORECASE)  # type: ignore[misc]
    return " ".join(query.split())


async def read_titles(client: AsyncClient, index: str, names: Sequence[str]) -> dict[str, str]:
    """Read what records are called; those that are not there are left out."""
    if not names:
        return {}
    wanted: Any = [{"indexName": index, "objectID": name} for name in dict.fromkeys(names)]
    found = [each for each in (await client.get_objects(wanted))["results"] if each]
    return {card["id"]: card["title"] for card in draw_hits(found, [])}


def put_pins(
    hits: Sequence[str], pins: Sequence[Mapping[str, Any]], away: Sequence[str]
) -> list[str]:
    """Put pinned records in their places among hits, and leave out those that are hidden."""
    names = set(_names(pins))
    order = [name for name in hits if name not in names and name not in away]
    slots: dict[int, str] = {}
    for pin in pins:
        at = pin["position"]
        for name in promoted(pin):
            if name in slots.values() or name in away:
                continue
            at = next(slot for slot in itertools.count(at) if slot not in slots)
            slots[at] = name
    for at in sorted(slots):
        order.insert(at, slots[at])
    return order


def _names(pins: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for pin in pins for name in promoted(pin)]


def _arranged(name: str, titles: Mapping[str, str], pinned: bool) -> PlacedHit:
    title = titles.get(name)
    return {"id": name, "title": title or "", "pinned": pinned, "missing": title is None}
