"""Filters that partition an index: by the values of a facet, or by ranges of numbers."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from svc_notebook.api.parameters import SearchParams
from svc_notebook.errors import BadInput, NotFound

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# Facet values that a service returns, and that filters contain; the rest is one partition.
VALUES, NAMED = 1000, 200


async def divide(
    client: AsyncClient,
    index: str,
    by: str,
    parts: int,
    divisions: Sequence[float] | None,
    params: SearchParams,
) -> list[str]:
    """Return filters of which every record matches exactly one; empty ones are dropped."""
    answer = await _ask(client, index, by, params)
    if divisions is None:
        divisions = _edges(answer.get("facets_stats", {}).get(by), parts)
    counts = answer.get("facets", {}).get(by, {})
    if divisions is not None:
        filters = ranges(by, divisions)
    elif counts:
        filters = groups(by, counts, parts)
    else:
        raise BadInput(
            f"`{by}` is no facet of {index}: name it in the setting attributesForFaceting, or give "
            "the bounds of a number: divisions=[0, 10, 100]"
        )
    joined = [join_filters(params.get("filters"), each) for each in filters]
    sizes = [(await _count(client, index, {**params, "filters": each})) for each in joined]
    if sum(sizes) != answer["nbHits"]:
        raise BadInput(
            f"the parts by `{by}` hold {sum(sizes):,} records, and there are {answer['nbHits']:,}: "
            "some are in several. Divide by an attribute with one value a record"
        )
    return [each for each, size in zip(joined, sizes, strict=True) if size] or joined[:1]


def ranges(by: str, bounds: Sequence[float]) -> list[str]:
    """Return a filter for each range, also outside the bounds, and one for no number."""
    edges = sorted(set(bounds))
    inner = [f"{name(by)} >= {low} AND {name(by)} < {high}" for low, high in pairwise(edges)]
    first, last = f"{name(by)} < {edges[0]}", f"{name(by)} >= {edges[-1]}"
    neither = f"NOT {first} AND NOT {last}" if len(edges) == 1 else _outside(by, edges)
    return [first, *inner, last, neither]


def _outside(by: str, edges: Sequence[float]) -> str:
    return f"NOT {name(by)} < {edges[0]} AND NOT {name(by)} >= {edges[0]}"


def groups(by: str, counts: Mapping[str, int], parts: int) -> list[str]:
    """Group the values into partitions of similar size, and all other records into the last one."""
    common = sorted(counts, key=lambda value: -counts[value])[:NAMED]
    heap: list[tuple[int, int, list[str]]] = [(0, n, []) for n in range(min(parts, len(common)))]
    for value in common:
        size, number, held = heapq.heappop(heap)
        heapq.heappush(heap, (size + counts[value], number, [*held, value]))
    shared = [held for _, _, held in sorted(heap, key=lambda each: each[1])]
    filters, before = [], list[str]()
    for held in shared:
        # A record can have several values: it belongs to the partition of the first.
        either = " OR ".join(f"{name(by)}:{name(value)}" for value in held)
        filters.append(join_filters(either, *before))
        before += [f"NOT {name(by)}:{name(value)}" for value in held]
    return [*filters, join_filters(*before)]


def join_filters(*filters: str | None) -> str:
    """Combine filters with AND; OR binds tighter than AND."""
    return " AND ".join(filter(None, filters))


def name(text: str) -> str:
    """Quote a name or a value in a filter."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _edges(stats: Mapping[str, float] | None, parts: int) -> list[float] | None:
    """Divide the span of a number evenly."""
    if stats is None:
        return None
    low, high = stats["min"], stats["max"]
    return [low + (high - low) * n / parts for n in range(1, parts)] or [high]


async def _ask(client: AsyncClient, index: str, by: str, params: SearchParams) -> Any:
    asked: Any = {**QUIET, **params, "facets": [by], "maxValuesPerFacet": VALUES}
    try:
        return await client.search(index, **asked)
    except NotFound as error:
        raise BadInput(f"there is no index {index}") from error


async def _count(client: AsyncClient, index: str, params: SearchParams) -> int:
    asked: Any = {**QUIET, **params}
    return int((await client.search(index, **asked))["nbHits"])


QUIET: SearchParams = {
    "hitsPerPage": 0,
    "attributesToHighlight": [],
    "analytics": False,
    "enableRules": False,
    "distinct": False,
}
