"""A search without results: which words and filters are the reason, and what to leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.editors.query_editor import facets as faceting

Params = dict[str, Any]
MAX_CHECKED_WORDS = 40  # of a query, the first; each is one more search
MAX_SEARCHES_PER_REQUEST = 50
FILTERS = (
    "filters", "facetFilters", "numericFilters", "tagFilters", "restrictSearchableAttributes",
    "aroundLatLng", "aroundRadius", "insideBoundingBox", "insidePolygon",
)  # fmt: skip
FACET_FILTERS = ("facetFilters", "numericFilters")
PAGING = ("page", "offset", "length")


class RelaxedSearch(TypedDict):
    """A search with hits, and the description of what it leaves out."""

    label: str
    hits: int
    value: Params


class Diagnosis(TypedDict):
    """The reasons of a search without results, and searches with results, most first."""

    reasons: list[str]
    searches: list[RelaxedSearch]


class SearchFilter(NamedTuple):
    """One filter of a search: its name, the search without it, and the filter alone."""

    label: str
    without: Params
    alone: Params


async def relax(client: AsyncClient, index: str, params: Params) -> Diagnosis:
    """Find the words and filters that leave a search without results."""
    rest = _without(params, *PAGING)
    words = list(dict.fromkeys(params.get("query", "").split()))[:MAX_CHECKED_WORDS]
    plain = {name: value for name, value in rest.items() if name not in (*FILTERS, "query")}
    conditions = list(_list_conditions(rest))
    variants = list(_list_variants(params, rest, words, conditions))
    checks = [
        plain,  # everything
        {**plain, "query": params.get("query", "")},  # the words without any filter
        *({**plain, "query": word} for word in words),
        *({**plain, **condition.alone} for condition in conditions),
    ]
    counts = await _count(client, index, [value for _, value in variants] + checks)
    searches = _with_hits(variants, counts[: len(variants)])
    total, matching, *single = counts[len(variants) :]
    of_words, of_conditions = single[: len(words)], single[len(words) :]
    if not total:
        return {"reasons": [f"The index {index} has no records."], "searches": []}
    unknown = [word for word, number in zip(words, of_words, strict=True) if not number]
    known = [word for word in words if word not in unknown]
    if words and not matching:
        searches += await _combine(client, index, rest, known, unknown)
    reasons = [
        *_explain_words(words, unknown, matching),
        *_explain_filters(conditions, of_conditions, matching if words else total, bool(words)),
    ]
    if not searches:
        searches = [{"label": "All records", "hits": total, "value": plain}]
    return {"reasons": reasons, "searches": _unique(searches)}


def _explain_words(words: Sequence[str], unknown: Sequence[str], matching: int) -> Iterator[str]:
    if unknown:
        yield f"No record contains {_list(unknown, 'or')}."
    elif words and not matching:
        yield f"Each word has hits, but no record contains {_list(words, 'and')} together."


def _explain_filters(
    conditions: Sequence[SearchFilter], alone: Sequence[int], matching: int, has_words: bool
) -> Iterator[str]:
    empty = [one.label for one, number in zip(conditions, alone, strict=True) if not number]
    if empty:
        yield f"No record matches {_list(empty, 'or', quoted=False)}."
    elif conditions and matching:
        found = f"Without filters the words have {matching:,} hits; " if has_words else ""
        names = _list([one.label for one in conditions], "and", quoted=False)
        text = f"{found}no record among them matches {names}."
        yield text if found else f"No record matches {names} together."


async def _combine(
    client: AsyncClient,
    index: str,
    rest: Params,
    known: Sequence[str],
    unknown: Sequence[str],
) -> list[RelaxedSearch]:
    """Search without the unknown words; if that has no hits, keep each word that leaves some."""
    kept, hits = list[str](), 0
    if unknown and known:
        [hits] = await _count(client, index, [{**rest, "query": " ".join(known)}])
        kept = list(known) if hits else []
    for word in [] if kept else known:
        [number] = await _count(client, index, [{**rest, "query": " ".join([*kept, word])}])
        if number:
            kept, hits = [*kept, word], number
    if not kept:
        return []
    query = " ".join(kept)
    return [{"label": f"Only “{query}”", "hits": hits, "value": {**rest, "query": query}}]


def _list_conditions(rest: Params) -> Iterator[SearchFilter]:
    facets = faceting.active_facets(rest)
    for name in facets:
        without = faceting.put_bounds(faceting.without_facet(rest, name), name, None, None)
        others = [other for other in facets if other != name]
        own: Params = {key: rest[key] for key in FACET_FILTERS if key in rest}
        for other in others:
            own = faceting.put_bounds(faceting.without_facet(own, other), other, None, None)
        yield SearchFilter(f"the filter on {name}", without, own)
    for name in [name for name in FILTERS if name in rest]:
        if facets and name in FACET_FILTERS:
            continue
        own = {name: rest[name]}
        if name == "aroundRadius":
            own = {key: rest[key] for key in ("aroundLatLng", name) if key in rest}
        yield SearchFilter(_describe_filter(name, rest[name]), _without(rest, name), own)


def _list_variants(
    params: Params, rest: Params, words: Sequence[str], conditions: Sequence[SearchFilter]
) -> Iterator[tuple[str, Params]]:
    """List the searches without one word or filter, and without all filters."""
    if rest != params:
        yield "First page", rest
    for place in range(len(words)) if len(words) > 1 else ():
        left = " ".join([*words[:place], *words[place + 1 :]])
        yield f"Without “{words[place]}”", {**rest, "query": left}
    for condition in conditions:
        yield f"Without {condition.label}", condition.without
    if len(conditions) > 1:
        yield "Without any filter", _without(rest, *FILTERS)


async def _count(client: AsyncClient, index: str, searches: Sequence[Params]) -> list[int]:
    own = {"hitsPerPage": 0, "facets": [], "analytics": False, "indexName": index}
    requests: Any = [{**value, **own} for value in searches]
    counts: list[int] = []
    for start in range(0, len(requests), MAX_SEARCHES_PER_REQUEST):
        part = requests[start : start + MAX_SEARCHES_PER_REQUEST]
        answers: Any = (await client.search_many(part))["results"]
        counts += [answer["nbHits"] for answer in answers]
    return counts


def _with_hits(
    variants: Sequence[tuple[str, Params]], counts: Sequence[int]
) -> list[RelaxedSearch]:
    return [
        {"label": label, "hits": number, "value": value}
        for (label, value), number in zip(variants, counts, strict=True)
        if number
    ]


def _unique(searches: Sequence[RelaxedSearch]) -> list[RelaxedSearch]:
    """Sort searches by their hits, most first; the first label of equal searches is kept."""
    found: list[RelaxedSearch] = []
    for search in searches:
        if all(search["value"] != other["value"] for other in found):
            found.append(search)
    return sorted(found, key=lambda search: -search["hits"])


def _describe_filter(name: str, value: Any) -> str:
    return f"the filter {value}" if name == "filters" else name


def _list(names: Sequence[str], word: str, *, quoted: bool = True) -> str:
    shown = [f"“{name}”" for name in names] if quoted else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def _without(params: Mapping[str, Any], *names: str) -> Params:
    return {name: value for name, value in params.items() if name not in names}
