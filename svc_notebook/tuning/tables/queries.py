"""Queries of tables as search requests, and queries of logs with all their filters as one text.

The same words with other filters are another query. Therefore filters given as lists
(`facetFilters`, `numericFilters`, `tagFilters`) are written in the syntax of `filters`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.tuning.tables.schema import is_missing
from svc_notebook.tuning.tables.tables import Queries, check_queries

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One query to judge; the same words with other filters are another query.

    `weight` is its share of an average, `frequency` the number of its searches, if known.
    """

    query: str
    filters: str = ""
    params: Params = field(default_factory=dict, compare=False)
    weight: float = field(default=1.0, compare=False)
    frequency: int | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Return its identity."""
        return self.query, self.filters

    def request(self, index: str, params: Params, more: Params) -> dict[str, Any]:
        """Return its search request: its own parameters take precedence, all filters must match."""
        both = [part for part in (params.get("filters"), self.filters) if part]
        filters = " AND ".join(f"({part})" for part in both) if len(both) > 1 else "".join(both)
        request = {"query": self.query, "analytics": False, "page": 0}
        return {
            **params, **self.params, **request, **more, "indexName": index,
            **({"filters": filters} if filters else {}),
        }  # fmt: skip


def read_questions(given: Queries) -> list[Question]:
    """Read queries: texts, dicts, or a table with a column `query`; see `check_queries`."""
    columns = ["query", "filters", "params", "weight", "frequency"]
    rows = check_queries(given)[columns].to_dict("records")
    # An object column of pandas 2 holds the texts of a NumPy array as `numpy.str_`.
    return [
        Question(
            str(row["query"]),
            str(row["filters"]),
            check_members(row["params"], SearchParams, "params"),
            float(row["weight"]),
            None if is_missing(row["frequency"]) else int(row["frequency"]),
        )
        for row in rows
    ]


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
