"""One search of the query editor: the added parameters, and the response as a view draws it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.display import text_of
from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.hit_cards import POST, PRE, HitDisplay, draw_hits, list_attributes
from svc_notebook.faces.editors.query_editor import facets as faceting
from svc_notebook.faces.editors.ranking_explanation import Ranking

Params = dict[str, Any]
RESPONSE_MEMBERS = (
    "nbHits", "page", "nbPages", "hitsPerPage", "offset", "length", "queryAfterRemoval",
    "message", "processingTimeMS", "appliedRules", "userData",
)  # fmt: skip


async def search(client: AsyncClient, index: str, params: Params) -> Any:
    """Search, with the value of each ranking criterion and with marked matches."""
    options: Any = {"getRankingInfo": True, "highlightPreTag": PRE, "highlightPostTag": POST}
    # A search in an editor is not one of a user.
    return await client.search(index, **{"analytics": False, **params, **options, "facets": []})


def describe_search(params: Params) -> str:
    """Describe search parameters in words: the query, then each other parameter."""
    query = params.get("query")
    others = [f"{name}: {text_of(value)}" for name, value in params.items() if name != "query"]
    return ", ".join([f"“{query}”" if query else "all records", *others])


async def count(
    client: AsyncClient, index: str, params: Params, settings: Mapping[str, Any]
) -> list[faceting.FacetCard]:
    """Count the facets of a search.

    A disjunctive facet is counted without its selected values, and a numeric one without its
    range; otherwise the values that could be selected instead would not be listed.
    """
    chosen = faceting.chosen_facets(params)
    alone = [
        name
        for name in faceting.active_facets(params)
        if name not in chosen or chosen[name][1] == "any" or _is_bounded(params, name)
    ]
    requests: Any = [_count(index, params, params.get("facets") or ["*"])]
    requests += [_count(index, _without(params, name), [name]) for name in alone]
    answers: Any = (await client.search_many(requests))["results"]
    counts = dict(answers[0].get("facets", {}))
    stats = dict(answers[0].get("facets_stats", {}))
    for name, answer in zip(alone, answers[1:], strict=True):
        counts[name] = answer.get("facets", {}).get(name, {})
        if numbers := answer.get("facets_stats", {}).get(name):
            stats[name] = numbers
    return faceting.draw_facets(params, counts, stats, settings, answers[0]["nbHits"])


async def count_missing_bins(
    client: AsyncClient, index: str, params: Params, cards: Sequence[faceting.FacetCard]
) -> list[faceting.FacetCard]:
    """Count the bins of numeric facets whose values are too many to be listed, with one request."""
    edges = {
        card["name"]: faceting.bin_edges(card["stats"])
        for card in cards
        if card["stats"] and card["limited"]
    }
    requests: Any = [
        _count(index, bin_params, [])
        for name, ends in edges.items()
        for bin_params in _limit_to_bins(_without(params, name), name, ends)
    ]
    if not requests:
        return list(cards)
    answers: Any = (await client.search_many(requests))["results"]
    remaining = iter(answers)
    bins = {name: [next(remaining)["nbHits"] for _ in ends[1:]] for name, ends in edges.items()}
    return [{**card, "bins": bins.get(card["name"], card["bins"])} for card in cards]


def _limit_to_bins(params: Params, name: str, edges: Sequence[float]) -> Iterator[Params]:
    """Yield the parameters limited to each bin; only the last bin contains its upper end."""
    for number, (low, high) in enumerate(pairwise(edges), 2):
        bounded = faceting.put_bounds(params, name, low, high)
        if number < len(edges):
            bounds = [*bounded["numericFilters"][:-1], f"{name}<{high:.12g}"]
            bounded = {**bounded, "numericFilters": bounds}
        yield bounded


def _without(params: Params, name: str) -> Params:
    """Return the parameters without the selected values and the range of a facet."""
    return faceting.put_bounds(faceting.without_facet(params, name), name, None, None)


def _is_bounded(params: Params, name: str) -> bool:
    return faceting.bounds_of(params, name) != (None, None)


def _count(index: str, params: Params, facets: Sequence[str]) -> dict[str, Any]:
    rest = {name: params[name] for name in params if name not in ("page", "offset", "length")}
    options = {"facets": facets, "hitsPerPage": 0, "attributesToHighlight": [], "analytics": False}
    return {**rest, **options, "indexName": index}


def count_before(response: Mapping[str, Any]) -> int:
    """Return the number of hits on the pages before a response."""
    return int(response.get("offset", response.get("page", 0) * response.get("hitsPerPage", 0)))


def draw_answer(
    response: Mapping[str, Any], ranking: Ranking, display: HitDisplay
) -> dict[str, Any]:
    """Return the part of a response that a view draws."""
    members = {name: response[name] for name in RESPONSE_MEMBERS if name in response}
    hits = draw_hits(response["hits"], ranking, count_before(response), display)
    return {**members, "hits": hits, "attributes": list_attributes(response["hits"])}


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


def highlight_tags(params: Params) -> tuple[str, str]:
    """Return the tags around matches that the parameters ask for."""
    names = ("highlightPreTag", "highlightPostTag")
    pre, post = (params.get(name) or default_of(name) for name in names)
    return pre, post


def key_of(value: Params) -> str:
    """Return parameters as one text, equal for equal parameters."""
    return json.dumps(value, sort_keys=True)


def label_of(value: Params) -> str:
    """Label a search of the history: the query, then each other parameter as JSON."""
    others = [
        f"{name}={json.dumps(member, ensure_ascii=False)}"
        for name, member in value.items()
        if name != "query"
    ]
    return " · ".join([value.get("query") or "(everything)", *others])


def text_lines(card: Mapping[str, Any]) -> str:
    """Return the lines of a hit card as one text without marks."""
    return "; ".join(f"{name}: {unmark(text)}" for name, text in card["lines"])
