"""Validate values against declared types; used by the client and the service."""

from __future__ import annotations

import re
import threading
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple, TypeGuard, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from svc_notebook.core.api.values import MAX_INTEGER, refuse_long_integers
from svc_notebook.core.foreign_names import suggest_argument
from svc_notebook.errors import BadInput


def same(first: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; unlike in Python, true is not equal to 1."""
    if first is other:
        return True
    if isinstance(first, dict) and isinstance(other, dict):
        return first.keys() == other.keys() and all(same(first[key], other[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(other, list | tuple):
        return len(first) == len(other) and all(map(same, first, other))
    return bool(first == other) and isinstance(first, bool) == isinstance(other, bool)


WANTED = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
FOUND = {**WANTED, "int": "a number", "float": "a number with decimals", "null": "null"}
LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
# The unit of a length, by JSON type.
PARTS = {"str": "characters", "array": "entries", "object": "members"}

_KINDS = re.compile(r"Expected `(?P<kinds>[^`]+)`")
_FOUND = re.compile(r", got `(?P<kind>[^`]+)`")
_LIMIT = re.compile(r"(?P<length> of length)? (?P<sign>[<>]=?) (?P<number>\S+)")


def word_mismatch(text: str) -> str | None:
    """Reword msgspec's "Expected `int`, got `str`" to follow a name; None for other messages."""
    if (expected := _KINDS.match(text)) is None:
        return None
    kinds, rest = expected["kinds"].split(" | "), text[expected.end() :]
    should = f"must be {_name_kinds(kinds)}"
    if actual := _FOUND.fullmatch(rest):
        # A type without a JSON name is a Python type.
        return f"{should}, not {FOUND.get(actual['kind'], 'a `' + actual['kind'] + '`')}"
    if (limit := _LIMIT.fullmatch(rest)) and kinds[0] in WANTED:
        most = f"{LIMITS[limit['sign']]} {limit['number']}"
        return f"{should} of {most} {PARTS[kinds[0]]}" if limit["length"] else f"{should}, {most}"
    return None


def _name_kinds(kinds: list[str]) -> str:
    # An error about a wrong value does not mention null, which only resets optional members.
    named = [kind for kind in kinds if kind != "null"] or kinds
    *others, last = " or ".join(WANTED.get(kind, kind) for kind in named).split(" or ")
    return f"{', '.join(others)} or {last}" if others else last


def type_name(kind: Any) -> str:
    """Return the name of a type in JSON terms."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return " ".join([type_name(args[0]), *_describe_limits(args[1:])])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(a) for a in args if a is not type(None))
    if origin is typing.Literal:
        return " ".join(f"`{word}`" for word in args if word != "")
    if origin is list:
        return f"list of {type_name(args[0])}"
    if origin is dict:
        return f"object of {type_name(args[1])}"
    return NAMES.get(kind, getattr(kind, "__name__", str(kind)))


def _describe_limits(marks: Sequence[Any]) -> Iterator[str]:
    for mark in marks:
        for sign, limit in (("≥", getattr(mark, "ge", None)), ("≤", getattr(mark, "le", None))):
            if limit is not None and abs(limit) != MAX_INTEGER:
                yield f"{sign} {limit}"


NAMES: dict[Any, str] = {
    str: "string", int: "integer", bool: "boolean", float: "number", Any: "any",
    type(None): "nothing",
}  # fmt: skip


# Text that is a value of parameters which are a boolean or a list.
BOOLEAN_WORDS = ("true", "false")
# Maximum items of a comma-separated text; a parameter may have a lower limit.
MAX_TEXT_ITEMS = 100_000
LONE_SURROGATE = "contains a lone surrogate, which is not valid Unicode"
_AT = re.compile(r" - at `\$(.*)`$")
_CONVERTED_TYPES: set[Any] = set()
_FIRST_CONVERSION = threading.RLock()
_WORD = re.compile(r"Invalid enum value '(.*)'$")


# An object inside a body, as passed to the check of a member.
Part = Mapping[str, Any]


class MemberCheck(NamedTuple):
    """A check of one member of an object: when it is wrong, and the message for that case."""

    member: str
    is_wrong: Callable[[Part], bool]
    text: str


class UnknownName(BadInput):
    """The name of a member or parameter is unknown."""


def advise_extra(error: UnknownName) -> BadInput:
    """Add to the error how to send a member that this package does not know."""
    return BadInput(
        f"{error}; to send it unchecked, use extra={{...}}, an argument of "
        "functions and of client.with_options"
    )


class Text(str):
    """A value that arrived as text, from a query string or from `params`."""

    __slots__ = ()


def check_value(value: Any, declared: Any, name: str) -> Any:
    """Return `value` unchanged if it has the type `declared`; `name` is its position in errors."""
    if type(value) is list and is_valid_list(value, declared):
        return value
    _refuse_unknown(value, declared, name)
    _converted(value, declared, name, strict=True)
    return value


def is_valid_list(value: list[Any], declared: Any) -> bool:
    """Return whether a list certainly has the type `declared`; if not, the full check decides.

    Covers lists of objects with texts and free objects, such as the operations of a batch: they are
    checked a member at a time, which is ten times as fast for thousands of them.
    """
    kinds = _uniform_members(declared) if value else None
    if kinds is None or set(map(type, value)) != {dict}:
        return False
    shape = get_args(declared)[0]
    shapes = [set(members) for members in set(map(tuple, value))]
    if not all(required(shape) <= members <= kinds.keys() for members in shapes):
        return False
    for name in set().union(*shapes):
        values = [item[name] for item in value if name in item]
        if not _are_valid_members(values, *kinds[name]):
            return False
    return True


def _are_valid_members(values: list[Any], kind: type, words: frozenset[str]) -> bool:
    if set(map(type, values)) != {kind} or (words and not words.issuperset(values)):
        return False
    return kind is not dict or not set(map(type, chain.from_iterable(values))) - {str}


@lru_cache(maxsize=256)
def _uniform_members(declared: Any) -> Mapping[str, tuple[type, frozenset[str]]] | None:
    """Return the type and the allowed words of each member of a list of objects.

    None if `declared` is another type, or a member has more than texts and free objects.
    """
    item = get_args(declared)[0] if get_origin(declared) is list else None
    if not is_shape(item):
        return None
    members = {name: _uniform_member(kind) for name, kind in hints(item).items()}
    uniform = {name: member for name, member in members.items() if member}
    return uniform if len(uniform) == len(members) else None


def _uniform_member(kind: Any) -> tuple[type, frozenset[str]] | None:
    if kind is str:
        return str, frozenset()
    if get_origin(kind) is Literal and all(isinstance(word, str) for word in get_args(kind)):
        return str, frozenset(get_args(kind))
    return (dict, frozenset()) if kind == dict[str, Any] else None


def check_members(members: Mapping[str, Any], shape: Any, name: str) -> dict[str, Any]:
    """Check each member against a TypedDict; text members are read by their declared type."""
    kinds = hints(shape)
    for key in members:
        if key not in kinds:
            raise UnknownName(f"`{place(name, key)}` is not known{suggest_argument(key, kinds)}")
    missing = sorted(required(shape) - members.keys())
    if missing:
        raise BadInput(f"`{place(name, missing[0])}` is missing")
    return {
        key: read_text(value, kinds[key], place(name, key))
        if isinstance(value, Text)
        else check_value(value, kinds[key], place(name, key))
        for key, value in members.items()
    }


def read_text(text: str, declared: Any, name: str) -> Any:
    """Parse text of a query string by its declared type (api.md, Format: arrays in a URL)."""
    text = str(text)
    if not (text.isascii() or is_unicode(text)):
        raise BadInput(f"`{name}` {LONE_SURROGATE}")
    kinds = list(alternatives(declared))
    if text[:1] in ("[", "{") and kinds != [str]:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            if str not in kinds:
                raise BadInput(f"`{name}`: not valid JSON: {text[:60]}") from None
        else:
            refuse_long_integers(value, name)
            return check_value(value, declared, name)
    if str in kinds:
        return text
    try:
        return _convert(text, declared, strict=False)
    except msgspec.ValidationError as error:
        if any(get_origin(kind) is list for kind in kinds):
            return _read_items(text, declared, name)
        raise _refusal(error, declared, name) from None


def _read_items(text: str, declared: Any, name: str) -> Any:
    if text.count(",") >= MAX_TEXT_ITEMS:
        raise BadInput(f"`{name}`: more than {MAX_TEXT_ITEMS:,} items") from None
    return _converted([*filter(None, text.split(","))], declared, name, strict=False)


def write_text(value: Any) -> str:
    """Format an argument as text of a query string, as `read_text` parses it.

    Lists are written as JSON, not comma-joined, so that an empty item or one with a comma is kept.
    """
    if isinstance(value, (bool, list, dict)):
        return msgspec.json.encode(value).decode()
    return str(value)


def write_query(query: Mapping[str, Any]) -> dict[str, str]:
    """Format the parameters of a query string as texts; those that are None are omitted."""
    texts = {name: write_text(value) for name, value in query.items() if value is not None}
    for name, text in texts.items():
        if not (text.isascii() or is_unicode(text)):
            raise BadInput(f"`{name}` {LONE_SURROGATE}")
    return texts


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 can encode a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def place(name: str, key: str) -> str:
    """Return `name.key`, or `key` alone at the top level."""
    return f"{name}.{key}" if name else key


@lru_cache(maxsize=256)
def hints(shape: Any) -> dict[str, Any]:
    """Return the members of a TypedDict and their types, without `Required` and `NotRequired`."""
    kinds = typing.get_type_hints(shape, include_extras=True)
    return {key: _required_off(kind) for key, kind in kinds.items()}


def _converted(value: Any, declared: Any, name: str, *, strict: bool) -> Any:
    try:
        return _convert(value, declared, strict=strict)
    except msgspec.ValidationError as error:
        raise _refusal(error, declared, name) from None
    except UnicodeEncodeError:
        at = f"`{name}`" if name else "the body"
        raise BadInput(f"{at} {LONE_SURROGATE}") from None
    except RecursionError:
        raise BadInput(f"{f'`{name}`' if name else 'the body'}: nested too deeply") from None


def _convert(value: Any, declared: Any, *, strict: bool) -> Any:
    """Convert a value; the first conversion to a type is done by one thread alone.

    msgspec exposes a partly read TypedDict to other threads, which then read beyond its end.
    """
    if declared in _CONVERTED_TYPES:
        return msgspec.convert(value, declared, strict=strict)
    with _FIRST_CONVERSION:
        try:
            return msgspec.convert(value, declared, strict=strict)
        finally:
            _CONVERTED_TYPES.add(declared)


def _refusal(error: msgspec.ValidationError, declared: Any, name: str) -> BadInput:
    text = str(error)
    position = _AT.search(text)
    text = _AT.sub("", text)
    member = _member(declared, position)
    if (wrong := _WORD.match(text)) and (words := literals(member)):
        text = f"`{wrong[1]}` is not one of {', '.join(words)}"
        if any(get_origin(kind) is list for kind in alternatives(member)):
            text += f", nor a list such as {write_text([wrong[1]])}"
    at = f"{name}{position[1] if position else ''}".lstrip(".")
    subject = f"`{at}`" if at else "the body"
    if should := word_mismatch(text):
        return BadInput(f"{subject} {should}")
    return BadInput(f"{subject}: {text[0].lower()}{text[1:]}")


def _member(declared: Any, match: re.Match[str] | None) -> Any:
    """Return the type at the position that an error names."""
    for step in re.findall(r"\.(\w+)|\[", match[1] if match else ""):
        inner = next(_inner_types(declared, step), None)
        if inner is None:
            break
        declared = inner
    return declared


def _inner_types(declared: Any, step: str) -> Iterator[Any]:
    """Yield the types of a member, or of the items of a list if the step has no name."""
    for kind in alternatives(declared):
        if not step and get_origin(kind) is list:
            yield get_args(kind)[0]
        elif is_shape(kind) and step in hints(kind):
            yield hints(kind)[step]


def _refuse_unknown(value: Any, declared: Any, name: str) -> None:
    """Raise for unknown members at any depth, because msgspec ignores them silently."""
    for kind in alternatives(declared):
        if isinstance(value, dict) and is_shape(kind):
            _refuse_members(value, kind, name)
        elif get_origin(kind) is list and isinstance(value, list):
            item = get_args(kind)[0]
            if any(is_shape(k) for k in alternatives(item)):
                for number, entry in enumerate(value):
                    _refuse_unknown(entry, item, f"{name}[{number}]")


def _refuse_members(value: dict[str, Any], shape: Any, name: str) -> None:
    kinds = hints(shape)
    for key, member in value.items():
        if key not in kinds:
            raise UnknownName(
                f"`{place(name, key)}` is not known{suggest_argument(str(key), kinds)}"
            )
        _refuse_unknown(member, kinds[key], place(name, key))


def is_shape(kind: Any) -> TypeGuard[type]:
    """Return whether a type is a TypedDict."""
    return typing.is_typeddict(kind)


@lru_cache(maxsize=1024)
def alternatives(declared: Any) -> tuple[Any, ...]:
    """Return the member types of a union, without annotations."""
    declared = _bare(declared)
    if get_origin(declared) not in (Union, types.UnionType):
        return (declared,)
    return tuple(kind for member in get_args(declared) for kind in alternatives(member))


@lru_cache(maxsize=256)
def required(shape: Any) -> frozenset[str]:
    """Return the required members of a TypedDict.

    `__required_keys__` alone misses marks inside annotations that are kept as text.
    """
    kinds = typing.get_type_hints(shape, include_extras=True)
    marked = {key: get_origin(kind) for key, kind in kinds.items()}
    needed = {key for key, mark in marked.items() if mark is typing.Required}
    spared = {key for key, mark in marked.items() if mark is typing.NotRequired}
    return frozenset((shape.__required_keys__ | needed) - spared)


def _required_off(kind: Any) -> Any:
    while get_origin(kind) in (typing.Required, typing.NotRequired):
        kind = get_args(kind)[0]
    return kind


def _bare(kind: Any) -> Any:
    while get_origin(kind) in (Annotated, typing.Required, typing.NotRequired):
        kind = get_args(kind)[0]
    return kind


def literals(declared: Any) -> list[str]:
    """Return the literal values that a type allows, for completion and suggestions.

    An empty one, which means the default, is left out.
    """
    kinds = list(alternatives(declared))
    kinds += [
        k for kind in kinds if get_origin(kind) is list for k in alternatives(*get_args(kind))
    ]
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    return [str(word) for word in words if word != ""]


def mark_list_text(members: Mapping[str, Any], shape: Any) -> dict[str, Any]:
    """Mark text for a list in a body, which older integrations send, to be read as in a URL."""
    lists = _list_members(shape)
    return {
        name: Text(value)
        if name in lists and isinstance(value, str) and value not in BOOLEAN_WORDS
        else value
        for name, value in members.items()
    }


@lru_cache(maxsize=64)
def _list_members(shape: Any) -> frozenset[str]:
    """Return the members of a TypedDict that are lists and cannot be any text."""
    kinds = {name: alternatives(kind) for name, kind in hints(shape).items()}
    return frozenset(
        name
        for name, members in kinds.items()
        if str not in members and any(get_origin(member) is list for member in members)
    )


def read_params(body: Any) -> Any:
    """Expand `params`, search parameters as one URL-encoded string (api.md, Search).

    A member of the body takes precedence over the same member in `params`. Older clients send an
    object or null in `params`.
    """
    if not isinstance(body, dict) or "params" not in body:
        return body
    members = {name: value for name, value in body.items() if name != "params"}
    params = body["params"] or ""
    return (params if isinstance(params, dict) else read_query_text(params)) | members


def read_query_text(text: Any) -> dict[str, Any]:
    """Parse URL-encoded parameters; values remain text until their type is known."""
    if not isinstance(text, str):
        raise BadInput("`params` must be a URL-encoded string such as `query=lamp&page=1`")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except ValueError as error:
        raise BadInput(f"`params` is not URL-encoded text: {error}") from None
    return {name: Text(value) for name, value in pairs}
