"""Searches of the query editor: with added parameters, with a draft of settings, and compared.

Responses are returned as a view draws them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

from svc_notebook.core.api.parameters import PARAMETERS, default_of
from svc_notebook.core.display import text_of
from svc_notebook.data.client import AsyncClient
from svc_notebook.faces.editors.changes import complete_settings
from svc_notebook.faces.editors.hit_cards import (
    POST,
    PRE,
    HitDisplay,
    Ranking,
    draw_hits,
    list_attributes,
)
from svc_notebook.faces.editors.query_editor import facets as faceting
from svc_notebook.faces.editors.rpc import report_progress
from svc_notebook.faces.editors.search_comparison import (
    ComparedSearch,
    Copy,
    compare,
    name_sides,
)
from svc_notebook.tuning.changes import as_parameters

Params = dict[str, Any]
RESPONSE_MEMBERS = (
    "nbHits", "page", "nbPages", "hitsPerPage", "offset", "length", "queryAfterRemoval",
    "message", "processingTimeMS", "appliedRules", "userData",
)  # fmt: skip

PAGING = ("page", "offset", "length", "hitsPerPage")
COMPARED_HITS = 200  # without the draft; a hit below them counts as new


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


class SettingsComparison(TypedDict):
    """A comparison, or the settings that need a copy of the index, which `copy` names."""

    needs: list[str]
    copy: str
    sides: NotRequired[list[ComparedSearch]]
    shared: NotRequired[list[list[int]]]
    gained: NotRequired[int]
    lost: NotRequired[int]
    moved: NotRequired[int]


def split_settings(value: Mapping[str, Any]) -> tuple[Params, Params]:
    """Split members into search parameters and settings that are not search parameters."""
    settings = {
        name: member
        for name, member in value.items()
        if name in PARAMETERS and PARAMETERS[name].scope == "setting"
    }
    return {name: value[name] for name in value if name not in settings}, settings


class SecondSearch:
    """Compares a search with another one; keeps the copy of an index until it is dropped."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._copy: Copy | None = None
        self._source = ""

    async def compare(
        self,
        this: tuple[str, Params],
        other: tuple[str, Params],
        settings: Params,
        searchable: Sequence[str] = (),
        *,
        may_copy: bool = False,
    ) -> SettingsComparison:
        """Compare `this` search with `other` under changed settings of the index of `other`.

        Settings that have the form of search parameters are sent as such. Others need a copy,
        which is made only with `may_copy`. `searchable` are the attributes of headlines.
        """
        index, params = other
        saved: Params = {}
        if settings:
            saved = dict(await self._client.get_settings(index))
        converted, others = as_parameters(settings, complete_settings(saved, settings))
        target = index
        if others:
            if self._source != index and not may_copy:
                return {"needs": others, "copy": self.copy_name}
            target = await self._prepare_copy(index, saved, settings)
        comparison = await compare(
            self._client, [this, (target, {**converted, **params})], searchable
        )
        names = name_sides([this, (index, {**params, **settings})], saved)
        for side, name in zip(comparison["sides"], names, strict=True):
            side["name"] = name
        return {**comparison, "needs": [], "copy": self.copy_name}

    @property
    def copy_name(self) -> str:
        """The name of the copy; empty if there is none."""
        return self._copy.name if self._copy else ""

    async def drop(self) -> None:
        """Delete the copy."""
        copy, self._copy, self._source = self._copy, None, ""
        if copy:
            await copy.drop()

    async def _prepare_copy(self, index: str, saved: Params, settings: Params) -> str:
        if self._copy is None or self._source != index:
            await self.drop()
            copy = Copy(self._client, index)
            report_progress(0, 0, f"copying {index} to {copy.name}")
            await copy.make(saved)
            self._copy, self._source = copy, index
        await self._copy.configure(complete_settings(saved, settings))
        return self._copy.name
