"""Columns of DataFrames from records, converted chunk by chunk to keep few Python objects alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Any, Literal

import pandas as pd

from svc_notebook.data.frames.page_decoder import (
    Kind,
    Kinds,
    Part,
    RecordRow,
    join_parts,
    kind_of,
    kind_of_dtype,
    pack_values,
    settle_parts,
)
from svc_notebook.errors import BadInput, UnexpectedAnswer

Backend = Literal["numpy_nullable", "pyarrow"]
# Records per part: they stay in the CPU cache while they are converted to columns.
CHUNK_RECORDS = 1_000
# Parts that are joined into one: a column of a million rows has few, and is never copied whole.
CHUNKS_PER_PART = 64


class Columns:
    """Collects records into columns; a column is added where it first occurs, or as requested.

    A column of whole numbers is `int64`, and `Int64` if one is missing; of numbers `float64`, of
    text `str`, of booleans `bool` if none is missing, of all else `object`. A requested
    `size.width` is looked up inside `size`; with `flatten` all members of objects are columns.
    """

    def __init__(self, names: Sequence[str] | None = None, *, flatten: bool = False) -> None:
        self._wanted = None if flatten else names
        self._flatten = flatten
        self._parts: dict[str, list[Part]] = {name: [] for name in self._wanted or ()}
        self._kinds: dict[str, set[Kind | None]] = {}
        self._waiting: list[Any] = []
        self._unsettled = 0
        self.rows = 0

    @property
    def kinds(self) -> Kinds:
        """The columns so far, each with the kind of its values if they have only one."""
        seen = ((name, self._kinds.get(name, ())) for name in self._parts)
        return {name: next(iter(kinds)) if len(kinds) == 1 else None for name, kinds in seen}

    def add(self, records: Iterable[Mapping[str, Any]] | Sequence[RecordRow]) -> None:
        """Add records; rows that are added together are of one class."""
        added: list[Any] = [*records]
        if self._flatten:
            added = [flattened(record) for record in added]
        if added and self._waiting and type(added[0]) is not type(self._waiting[0]):
            self._pack()
        self._waiting += added
        if len(self._waiting) >= CHUNK_RECORDS:
            self._pack()

    def frame(self) -> pd.DataFrame:
        """Return all collected records as one DataFrame, and release them."""
        self._pack()
        self._settle()
        # Each column's parts are released when it is built, so that little is in memory twice.
        columns = {name: join_parts(self._parts.pop(name)) for name in [*self._parts]}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.rows), copy=False)

    def _pack(self) -> None:
        records, self._waiting = self._waiting, []
        if not records:
            return
        pivoted = self._pivot(records)
        packed = {name: pack_values(values, kind) for name, values, kind in pivoted}
        for name, part in packed.items():
            if not isinstance(part, int):
                self._kinds.setdefault(name, set()).add(kind_of(part))
            self._parts.setdefault(name, [self.rows] if self.rows else []).append(part)
        self.rows += len(records)
        for name in self._parts.keys() - packed.keys():
            self._parts[name].append(len(records))
        self._unsettled += 1
        if self._unsettled == CHUNKS_PER_PART:
            self._settle()

    def _settle(self) -> None:
        if self._unsettled:
            for parts in self._parts.values():
                settle_parts(parts, self._unsettled)
        self._unsettled = 0

    def _pivot(self, records: list[Any]) -> Iterator[tuple[str, list[Any], Kind | None]]:
        if isinstance(records[0], RecordRow):
            return records[0].pivot(records)
        names = self._wanted or dict.fromkeys(chain.from_iterable(records))
        return ((name, _picked(records, name), None) for name in names)


class KnownColumns:
    """The columns of the previous DataFrames, which all later ones have too."""

    def __init__(self) -> None:
        self._dtypes: dict[str, Any] = {}

    @property
    def kinds(self) -> Kinds:
        """The columns in order of first occurrence, each with the kind of its values."""
        return {name: kind_of_dtype(dtype) for name, dtype in self._dtypes.items()}

    def complete(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add missing columns to a DataFrame, and set the dtype of columns without values."""
        for name, dtype in self._dtypes.items():
            if name not in frame or (frame[name].dtype == object and frame[name].isna().all()):
                frame[name] = pd.Series(None, frame.index, _holding_gaps(dtype))
        self._dtypes |= {str(name): dtype for name, dtype in frame.dtypes.items()}
        return frame if [*frame] == [*self._dtypes] else frame[[*self._dtypes]]


def _holding_gaps(dtype: Any) -> Any:
    return {"int64": "Int64", "uint64": "object", "bool": "object"}.get(str(dtype), dtype)


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give each member of an object its own name, `size.width`; raise `BadInput` for duplicates."""
    flat: dict[str, Any] = {}
    for path, value in _leaves(record):
        if path in flat:
            raise BadInput(
                f"a record has `{path}` twice, as a name and inside an object: pass flatten=False"
            )
        flat[path] = value
    return flat


def _leaves(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield before + name, value


def _picked(records: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    # Usually every record has it, and this runs without a Python-level loop.
    with suppress(KeyError):
        return list(map(itemgetter(name), records))
    if "." not in name:
        return [record.get(name) for record in records]
    return [record[name] if name in record else _inside(record, name) for record in records]


def _inside(value: Any, path: str) -> Any:
    """Look up an attribute inside objects; the name of an object can contain dots."""
    name, _, rest = path.partition(".")
    inner = value.get(name) if isinstance(value, Mapping) else None
    return _inside(inner, rest) if rest and inner is not None else inner


def finished(
    frame: pd.DataFrame, facts: Mapping[str, Any], backend: Backend | None
) -> pd.DataFrame:
    """Set the dtypes of a DataFrame, and note its provenance."""
    if backend not in (None, "numpy_nullable", "pyarrow"):
        is_polars = str(backend) == "polars"
        advice = "; svc.to_polars(result) returns a frame of Polars" if is_polars else ""
        raise BadInput(
            f"`dtype_backend` must be 'numpy_nullable' or 'pyarrow', not {backend!r}{advice}"
        )
    if backend:
        frame = frame.convert_dtypes(dtype_backend=backend)
    frame.attrs["svc"] = {key: value for key, value in facts.items() if value is not None}
    return frame


def typed(
    rows: Iterable[Mapping[str, Any]], schema: Mapping[str, str], defaults: Mapping[str, Any]
) -> pd.DataFrame:
    """Build a DataFrame of a fixed schema; members outside the schema are dropped."""
    every = list(rows)
    return pd.DataFrame(
        {
            name: _typed_column(name, [row.get(name, defaults.get(dtype)) for row in every], dtype)
            for name, dtype in schema.items()
        },
        index=pd.RangeIndex(len(every)),
    )


def _typed_column(name: str, values: list[Any], dtype: str) -> pd.Series[Any]:
    try:
        return _column(values, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise UnexpectedAnswer(
            f"a response has a value in `{name}` that is not {dtype}: {error}"
        ) from None


def _column(values: list[Any], dtype: str) -> pd.Series[Any]:
    if dtype.startswith("datetime64"):
        times = pd.to_datetime(
            pd.Series(values, dtype=object), utc=True, format="ISO8601", errors="coerce"
        )
        return times.dt.as_unit("us")
    return pd.Series(values, dtype=dtype)
