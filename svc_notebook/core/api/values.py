"""Values of arguments: numbers and their bounds; texts, durations and pairs as people type them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta

from svc_notebook.core.display import shorten
from svc_notebook.errors import BadInput, did_you_mean

# Maximum of an argument that is an integer: all readers of JSON keep it exact, and a page times the
# hits of a page fits in 64 bits.
MAX_INTEGER = 2**53 - 1
# Integers of records and other free values: those that fit in 64 bits.
INTEGERS = range(-(2**63), 2**64)
Integer = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Natural = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and no boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def refuse_long_integers(value: Any, at: str) -> None:
    """Raise `BadInput` for an integer that does not fit in 64 bits, anywhere in a JSON value."""
    for position, leaf in list_leaves(value, at):
        if type(leaf) is int and leaf not in INTEGERS:
            raise BadInput(f"`{position}`: the number {str(leaf)[:40]} does not fit in 64 bits")


def list_leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """Yield the values inside lists and objects, each with its position."""
    if type(value) is dict:
        for name, inner in value.items():
            yield from list_leaves(inner, f"{at}.{name}" if at else name)
    elif type(value) is list:
        for number, inner in enumerate(value):
            yield from list_leaves(inner, f"{at}[{number}]")
    else:
        yield at, value


# One string or several; a str is one string.
OneOrMany = str | Iterable[str]
MAX_QUOTED_CHARACTERS = 60  # maximum characters of a wrong value in an error message
SECONDS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d+)\s*(s|min|m|h|d|w)?")


def list_texts(given: Any, what: str, *, column: str = "") -> list[str]:
    """Return strings as a list; a str is one string and is never split into letters.

    - `given`: a str, or a list, tuple, Series, Index, array, set or generator of str. Of a
      DataFrame, the column `column` is used.
    - `what`: the name of the strings in error messages, such as `queries`.

    Raises `BadInput` for a value that is not a string, including a missing value.
    """
    if isinstance(given, str):
        return [str(given)]
    if hasattr(given, "columns"):  # a DataFrame: iterating it yields the column names
        given = _pick_column(given, what, column)
    if isinstance(given, (Mapping, bytes, bytearray)) or not isinstance(given, Iterable):
        raise BadInput(f"`{what}` must be a list of texts, not {_quote(given)}")
    try:
        texts = list(given)
    except TypeError:  # a zero-dimensional array
        raise BadInput(f"`{what}` must be a list of texts, not {_quote(given)}") from None
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise BadInput(
                f"`{what}` must be texts; entry {number} is {_quote(text)}: "
                f"drop missing values ({what}.dropna()), and convert others to text"
            )
    return [str(text) for text in texts]


def _pick_column(frame: Any, what: str, column: str) -> Any:
    names = [str(name) for name in frame.columns]
    if column not in names:
        near = did_you_mean(column or what, names)
        raise BadInput(f"name the column of the {what}: df['{column or what}']{near}")
    return frame[column]


def _quote(value: Any) -> str:
    return shorten(repr(value), MAX_QUOTED_CHARACTERS)


def read_seconds(value: object, name: str) -> object:
    """Return the seconds of a duration such as `24h` or `7d`; other values as they are."""
    return parse_duration(value, name) if isinstance(value, str) else value


def parse_duration(text: str, name: str) -> int:
    """Return the seconds of a duration; raises `BadInput` for any other text."""
    match = _DURATION.fullmatch(text.strip().lower())
    if not match:
        raise BadInput(f"`{name}` must be seconds, or a duration such as 30min, 24h or 7d: {text}")
    return int(match[1]) * SECONDS[match[2] or "s"]


def expiry_of(seconds_left: int) -> str | None:
    """Return the time at which a validity ends, to the second; None if it does not end."""
    if not seconds_left:
        return None
    try:
        end = datetime.now(UTC) + timedelta(seconds=seconds_left)
    except OverflowError:  # after the year 9999
        return None
    return end.isoformat(timespec="seconds")


def read_pairs(text: str) -> dict[str, str]:
    """Return the members of `price=number,stock=integer`; none for other texts, such as JSON."""
    if text.lstrip().startswith("{"):
        return {}
    parts = text.split(",") if all("=" in part for part in text.split(",")) else [text]
    pairs = [part.rpartition("=") for part in parts]
    return {name: value for name, equals, value in pairs if equals and name and value}
