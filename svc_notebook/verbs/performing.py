"""A bound call, carried out."""

from __future__ import annotations

from typing import Any

from svc_notebook.errors import CallFailed
from svc_notebook.verbs.advising import advise, warn_of_no_facets
from svc_notebook.verbs.binding import Call
from svc_notebook.verbs.confirming import confirm
from svc_notebook.verbs.helping import help as help_on
from svc_notebook.verbs.verb import PROFILE, Face


def perform(call: Call, face: Face) -> Any:
    """Call the function of a verb and return its value; ask first where it takes away."""
    if call.wants_help:
        return help_on(call.verb.name, face=face)
    arguments = dict(call.arguments)
    if call.verb.name == "help":
        arguments["face"] = face
    # A notebook has connected before; a command is alone and takes what is configured.
    if PROFILE in call.verb.common and face == "command":
        from svc_notebook.verbs.command_client import command_client  # httpx comes with it

        arguments["client"] = command_client(call.profile)
    elif PROFILE in call.verb.common and call.profile:
        from svc_notebook.session.connecting import make_client

        arguments["client"] = make_client(call.profile)
    if call.verb.asks(call.arguments) and not call.yes:
        from svc_notebook import session

        arguments |= confirm(call, face, arguments.get("client") or session.current())
    try:
        value = call.verb.function(**arguments)
    except CallFailed as error:
        advise(call, error, arguments.get("client"))
        raise
    warn_of_no_facets(call, value, arguments.get("client"))
    return value
