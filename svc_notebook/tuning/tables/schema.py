"""The columns of each tuning table, their valid values and defaults, and relevant ratings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.data.frames import id_text
from svc_notebook.errors import BadInput, BadRecord

RELEVANT_GRADE = 1.0
RELEVANT_SHARE = 0.5  # of the best rating, on scales below 1 such as click-through rates

TIME = "datetime64[us, UTC]"


class ColumnSchema(NamedTuple):
    """The dtype, the parser of one value (raises `ValueError`), and the default of missing ones."""

    dtype: str
    read: Callable[[Any], Any]
    default: Any = None
    required: bool = False


def read_column(frame: DataFrame, name: str, column: ColumnSchema) -> Series[Any]:
    """Read one column; raise `BadRecord` for the first invalid value."""
    if name not in frame:
        return _typed([_copy_default(column.default)] * len(frame), column.dtype)
    given: Any = frame[name]
    if isinstance(given, DataFrame):
        raise BadRecord(f"there are two columns `{name}`; keep one", column=name)
    if _is_ready(given, column):
        return Series(given, dtype=column.dtype)
    return _typed(
        [_read(value, row, name, column) for row, value in enumerate(given.tolist())],
        column.dtype,
    )


def is_missing(value: Any) -> bool:
    """Return whether a cell is missing."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or value is pd.NA or value is pd.NaT or is_nan


def now() -> str:
    """Return the current time in the format of tables."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(value: Any, row: int, name: str, column: ColumnSchema) -> Any:
    try:
        if not is_missing(value):
            return column.read(value)
        if not column.required:
            return _copy_default(column.default)
        raise ValueError("the value is missing")
    except ValueError as error:
        message = f"row {row}, `{name}`: {error}"
        raise BadRecord(message, row=row, column=name, value=value) from None


def _copy_default(default: Any) -> Any:
    return type(default)() if isinstance(default, dict | list) else default


def _is_ready(given: Series[Any], column: ColumnSchema) -> bool:
    """Return whether a whole column is valid without checking each value."""
    is_ready = READY.get(column.read)
    return bool(is_ready and is_ready(given))


def _is_text(given: Series[Any]) -> bool:
    return given.dtype == "str" and given.dtype != object and not given.hasnans


def _is_ids(given: Series[Any]) -> bool:
    return _is_text(given) and not bool((given == "").any())


def _is_whole(given: Series[Any]) -> bool:
    return given.dtype in ("int64", "Int64")


def _is_ranks(given: Series[Any]) -> bool:
    return _is_whole(given) and not bool((given < 1).any())


def _is_numbers(given: Series[Any], minimum: float = -np.inf) -> bool:
    if given.dtype.kind not in "fiu":
        return False
    values = given.to_numpy(dtype="float64", na_value=np.nan)
    return bool((np.isnan(values) | ((values >= minimum) & np.isfinite(values))).all())


def _typed(values: list[Any], dtype: str) -> Series[Any]:
    if dtype == TIME:
        times = pd.to_datetime(Series(values, dtype=object), utc=True, format="ISO8601")
        return times.dt.as_unit("us")
    return Series(values, dtype=dtype)


def read_text(value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise ValueError(f"expected a text, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"expected valid Unicode: {error}") from None
    return value


def read_id(value: Any) -> str:
    """Read an objectID, which can be a whole number, also as a float, or a UUID."""
    if isinstance(value, str) and not value:
        raise ValueError("the value is empty")
    try:
        return id_text(read_text(value) if isinstance(value, str) else value)
    except BadInput:
        raise ValueError(f"expected a text, not {value!r}") from None


def read_number(value: Any) -> float:
    """Read any finite number."""
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise ValueError(f"expected a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, not {value!r}"[:80])
    return number


def read_rating(value: Any) -> float:
    """Read a number that is at least 0."""
    number = read_number(value)
    if number < 0:
        raise ValueError(f"expected 0 or more, not {value!r}")
    return number


def read_whole(value: Any) -> int:
    """Read a whole number of any type."""
    if read_number(value) != int(value) or abs(int(value)) >= 2**63:
        raise ValueError(f"expected a whole number, not {value!r}")
    return int(value)


def read_rank(value: Any) -> int:
    """Read a rank, at least 1."""
    if (rank := read_whole(value)) < 1:
        raise ValueError(f"expected a rank of 1 or more, not {value!r}")
    return rank


def read_flag(value: Any) -> bool:
    """Read a boolean."""
    if value not in (True, False):
        raise ValueError(f"expected true or false, not {value!r}")
    return bool(value)


def read_time(value: Any) -> str:
    """Read a time with a time zone."""
    moment = pd.Timestamp(value)
    if moment.tzinfo is None:
        raise ValueError("the time has no time zone; add one, such as `+00:00`")
    return moment.tz_convert("UTC").isoformat()


def read_object(value: Any) -> dict[str, Any]:
    """Read an object, or the JSON of one; members without a value are dropped."""
    decoded = _from_json(value)
    if not isinstance(decoded, Mapping):
        raise ValueError(f"expected an object, not {value!r}")
    return {str(name): inner for name, inner in decoded.items() if inner is not None}


def read_list(value: Any) -> list[str]:
    """Read a list of texts, or its JSON."""
    decoded = _from_json(value)
    decoded = decoded.tolist() if isinstance(decoded, np.ndarray) else decoded
    if not isinstance(decoded, list | tuple) or not all(isinstance(item, str) for item in decoded):
        raise ValueError(f"expected a list of texts, not {value!r}")
    return list(decoded)


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(f"expected JSON, not {value!r}") from None


def one_of(*accepted: str) -> Callable[[Any], str]:
    """Return a parser that accepts one of these texts."""

    def read(value: Any) -> str:
        if value not in accepted:
            raise ValueError(f"{value!r} is not one of {', '.join(filter(None, accepted))}")
        return str(value)

    return read


# Checks of whole columns that make checks of each value unnecessary, by parser.
READY: dict[Callable[[Any], Any], Callable[[Series[Any]], bool]] = {
    read_text: _is_text,
    read_id: _is_ids,
    read_whole: _is_whole,
    read_rank: _is_ranks,
    read_number: _is_numbers,
    read_rating: lambda given: _is_numbers(given, 0),
    read_flag: lambda given: given.dtype in ("bool", "boolean") and not given.hasnans,
}
_text = ColumnSchema("str", read_text, "")
_count = ColumnSchema("Int64", read_whole)
JUDGMENTS: dict[str, ColumnSchema] = {
    "query": ColumnSchema("str", read_text, required=True),
    "objectID": ColumnSchema("str", read_id, required=True),
    "rating": ColumnSchema("float64", read_rating),
    "rater": _text,
    "unrateable": ColumnSchema("bool", read_flag, False),
    "note": _text,
    "source": ColumnSchema("str", one_of("human", "click", "import"), "human"),
    "judged_at": ColumnSchema(TIME, read_time),
    "filters": _text,
}
QUERIES: dict[str, ColumnSchema] = {
    "query": ColumnSchema("str", read_text, required=True),
    "filters": _text,
    "params": ColumnSchema("object", read_object, {}),
    "weight": ColumnSchema("float64", read_rating, 1.0),
    "frequency": _count,
    "stratum": ColumnSchema("str", one_of("head", "torso", "tail", "zero", ""), ""),
    "tags": ColumnSchema("object", read_list, []),
    "split": ColumnSchema("str", one_of("tune", "holdout", ""), ""),
}
RUNS: dict[str, ColumnSchema] = {
    "run": ColumnSchema("str", read_text, "run"),
    "query": ColumnSchema("str", read_text, required=True),
    "filters": _text,
    "rank": ColumnSchema("Int64", read_rank),
    "objectID": ColumnSchema("str", read_id),
    "score": ColumnSchema("float64", read_number),
    "nbHits": _count,
    "nbTypos": _count,
    "geoDistance": _count,
    "words": _count,
    "optionalFilters": _count,
    "proximityDistance": _count,
    "firstMatchedWord": _count,
    "nbExactWords": _count,
    "userScore": _count,
    "textScore": ColumnSchema("float64", read_number),
    "semanticScore": ColumnSchema("float64", read_number),
    "fusedScore": ColumnSchema("float64", read_number),
    "promoted": ColumnSchema("boolean", read_flag),
    "sorted": ColumnSchema("object", read_object, {}),
    "queryID": _text,
    "error": _text,
}


def relevant_from(judged: DataFrame) -> float:
    """Return the least rating of a relevant record: 1, or half the best one if none reaches 1."""
    best = float(judged["rating"].max()) if judged["rating"].notna().any() else RELEVANT_GRADE
    return RELEVANT_GRADE if best >= RELEVANT_GRADE else max(best * RELEVANT_SHARE, 1e-9)
