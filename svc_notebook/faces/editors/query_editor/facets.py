"""Facets and filters of the query editor: what is selected, stored in the search parameters.

In `facetFilters` a text such as `brand:Acme` must match, and a list contains alternatives. So a
facet whose selected values are in one list is disjunctive, and one whose values are separate is
conjunctive. What fits neither form is left unchanged.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

from svc_notebook.core.api.attributes import name_attributes
from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.display import shorten

Params = dict[str, Any]
FACETS = "attributesForFaceting"
MAX_BINS = 20
MAX_LABEL_CHARACTERS = 60
UNLISTED = ("query", "page", "offset", "length")
Mode = Literal["any", "all"]
# A facet and its value; a value that begins with `-` is negated unless a backslash precedes it.
_PAIR = re.compile(r"([^:]*):(?!-)(?:\\(?=-))?(.*)", re.S)
_BOUND = re.compile(r"^\s*(.+?)\s*(>=|<=)\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*$", re.I)


class FacetCard(TypedDict):
    """One facet as a view draws it."""

    name: str
    mode: Mode
    values: list[list[Any]]
    chosen: list[str]
    stats: dict[str, float] | None
    least: float | None
    most: float | None
    step: float  # of a numeric facet's handles
    bins: list[int]  # records by value, from `stats["min"]` to `stats["max"]`; may be unknown: []
    limited: bool  # whether it may have more values than are listed
    hint: str  # why it has no values


def draw_facets(
    params: Params,
    counts: Mapping[str, Mapping[str, int]],
    stats: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    hits: int = 0,
) -> list[FacetCard]:
    """Return the facets as a panel shows them; selected values are included even without hits.

    Facets that the settings declare are included even without values.
    """
    present_settings = settings or {}
    declared = name_attributes({FACETS: present_settings.get(FACETS) or []})
    limit = _value_limit(params, present_settings)
    cards = []
    for name in dict.fromkeys([*counts, *active_facets(params), *declared]):
        card = _card(params, name, dict(counts.get(name, {})), stats.get(name), limit)
        if not card["values"]:
            card["hint"] = _explain_empty(name, params, present_settings, hits)
        cards.append(card)
    return cards


def _card(params: Params, name: str, counts: dict[str, int], stats: Any, limit: int) -> FacetCard:
    chosen, mode = chosen_facets(params).get(name, ([], "any"))
    limited = len(counts) >= limit
    ordered = _by_number(counts) if stats else counts
    values = [[value, count, value in chosen] for value, count in ordered.items()]
    values += [[value, 0, True] for value in chosen if value not in counts]
    low, high = bounds_of(params, name)
    return {
        "name": name, "mode": mode, "values": values, "chosen": chosen, "stats": stats,
        "least": low, "most": high, "step": _step(stats, counts) if stats else 0,
        "bins": [] if limited or not stats else count_bins(counts, stats), "limited": limited,
        "hint": "",
    }  # fmt: skip


def _value_limit(params: Params, settings: Mapping[str, Any]) -> int:
    """Return the maximum number of values that the service counts for each facet."""
    name = "maxValuesPerFacet"
    for source in (params, settings):
        if source.get(name) is not None:
            return int(source[name])
    return int(default_of(name))


def _explain_empty(name: str, params: Params, settings: Mapping[str, Any], hits: int) -> str:
    """Explain why a facet has no values, and which setting would fill it."""
    asked = params.get("facets") or ["*"]
    if f"filterOnly({name})" in (settings.get(FACETS) or []):
        return (
            f"Not counted, because `{FACETS}` has `filterOnly({name})`. "
            f"Replace it by `{name}` to count its values."
        )
    if name not in asked and "*" not in asked:
        return "Not counted. Add it to the parameter `facets` to count its values."
    if not _value_limit(params, settings):
        return "Not counted, because `maxValuesPerFacet` is 0."
    if not hits:
        return "This search has no hits to count."
    return (
        f"No hit has a value. If records have it under another name, change `{FACETS}` in the "
        "settings."
    )


def count_bins(counts: Mapping[str, int], stats: Mapping[str, float]) -> list[int]:
    """Count the records of a numeric facet in bins of equal width."""
    edges = bin_edges(stats, whole=_are_whole(counts))
    bins = [0] * (len(edges) - 1)
    for text, count in counts.items():
        value = _number(text)
        if bins and edges[0] <= value <= edges[-1]:
            bins[max(0, bisect_right(edges, value, hi=len(edges) - 1) - 1)] += count
    return bins


def bin_edges(stats: Mapping[str, float], *, whole: bool = False) -> list[float]:
    """Return the edges of the bins between the lowest and the highest value; none if equal."""
    low, high = stats["min"], stats["max"]
    if not low < high:
        return []
    number = min(MAX_BINS, int(high - low) + 1) if whole else MAX_BINS
    return [low + (high - low) * step / number for step in range(number)] + [high]


def _are_whole(counts: Mapping[str, int]) -> bool:
    return all(_number(text).is_integer() for text in counts)


def _step(stats: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """Return the step of the handles: 1 for whole numbers, else about a hundredth of the range."""
    span = stats["max"] - stats["min"]
    if span <= 0 or _are_whole(counts):
        return 1
    return float(10.0 ** math.floor(math.log10(span / 100)))


def chosen_facets(params: Params) -> dict[str, tuple[list[str], Mode]]:
    """Return the selected values of each facet, and whether any or all of them must match."""
    chosen: dict[str, tuple[list[str], Mode]] = {}
    for entry in _entries(params):
        mode: Mode = "all" if isinstance(entry, str) else "any"
        for name, value in _pairs(entry):
            values, _ = chosen.get(name, ([], mode))
            chosen[name] = ([*values, value], mode)
    return chosen


def _by_number(counts: dict[str, int]) -> dict[str, int]:
    """Sort numeric values as numbers; by count first, if the service sorted by count."""
    facets = list(counts.values())
    by_count = facets == sorted(facets, reverse=True)
    return dict(
        sorted(counts.items(), key=lambda row: (-row[1] if by_count else 0, _number(row[0])))
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


def is_searchable(settings: Mapping[str, Any], name: str) -> bool:
    """Return whether a facet's values are searchable; true if the settings are unknown."""
    declared = settings.get("attributesForFaceting")
    return declared is None or f"searchable({name})" in declared


def find_values(facets: Sequence[FacetCard], name: str, text: str) -> list[list[Any]]:
    """Find the counted values of a facet that contain a text."""
    values = next((card["values"] for card in facets if card["name"] == name), [])
    return [row for row in values if text.casefold() in row[0].casefold()]


def toggle_facet(params: Params, name: str, value: str, mode: Mode = "any") -> Params:
    """Select or deselect a value, and return to the first page."""
    chosen = chosen_facets(params).get(name, ([], mode))[0]
    values = [v for v in chosen if v != value] if value in chosen else [*chosen, value]
    return put_facet(params, name, values, mode)


def put_facet(params: Params, name: str, values: list[str], mode: Mode = "any") -> Params:
    """Set the selected values of a facet."""
    others = [entry for entry in _entries(params) if not _is_of(entry, name)]
    added = [f"{name}:{_escaped(value)}" for value in values]
    entries = others + (added if mode == "all" else [added] * bool(added))
    return _with(params, "facetFilters", entries)


def without_facet(params: Params, name: str) -> Params:
    """Return the parameters without the selected values of a facet."""
    return _with(params, "facetFilters", [e for e in _entries(params) if not _is_of(e, name)])


def bounds_of(params: Params, name: str) -> tuple[float | None, float | None]:
    """Return the range of a numeric facet."""
    bounds = {sign: bound for attribute, sign, bound in _bounds(params) if attribute == name}
    return bounds.get(">="), bounds.get("<=")


def active_facets(params: Params) -> list[str]:
    """Return the facets with selected values or a range."""
    bound = [name for name, _, _ in _bounds(params)]
    return list(dict.fromkeys([*chosen_facets(params), *bound]))


def put_bounds(params: Params, name: str, low: float | None, high: float | None) -> Params:
    """Set the range of a numeric facet; None is an open end."""
    others = [e for e in _numeric(params) if not (isinstance(e, str) and _is_bound(e, name))]
    added = [
        f"{name}{sign}{bound:.12g}"
        for sign, bound in ((">=", low), ("<=", high))
        if bound is not None
    ]
    return _with(params, "numericFilters", [*others, *added])


def _with(params: Params, name: str, entries: list[Any]) -> Params:
    rest = {key: value for key, value in params.items() if key not in (name, "page")}
    return {**rest, name: entries} if entries else rest


def _entries(params: Params) -> list[Any]:
    filters = params.get("facetFilters") or []
    return [filters] if isinstance(filters, str) else list(filters)


def _numeric(params: Params) -> list[Any]:
    filters = params.get("numericFilters") or []
    return filters.split(",") if isinstance(filters, str) else list(filters)


def _bounds(params: Params) -> Iterator[tuple[str, str, float]]:
    for entry in _numeric(params):
        if isinstance(entry, str) and (match := _BOUND.match(entry)):
            yield match[1], match[2], float(match[3])


def _is_bound(entry: str, name: str) -> bool:
    match = _BOUND.match(entry)
    return match is not None and match[1] == name


def _pairs(entry: Any) -> list[tuple[str, str]]:
    """Return the name and value pairs of an entry with one facet and no negation, else none."""
    texts = [entry] if isinstance(entry, str) else entry
    matches = [_PAIR.fullmatch(text) if isinstance(text, str) else None for text in texts]
    pairs = [(match[1], match[2]) for match in matches if match]
    has_one_name = len(pairs) == len(matches) and len({name for name, _ in pairs}) == 1
    return pairs if has_one_name else []


def _is_of(entry: Any, name: str) -> bool:
    return any(facet == name for facet, _ in _pairs(entry))


def _escaped(value: str) -> str:
    return f"\\{value}" if value.startswith("-") else value


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
    for name, (values, mode) in chosen_facets(params).items():
        for value in values:
            rest = toggle_facet(params, name, value, mode)
            yield {"label": _cut(f"{name}: {value}"), "value": rest}


def _ranges(params: Params) -> Iterator[ActiveFilter]:
    for name in active_facets(params):
        low, high = bounds_of(params, name)
        ends = [f"{sign} {end:.12g}" for sign, end in (("≥", low), ("≤", high)) if end is not None]
        if ends:
            rest = put_bounds(params, name, None, None)
            yield {
                "label": _cut(f"{name} {', '.join(ends)}"),
                "value": rest,
            }


def _others(params: Params) -> Iterator[ActiveFilter]:
    """Yield parameters, of filters only the parts that are not shown as facets."""
    hidden = params
    for name in active_facets(params):
        hidden = put_bounds(put_facet(hidden, name, []), name, None, None)
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
