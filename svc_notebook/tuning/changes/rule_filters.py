"""Filters of rules that match nothing because their attribute is not a facet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.core.api.attributes import attributes_in, filtered_attributes
from svc_notebook.core.api.warning import warn_user
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import CallFailed, did_you_mean
from svc_notebook.tuning.changes.state import Objects, Scope

FILTERS = ("filters", "facetFilters", "optionalFilters")
SHOWN_RULES = 5
TAGS = "_tags"


async def warn_of_rule_filters(
    client: AsyncClient, index: str, proposed: Mapping[Scope, Objects]
) -> None:
    """Warn of rules that filter by attributes that are not in `attributesForFaceting`.

    No record matches such a filter. A key without the right to read settings gets no warning.
    """
    named = [*_name_filters(proposed.get("rules") or {})]
    if not named:
        return
    try:
        settings: Mapping[str, Any] = await client.get_settings(index)
    except CallFailed:
        return
    entries = {**settings, **proposed.get("settings", {})}.get("attributesForFaceting") or ()
    facets = {TAGS, *(name for entry in entries for name in attributes_in(entry))}
    warnings = [
        f"rule `{rule}` filters by `{name}`, which is not among attributesForFaceting of {index}, "
        f"so that no record matches it{did_you_mean(name, facets - {TAGS})}"
        for rule, name in named
        if name not in facets
    ]
    if len(warnings) > SHOWN_RULES:
        warnings[SHOWN_RULES:] = [f"and {len(warnings) - SHOWN_RULES} more"]
    if warnings:
        warn_user("; ".join(warnings))


def _name_filters(rules: Objects) -> Iterator[tuple[str, str]]:
    """Yield each rule with each attribute that its consequence filters by."""
    for name, rule in rules.items():
        params = ((rule or {}).get("consequence") or {}).get("params") or {}
        filters = [params.get(member) for member in FILTERS]
        for attribute in dict.fromkeys(filtered_attributes([entry for entry in filters if entry])):
            yield name, attribute
