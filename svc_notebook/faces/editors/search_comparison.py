"""Searches before and after a draft: compared side by side, and on temporary copies of the index.

No search parameter can replace synonyms or rules, so only an index that has them gives the exact
result. A copy is one task of the service; the index itself is never changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, NotRequired, TypedDict

from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.validation import same
from svc_notebook.core.display import shorten, text_of
from svc_notebook.data.client import AsyncClient, ResourceKind, TemporaryIndex, write_all
from svc_notebook.errors import SvcError
from svc_notebook.faces.editors.changes import changed_settings
from svc_notebook.faces.editors.hit_cards import POST, PRE, HitDisplay, draw_hits
from svc_notebook.faces.editors.rpc import Explanation, explain

SHOWN_HITS = 20  # of each search
MAX_NAMED = 2  # members by which a search is named; others are counted
MAX_NAME_CHARACTERS = 60  # of one member

By = Literal["", "parameters", "copy"]

OnProgress = Callable[[int, int, str], None]


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
        "index": index, "name": name, "nbHits": answer["nbHits"], "hits": hits, "applied": applied,
    }  # fmt: skip


class Copy:
    """A copy of an index on which changes are tried; the caller that creates it drops it."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client = client
        self._temporary = TemporaryIndex(client, index, "preview")
        self._settings: Mapping[str, Any] = {}
        self._lists: dict[str, Sequence[Any]] = {}
        self.name = self._temporary.name

    async def make(
        self, settings: Mapping[str, Any], lists: Mapping[str, Sequence[Any]] = {}
    ) -> None:
        """Copy records, settings, synonyms and rules, which have these settings.

        `lists` are the copied synonyms and rules, as far as they are known.
        """
        await self._temporary.open()
        self._settings, self._lists = settings, dict(lists)

    async def configure(self, settings: Mapping[str, Any]) -> None:
        """Give the copy other settings, replicas aside."""
        changes: Any = changed_settings(self._settings, settings)
        changes.pop("replicas", None)
        if changes:
            changed = await self._client.set_settings(self.name, changes)
            await self._client.wait(changed, index=self.name)
        self._settings = settings

    async def replace(self, kind: ResourceKind, documents: Sequence[Any]) -> None:
        """Give the copy other synonyms, or rules; without a request if it has them."""
        if kind.name in self._lists and same(self._lists[kind.name], documents):
            return
        self._lists.pop(kind.name, None)  # unknown if the request fails
        written = await write_all(self._client, kind, self.name, list(documents))
        await self._client.wait(written, index=self.name)
        self._lists[kind.name] = documents

    async def drop(self) -> None:
        """Delete the copy; warn if that fails, as the preview itself is done."""
        await self._temporary.discard()


class Preview(TypedDict):
    """One pinned query."""

    query: str
    comparison: NotRequired[SideBySide]
    error: NotRequired[Explanation]


async def preview(
    client: AsyncClient,
    index: str,
    queries: Sequence[str],
    after: tuple[str, Mapping[str, Any]],
    searchable: Sequence[str] = (),
) -> list[Preview]:
    """Search for each query both ways; `searchable` are the attributes of headlines."""
    other, params = after

    async def search_both_ways(query: str) -> Preview:
        quiet = {"query": query, "analytics": False}
        try:
            sides = [(index, quiet), (other, {**quiet, **params})]
            comparison = await compare(client, sides, searchable)
        except SvcError as error:
            return {"query": query, "error": explain(error)}
        return {"query": query, "comparison": comparison}

    return list(await asyncio.gather(*map(search_both_ways, queries)))


class SkippedReason(TypedDict, total=False):
    """The reason why an object had no effect on a search; `spans` are its times."""

    text: str
    spans: list[dict[str, float]]


class QueryImpact(TypedDict):
    """The results of one query before and after the draft, and the objects without effect."""

    query: str
    comparison: SideBySide
    skipped: dict[str, SkippedReason]


async def measure(
    client: AsyncClient,
    index: str,
    copy: str,
    queries: Sequence[str],
    params: Mapping[str, Any],
    on_progress: OnProgress,
    searchable: Sequence[str] = (),
) -> list[QueryImpact]:
    """Search an index and its copy for each query; compare the results.

    `searchable` are the attributes of headlines.
    """
    impacts: list[QueryImpact] = []
    for number, query in enumerate(queries):
        on_progress(
            number, len(queries), f"{query or '(everything)'}: searching the index and the copy"
        )
        search_params = {**params, "query": query, "analytics": False}
        sides = [(index, search_params), (copy, search_params)]
        comparison = await compare(client, sides, searchable)
        impacts.append({"query": query, "comparison": comparison, "skipped": {}})
    return impacts


def tabulate(impacts: Sequence[QueryImpact]) -> list[dict[str, Any]]:
    """Return impacts as rows: the numbers of hits, and of the first hits that changed."""
    return [
        {
            "query": impact["query"],
            "before": impact["comparison"]["sides"][0]["nbHits"],
            "after": impact["comparison"]["sides"][1]["nbHits"],
            **{name: impact["comparison"][name] for name in ("gained", "lost", "moved")},
        }
        for impact in impacts
    ]


@asynccontextmanager
async def copy_with(
    client: AsyncClient, kind: ResourceKind, index: str, documents: Sequence[Any]
) -> AsyncIterator[str]:
    """Yield a copy of an index that has these synonyms or rules."""
    async with TemporaryIndex(client, index, "preview") as copy:
        written = await write_all(client, kind, copy.name, list(documents))
        await client.wait(written, index=copy.name)
        yield copy.name
