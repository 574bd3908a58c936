"""Messages in the language of the surface: options and verbs for arguments and functions."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import cache
from typing import Any

from svc_notebook.errors import SvcError
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.tokenizer import quote_word
from svc_notebook.faces.commands.verb import Face, Verb

# An argument in a message: a name, and a number, a text, a list, a dict, a word or "…".
_ARGUMENT = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-z]\w*)=(?P<value>'[^'\n]*'|\"[^\"\n]*\"|\[[^\]\n]*\]|\{[^}\n]*\}"
    r"|[\w.…-]*[\w…])"
)
# A call of a function in a message: svc.load(source, …), read_indices(), export(...).
_CALL = re.compile(
    r"(?<![\w.`-])`?(?:svc\.(?P<name>[a-z_]+)\((?:[^()\n]|\([^()\n]*\))*\)"
    r"|(?P<plain>[a-z]+_[a-z_]+\([^()\n]*|[a-z]+\((?:\.\.\.|…)?)\))`?"
)
_NAMED = re.compile(r"`svc\.(?P<name>[a-z_]+)`")
_OF_NOTEBOOKS = re.compile(r",? or (?:pass )?--from VARIABLE")
# Characters of which a shell makes something else.
_EXPANDED = frozenset('*?$`\\"!&|;<>()#~ ')
_CONNECT = re.compile(r"; svc\.connect\(.*", re.S)
_LOCAL = re.compile(r"`?svc\.connect\(['\"]local['\"]\)`?")
ENVIRONMENT = "set SVC_URL, SVC_APP_ID and SVC_API_KEY"
HOW_TO_CONNECT = f"; pass --profile NAME, {ENVIRONMENT}, or start the local service by `svc serve`"
HOW_TO_CONNECT_TESTS = f"; pass --svc-profile NAME, or {ENVIRONMENT}"


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
    """Return the verbs that call functions, by the functions' names; the shortest of several."""
    rows = sorted((v for v in VERBS if face in v.faces), key=lambda v: -len(v.name))
    return {verb.does.rpartition(".")[2]: verb for verb in rows}
