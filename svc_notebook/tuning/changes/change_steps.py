"""The steps of a change of an index that is searched, in a safe order."""

from __future__ import annotations

from collections.abc import Mapping

from svc_notebook.api.attributes import attributes_in
from svc_notebook.tuning.changes.state import Delta, Objects, Scope

FACETS = "attributesForFaceting"
Step = tuple[Scope, Objects]
_LISTS: tuple[Scope, ...] = ("synonyms", "rules")


def list_steps(deltas: Mapping[Scope, Delta], *, all_facets: bool = False) -> list[Step]:
    """Return the writes of a change, in an order in which no moment lacks what a search needs.

    Rules filter by facets. So facets that are new come before the rules, and those that go stay
    until the rules are replaced. `all_facets` writes facets that the index already has, too.
    """
    settings = deltas.get("settings")
    between = facets_between(deltas)
    steps: list[Step] = []
    if settings:
        first = {name: value for name, value in settings.after.items() if name != FACETS}
        if FACETS in settings.after:
            facets = settings.after[FACETS] if between is None else between
            if all_facets or facets != settings.before[FACETS]:
                first[FACETS] = facets
        steps.append(("settings", first))
    steps += [(scope, deltas[scope].after) for scope in _LISTS if scope in deltas]
    if settings and between is not None:
        steps.append(("settings", {FACETS: settings.after[FACETS]}))
    return [(scope, objects) for scope, objects in steps if objects]


def facets_between(deltas: Mapping[Scope, Delta]) -> list[str] | None:
    """Return old and new facets together, if facets go while rules change; else None."""
    settings = deltas.get("settings")
    if not settings or FACETS not in settings.after or "rules" not in deltas:
        return None
    new = list(settings.after[FACETS] or ())
    names = {name for entry in new for name in attributes_in(entry)}
    going = [
        entry for entry in settings.before[FACETS] or () if not names & {*attributes_in(entry)}
    ]
    return [*new, *going] if going else None
