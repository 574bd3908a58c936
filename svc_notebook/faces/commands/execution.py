"""Execute a bound call: confirmation before, hints after a failure, in the language of the surface.

Messages name options and verbs for arguments and functions.
"""

from __future__ import annotations

import ast
import difflib
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING, Any

from svc_notebook.core import terminal
from svc_notebook.core.display import shorten
from svc_notebook.core.locked_folders import TemporaryFolder
from svc_notebook.core.terminal import is_yes, spell_warnings
from svc_notebook.errors import BadOption, NotFound, Stopped, SvcError
from svc_notebook.faces.commands.binding import BoundCall
from svc_notebook.faces.commands.help import help as help_on
from svc_notebook.faces.commands.name_completion import SHOWN_KEY_CHARACTERS
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.tokenizer import quote_word
from svc_notebook.faces.commands.verb import PROFILE, Face, Verb

if TYPE_CHECKING:
    from svc_notebook.data.client import Client

WORD = "-"
KEY_FILE = "admin-key-file"  # the service reads it itself
# The first bytes of a format and the suffix of its files; other content is CSV.
_BEGINNINGS = ((b"PAR1", ".parquet"), (b"[", ".json"), (b"{", ".ndjson"), (b"<", ".xml"))
_PEEKED_BYTES = 4096
_MAX_VALUE_CHARACTERS = 80  # characters of a value in a confirmation
KEYS = ("key", "parent")
# Parameters of verbs with a path that is written, or that of a folder.
NOT_READ = {"data", "folder", "log", "out", "path", "save"}
PRINTED_TYPES = (str, int, float, list, type(None))

# An argument in a message: a name, and a number, a text, a list, a dict, a word or "…".
_ARGUMENT = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-z]\w*)=(?P<value>'[^'\n]*'|\"[^\"\n]*\"|\[[^\]\n]*\]|\{[^}\n]*\}"
    r"|[\w.…-]*[\w…])"
)
# A call of a function in a message: svc.load(source, …), read_indices(), export(...).
_CALL = re.compile(
    r"(?<![\w.`-])`?(?:svc\.(?P<name>(?:tuning\.)?[a-z_]+)\((?:[^()\n]|\([^()\n]*\))*\)"
    r"|(?P<plain>[a-z]+_[a-z_]+\([^()\n]*|[a-z]+\((?:\.\.\.|…)?)\))`?"
)
_NAMED = re.compile(r"`svc\.(?P<name>(?:tuning\.)?[a-z_]+)`")
_OF_NOTEBOOKS = re.compile(r",? or (?:pass )?--from VARIABLE")
# Characters of which a shell makes something else.
_EXPANDED = frozenset('*?$`\\"!&|;<>()#~ ')
_CONNECT = re.compile(r"; svc\.connect\(.*", re.S)
_LOCAL = re.compile(r"`?svc\.connect\(['\"]local['\"]\)`?")
ENVIRONMENT = "set SVC_URL, SVC_APP_ID and SVC_API_KEY"
HOW_TO_CONNECT = f"; pass --profile NAME, {ENVIRONMENT}, or start the local service by `svc serve`"
HOW_TO_CONNECT_TESTS = f"; pass --svc-profile NAME, or {ENVIRONMENT}"


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
    if written:
        from svc_notebook.data.session import client_of

        client = client_of(written)
    return f"{description}, {_describe_target(client)}", bound


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
    options = [
        option
        for option in (*call.verb.operands, *call.verb.options)
        if option.completes == "path" and option.name != KEY_FILE
    ]
    named = {o.parameter: o.name for o in options if call.arguments.get(o.parameter) == WORD}
    for parameter in named.keys() & NOT_READ:
        raise BadOption(
            f"`{named[parameter]}` of `{call.verb.name}` cannot be `-`, which is standard input: "
            "give a path"
        )
    if not named:
        yield dict(call.arguments)
        return
    if len(named) > 1:
        raise BadOption("standard input, `-`, can be given for one file only")
    folder = TemporaryFolder()
    try:
        yield {**call.arguments, next(iter(named)): _copy_input(folder)}
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


def spell_error(error: SvcError, verb: Verb, face: Face) -> None:
    """Write the message and the notes of an error in the words of a verb's surface."""
    error.args = tuple(
        spell(argument, verb, face) if isinstance(argument, str) else argument
        for argument in error.args
    )
    if notes := getattr(error, "__notes__", None):
        notes[:] = [spell(note, verb, face) for note in notes]


def spell(text: str, verb: Verb | None, face: Face) -> str:
    """Return a message of functions in the words of a surface."""
    if face == "command":
        text = _OF_NOTEBOOKS.sub("", _CONNECT.sub(HOW_TO_CONNECT, text))
        text = _LOCAL.sub("`svc serve`", text)
    text = _CALL.sub(lambda match: _spell_call(match, face), text)
    text = _NAMED.sub(lambda match: _spell_call(match, face), text)
    return _spell_arguments(text, verb, face) if verb is not None else text


def spell_for_tests(error: BaseException) -> str:
    """Return what pytest prints for an error: the message with its notes."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    return _CONNECT.sub(HOW_TO_CONNECT_TESTS, text)


def _spell_arguments(text: str, verb: Verb, face: Face) -> str:
    options = {option.parameter: option for option in verb.named(face).values()}
    return _ARGUMENT.sub(lambda match: _spell_argument(match, options), text)


def _quote(text: str) -> str:
    """Quote a word for a line; a shell would expand some characters that a magic takes as text."""
    return f"'{text}'" if _EXPANDED.intersection(text) and "'" not in text else quote_word(text)


def _spell_argument(match: re.Match[str], options: dict[str, Any]) -> str:
    option = options.get(match["name"])
    if option is None or option.positional or match["value"] == "False":
        return match[0]
    if match["value"] == "True":
        return f"--{option.name}"
    return f"--{option.name} {_spell_value(match['value'])}"


def _spell_value(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    if isinstance(value, dict) and value:
        return ",".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, list):
        return _quote(",".join(map(str, value)))
    return _quote(str(value)) if isinstance(value, str) else text


def _spell_call(match: re.Match[str], face: Face) -> str:
    """Return the line of a verb for a call, with the operands and options that can be typed."""
    groups = match.groupdict()
    name = groups["name"] or groups["plain"].partition("(")[0]
    verb = _verbs_by_function(face).get(name)
    if verb is None:
        return match[0]
    words = ["%svc" if face == "magic" else "svc", verb.name]
    with suppress(SyntaxError):
        call = ast.parse(match[0].strip("`"), mode="eval").body
        if isinstance(call, ast.Call):
            words += [word for argument in call.args if (word := _spell_operand(argument))]
            named = (
                f"{argument.arg}={ast.unparse(argument.value)}"
                for argument in call.keywords
                if argument.arg
            )
            words += [_spell_arguments(argument, verb, face) for argument in named]
    return f"`{' '.join(words)}`"


def _spell_operand(value: ast.expr) -> str:
    """Return a name as a placeholder, a text as a word, a dict as options."""
    if isinstance(value, ast.Name):
        return value.id.upper()
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return _quote(value.value)
    if isinstance(value, ast.Dict):
        members = zip(value.keys, value.values, strict=True)
        return " ".join(
            f"--{name.value!s} {_spell_value(ast.unparse(item))}"
            for name, item in members
            if isinstance(name, ast.Constant)
        )
    return ""


@cache
def _verbs_by_function(face: Face) -> dict[str, Verb]:
    """Return the verbs that call functions, by the functions' names; the shortest of several.

    Functions of tuning are also there as `tuning.undo`.
    """
    rows = sorted((v for v in VERBS if face in v.faces), key=lambda v: -len(v.name))
    verbs = {verb.does.rpartition(".")[2]: verb for verb in rows}
    in_tuning = {f"tuning.{name}": verb for name, verb in verbs.items() if ".tuning." in verb.does}
    return verbs | in_tuning
