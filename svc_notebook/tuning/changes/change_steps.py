"""The steps of a change of an index that is searched, in a safe order."""

from __future__ import annotations

from collections.abc import Mapping

from svc_notebook.core.api.attributes import attributes_in
from svc_notebook.tuning.changes.state import Delta, Objects, Scope

FACETS = "attributesForFaceting"
Step = tuple[Scope, Objects]
_LISTS: tuple[Scope, ...] = ("synonyms", "rules")


def list_steps(deltas: Mapping[Scope, Delta], *, all_facets: bool = False) -> list[Step]:
    """Return the writes of a change, in an order in which searches work between any two steps.

    Rules filter by facets. So facets that are new come before the rules, and those that go stay
    until the rules are replaced. `all_facets` writes facets that the index already has, too.
    """
    settings = deltas.get("settings", Delta({}, {}))
    first = {**settings.after}
    last: Objects = {}
    if FACETS in first:
        between = facets_between(deltas)
        final = first.pop(FACETS)
        facets = final if between is None else between
        if all_facets or facets != settings.before[FACETS]:
            first[FACETS] = facets
        if between is not None:
            last = {FACETS: final}
    lists = [(scope, deltas[scope].after) for scope in _LISTS if scope in deltas]
    steps: list[Step] = [("settings", first), *lists, ("settings", last)]
    return [(scope, objects) for scope, objects in steps if objects]


def facets_between(deltas: Mapping[Scope, Delta]) -> list[str] | None:
    """Return old and new facets together, if facets go while rules change; else None."""
    settings = deltas.get("settings", Delta({}, {}))
    if FACETS not in settings.after or "rules" not in deltas:
        return None
    new, old = (list(side[FACETS] or ()) for side in (settings.after, settings.before))
    names = {name for entry in new for name in attributes_in(entry)}
    dropped = [entry for entry in old if names.isdisjoint(attributes_in(entry))]
    return [*new, *dropped] if dropped else None
