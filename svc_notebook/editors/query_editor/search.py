"""One search of the query editor: the added parameters, and the response as a view draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.editors.hit_cards import POST, PRE, HitDisplay, draw_hits, list_attributes
from svc_notebook.editors.query_editor import facets as faceting

Params = dict[str, Any]
RESPONSE_MEMBERS = (
    "nbHits", "page", "nbPages", "hitsPerPage", "offset", "length", "queryAfterRemoval",
    "message", "processingTimeMS", "appliedRules", "userData",
)  # fmt: skip


async def search(client: AsyncClient, index: str, params: Params) -> Any:
    """Search, with the value of each ranking criterion and with marked matches."""
    own: Any = {"getRankingInfo": True, "highlightPreTag": PRE, "highlightPostTag": POST}
    return await client.search(index, **{**params, **own, "facets": []})


async def count(client: AsyncClient, index: str, params: Params) -> list[faceting.FacetCard]:
    """Count the facets of a search.

    A disjunctive facet is counted without its selected values; otherwise its other values would not
    be listed.
    """
    disjunctive = [
        name for name, (_, mode) in faceting.chosen_facets(params).items() if mode == "any"
    ]
    requests: Any = [_count(index, params, params.get("facets") or ["*"])]
    requests += [_count(index, faceting.without_facet(params, n), [n]) for n in disjunctive]
    answers: Any = (await client.search_many(requests))["results"]
    counts = dict(answers[0].get("facets", {}))
    for name, answer in zip(disjunctive, answers[1:], strict=True):
        counts[name] = answer.get("facets", {}).get(name, {})
    return faceting.draw_facets(params, counts, answers[0].get("facets_stats", {}))


def _count(index: str, params: Params, facets: Sequence[str]) -> dict[str, Any]:
    rest = {name: params[name] for name in params if name not in ("page", "offset", "length")}
    own = {"facets": facets, "hitsPerPage": 0, "attributesToHighlight": []}
    return {**rest, **own, "indexName": index}


def draw_answer(
    found: Mapping[str, Any], criteria: Sequence[str], display: HitDisplay
) -> dict[str, Any]:
    """Return the part of a response that a view draws."""
    before = found.get("offset", found.get("page", 0) * found.get("hitsPerPage", 0))
    members = {name: found[name] for name in RESPONSE_MEMBERS if name in found}
    hits = draw_hits(found["hits"], criteria, before, display)
    return {**members, "hits": hits, "attributes": list_attributes(found["hits"])}


def unmark(text: str) -> str:
    """Remove the match marks from a text."""
    return text.replace(PRE, "").replace(POST, "")


def with_tags(value: Any, pre: str, post: str) -> Any:
    """Replace the match marks by the requested tags."""
    if isinstance(value, str):
        return value.replace(PRE, pre).replace(POST, post) if PRE in value else value
    if isinstance(value, list):
        return [with_tags(item, pre, post) for item in value]
    if isinstance(value, dict):
        return {name: with_tags(member, pre, post) for name, member in value.items()}
    return value
