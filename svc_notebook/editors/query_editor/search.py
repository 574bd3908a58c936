"""One search of the query editor: the added parameters, and the response as a view draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.editors.hit_cards import POST, PRE, draw_hits
from svc_notebook.editors.query_editor import facets as faceting

Params = dict[str, Any]
TOLD = ("nbHits", "page", "nbPages", "hitsPerPage", "offset", "length", "queryAfterRemoval",
        "message", "processingTimeMS", "appliedRules", "userData")  # fmt: skip


async def look(client: AsyncClient, index: str, params: Params) -> Any:
    """Search, with the value of each criterion and matches marked for a view."""
    own: Any = {"getRankingInfo": True, "highlightPreTag": PRE, "highlightPostTag": POST}
    return await client.search(index, **{**params, **own, "facets": []})


async def count(client: AsyncClient, index: str, params: Params) -> list[faceting.FacetCard]:
    """Count the facets of what a search finds.

    Those of which any value is enough are counted as if nothing of theirs were chosen, or their
    other values could not be chosen.
    """
    open_facets = [
        name for name, (_, mode) in faceting.chosen_facets(params).items() if mode == "any"
    ]
    asked: Any = [_count(index, params, params.get("facets") or ["*"])]
    asked += [_count(index, faceting.without_facet(params, n), [n]) for n in open_facets]
    answers: Any = (await client.search_many(asked))["results"]
    counts = dict(answers[0].get("facets", {}))
    for name, answer in zip(open_facets, answers[1:], strict=True):
        counts[name] = answer.get("facets", {}).get(name, {})
    return faceting.draw_facets(params, counts, answers[0].get("facets_stats", {}))


def _count(index: str, params: Params, facets: Sequence[str]) -> dict[str, Any]:
    rest = {name: params[name] for name in params if name not in ("page", "offset", "length")}
    own = {"facets": facets, "hitsPerPage": 0, "attributesToHighlight": []}
    return {**rest, **own, "indexName": index}


def draw_answer(found: Mapping[str, Any], criteria: Sequence[str]) -> dict[str, Any]:
    """Make of an answer what a view draws."""
    before = found.get("offset", found.get("page", 0) * found.get("hitsPerPage", 0))
    told = {name: found[name] for name in TOLD if name in found}
    return {**told, "hits": draw_hits(found["hits"], criteria, before)}


def unmark(text: str) -> str:
    """Take the marks out of a text."""
    return text.replace(PRE, "").replace(POST, "")


def with_tags(value: Any, pre: str, post: str) -> Any:
    """Put the tags that were asked for in place of the marks."""
    if isinstance(value, str):
        return value.replace(PRE, pre).replace(POST, post) if PRE in value else value
    if isinstance(value, list):
        return [with_tags(item, pre, post) for item in value]
    if isinstance(value, dict):
        return {name: with_tags(member, pre, post) for name, member in value.items()}
    return value
