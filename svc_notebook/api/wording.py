"""Say what a value should have been in everybody's words, not in a programming language's."""

from __future__ import annotations

import re
import types
import typing
from typing import Any

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
# What a length counts.
PARTS = {"str": "characters", "array": "entries", "object": "members"}

_KINDS = re.compile(r"Expected `(?P<kinds>[^`]+)`")
_FOUND = re.compile(r", got `(?P<kind>[^`]+)`")
_LIMIT = re.compile(r"(?P<length> of length)? (?P<sign>[<>]=?) (?P<number>\S+)")


def word_mismatch(text: str) -> str | None:
    """Turn msgspec's "Expected `int`, got `str`" into what follows a name; None for others."""
    if (wanted := _KINDS.match(text)) is None:
        return None
    kinds, rest = wanted["kinds"].split(" | "), text[wanted.end() :]
    should = f"should be {_name_kinds(kinds)}"
    if found := _FOUND.fullmatch(rest):
        # A type that JSON has no name for is Python's own.
        return f"{should}, not {FOUND.get(found['kind'], 'a `' + found['kind'] + '`')}"
    if (limit := _LIMIT.fullmatch(rest)) and kinds[0] in WANTED:
        most = f"{LIMITS[limit['sign']]} {limit['number']}"
        return f"{should} of {most} {PARTS[kinds[0]]}" if limit["length"] else f"{should}, {most}"
    return None


def _name_kinds(kinds: list[str]) -> str:
    # That null resets what is optional is not what a wrong value asks to be told.
    named = [kind for kind in kinds if kind != "null"] or kinds
    *others, last = " or ".join(WANTED.get(kind, kind) for kind in named).split(" or ")
    return f"{', '.join(others)} or {last}" if others else last


def type_name(kind: Any) -> str:
    """Write a type the way a reader of JSON says it."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        limits = [
            f"{sign} {limit}"
            for mark in args[1:]
            for sign, limit in [("≥", getattr(mark, "ge", None)), ("≤", getattr(mark, "le", None))]
            if limit is not None
        ]
        return " ".join([type_name(args[0]), *limits])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(a) for a in args if a is not type(None))
    if origin is typing.Literal:
        return " ".join(f"`{word}`" for word in args)
    if origin is list:
        return f"list of {type_name(args[0])}"
    if origin is dict:
        return f"object of {type_name(args[1])}"
    return NAMES.get(kind, getattr(kind, "__name__", str(kind)))


NAMES: dict[Any, str] = {
    str: "string", int: "integer", bool: "boolean", float: "number", Any: "any",
    type(None): "nothing",
}  # fmt: skip
