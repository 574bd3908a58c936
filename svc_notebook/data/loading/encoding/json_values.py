"""JSON values: encoded from Python, in canonical form, and their types.

Of Python's values, some are kept, some are converted, others are rejected. The canonical form is
identical for every source that contains the same value: `1`, `1.0` and `1e0` are one number, the
members of an object have one order, and a character has one escape. Ids that are hashes are
computed from this form, not from the text that is sent. The types of the values of a column are
recognized by the first character of each value.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pandas as pd

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
Writer = Callable[[Any, str | None, int], Any]

MAX_DEPTH = 64


def canonical(json: str) -> str:
    """Return the canonical form of one value's JSON; invalid JSON is returned unchanged."""
    start = json[:1]
    if start in NUMBER_STARTS:
        return _canonical_number(json)
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


def _canonical_number(json: str) -> str:
    if json.lstrip("-").isdigit():
        return "0" if json == "-0" else json
    try:
        value = float(json)
    except ValueError:
        return json
    return str(int(value)) if abs(value) < MAX_WHOLE and value == int(value) else repr(value)


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
    if isinstance(value, float):
        return msgspec.Raw(_canonical_number(repr(value)).encode())
    return value


_read_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


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


SQL_BY_TYPE: dict[str, Callable[[str], str]] = {
    "text": _text_sql,
    "date": str,
    "time": str,
    "boolean": str,
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


class Unsendable(Exception):
    """JSON cannot represent a value; the message contains the reason and advice."""


def write_json(value: object, zone: str | None = None) -> str | None:
    """Return the JSON of a value, None for a missing value; raises `Unsendable`."""
    if is_missing(value):
        return None
    try:
        return msgspec.json.encode(to_json_value(value, zone)).decode()
    except UnicodeEncodeError as error:
        raise Unsendable(
            "contains a lone surrogate, which is not valid Unicode; remove it"
        ) from error


def is_missing(value: object) -> bool:
    """Return whether a value is a missing value: None, NA, NaT or NaN."""
    return value is None or value is pd.NA or value is pd.NaT or _is_nan(value)


def _is_nan(value: object) -> bool:
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def to_json_value(value: Any, zone: str | None, depth: int = 0) -> Any:
    """Convert a value to one that JSON can represent."""
    kind = type(value)
    if kind not in PRESENT and is_missing(value):
        return None
    if depth > MAX_DEPTH:
        raise Unsendable(f"is nested more than {MAX_DEPTH} deep")
    if kind is str:
        return value
    if write := _writer_of(kind):  # type: ignore[arg-type]  # classes are hashable
        return write(value, zone, depth)
    raise Unsendable(f"has the type {kind.__name__}, which JSON lacks; convert it to text")


# The most frequent types; a value of one of them is never missing.
PRESENT = frozenset({str, int, bool, list, dict})


@lru_cache(maxsize=256)  # limited, because the cache keeps classes alive
def _writer_of(kind: type) -> Writer | None:
    return next((write for kinds, write in WRITERS if issubclass(kind, kinds)), None)


def _text(value: Any, zone: str | None, depth: int) -> str:
    return str(value)


def _integer(value: Any, zone: str | None, depth: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Unsendable("does not fit in 64 bits; send it as text")
    return int(value)


def _number(value: Any, zone: str | None, depth: int) -> float:
    if math.isinf(value):
        raise Unsendable("is infinite; JSON has no infinity")
    # The shortest text of a float32 reads back as the same float32.
    return float(str(value)) if isinstance(value, np.floating) else float(value)


def _decimal(value: decimal.Decimal, zone: str | None, depth: int) -> Any:
    if value.is_infinite():
        raise Unsendable("is infinite; JSON has no infinity")
    if decimal.Decimal(float(value)) != value and decimal.Decimal(repr(float(value))) != value:
        raise Unsendable("is a decimal that no JSON number represents exactly; send it as text")
    return msgspec.Raw(format(value, "f").encode())


def _moment(value: dt.datetime, zone: str | None, depth: int) -> str:
    if value.tzinfo is None and zone is None:
        raise Unsendable("is a time without a time zone; pass the zone: timezone='UTC'")
    aware = value if value.tzinfo else value.replace(tzinfo=ZoneInfo(zone or "UTC"))
    if not value.tzinfo and aware.utcoffset() != aware.replace(fold=1).utcoffset():
        raise Unsendable(
            "is a time that its zone skips or repeats when clocks change; add its offset, or pass "
            "timezone='UTC'"
        )
    text = aware.astimezone(dt.UTC).replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


def _refuse(reason: str) -> Writer:
    """Return a writer of values that JSON does not have."""

    def write(value: Any, zone: str | None, depth: int) -> Any:
        raise Unsendable(reason)

    return write


def _mapping(value: Mapping[Any, Any], zone: str | None, depth: int) -> dict[str, Any]:
    if any(not isinstance(key, str) for key in value):
        raise Unsendable("has keys that are not text")
    return {str(key): to_json_value(item, zone, depth + 1) for key, item in value.items()}


# The first matching row counts: an IntEnum and a bool are ints, too, and a Timestamp is a date.
WRITERS: tuple[tuple[Any, Writer], ...] = (
    (enum.Enum, lambda value, zone, depth: to_json_value(value.value, zone, depth + 1)),
    (str, _text),
    ((bool, np.bool_), lambda value, *_: bool(value)),
    ((dt.timedelta, np.timedelta64, pd.DateOffset), _refuse(
        "is a duration; send a number, for example .dt.total_seconds()")),
    ((int, np.integer), _integer),
    ((float, np.floating), _number),
    (decimal.Decimal, _decimal),
    (dt.datetime, _moment),
    (np.datetime64, lambda value, *others: _moment(pd.Timestamp(value), *others)),
    ((dt.date, dt.time), lambda value, *_: value.isoformat()),
    (uuid.UUID, _text),
    (Mapping, _mapping),
    ((list, tuple, np.ndarray, pd.Series, pd.Index),
     lambda value, zone, depth: [to_json_value(item, zone, depth + 1) for item in value]),
    ((bytes, bytearray, memoryview), _refuse(
        "is bytes; decode it, or encode it as base64 text")),
    ((set, frozenset), _refuse("is a set, which has no order; send sorted(value)")),
    ((complex, np.complexfloating), _refuse("is a complex number; send its two parts")),
    (pd.Interval, _text),
    (pd.Period, _text),
)  # fmt: skip
