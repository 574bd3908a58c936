"""What could come next in a `%svc` line or the body under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from svc_notebook.verbs.line import Word, quote_word, split_typed
from svc_notebook.verbs.table import VERBS
from svc_notebook.verbs.verb import Face, Option, Verb, spread_options

_PIECE = re.compile(r"[^\s,\[\]\"'(){}:]*$")
_LINE_NAME = re.compile(r"\w*$")
_LINE_VALUE = re.compile(r"(\w+)\s*:\s+")
_JSON_NAME = re.compile(r'[{,]\s*"(\w*)$')
_JSON_VALUE = re.compile(r'"(\w+)"\s*:[^:]*$')
_OUTPUT = Option("-o", "a variable for the result", completes="variable")


class Names(Protocol):
    """Where the names come from that only a service, a folder or a kernel knows."""

    def indices(self) -> Sequence[str]:
        """Name the indices."""
        ...

    def attributes(self, index: str) -> Sequence[str]:
        """Name the attributes of an index's records."""
        ...

    def facets(self, index: str) -> Sequence[str]:
        """Name the attributes an index can count and filter by."""
        ...

    def profiles(self) -> Sequence[str]:
        """Name the profiles."""
        ...

    def variables(self) -> Sequence[str]:
        """Name the user's variables."""
        ...

    def paths(self, beginning: str) -> Sequence[str]:
        """Name the files and folders that begin so."""
        ...


class Suggestions(NamedTuple):
    """What could stand in place of `fragment`, the end of what is typed."""

    fragment: str
    texts: list[str]


def complete_line(typed: str, face: Face, names: Names) -> Suggestions:
    """Suggest how a line goes on; `typed` ends at the cursor and leaves out `%svc`."""
    words, last = split_typed(typed)
    rows = {verb.name: verb for verb in VERBS if face in verb.faces}
    if not words:
        return _matching(last.text, rows)
    verb = rows.get(words[0].text)
    if verb is None:
        return Suggestions(last.text, [])
    name, equals, value = last.text.partition("=")
    if name.startswith("--") and not equals:
        return _matching(name, [f"--{option}" for option in verb.named(face)])
    index = _index_in(words, verb, face)
    if name.startswith("--"):
        option = verb.named(face).get(name[2:])
        return _values(option, value, index, names)
    return _values(_awaited(verb, words[1:], face), last.text, index, names)


def complete_body(line: str, typed: str, names: Names) -> Suggestions:
    """Suggest how a cell's body goes on; `line` is its first line without `%%svc`."""
    words, last = split_typed(line)
    words = [*words, last] if last.text else words
    verb = next((v for v in VERBS if words and v.name == words[0].text and v.body), None)
    if verb is None:
        return Suggestions("", [])
    options = spread_options(verb.spread)
    index = _index_in(words, verb, "magic")
    if typed.lstrip().startswith("{"):
        return _in_json(typed, options, index, names)
    current = typed.rpartition("\n")[2]
    if _LINE_NAME.fullmatch(current):
        return _matching(current, [f"{name}:" for name in options])
    entries = list(_LINE_VALUE.finditer(typed))
    if found := _LINE_VALUE.match(current):
        return _values(options.get(found[1]), current[found.end() :], index, names)
    if current[:1].isspace() and entries:
        return _values(options.get(entries[-1][1]), current.lstrip(), index, names)
    return Suggestions("", [])


def _in_json(typed: str, options: dict[str, Option], index: str, names: Names) -> Suggestions:
    at_top = typed.count("{") - typed.count("}") == 1 and typed.count("[") == typed.count("]")
    if at_top and (found := _JSON_NAME.search(typed)):
        return _matching(found[1], options)
    if found := _JSON_VALUE.search(typed):
        return _values(options.get(found[1]), typed[found.start() :], index, names)
    return Suggestions("", [])


def _awaited(verb: Verb, words: Sequence[Word], face: Face) -> Option | None:
    """The option whose value comes next, else the operand whose turn it is."""
    known = verb.named(face)
    pending: Option | None = None
    placed = 0
    for word in words:
        if pending and pending.may_take(word.text) and not word.text.startswith("--"):
            pending = None
        elif word.text.startswith("--"):
            option = None if "=" in word.text else known.get(word.text[2:])
            pending = None if option is None or option.is_flag else option
        elif word.text == "-o":
            pending = _OUTPUT
        else:
            placed += 1
    operands = verb.placed(face)
    return pending or next(iter(operands[placed:]), None)


def _index_in(words: Sequence[Word], verb: Verb, face: Face) -> str:
    """The index a line speaks of, as far as it has been typed."""
    for count, word in enumerate(words):
        awaited = _awaited(verb, words[1:count], face) if count else None
        if awaited and awaited.completes == "index" and not word.text.startswith("-"):
            return word.text
    return ""


def _values(option: Option | None, typed: str, index: str, names: Names) -> Suggestions:
    if option is None:
        return Suggestions(typed, [])
    if option.completes == "path":
        return _paths(typed, names)
    if option.choices or option.takes(True):
        words = dict.fromkeys(("true", "false") if option.takes(True) else ())
        return _matching(_piece(typed), words | dict.fromkeys(option.choices))
    named = SOURCES[option.completes](names, index) if option.completes else ()
    quoted = typed[:1] in ("'", '"') or _piece(typed) != typed
    return _matching(_piece(typed), named if quoted else map(quote_word, named))


def _paths(typed: str, names: Names) -> Suggestions:
    quoted = typed[:1] in ("'", '"')
    beginning = typed[1:] if quoted else typed
    found = names.paths(beginning)
    return Suggestions(beginning, list(found) if quoted else [quote_word(path) for path in found])


def _piece(typed: str) -> str:
    found = _PIECE.search(typed)
    return found[0].removeprefix("-") if found else ""


def _matching(fragment: str, names: Iterable[str]) -> Suggestions:
    wanted = fragment.casefold()
    return Suggestions(fragment, [name for name in names if name.casefold().startswith(wanted)])


SOURCES: dict[str, Callable[[Names, str], Iterable[str]]] = {
    "index": lambda names, index: names.indices(),
    "attribute": lambda names, index: names.attributes(index),
    "facet": lambda names, index: names.facets(index),
    "profile": lambda names, index: names.profiles(),
    "variable": lambda names, index: names.variables(),
    "verb": lambda names, index: [verb.name for verb in VERBS],
}
