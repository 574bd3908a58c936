"""The active filters of a search: each filter and parameter, and the search without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypedDict

from svc_notebook.core.display import shorten
from svc_notebook.faces.editors.query_editor import facets

Params = dict[str, Any]
MAX_LABEL_CHARACTERS = 60
UNLISTED = ("query", "page", "offset", "length")


class ActiveFilter(TypedDict):
    """The label of a filter or parameter, and the search parameters without it."""

    label: str
    value: Params


def list_active_filters(params: Params) -> list[ActiveFilter]:
    """List the filters and parameters of a search, facets first."""
    return [*_values(params), *_ranges(params), *_others(params)]


def name_chosen_filters(params: Params) -> list[str]:
    """Name the facet values and ranges that the user has chosen, as their labels do."""
    chosen = [entry["label"] for entry in (*_values(params), *_ranges(params))]
    return [*chosen, "optionalFilters"] if chosen and params.get("optionalFilters") else chosen


def _values(params: Params) -> Iterator[ActiveFilter]:
    for name, (values, mode) in facets.chosen_facets(params).items():
        for value in values:
            rest = facets.toggle_facet(params, name, value, mode)
            yield {"label": _cut(f"{name}: {value}"), "value": rest}


def _ranges(params: Params) -> Iterator[ActiveFilter]:
    for name in facets.active_facets(params):
        low, high = facets.bounds_of(params, name)
        ends = [f"{sign} {end:.12g}" for sign, end in (("≥", low), ("≤", high)) if end is not None]
        if ends:
            rest = facets.put_bounds(params, name, None, None)
            yield {
                "label": _cut(f"{name} {', '.join(ends)}"),
                "value": rest,
            }


def _others(params: Params) -> Iterator[ActiveFilter]:
    """Yield parameters, of filters only the parts that are not shown as facets."""
    hidden = params
    for name in facets.active_facets(params):
        hidden = facets.put_bounds(facets.put_facet(hidden, name, []), name, None, None)
    for name in hidden:
        if name not in UNLISTED:
            text = json.dumps(hidden[name], ensure_ascii=False)
            yield {
                "label": _cut(f"{name}: {text}"),
                "value": _without(params, name, hidden[name]),
            }


def _without(params: Params, name: str, removed: Any) -> Params:
    rest = {key: value for key, value in params.items() if key not in (name, "page")}
    if isinstance(removed, list) and isinstance(params[name], list):
        kept = [entry for entry in params[name] if entry not in removed]
        return {**rest, name: kept} if kept else rest
    return rest


def _cut(text: str) -> str:
    return shorten(text, MAX_LABEL_CHARACTERS)
