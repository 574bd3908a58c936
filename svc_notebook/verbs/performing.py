"""A bound call, carried out."""

from __future__ import annotations

from typing import Any

from svc_notebook.verbs.binding import Call
from svc_notebook.verbs.helping import help as help_on
from svc_notebook.verbs.verb import Face


def perform(call: Call, face: Face) -> Any:
    """Call the function of a verb and return its value."""
    if call.wants_help:
        return help_on(call.verb.name, face=face)
    arguments = dict(call.arguments)
    if call.verb.name == "help":
        arguments["face"] = face
    if call.profile:
        arguments["client"] = _client_of(call.profile)
    return call.verb.function(**arguments)


def _client_of(profile: str) -> Any:
    from svc_notebook.session import client_of  # httpx comes with it

    return client_of(profile)
