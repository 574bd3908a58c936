"""Logged queries: the query of a search, and all its filters as one text.

The same words with other filters are another query. Therefore filters given as lists
(`facetFilters`, `numericFilters`, `tagFilters`) are written in the syntax of `filters`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl


@lru_cache(10_000)
def read_logged_query(params: str) -> tuple[str, str]:
    """Return the query and the filters of logged search parameters, which are URL-encoded.

    A truncated list is dropped; logs truncate long parameters.
    """
    given = dict(parse_qsl(params, keep_blank_values=True))
    return given.get("query", ""), join_filters(given)


def join_filters(params: Mapping[str, Any]) -> str:
    """Write all filters of a search as one text for `filters`."""
    filters = str(params.get("filters") or "")
    lists = [
        group
        for name, write in WRITERS.items()
        for group in _groups(params.get(name), write)
    ]  # fmt: skip
    if filters and lists:
        filters = filters if _is_simple(filters) else f"({filters})"
    return " AND ".join([*([filters] if filters else []), *lists])


def _is_simple(filters: str) -> bool:
    """Return whether a text needs no parentheses beside an AND."""
    return " OR " not in filters


def _groups(given: Any, write: Callable[[str], str]) -> list[str]:
    """Write each entry of a list; a nested list contains alternatives."""
    return [_group(entry, write) for entry in _entries(given) if entry]


def _entries(given: Any) -> list[Any]:
    if not isinstance(given, str):
        return list(given or ())
    if not given.startswith("["):
        return [part for part in given.split(",") if part]
    try:
        return list(json.loads(given))
    except ValueError:
        return []


def _group(entry: Any, write: Callable[[str], str]) -> str:
    if isinstance(entry, str):
        return write(entry)
    alternatives = [write(alternative) for alternative in entry if isinstance(alternative, str)]
    text = " OR ".join(alternatives)
    return f"({text})" if len(alternatives) > 1 else text


def _write_facet(entry: str) -> str:
    name, _, value = entry.partition(":")
    if value.startswith("-"):
        return f"NOT {name}:{_quote(value[1:])}"
    return f"{name}:{_quote(value.removeprefix(chr(92)))}"


def _write_tag(entry: str) -> str:
    return f"NOT _tags:{_quote(entry[1:])}" if entry.startswith("-") else f"_tags:{_quote(entry)}"


def _quote(value: str) -> str:
    mark = "'" if '"' in value else '"'
    return f"{mark}{value}{mark}"


WRITERS: dict[str, Callable[[str], str]] = {
    "facetFilters": _write_facet,
    "numericFilters": str,
    "tagFilters": _write_tag,
}
