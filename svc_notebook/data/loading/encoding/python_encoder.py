"""JSON encoding of Python values: some are kept, some are converted, others are rejected."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pandas as pd

Writer = Callable[[Any, str | None, int], Any]

MAX_INTEGER = 2**63 - 1
MIN_INTEGER = -(2**63)
MAX_DEPTH = 64


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
    if not MIN_INTEGER <= value <= MAX_INTEGER:
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
