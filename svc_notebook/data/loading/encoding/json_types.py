"""The JSON types of the values in a column, recognized by the first character of each value."""

from __future__ import annotations

from collections.abc import Iterable

JSON = "JSON"
TEXT, LIST, OBJECT, BOOLEAN, INTEGER, NUMBER = (1 << bit for bit in range(6))
NAMES = {
    TEXT: "text", BOOLEAN: "boolean", INTEGER: "integer", NUMBER: "number", LIST: "list",
    OBJECT: "object",
}  # fmt: skip
TYPES_BY_START = {'"': TEXT, "[": LIST, "{": OBJECT, "t": BOOLEAN, "f": BOOLEAN}


def json_types_sql(json: str) -> str:
    """Return the SQL of the aggregate that finds the types of all values, one bit for each type."""
    cases = " ".join(f"WHEN '{start}' THEN {kind}" for start, kind in TYPES_BY_START.items())
    number = f"CASE WHEN regexp_matches({json}, '[.eE]') THEN {NUMBER} ELSE {INTEGER} END"
    return f"bit_or(CASE left({json}, 1) {cases} ELSE {number} END) FILTER ({json} IS NOT NULL)"


def find_json_types(texts: Iterable[str | None]) -> int:
    """Return the types of all values, one bit for each type."""
    types = 0
    for text in texts:
        if text is not None:
            number = NUMBER if any(mark in text for mark in ".eE") else INTEGER
            types |= TYPES_BY_START.get(text[0], number)
    return types


def name_json_types(types: int | None) -> str:
    """Return the names of types, such as `text or integer`; `JSON` if there is no value."""
    if types and types & NUMBER:
        types &= ~INTEGER
    return " or ".join(name for kind, name in NAMES.items() if (types or 0) & kind) or JSON


def may_hold_objects(sent_as: str) -> bool:
    """Return whether a value that is sent as this type can be or contain an object."""
    return not {JSON, NAMES[LIST], NAMES[OBJECT]}.isdisjoint(sent_as.split(" or "))
