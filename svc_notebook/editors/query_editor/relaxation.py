"""Relaxation of a search without results: it is repeated without each word and each filter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.editors.query_editor import facets as faceting

Params = dict[str, Any]
MAX_RELAXED_WORDS = 12  # of a query; each is one more search
FILTERS = (
    "filters", "facetFilters", "numericFilters", "tagFilters", "restrictSearchableAttributes",
    "aroundLatLng", "aroundRadius", "insideBoundingBox", "insidePolygon",
)  # fmt: skip
PAGING = ("page", "offset", "length")


class RelaxedSearch(TypedDict):
    """A search with hits, and the description of what it leaves out."""

    label: str
    hits: int
    value: Params


async def relax(client: AsyncClient, index: str, params: Params) -> list[RelaxedSearch]:
    """Search without each word and filter, in one request; return those with hits, most first."""
    variants = list(_list_variants(params))
    if not variants:
        return []
    own = {"hitsPerPage": 0, "facets": [], "analytics": False, "indexName": index}
    requests: Any = [{**_without(value, *PAGING), **own} for _, value in variants]
    answers: Any = (await client.search_many(requests))["results"]
    found: list[RelaxedSearch] = [
        {"label": label, "hits": answer["nbHits"], "value": value}
        for (label, value), answer in zip(variants, answers, strict=True)
        if answer["nbHits"]
    ]
    return sorted(found, key=lambda search: -search["hits"])


def _list_variants(params: Params) -> Iterator[tuple[str, Params]]:
    rest = _without(params, *PAGING)
    if rest != params:
        yield "First page", rest
    words = params.get("query", "").split()
    if 1 < len(words) <= MAX_RELAXED_WORDS:
        for place, word in enumerate(words):
            left = " ".join(words[:place] + words[place + 1 :])
            yield f"Without “{word}”", {**rest, "query": left}
    facets = faceting.active_facets(params)
    for name in facets:
        without_facet = faceting.put_bounds(faceting.without_facet(rest, name), name, None, None)
        yield f"Any {name}", without_facet
    active = [name for name in FILTERS if name in params]
    for name in active:
        if facets and name in ("facetFilters", "numericFilters"):
            continue
        yield f"Without {name}", _without(rest, name)
    if len(active) > 1 or len(facets) > 1:
        yield "Without any filter", _without(rest, *active)


def _without(params: Params, *names: str) -> Params:
    return {name: value for name, value in params.items() if name not in names}
