"""Completion inside a call of one of this package's functions, such as `svc.search("fi`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

from svc_notebook.faces.commands.completion import (
    CompletionMatches,
    LineContext,
    NameSource,
    complete_value,
)
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.commands.verb import Option, Verb

PACKAGE = "svc_notebook"
OPENING, CLOSING = "([{", ")]}"
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)\s*$")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")
_LITERAL = re.compile(r"\s*(?:[rR]|[uU])?(\"|')((?:(?!\1)[^\\\n])*)\1\s*$")
_WORD = re.compile(r"\s*(\w*)$")
_PREFIX = re.compile(r"(?<![\w.])([A-Za-z]{0,2})$")


class Typed(NamedTuple):
    """A piece of code up to the cursor: the open brackets, and the open string, if any."""

    brackets: list[int]
    commas: dict[int, list[int]]  # by the position of their bracket
    quote: str
    text_from: int


class Call(NamedTuple):
    """A call that is being typed: its function's row, its arguments, the last one incomplete."""

    verb: Verb
    arguments: list[str]


class CallSuggestions(NamedTuple):
    """Suggestions, and whether they are the only valid ones: inside a string."""

    suggestions: CompletionMatches
    alone: bool


def complete_call(
    code: str, variables: Mapping[str, object], names: NameSource
) -> CallSuggestions | None:
    """Complete a call; None if it is not a call of our functions, or nothing is known."""
    typed = scan(code)
    call = _call_of(code, typed, variables)
    if call is None:
        return None
    if typed.quote:
        return _in_text(code, typed, call, variables, names)
    return _between(call, names)


def scan(code: str) -> Typed:
    """Find the open brackets at the end of a piece of code, and the open string."""
    brackets: list[int] = []
    commas: dict[int, list[int]] = {}
    at, end = 0, len(code)
    while at < end:
        letter = code[at]
        if letter == "#":
            at = code.find("\n", at)
            if at < 0:
                return Typed([], {}, "", end)  # in a comment
        elif letter in "\"'":
            quote = letter * 3 if code.startswith(letter * 3, at) else letter
            after = _end_of_text(code, at + len(quote), quote)
            if after is None:
                return Typed(brackets, commas, quote, at + len(quote))
            at = after
            continue
        elif letter in OPENING:
            brackets.append(at)
            commas[at] = []
        elif letter in CLOSING and brackets:
            brackets.pop()
        elif letter == "," and brackets:
            commas[brackets[-1]].append(at)
        at += 1
    return Typed(brackets, commas, "", end)


def _end_of_text(code: str, at: int, quote: str) -> int | None:
    """Return the end of a string; None if it is open. A line end closes single-quoted ones."""
    while at < len(code):
        if code[at] == "\\":
            at += 2
        elif code.startswith(quote, at):
            return at + len(quote)
        elif code[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return None


def _call_of(code: str, typed: Typed, variables: Mapping[str, object]) -> Call | None:
    """Return the innermost call, if it is of one of our functions."""
    for start in reversed(typed.brackets):
        if code[start] != "(":
            continue
        called = _CALLED.search(code[:start])
        verb = _verb_of(re.sub(r"\s", "", called[1]), variables) if called else None
        if verb is None:
            return None
        edges = [start, *typed.commas[start], len(code)]
        pieces = [code[edge + 1 : other] for edge, other in pairwise(edges)]
        return Call(verb, pieces)
    return None


def _verb_of(called: str, variables: Mapping[str, object]) -> Verb | None:
    """Return the row of a function's name, by names alone: nothing is imported."""
    first, *rest = called.split(".")
    value = variables.get(first)
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == PACKAGE and rest:
        path = [*value.__name__.split(".")[1:], *rest[:-1]]
        return _row(rest[-1], path)
    module = getattr(value, "__module__", None)
    if not rest and callable(value) and isinstance(module, str) and module.startswith(PACKAGE):
        return _row(getattr(value, "__name__", ""), module.split(".")[1:])
    return None


def _row(name: str, path: list[str]) -> Verb | None:
    if name == "edit":  # the module, which opens the workbench when it is called
        return _ROWS.get(("editors", "workbench"))
    return _ROWS.get(("editors" if "edit" in path else _kind(path), name))


def _kind(path: list[str]) -> str:
    return next((part for part in ("tuning", "editors") if part in path), "functions")


def _in_text(
    code: str, typed: Typed, call: Call, variables: Mapping[str, object], names: NameSource
) -> CallSuggestions | None:
    """Complete a string that is an argument, or an item of one."""
    before = code[: typed.text_from - len(typed.quote)]
    prefix = _PREFIX.search(before)
    if prefix and "f" in prefix[1].casefold():
        return None
    option = _option_of(call)
    if option is None:
        return None
    context = LineContext(_index_of(call, variables), "", False)
    text = code[typed.text_from :]
    # As in JSON: the quote means that the names are inside a string.
    value = text if option.completes == "path" else f'"{text}'
    return CallSuggestions(complete_value(option, value, context, names), alone=True)


def _between(call: Call, names: NameSource) -> CallSuggestions | None:
    """Suggest the values of a named argument, or else the names of the others, and indices."""
    last = call.arguments[-1]
    named = _NAMED.match(last)
    word = _WORD.fullmatch(last[named.end() :] if named else last)
    if word is None:
        return None
    option, typed = _option_of(call), word[1]
    texts = _list_values(option, typed) if named else _list_names(call, typed)
    if option and option.completes == "index" and not typed:
        texts = [*map(_quoted, names.indices()), *texts]
    return CallSuggestions(CompletionMatches(typed, texts), alone=False) if texts else None


def _list_values(option: Option | None, typed: str) -> list[str]:
    """List the values of an argument that begin so, as Python code."""
    if option is None:
        return []
    switches = ("True", "False") if option.takes(True) else ()
    texts = (*map(_quoted, option.choices), *switches)
    return [text for text in texts if text.startswith(typed)]


def _list_names(call: Call, typed: str) -> list[str]:
    """List the names of the arguments that a call does not have yet and that begin so."""
    given = {match[1] for piece in call.arguments[:-1] if (match := _NAMED.match(piece))}
    offered = [f"{name}=" for name in _options(call.verb) if name not in given]
    return [name for name in offered if name.casefold().startswith(typed.casefold())]


def _option_of(call: Call) -> Option | None:
    """Return the option of the argument being typed: by its name, else by its position."""
    last = call.arguments[-1]
    if named := _NAMED.match(last):
        return _options(call.verb).get(named[1])
    placed = [piece for piece in call.arguments[:-1] if not _NAMED.match(piece)]
    operands = call.verb.placed(call.verb.faces[0])
    return operands[len(placed)] if len(placed) < len(operands) else None


def _options(verb: Verb) -> dict[str, Option]:
    """Return all parameters of a function, by name."""
    face = verb.faces[0]
    common = {option.name for option in verb.common}
    named = [option for name, option in verb.named(face).items() if name not in common]
    left_out = ("params", "yes")
    every = (*verb.placed(face), *named)
    return {option.parameter: option for option in every if option.name not in left_out}


def _index_of(call: Call, variables: Mapping[str, object]) -> str:
    """Return the index of a call: a string, or a variable that contains one."""
    operands = [operand.parameter for operand in call.verb.placed(call.verb.faces[0])]
    for position, piece in enumerate(call.arguments[:-1]):
        named = _NAMED.match(piece)
        name = named[1] if named else operands[position] if position < len(operands) else ""
        if name != "index":
            continue
        value = piece[named.end() :] if named else piece
        if literal := _LITERAL.match(value):
            return literal[2]
        held = variables.get(value.strip())
        return held if isinstance(held, str) else ""
    return ""


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)


def _row_key(verb: Verb) -> tuple[str, str]:
    module, _, name = verb.does.rpartition(".")
    return _kind(module.split(".")), _CALLED_AS.get(name, name)


# Functions behind verbs that differ from the function called in code.
_CALLED_AS = {
    "facets_or_values": "read_facets",
    "load_or_plan": "load",
    "users_or_top": "read_users",
}
_ROWS: dict[tuple[str, str], Verb] = {}
for _verb in VERBS:
    _ROWS.setdefault(_row_key(_verb), _verb)
_ROWS["functions", "plan"] = _ROWS["functions", "load"]
