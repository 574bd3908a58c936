"""Completion of a `%svc` line and of the cell body under it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, get_args

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.core.api.endpoint import Right
from svc_notebook.core.api.parameters import SearchParams, Settings, default_of
from svc_notebook.core.api.validation import hints
from svc_notebook.errors import BadOption
from svc_notebook.faces.commands.registry import VERBS, lists_of, pick_verb
from svc_notebook.faces.commands.tokenizer import Word, quote_word, split_typed
from svc_notebook.faces.commands.verb import Face, Option, Verb, spread_options

# The parameters that filter; each text of a list is one filter, without quotes inside.
FILTER_LISTS = ("facetFilters", "optionalFilters")
FILTERS = ("filters", *FILTER_LISTS)
_TYPED_FILTER = {
    "filters": re.compile(r"""([\w.]+)\s*:\s*-?(?:(["'])([^"']*)|([^\s"'():,<>=!]*))$"""),
    **dict.fromkeys(FILTER_LISTS, re.compile(r"""([\w.]+):-?()()([^"'\[\],]*)$""")),
}
_PLAIN_VALUE = re.compile(r"\w[\w.-]*")
_FILTER_WORDS = ("AND", "OR", "NOT", "TO")
MAX_FACET_VALUES = 100
# The quote around a text by the first character of what is typed; JSON has double quotes.
OUTER_QUOTES = {"": '"', "[": '"', "{": '"', '"': '"', "'": "'"}

_PIECE = re.compile(r"[^\s,\[\]\"'(){}:]*$")
_LINE_NAME = re.compile(r"\w*$")
_LINE_VALUE = re.compile(r"(\w+)\s*:\s+")
_JSON_NAME = re.compile(r'[{,]\s*"(\w*)$')
_JSON_VALUE = re.compile(r'.*"(\w+)"\s*:\s*', re.S)
_PARAMS = re.compile(r'"params"\s*:\s*\{')
_OPEN = re.compile(r"\w\([^()]*$")


class NameSource(Protocol):
    """The source of names that only a service, a folder or a kernel knows."""

    def indices(self) -> Sequence[str]:
        """Return the names of the indices."""
        ...

    def attributes(self, index: str) -> Sequence[str]:
        """Return the attributes of an index's records."""
        ...

    def facets(self, index: str) -> Sequence[str]:
        """Return the attributes by which an index can count and filter."""
        ...

    def profiles(self) -> Sequence[str]:
        """Return the profiles."""
        ...

    def variables(self) -> Sequence[str]:
        """Return the user's variables."""
        ...

    def values(self, index: str, facet: str) -> Sequence[str]:
        """Return the values of a facet, the most frequent first."""
        ...

    def columns(self, source: str) -> Sequence[str]:
        """Return the columns of a variable's table, or of a file."""
        ...

    def named(self, kind: str, index: str) -> Sequence[str]:
        """Return the names of another kind: synonyms, rules, keys, crawlers and others."""
        ...

    def paths(self, beginning: str) -> Sequence[str]:
        """Return the files and folders with this prefix."""
        ...


class CompletionMatches(NamedTuple):
    """The possible replacements of `fragment`, the end of the typed text."""

    fragment: str
    texts: list[str]


@dataclass(frozen=True)
class LineContext:
    """The context of a line: the index, the table; and whether a space ends a word."""

    index: str = ""
    source: str = ""
    bare: bool = False


def complete_line(typed: str, face: Face, names: NameSource) -> CompletionMatches:
    """Complete a line; `typed` ends at the cursor and does not include `%svc`."""
    words, last = split_typed(typed)
    if not words:
        rows = [verb for verb in VERBS if face in verb.faces]
        return _matching(last.text, dict.fromkeys(verb.family for verb in rows))
    members = _members_of(words[0].text, face) if len(words) == 1 else []
    if len(words) == 2 and words[0].text == "help":
        return _matching(last.text, _rows_of(words[1].text, face))
    verb, words = _verb_of(words, face)
    if verb is None:
        return _matching(last.text, members)
    if members:
        return _also(members, last.text, _complete_argument(verb, words, last, face, names))
    return _complete_argument(verb, words, last, face, names)


def _members_of(family: str, face: Face) -> list[str]:
    """Return the words that follow a family's name to form a verb, including those that list it."""
    members = _rows_of(family, face)
    head = next((v for v in VERBS if v.name == family and face in v.faces), None)
    return [*members, *lists_of(head, members, face)] if head else members


def _rows_of(family: str, face: Face) -> list[str]:
    names = [verb.name for verb in VERBS if face in verb.faces]
    return [name.partition(" ")[2] for name in names if name.startswith(f"{family} ")]


def _verb_of(words: list[Word], face: Face) -> tuple[Verb | None, list[Word]]:
    """Return the typed verb, and its words, the first of which is its name."""
    try:
        verb, left = pick_verb([word.text for word in words], face)
    except BadOption:
        return None, words
    return verb, [words[0], *words[len(words) - len(left) :]]


def _also(members: list[str], typed: str, matches: CompletionMatches) -> CompletionMatches:
    more = _matching(typed, members).texts
    return matches._replace(texts=[*more, *(t for t in matches.texts if t not in more)])


def _complete_argument(
    verb: Verb, words: list[Word], last: Word, face: Face, names: NameSource
) -> CompletionMatches:
    name, equals, value = last.text.partition("=")
    if name.startswith("--") and not equals:
        return _matching(name, [f"--{option}" for option in verb.named(face)])
    context = LineContext(
        _word_of(words, verb, face, "index"), _word_of(words, verb, face, "df", "source"), True
    )
    if name.startswith("--"):
        option = verb.named(face).get(name[2:])
        return complete_value(option, value, context, names)
    awaited = _awaited(verb, words[1:], face)
    if verb.name == "call" and (awaited is None or awaited.rest):
        return _arguments([word.text for word in words], last.text, names)
    return complete_value(awaited, last.text, context, names)


def _arguments(words: Sequence[str], typed: str, names: NameSource) -> CompletionMatches:
    """Suggest `name=` of the endpoint's parameters, and indices."""
    name, equals, value = typed.partition("=")
    if equals:
        return _matching(value, names.indices() if name == "index" else ())
    row = next((row for row in ENDPOINTS if row.name in words), None)
    parameters = dict.fromkeys([*row.signature.parameters, *row.members]) if row else {}
    given = {word.partition("=")[0] for word in words}
    return _matching(typed, [f"{name}=" for name in parameters if name not in ("params", *given)])


def complete_body(line: str, typed: str, names: NameSource) -> CompletionMatches:
    """Complete a cell's body; `line` is its first line without `%%svc`."""
    words, last = split_typed(line)
    words = [*words, last] if last.text else words
    verb, words = _verb_of(words, "magic") if words else (None, [])
    if verb is None or not verb.body:
        return CompletionMatches("", [])
    options = verb.members()
    context = LineContext(_word_of(words, verb, "magic", "index"))
    if within := _params_in(typed):
        return _in_json(within, spread_options(SearchParams), context, names)
    if typed.lstrip().startswith(("{", "[")):
        return _in_json(typed, options, context, names)
    return _in_lines(typed, options, context, names)


def _in_lines(
    typed: str, options: dict[str, Option], context: LineContext, names: NameSource
) -> CompletionMatches:
    current = typed.rpartition("\n")[2]
    if _LINE_NAME.fullmatch(current):
        return _matching(current, [f"{name}:" for name in options])
    entries = list(_LINE_VALUE.finditer(typed))
    if match := _LINE_VALUE.match(current):
        return complete_value(options.get(match[1]), current[match.end() :], context, names)
    if current[:1].isspace() and entries:
        return complete_value(options.get(entries[-1][1]), current.lstrip(), context, names)
    return CompletionMatches("", [])


def _params_in(typed: str) -> str:
    """Return the search parameters being typed inside a rule or a request, from their brace."""
    begun = list(_PARAMS.finditer(typed))
    text = typed[begun[-1].end() - 1 :] if begun else ""
    return text if text.count("{") > text.count("}") else ""


def _in_json(
    typed: str, options: dict[str, Option], context: LineContext, names: NameSource
) -> CompletionMatches:
    listed = typed.lstrip().startswith("[")
    at_top = (
        typed.count("{") - typed.count("}") == 1 and typed.count("[") - typed.count("]") == listed
    )
    if at_top and (match := _JSON_NAME.search(typed)):
        return _matching(match[1], options)
    if match := _JSON_VALUE.match(typed):
        return complete_value(options.get(match[1]), typed[match.end() :], context, names)
    return CompletionMatches("", [])


def _awaited(verb: Verb, words: Sequence[Word], face: Face) -> Option | None:
    """Return the option whose value comes next, else the next operand."""
    placed, pending = verb.split_words([word.text for word in words], face)
    return pending or next(iter(verb.placed(face)[len(placed) :]), None)


def _word_of(words: Sequence[Word], verb: Verb, face: Face, *operands: str) -> str:
    """Return the word of a line that is one of these, as far as it is typed."""
    for count, word in enumerate(words):
        awaited = _awaited(verb, words[1:count], face) if count else None
        meant = awaited and {awaited.parameter, awaited.completes} & set(operands)
        if meant and not word.text.startswith("-"):
            return word.text
    return ""


def complete_value(
    option: Option | None, typed: str, context: LineContext, names: NameSource
) -> CompletionMatches:
    """Suggest values of an option; `typed` is the incomplete value with its quote."""
    if option is None:
        return CompletionMatches(typed, [])
    if option.completes == "path":
        return _paths(typed, names)
    if option.completes == "facet" and (matches := _facet_values(option, typed, context, names)):
        return matches
    switches = ("true", "false") if option.takes(True) else ()
    if words := dict.fromkeys([*switches, *option.choices]):
        return _matching(_piece(typed), words)
    named = _named(option, typed, context, names)
    quoted = not context.bare or typed[:1] in ("'", '"') or _piece(typed) != typed
    return _matching(_piece(typed), named if quoted else map(quote_word, named))


def _facet_values(
    option: Option, typed: str, context: LineContext, names: NameSource
) -> CompletionMatches | None:
    """Suggest facet values after `attribute:` of a filter; None if no value is expected."""
    match = _TYPED_FILTER[option.name].search(typed) if option.name in FILTERS else None
    if not match:
        return None
    outer = OUTER_QUOTES.get(typed[:1], "")
    inner, begun = match[2] or "", match[3] or match[4] or ""
    near = _matching(begun, names.values(context.index, match[1])).texts
    texts = list(_write_values(near[:MAX_FACET_VALUES], option.name, outer, inner))
    # A word of a line ends at a space unless it is quoted.
    if context.bare and not outer and not inner and texts != [quote_word(text) for text in texts]:
        before = typed[: len(typed) - len(begun)]
        return CompletionMatches(typed, [quote_word(f"{before}{text}") for text in texts])
    return CompletionMatches(begun, texts)


def _write_values(values: list[str], kind: str, outer: str, inner: str) -> Iterator[str]:
    """Write values in filter syntax; values that cannot be quoted are left out."""
    quote = inner or ("'" if outer == '"' else '"')
    for value in values:
        plain = kind in FILTER_LISTS or _is_plain(value)
        refused = {outer, "\\", *("" if plain else quote)} - {""}
        if not any(mark in value for mark in refused):
            yield value if plain or inner else f"{quote}{value}{quote}"


def _is_plain(value: str) -> bool:
    """Return whether a value needs no quotes in a filter."""
    return bool(_PLAIN_VALUE.fullmatch(value)) and value not in _FILTER_WORDS


def _named(option: Option, typed: str, context: LineContext, names: NameSource) -> Iterable[str]:
    if not option.completes:
        return ()
    around = AROUND.get(option.name, ())
    if around and _OPEN.search(typed):
        return SOURCES["attribute" if option.name != "replicas" else "index"](names, context)
    values = SOURCES.get(option.completes, _others(option.completes))(names, context)
    return [*(f"{modifier}(" for modifier in around), *values]


def _others(kind: str) -> Callable[[NameSource, LineContext], Iterable[str]]:
    return lambda names, context: names.named(kind, context.index)


def _paths(typed: str, names: NameSource) -> CompletionMatches:
    quoted = typed[:1] in ("'", '"')
    beginning = typed[1:] if quoted else typed
    paths = names.paths(beginning)
    return CompletionMatches(
        beginning, list(paths) if quoted else [quote_word(path) for path in paths]
    )


def _piece(typed: str) -> str:
    match = _PIECE.search(typed)
    return match[0].removeprefix("-") if match else ""


def _matching(fragment: str, names: Iterable[str]) -> CompletionMatches:
    beginning = fragment.casefold()
    return CompletionMatches(
        fragment, [name for name in names if name.casefold().startswith(beginning)]
    )


SOURCES: dict[str, Callable[[NameSource, LineContext], Iterable[str]]] = {
    "index": lambda names, context: names.indices(),
    "attribute": lambda names, context: names.attributes(context.index),
    "facet": lambda names, context: names.facets(context.index),
    "criterion": lambda names, context: default_of("ranking"),
    "column": lambda names, context: names.columns(context.source),
    "profile": lambda names, context: names.profiles(),
    "variable": lambda names, context: names.variables(),
    "verb": lambda names, context: list(dict.fromkeys(verb.family for verb in VERBS)),
    "endpoint": lambda names, context: [row.name for row in ENDPOINTS],
    "setting": lambda names, context: hints(Settings),
    "right": lambda names, context: get_args(Right),
}
# Modifiers around a name, by setting.
AROUND: dict[str, tuple[str, ...]] = {
    "ranking": ("asc", "desc"),
    "customRanking": ("asc", "desc"),
    "searchableAttributes": ("unordered",),
    "attributesForFaceting": ("searchable", "filterOnly", "afterDistinct"),
    "replicas": ("virtual",),
}
