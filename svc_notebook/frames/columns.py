"""Records to DataFrames, column by column and chunk by chunk, so that few Python objects live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from svc_notebook.errors import BadInput

Backend = Literal["numpy_nullable", "pyarrow"]
CHUNK = 20_000
# Whole numbers beyond this have no float of their own.
EXACT = 2**53


class Columns:
    """Gathers records; a column appears where it first occurs, or as it was asked for.

    A column of whole numbers is `int64`, and `Int64` where one is missing; of numbers `float64`,
    of text `str`, of truth values `bool` where none is missing, of all else `object`.
    """

    def __init__(self, wanted: Sequence[str] | None = None) -> None:
        self._wanted = wanted
        self._parts: dict[str, list[pd.Series[Any] | int]] = {name: [] for name in wanted or ()}
        self._waiting: list[Mapping[str, Any]] = []
        self.rows = 0

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take records in."""
        self._waiting.extend(records)
        if len(self._waiting) >= CHUNK:
            self._pack()

    def frame(self) -> pd.DataFrame:
        """Give everything taken in as one DataFrame."""
        self._pack()
        columns = {name: _joined(parts) for name, parts in self._parts.items()}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.rows))

    def _pack(self) -> None:
        records, self._waiting = self._waiting, []
        if not records:
            return
        names = self._wanted or dict.fromkeys(name for record in records for name in record)
        for name in names:
            parts = self._parts.setdefault(name, [self.rows] if self.rows else [])
            parts.append(_series([record.get(name) for record in records]))
        self.rows += len(records)
        for name in self._parts.keys() - set(names):
            self._parts[name].append(len(records))


def _series(values: list[Any]) -> pd.Series[Any] | int:
    """Make a column of values, or count them where all are missing."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return len(values)
    if kinds == {str}:
        return pd.Series(values)
    if kinds <= {int, float}:
        return _numbers(values, kinds)
    return pd.Series(values, dtype="bool" if kinds == {bool} and None not in values else object)


def _numbers(values: list[Any], kinds: set[type]) -> pd.Series[Any]:
    """Keep whole numbers what they are, even where one is missing or a float would round it."""
    rounded = float in kinds and any(type(n) is int and abs(n) > EXACT for n in values)
    dtype = "Int64" if float not in kinds and None in values else None
    try:
        return pd.Series(values, dtype=object if rounded else dtype)
    except (OverflowError, TypeError):
        return pd.Series(values, dtype=object)


def _joined(parts: Sequence[pd.Series[Any] | int]) -> pd.Series[Any]:
    known = [part for part in parts if not isinstance(part, int)]
    dtype = _common([part.dtype for part in known], gaps=len(known) < len(parts))
    if dtype is None:
        made = _series([value for part in parts for value in _values(part)])
        return pd.Series([None] * made, dtype=object) if isinstance(made, int) else made
    filled = [
        pd.Series([None] * part, dtype=dtype) if isinstance(part, int) else part.astype(dtype)
        for part in parts
    ]
    return filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)


def _common(dtypes: Sequence[Any], *, gaps: bool) -> Any:
    """Name the dtype of parts joined, or nothing where only the values can tell."""
    found = {str(dtype) for dtype in dtypes}
    if found == {"int64", "Int64"} or (found == {"int64"} and gaps):
        return "Int64"
    return dtypes[0] if len(found) == 1 and not (gaps and found & {"bool", "uint64"}) else None


def _values(part: pd.Series[Any] | int) -> list[Any]:
    if isinstance(part, int):
        return [None] * part
    return [None if gap else v for v, gap in zip(part.tolist(), part.isna(), strict=True)]


def finished(
    frame: pd.DataFrame, facts: Mapping[str, Any], backend: Backend | None
) -> pd.DataFrame:
    """Give a frame its dtypes, and say where it comes from."""
    if backend not in (None, "numpy_nullable", "pyarrow"):
        raise BadInput(f"`dtype_backend` is 'numpy_nullable' or 'pyarrow', not {backend!r}")
    if backend:
        frame = frame.convert_dtypes(dtype_backend=backend)
    frame.attrs["svc"] = {key: value for key, value in facts.items() if value is not None}
    return frame


def typed(
    rows: Iterable[Mapping[str, Any]], schema: Mapping[str, str], defaults: Mapping[str, Any]
) -> pd.DataFrame:
    """Make a frame of a fixed schema; members it does not name stay out."""
    held = list(rows)
    return pd.DataFrame(
        {
            name: _column([row.get(name, defaults.get(dtype)) for row in held], dtype)
            for name, dtype in schema.items()
        },
        index=pd.RangeIndex(len(held)),
    )


def _column(values: list[Any], dtype: str) -> pd.Series[Any]:
    if dtype.startswith("datetime64"):
        times = pd.to_datetime(
            pd.Series(values, dtype=object), utc=True, format="ISO8601", errors="coerce"
        )
        return times.dt.as_unit("us")
    return pd.Series(values, dtype=dtype)
