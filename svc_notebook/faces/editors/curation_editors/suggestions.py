"""Suggestions for the fields of a rule: the index's facets and their values, and other indices."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import SvcError

MAX_FACET_VALUES = 30  # of one facet
MAX_INDICES = 200
_UNQUOTED = re.compile(r"[^\s:\"'()<>=!]+")
_OPERATORS = {"and", "or", "not", "to"}


class RuleSuggestions(TypedDict):
    """Names of facets, filters on facet values and on ranges, and names of indices."""

    facets: list[str]
    filters: list[str]
    ranges: list[str]
    indices: list[str]


async def suggest(client: AsyncClient, index: str) -> RuleSuggestions:
    """Read the suggestions; what the key cannot read is left out."""
    facet_names, indices = await asyncio.gather(_read_facets(client, index), _read_indices(client))
    facets, stats = facet_names.get("facets") or {}, facet_names.get("facets_stats") or {}
    return {
        "facets": sorted(facets),
        "filters": [
            f"{_quote(name)}:{_quote(value)}"
            for name in sorted(facets.keys() - stats.keys())
            for value in facets[name]
        ],
        "ranges": [*_write_ranges(stats)],
        "indices": indices,
    }


async def _read_facets(client: AsyncClient, index: str) -> Mapping[str, Any]:
    search_params: Any = {
        "facets": ["*"],
        "hitsPerPage": 0,
        "analytics": False,
        "enableRules": False,
    }
    try:
        return await client.search(index, **search_params, maxValuesPerFacet=MAX_FACET_VALUES)
    except SvcError:
        return {}


async def _read_indices(client: AsyncClient) -> list[str]:
    try:
        answer = await client.list_indices()
    except SvcError:
        return []
    return sorted(item["name"] for item in answer["items"])[:MAX_INDICES]


def _write_ranges(stats: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(stats):
        yield f"{_quote(name)} >= {_write_number(stats[name]['min'])}"
        yield f"{_quote(name)} <= {_write_number(stats[name]['max'])}"


def _write_number(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)


def _quote(text: str) -> str:
    """Quote a name or value for a filter if it needs quotes."""
    if _UNQUOTED.fullmatch(text) and text.lower() not in _OPERATORS:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
