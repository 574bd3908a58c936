"""Ask before something is taken away; where nobody can be asked, want it said beforehand."""

from __future__ import annotations

import sys
from string import Formatter
from typing import TYPE_CHECKING, Any

from svc_notebook.errors import BadOption, Stopped
from svc_notebook.terminal import escape_controls
from svc_notebook.verbs.binding import Call
from svc_notebook.verbs.names import SHOWN
from svc_notebook.verbs.verb import Face

if TYPE_CHECKING:
    from svc_notebook.client import Client

_LONGEST = 80  # characters of a value that a question shows
KEYS = ("key", "parent")
PLAIN = (str, int, float, list, type(None))


def confirm(call: Call, face: Face, client: Client) -> dict[str, Any]:
    """Return if the user wants it, with arguments that bind the call to what was said.

    Raises where the user does not want it, or cannot be asked.
    """
    settled = call.verb.settles(call.arguments, client) if call.verb.settles else None
    told, bound = settled or (_deed(call), {})
    deed = f"{told}, {_place(client)}"
    answer = ask(f"{deed[0].upper()}{deed[1:]}? [y/N] ", face)
    if answer is None:
        raise BadOption(f"nobody can be asked here; to {deed}, add `--yes`")
    if answer.strip().casefold() not in ("y", "yes"):
        raise Stopped(f"nothing was done; asked for was to {deed}")
    return bound


def _deed(call: Call) -> str:
    """Say what is done to which index, and in brackets what else was given."""
    shown = {name: _masked(name, value) for name, value in call.arguments.items()}
    text = call.verb.destructive.format_map(shown)
    named = {name for _, name, _, _ in Formatter().parse(call.verb.destructive)}
    others = [f"{n}: {_short(v)}" for n, v in call.arguments.items() if n not in named]
    return f"{text} ({'; '.join(others)})" if others else text


def _masked(name: str, value: Any) -> Any:
    """Show a key's beginning only, and a variable's content not at all."""
    if name not in KEYS:
        return value
    return f"{value[:SHOWN]}..." if isinstance(value, str) else "in the variable"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return _clipped(", ".join(f"{n}={_masked(n, v)}" for n, v in value.items()))
    if not isinstance(value, PLAIN):
        return f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else "given"
    return _clipped(", ".join(map(_short, value)) if isinstance(value, list) else f"{value}")


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _place(client: Client) -> str:
    from svc_notebook import session

    own = client.connection
    name = session.profile_of(client)
    profile = f"profile {name}" if name else "no profile"
    return f"{profile}, application {own.app_id} at {own.address}"


def ask(question: str, face: Face) -> str | None:
    """Ask on stderr in a terminal, or as a notebook does it; None where nobody can be asked."""
    question = escape_controls(question)
    if face == "command":
        if not sys.stdin.isatty():
            return None  # the next line of a pipe is no answer
        sys.stderr.write(question)
        sys.stderr.flush()
        question = ""
    try:
        return input(question)
    except (EOFError, NotImplementedError, OSError):
        return None
