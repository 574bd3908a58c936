"""The functions, verbs and accessors that call each endpoint of the API, as declared."""

from __future__ import annotations

from functools import cache

from generators.discovery import discover
from svc_notebook.data.declarations.declaration import Declaration
from svc_notebook.faces.commands.registry import VERBS

CALL = "call"  # the function and the verb that reach every endpoint


@cache
def _declared() -> list[Declaration]:
    return discover("svc_notebook.faces.functions")


def declared_for(endpoint: str) -> list[Declaration]:
    """Return the functions that call an endpoint, first those that are named for it."""
    found = [each for each in _declared() if endpoint in each.endpoints]
    return sorted(found, key=lambda each: (each.name != endpoint, each.endpoints.index(endpoint)))


def functions_of(endpoint: str) -> list[str]:
    """Return the names of the functions that call an endpoint."""
    return [each.name for each in declared_for(endpoint) if each.name] or [CALL]


def instead_of(endpoint: str) -> str:
    """Return the equivalent of an endpoint that only `call` reaches."""
    found = [each.replaces[endpoint] for each in _declared() if endpoint in each.replaces]
    return next(iter(found), "")


def verbs_of(endpoint: str) -> list[str]:
    """Return the verbs that call an endpoint."""
    wanted = {verb.name for each in declared_for(endpoint) for verb in each.verbs}
    return list(dict.fromkeys(row.name for row in VERBS if row.name in wanted)) or [CALL]


def accessors_of(endpoint: str) -> list[str]:
    """Return the accessor methods that call an endpoint."""
    found = (
        method.path
        for each in declared_for(endpoint)
        for method in each.accessors
        if not method.path.startswith("ddf.")
    )
    return sorted(dict.fromkeys(found))
