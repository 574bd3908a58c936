"""The active filters of a search: each filter and parameter, and the search without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypedDict

from svc_notebook.display import shorten
from svc_notebook.editors.query_editor import facets

Params = dict[str, Any]
MAX_LABEL_CHARACTERS = 60  # characters of one
OWN = ("query", "page", "offset", "length")


class ActiveFilter(TypedDict):
    """One filter or parameter, in words, and the search parameters without it."""

    label: str
    value: Params


def list_held(params: Params) -> list[ActiveFilter]:
    """Name all that holds a search, the facets first."""
    return [*_values(params), *_ranges(params), *_others(params)]


def _values(params: Params) -> Iterator[ActiveFilter]:
    for name, (values, mode) in facets.chosen_facets(params).items():
        for value in values:
            rest = facets.toggle_facet(params, name, value, mode)
            yield {"label": _cut(f"{name}: {value}"), "value": rest}


def _ranges(params: Params) -> Iterator[ActiveFilter]:
    for name in facets.held_facets(params):
        least, most = facets.bounds_of(params, name)
        ends = [
            f"{sign} {end:.12g}" for sign, end in (("≥", least), ("≤", most)) if end is not None
        ]
        if ends:
            rest = facets.put_bounds(params, name, None, None)
            yield {
                "label": _cut(f"{name} {', '.join(ends)}"),
                "value": rest,
            }


def _others(params: Params) -> Iterator[ActiveFilter]:
    """Parameters as they are, of filters only what facets do not show."""
    hidden = params
    for name in facets.held_facets(params):
        hidden = facets.put_bounds(facets.put_facet(hidden, name, []), name, None, None)
    for name in hidden:
        if name not in OWN:
            text = json.dumps(hidden[name], ensure_ascii=False)
            yield {
                "label": _cut(f"{name}: {text}"),
                "value": _without(params, name, hidden[name]),
            }


def _without(params: Params, name: str, gone: Any) -> Params:
    rest = {key: value for key, value in params.items() if key not in (name, "page")}
    if isinstance(gone, list) and isinstance(params[name], list):
        kept = [entry for entry in params[name] if entry not in gone]
        return {**rest, name: kept} if kept else rest
    return rest


def _cut(text: str) -> str:
    return shorten(text, MAX_LABEL_CHARACTERS)
