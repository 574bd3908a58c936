"""Execute a bound call: confirmation before, hints after a failure."""

from __future__ import annotations

import difflib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from string import Formatter
from typing import TYPE_CHECKING, Any

from svc_notebook.core import terminal
from svc_notebook.core.api.warning import spell_warnings
from svc_notebook.core.display import shorten
from svc_notebook.core.temporary_folders import TemporaryFolder
from svc_notebook.core.terminal import is_yes
from svc_notebook.errors import BadOption, NotFound, Stopped, SvcError
from svc_notebook.faces.commands.binding import BoundCall
from svc_notebook.faces.commands.help import help as help_on
from svc_notebook.faces.commands.name_completion import SHOWN_KEY_CHARACTERS
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.surface_messages import spell, spell_error
from svc_notebook.faces.commands.verb import PROFILE, Face

if TYPE_CHECKING:
    from svc_notebook.data.client import Client

WORD = "-"
KEY_FILE = "admin-key-file"  # the service reads it itself
# The first bytes of a format and the suffix of its files; other content is CSV.
_BEGINNINGS = ((b"PAR1", ".parquet"), (b"[", ".json"), (b"{", ".ndjson"), (b"<", ".xml"))
_PEEKED_BYTES = 4096
_MAX_VALUE_CHARACTERS = 80  # characters of a value in a confirmation
KEYS = ("key", "parent")
PRINTED_TYPES = (str, int, float, list, type(None))


def confirm(call: BoundCall, face: Face, client: Client) -> dict[str, Any]:
    """Ask the user for confirmation; return arguments that bind the call to the confirmed objects.

    Raises if the user declines, or if no prompt is available.
    """
    action, bound = describe_action(call, client)
    answer = ask(f"{action[0].upper()}{action[1:]}? [y/N] ", face)
    if answer is None:
        raise BadOption(f"confirmation needed but no prompt is available: pass `--yes` to {action}")
    if not is_yes(answer):
        raise Stopped(f"nothing was done; confirmation declined: {action}")
    return bound


def describe_action(call: BoundCall, client: Client) -> tuple[str, dict[str, Any]]:
    """Describe the action and its target; return arguments that bind the call to them."""
    description, bound = call.verb.settle(call.arguments, client) or (_describe_call(call), {})
    written = {**call.arguments, **bound}.get(call.verb.writes_to)
    return f"{description}, {_describe_target(_client_of(written) if written else client)}", bound


def _client_of(profile: str) -> Client:
    from svc_notebook.data.session import client_of

    return client_of(profile)


def _describe_call(call: BoundCall) -> str:
    """Describe the action and its index, and in brackets the other arguments."""
    shown = {name: _masked(name, value) for name, value in call.arguments.items()}
    text = call.verb.destructive.format_map(shown)
    named = {name for _, name, _, _ in Formatter().parse(call.verb.destructive)}
    others = [f"{n}: {_short(v)}" for n, v in call.arguments.items() if n not in named]
    return f"{text} ({'; '.join(others)})" if others else text


def _masked(name: str, value: Any) -> Any:
    """Show only the beginning of a key, and nothing of a variable's content."""
    if name not in KEYS:
        return value
    return f"{value[:SHOWN_KEY_CHARACTERS]}..." if isinstance(value, str) else "from a variable"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        text = ", ".join(f"{n}={_masked(n, v)}" for n, v in value.items())
        return shorten(text, _MAX_VALUE_CHARACTERS)
    if not isinstance(value, PRINTED_TYPES):
        return f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else "given"
    text = ", ".join(map(_short, value)) if isinstance(value, list) else f"{value}"
    return shorten(text, _MAX_VALUE_CHARACTERS)


def _describe_target(client: Client) -> str:
    from svc_notebook.data import session

    connection = client.connection
    name = session.profile_of(client)
    profile = f"profile {name}" if name else "no profile"
    return f"{profile}, application {connection.app_id} at {connection.address}"


def ask(question: str, face: Face) -> str | None:
    """Ask on stderr in a terminal, or in the notebook; None if no prompt is available."""
    return terminal.ask(question, needs_terminal=face == "command")


def _member_meant(call: BoundCall) -> str:
    """Suggest the verb of the family that was probably meant if an index does not exist."""
    first = call.verb.placed("magic")[:1]
    word = call.arguments.get(first[0].parameter) if first else None
    members = {
        verb.name.partition(" ")[2]: verb.name
        for verb in VERBS
        if verb.name.startswith(f"{call.verb.name} ")
    }
    near = difflib.get_close_matches(word, members, 1) if isinstance(word, str) else []
    return f"did you mean `{members[near[0]]}`?" if near else ""


def perform(call: BoundCall, face: Face) -> Any:
    """Call the function of a verb and return its value; confirm destructive verbs first."""
    if call.wants_help:
        return help_on(call.verb.name, face=face)
    arguments = {**call.arguments, **_given_by_face(call, face)}
    if call.verb.needs_confirmation(call.arguments):
        arguments |= _bind_confirmed(call, face, arguments.get("client"))
    try:
        with spell_warnings(lambda text: spell(text, call.verb, face)):
            if face == "command":
                with files_of(call) as files:
                    return call.verb.call({**arguments, **files})
            return call.verb.call(arguments)
    except SvcError as error:
        if isinstance(error, NotFound) and (advice := _member_meant(call)):
            error.__notes__ = []  # it takes the place of advice on the index
            error.add_note(advice)
        spell_error(error, call.verb, face)
        raise


def _bind_confirmed(call: BoundCall, face: Face, client: Client | None) -> dict[str, Any]:
    """Confirm a destructive call, unless `--yes` does; return the arguments that bind it."""
    if not call.yes:
        from svc_notebook.data import session

        return confirm(call, face, client or session.current())
    if call.is_interpolated:
        raise BadOption(
            f"`{call.verb.name}` takes values of variables only if they are confirmed: omit "
            "`--yes`, or write the values"
        )
    return {}


def _given_by_face(call: BoundCall, face: Face) -> dict[str, Any]:
    """Return the arguments of a call that do not stand in its line.

    A notebook is already connected; a command uses the configured client.
    """
    if call.verb.name == "help":
        return {"face": face}
    if PROFILE not in call.verb.common:
        return {}
    if face == "command":
        from svc_notebook.faces.commands.command_client import command_client  # it imports httpx

        return {"client": command_client(call.profile, lambda question: ask(question, "command"))}
    if call.profile:
        from svc_notebook.data.session import make_client

        return {"client": make_client(call.profile)}
    return {}


@contextmanager
def files_of(call: BoundCall) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a call with standard input copied to a file in place of `-`."""
    paths = {
        option.parameter
        for option in (*call.verb.operands, *call.verb.options)
        if option.completes == "path" and option.name != KEY_FILE
    }
    named = [name for name in paths if call.arguments.get(name) == WORD]
    if not named:
        yield dict(call.arguments)
        return
    if len(named) > 1:
        raise BadOption("standard input, `-`, can be given for one file only")
    folder = TemporaryFolder()
    try:
        yield {**call.arguments, named[0]: _copy_input(folder)}
    finally:
        folder.remove()


def _copy_input(folder: TemporaryFolder) -> str:
    """Copy standard input to a file whose suffix is that of its format."""
    stream = sys.stdin.buffer
    first = stream.peek(_PEEKED_BYTES) if hasattr(stream, "peek") else b""
    begun = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    suffix = next((s for beginning, s in _BEGINNINGS if begun.startswith(beginning)), ".csv")
    path = folder.path / f"standard-input{suffix}"
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return str(path)
