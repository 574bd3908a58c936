"""JSON values of columns: their canonical form, and their types.

The canonical form is identical for every source that contains the same value: `1`, `1.0`
and `1e0` are one number, the members of an object have one order, and a character has one escape.
Ids that are hashes are computed from this form, not from the text that is sent. The types of the
values of a column are recognized by the first character of each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec

JSON = "JSON"
TEXT, LIST, OBJECT, BOOLEAN, INTEGER, NUMBER = (1 << bit for bit in range(6))
NAMES = {
    TEXT: "text", BOOLEAN: "boolean", INTEGER: "integer", NUMBER: "number", LIST: "list",
    OBJECT: "object",
}  # fmt: skip
TYPES_BY_START = {'"': TEXT, "[": LIST, "{": OBJECT, "t": BOOLEAN, "f": BOOLEAN}
# The names of `canonical` and `canonical_members` in SQL, for values that SQL cannot convert.
FUNCTION = "canonical_json"
MEMBERS_FUNCTION = "canonical_members"
# Whole floats below this are written as whole numbers; a BIGINT cannot store larger ones.
MAX_WHOLE = 9e18
NUMBER_STARTS = frozenset("-0123456789")
ESCAPE = "\\u"


def canonical(json: str) -> str:
    """Return the canonical form of one value's JSON; invalid JSON is returned unchanged."""
    start = json[:1]
    if start in NUMBER_STARTS:
        return _number(json)
    if start in "[{" or ESCAPE in json:
        return _canonical_document(json)
    return json


def canonical_member(name: str, json: str) -> str:
    """Return a member in canonical form, preceded by a comma."""
    return _key(name) + canonical(json)


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    return f",{msgspec.json.encode(name).decode()}:"


def canonical_members(json: str) -> str:
    """Return an object's members in canonical form, sorted by name, each preceded by a comma."""
    try:
        members = _read_members(json)
    except (msgspec.MsgspecError, UnicodeError):
        return json
    texts = ((name, bytes(members[name]).decode()) for name in sorted(members))
    return "".join(canonical_member(name, text) for name, text in texts if text != "null")


def map_texts(function: Callable[[str], str]) -> Callable[[Iterable[str | None]], list[str | None]]:
    """Return a function that maps a column of texts; missing values stay missing."""
    return lambda texts: [None if text is None else function(text) for text in texts]


def canonical_sql(json: str, sent_as: str) -> str:
    """Return the SQL of the canonical form of a value that is sent as this type."""
    return SQL_BY_TYPE.get(sent_as, _any_sql)(json)


def _number(json: str) -> str:
    if json.lstrip("-").isdigit():
        return "0" if json == "-0" else json
    try:
        value = float(json)
    except ValueError:
        return json
    return str(int(value)) if _is_whole(value) else repr(value)


def _is_whole(value: float) -> bool:
    return abs(value) < MAX_WHOLE and value == int(value)


def _canonical_document(json: str) -> str:
    try:
        return msgspec.json.encode(_canonical_value(msgspec.json.decode(json))).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return json


def _canonical_value(value: Any) -> Any:
    if isinstance(value, dict):
        present = ((name, value[name]) for name in sorted(value) if value[name] is not None)
        return {name: _canonical_value(inner) for name, inner in present}
    if isinstance(value, list):
        return [_canonical_value(inner) for inner in value]
    # SQL writes the same text for a number.
    return msgspec.Raw(_number(repr(value)).encode()) if isinstance(value, float) else value


_read_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _unchanged(json: str) -> str:
    return json


def _text_sql(json: str) -> str:
    return f"CASE WHEN contains({json}, '{ESCAPE}') THEN {FUNCTION}({json}) ELSE {json} END"


def _integer_sql(json: str) -> str:
    return f"CASE WHEN {json} = '-0' THEN '0' ELSE {json} END"


def _number_sql(json: str) -> str:
    value = f"try_cast({json} AS DOUBLE)"
    whole = f"{value} = trunc({value}) AND abs({value}) < {MAX_WHOLE}"
    return (
        f"CASE WHEN regexp_full_match({json}, '-?[0-9]+') THEN {_integer_sql(json)} "
        f"WHEN {whole} THEN {value}::BIGINT::VARCHAR "
        f"ELSE coalesce({value}::VARCHAR, {json}) END"
    )


def _any_sql(json: str) -> str:
    return (
        f"CASE left({json}, 1) WHEN '\"' THEN {_text_sql(json)} "
        f"WHEN '[' THEN {FUNCTION}({json}) WHEN '{{' THEN {FUNCTION}({json}) "
        f"WHEN 't' THEN {json} WHEN 'f' THEN {json} ELSE {_number_sql(json)} END"
    )


SQL_BY_TYPE = {
    "text": _text_sql,
    "date": _unchanged,
    "time": _unchanged,
    "boolean": _unchanged,
    "integer": _integer_sql,
    "epoch seconds": _integer_sql,
    "epoch milliseconds": _integer_sql,
    "number": _number_sql,
}


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
