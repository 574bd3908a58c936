"""JSON encoding of Python values: which are kept, which are converted, which are rejected."""

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
    """A value has no place in JSON; the message says why and what to do."""


def write_json(value: object, zone: str | None = None) -> str | None:
    """Write a value as JSON; nothing where it is missing. Raises `Unsendable`."""
    if is_missing(value):
        return None
    try:
        return msgspec.json.encode(plain(value, zone)).decode()
    except UnicodeEncodeError as error:
        raise Unsendable("is text with half a character in it; clean it first") from error


def is_missing(value: object) -> bool:
    """Tell whether a value is one of the many ways to say that there is none."""
    return value is None or value is pd.NA or value is pd.NaT or _is_nan(value)


def _is_nan(value: object) -> bool:
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def plain(value: Any, zone: str | None, depth: int = 0) -> Any:
    """Turn a value into what JSON knows."""
    kind = type(value)
    if kind not in PRESENT and is_missing(value):
        return None
    if depth > MAX_DEPTH:
        raise Unsendable(f"is nested more than {MAX_DEPTH} deep")
    if kind is str:
        return value
    if write := _writer_of(kind):  # type: ignore[arg-type]  # classes are hashable
        return write(value, zone, depth)
    raise Unsendable(f"is a {kind.__name__}, which JSON does not know; make it text first")


# Most values are of these, and none of them is missing.
PRESENT = frozenset({str, int, bool, list, dict})


@lru_cache(maxsize=256)  # and no more: it keeps classes alive
def _writer_of(kind: type) -> Writer | None:
    return next((write for kinds, write in WRITERS if issubclass(kind, kinds)), None)


def _boolean(value: Any, zone: str | None, depth: int) -> bool:
    return bool(value)


def _text(value: Any, zone: str | None, depth: int) -> str:
    return str(value)


def _integer(value: Any, zone: str | None, depth: int) -> int:
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise Unsendable("is beyond 64 bits; send it as text")
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
        raise Unsendable("is a decimal no JSON number holds exactly; send it as text")
    return msgspec.Raw(format(value, "f").encode())


def _moment(value: dt.datetime, zone: str | None, depth: int) -> str:
    if value.tzinfo is None and zone is None:
        raise Unsendable("is a time without a zone; say which: timezone='UTC'")
    known = value if value.tzinfo else value.replace(tzinfo=ZoneInfo(zone or "UTC"))
    text = known.astimezone(dt.UTC).replace(tzinfo=None).isoformat()
    return f"{text.rstrip('0') if '.' in text else text}Z"


def _numpy_moment(value: np.datetime64, zone: str | None, depth: int) -> str:
    return _moment(pd.Timestamp(value), zone, depth)


def _iso(value: Any, zone: str | None, depth: int) -> str:
    return str(value.isoformat())


def _span(value: Any, zone: str | None, depth: int) -> Any:
    raise Unsendable("is a time span; send a number, for example .dt.total_seconds()")


def _bytes(value: Any, zone: str | None, depth: int) -> Any:
    raise Unsendable("is bytes; decode it, or encode it as base64 text")


def _set(value: Any, zone: str | None, depth: int) -> Any:
    raise Unsendable("is a set, which has no order; send sorted(value)")


def _list(value: Any, zone: str | None, depth: int) -> list[Any]:
    return [plain(item, zone, depth + 1) for item in value]


def _mapping(value: Mapping[Any, Any], zone: str | None, depth: int) -> dict[str, Any]:
    if any(not isinstance(key, str) for key in value):
        raise Unsendable("has keys that are not text")
    return {str(key): plain(item, zone, depth + 1) for key, item in value.items()}


def _member(value: enum.Enum, zone: str | None, depth: int) -> Any:
    return plain(value.value, zone, depth + 1)


def _complex(value: Any, zone: str | None, depth: int) -> Any:
    raise Unsendable("is a complex number; send its two parts")


# The first kind that fits counts: an IntEnum is an int, a bool is too, a Timestamp is a date.
WRITERS: tuple[tuple[Any, Writer], ...] = (
    (enum.Enum, _member),
    (str, _text),
    ((bool, np.bool_), _boolean),
    ((dt.timedelta, np.timedelta64, pd.DateOffset), _span),
    ((int, np.integer), _integer),
    ((float, np.floating), _number),
    (decimal.Decimal, _decimal),
    (dt.datetime, _moment),
    (np.datetime64, _numpy_moment),
    ((dt.date, dt.time), _iso),
    (uuid.UUID, _text),
    (Mapping, _mapping),
    ((list, tuple, np.ndarray, pd.Series, pd.Index), _list),
    ((bytes, bytearray, memoryview), _bytes),
    ((set, frozenset), _set),
    ((complex, np.complexfloating), _complex),
    (pd.Interval, _text),
    (pd.Period, _text),
)
