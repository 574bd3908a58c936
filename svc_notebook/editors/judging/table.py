"""Judgments as rows and as a DataFrame, checked on entry.

One row is one opinion of one hit of one query: `query, objectID, rating`, and `rater, unrateable,
note, source, judged_at, filters` where they are known. A rating of 0, a hit that cannot be rated
and one without an opinion are three things.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.errors import BadInput, BadRecord, did_you_mean
from svc_notebook.frames.columns import typed

Row = dict[str, Any]
Key = tuple[str, str, str, str]

SCHEMA = {
    "query": "str",
    "objectID": "str",
    "rating": "float64",
    "rater": "str",
    "unrateable": "bool",
    "note": "str",
    "source": "str",
    "judged_at": "datetime64[us, UTC]",
    "filters": "str",
}
SOURCES = ("human", "click", "import")
_EMPTY: Row = {
    "rating": None, "rater": "", "unrateable": False, "note": "", "source": "human",
    "judged_at": None, "filters": "",
}  # fmt: skip


def read_judgments(given: Any) -> list[Row]:
    """Check judgments, given as a DataFrame or as rows; columns of your own stay."""
    if isinstance(given, DataFrame):
        given = given.astype(object).to_dict("records")
    if not isinstance(given, list | tuple) or not all(isinstance(row, Mapping) for row in given):
        raise BadInput("judgments are a DataFrame, or a list of rows as dicts")
    rows = [_read_row(row, number) for number, row in enumerate(given)]
    _refuse_twice(rows)
    return rows


def to_frame(rows: Iterable[Row]) -> DataFrame:
    """Make a DataFrame of judgments, your own columns last."""
    held = list(rows)
    frame = typed(held, SCHEMA, {})
    for name in dict.fromkeys(name for row in held for name in row if name not in SCHEMA):
        frame[name] = pd.Series([row.get(name) for row in held], index=frame.index)
    return frame


def key_of(row: Mapping[str, Any]) -> Key:
    """What a judgment is about, and whose it is."""
    return row["query"], row["filters"], row["objectID"], row["rater"]


def says_something(row: Mapping[str, Any]) -> bool:
    """Whether a row is worth keeping."""
    return row["rating"] is not None or row["unrateable"] or bool(row["note"])


def is_judged(row: Mapping[str, Any] | None) -> bool:
    """Whether a hit has been dealt with: rated, or found impossible to rate."""
    return row is not None and (row["rating"] is not None or row["unrateable"])


def _read_row(given: Mapping[str, Any], number: int) -> Row:
    for name in ("query", "objectID"):
        if name not in given:
            raise BadInput(f"judgments need a column `{name}`{did_you_mean(name, map(str, given))}")
    known = {str(name): None if _is_missing(value) else value for name, value in given.items()}
    row = {**_EMPTY, **{name: value for name, value in known.items() if value is not None}}
    for name, read in _READERS.items():
        try:
            row[name] = read(row.get(name))
        except ValueError as error:
            message = f"row {number}, `{name}`: {error}"
            raise BadRecord(message, row=number, column=name, value=row.get(name)) from None
    if row["unrateable"] and row["rating"] is not None:
        message = f"row {number} is unrateable and has a rating; it can be one of them"
        raise BadRecord(message, row=number, column="rating", value=row["rating"])
    return {name: row[name] for name in [*SCHEMA, *(name for name in row if name not in SCHEMA)]}


def _refuse_twice(rows: Iterable[Row]) -> None:
    seen: dict[Key, int] = {}
    for number, row in enumerate(rows):
        if (first := seen.setdefault(key_of(row), number)) != number:
            raise BadRecord(
                f"rows {first} and {number} judge the same: {row['objectID']!r} for "
                f"{row['query']!r}; keep one of them, or name the raters",
                row=number, column="objectID", value=row["objectID"],
            )  # fmt: skip


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or value is pd.NA or value is pd.NaT or is_nan


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"this is no text: {value!r}")
    return value


def _read_id(value: Any) -> str:
    whole = not isinstance(value, bool) and hasattr(value, "__index__")
    text = str(value) if whole else _read_text(value)
    if not text:
        raise ValueError("this is empty")
    return text


def _read_rating(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise ValueError(f"a rating is a number, not {value!r}")
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"a rating is 0 or more, not {value!r}")
    return number


def _read_flag(value: Any) -> bool:
    if value not in (True, False):
        raise ValueError(f"this is neither true nor false: {value!r}")
    return bool(value)


def _read_source(value: Any) -> str:
    if value not in SOURCES:
        raise ValueError(f"{value!r} is not one of {', '.join(SOURCES)}")
    return str(value)


def _read_time(value: Any) -> str | None:
    if value is None:
        return None
    moment = pd.Timestamp(value)
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone, such as `+00:00`")
    return moment.tz_convert("UTC").isoformat()


def now() -> str:
    """The moment, as judgments note it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


_READERS = {
    "query": _read_text,
    "objectID": _read_id,
    "rating": _read_rating,
    "rater": _read_text,
    "unrateable": _read_flag,
    "note": _read_text,
    "source": _read_source,
    "judged_at": _read_time,
    "filters": _read_text,
}
