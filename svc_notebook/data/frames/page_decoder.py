"""Decode pages of a browse into column buffers: faster and smaller than dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from types import GenericAlias
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

try:
    import pyarrow as pa
except ImportError:
    pa = None

# If all values of a column are of one of these kinds, they need no individual check. A column of
# the kind `float` can contain whole numbers too.
Kind = type[str] | type[int] | type[float] | type[bool]
Kinds = Mapping[str, Kind | None]
# Packed values, or the number of them where all are missing.
Part = npt.NDArray[Any] | ExtensionArray | int

TEXT = pd.Series([""]).dtype
# If pandas stores text in Arrow arrays, these are built and joined directly.
ARROW = pa is not None and getattr(TEXT, "storage", "") == "pyarrow"
# Larger whole numbers have no exact float.
MAX_EXACT_FLOAT_INTEGER = 2**53


def pack_values(values: list[Any], kind: Kind | None = None) -> Part:
    """Pack values in the dtype that suits them; all are of `kind`, if that is given."""
    if kind is str:
        return _texts(values)
    if kind is not None and (part := _pack_kind(values, kind)) is not None:
        return part
    kinds = set(map(type, values))
    gaps = type(None) in kinds
    kinds.discard(type(None))
    if not kinds:
        return len(values)
    if kinds == {str}:
        return _texts(values)
    if kinds <= {int, float}:
        return _numbers(values, kinds, gaps=gaps)
    return np.array(values) if kinds == {bool} and not gaps else _objects(values)


def _pack_kind(values: list[Any], kind: Kind) -> Part | None:
    """Pack values of one kind without a check of each, or return None where that is not exact."""
    if kind is int:
        with suppress(TypeError, OverflowError):
            return np.array(values, dtype="int64")
    if pa is None:
        return None
    try:
        # The type of numbers is inferred: all may be whole, and large ones refuse to be floats.
        array = pa.array(values) if kind is float else pa.array(values, _ARROW_TYPES[kind])
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if pa.types.is_float64(array.type) or (array.type in _EXACT_TYPES and not array.null_count):
        packed: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return packed
    if pa.types.is_int64(array.type) and array.null_count < len(array):
        gaps = array.is_null().to_numpy(zero_copy_only=False)
        # Arrow's buffers are read-only, and a column of one part would stay in them.
        return pd.arrays.IntegerArray(np.array(array.fill_null(1)), gaps)
    return None


def kind_of(part: Part) -> Kind | None:
    """Return the kind of the values of a part if they have only one."""
    return _KINDS.get(_kind(part))


def kind_of_dtype(dtype: Any) -> Kind | None:
    """Return the kind of the values of a column if they have only one."""
    return _KINDS.get(str(dtype))


_KINDS: Mapping[str, Kind] = {
    "arrow": str,
    **({} if str(TEXT) == "object" else {str(TEXT): str}),
    "int64": int,
    "Int64": int,
    "float64": float,
    "bool": bool,
}
_ARROW_TYPES: Mapping[Kind, Any] = {} if pa is None else {int: pa.int64(), bool: pa.bool_()}
_EXACT_TYPES = frozenset(_ARROW_TYPES.values())


def _texts(values: list[Any]) -> Part:
    texts: Part
    texts = pa.array(values, pa.large_string()) if ARROW else pd.Series(values, dtype=TEXT).values
    return texts


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _numbers(values: list[Any], kinds: set[type], *, gaps: bool) -> Part:
    """Keep whole numbers whole, even if one is missing or a float would round it."""
    try:
        if kinds == {int}:
            return _with_gaps(values) if gaps else np.array(values, dtype="int64")
        if int in kinds and any(
            type(n) is int and abs(n) > MAX_EXACT_FLOAT_INTEGER for n in values
        ):
            return _objects(values)
        return np.array(values, dtype="float64")
    except (OverflowError, TypeError):
        return _objects(values) if gaps else pd.Series(values).to_numpy()


def _with_gaps(values: list[Any]) -> ExtensionArray:
    return pd.array(values, dtype="Int64")


def settle_parts(parts: list[Part], count: int) -> None:
    """Join the last text parts into one, so that the memory of their values can be reused."""
    last = parts[-count:]
    if ARROW and {_kind(part) for part in last if not isinstance(part, int)} == {"arrow"}:
        filled = [_gap(part, "arrow") if isinstance(part, int) else part for part in last]
        parts[-count:] = [pa.concat_arrays(filled)]


def join_parts(parts: Sequence[Part]) -> pd.Series[Any]:
    """Join parts into a column of a dtype that suits all of them."""
    kinds = {_kind(part) for part in parts if not isinstance(part, int)}
    kind = _common(kinds, gaps=any(isinstance(part, int) for part in parts))
    if kind is None:
        whole = pack_values([value for part in parts for value in _values(part)])
        return _joined([whole], "object" if isinstance(whole, int) else _kind(whole))
    return _joined(parts, kind)


def _kind(part: Part) -> str:
    dtype = getattr(part, "dtype", None)
    return "arrow" if dtype is None else _name_of(dtype)


@lru_cache
def _name_of(dtype: Any) -> str:
    """Return the text of a dtype, which NumPy assembles each time."""
    return str(dtype)


def _common(kinds: set[str], *, gaps: bool) -> str | None:
    """Return the dtype of joined parts, or None if only the values determine it."""
    if kinds == {"int64", "Int64"} or (kinds == {"int64"} and gaps):
        return "Int64"
    return kinds.pop() if len(kinds) == 1 and not (gaps and kinds & {"bool", "uint64"}) else None


def _values(part: Part) -> list[Any]:
    if isinstance(part, int):
        return [None] * part
    return [None if gap else v for v, gap in zip(part.tolist(), pd.isna(part), strict=True)]


def _joined(parts: Sequence[Part], kind: str) -> pd.Series[Any]:
    filled: list[Any] = [_gap(part, kind) if isinstance(part, int) else part for part in parts]
    if kind == "arrow":
        return pd.Series(pd.array(pa.chunked_array(filled), dtype=TEXT), copy=False)
    if all(isinstance(part, np.ndarray) for part in filled):
        return pd.Series(np.concatenate(filled), dtype=kind, copy=False)
    return pd.concat([pd.Series(part, dtype=kind) for part in filled], ignore_index=True)


def _gap(count: int, kind: str) -> Any:
    if kind == "arrow":
        return pa.nulls(count, pa.large_string())
    return pd.Series([None] * count, dtype=kind).values


# A field takes memory in every row, with or without a value.
MAX_STRUCT_FIELDS = 500
# How often the kinds of the expected attributes are set; more often costs more than it saves.
MAX_EXPECTATIONS = 20


class RecordRow(msgspec.Struct):
    """A record with the attributes that were expected before it was read."""

    # The attributes, each with the one kind that its values are of, where that was known.
    kinds: ClassVar[Kinds] = {}

    @classmethod
    def pivot(cls, rows: Sequence[RecordRow]) -> Iterator[tuple[str, list[Any], Kind | None]]:
        """Yield each attribute with its values, None where a row has none, and their kind."""
        # Faster than reading attribute after attribute, which visits each row many times.
        columns = zip(*map(msgspec.structs.astuple, rows), strict=True)
        for (name, kind), values in zip(cls.kinds.items(), columns, strict=True):
            yield name, [*values], kind


class _DecodedPage(msgspec.Struct):
    hits: list[Any]
    cursor: str | None = None


class _Unread(msgspec.Struct):
    hits: list[msgspec.Raw]


class PageReader:
    """Reads pages into rows of the expected attributes, and into dicts for other attributes.

    An attribute can be expected to have values of one kind, which then need no check. With `only`,
    attributes that are not expected are skipped. With `peek`, the first record determines the
    initially expected attributes.
    """

    def __init__(self, *, only: bool = False, peek: bool = False) -> None:
        self._only = only
        self._peek = peek
        self._expected: Kinds = {}
        self._expectations = 0
        self._decoder: msgspec.json.Decoder[_DecodedPage] | None = None

    def expect(self, kinds: Kinds) -> None:
        """Set the expected attributes; later calls only add attributes and narrow kinds."""
        if kinds == self._expected:
            return
        self._expectations += 1
        if self._expectations > MAX_EXPECTATIONS:
            kinds = dict.fromkeys(kinds)
        if kinds != self._expected:
            self._expected = {**kinds}
            self._decoder = _make_decoder(self._expected, only=self._only)

    def __call__(self, content: bytes) -> Any:
        """Decode a page; raise `msgspec.DecodeError`."""
        if self._peek:
            self._peek = False
            self.expect(dict.fromkeys(_names_of_first(content)))
        try:
            page = self._decoder.decode(content) if self._decoder else None
        except msgspec.ValidationError:
            page = None
        if page is None:
            return msgspec.json.decode(content)
        return {"hits": page.hits, "cursor": page.cursor}


_TYPES: Mapping[Kind | None, Any] = {
    str: str | None,
    int: int | None,
    float: int | float | None,  # a whole number stays whole, and so exact
    bool: bool | None,
    None: Any,
}


def _names_of_first(content: bytes) -> Collection[str]:
    try:
        unread = msgspec.json.decode(content, type=_Unread)
        return msgspec.json.decode(unread.hits[0], type=dict[str, msgspec.Raw])
    except (msgspec.ValidationError, IndexError):
        return ()


def _make_decoder(kinds: Kinds, *, only: bool) -> msgspec.json.Decoder[_DecodedPage] | None:
    if len(kinds) > MAX_STRUCT_FIELDS:
        return None
    fields = {f"f{number}": name for number, name in enumerate(kinds)}
    try:
        row = msgspec.defstruct(
            "Row",
            [(field, _TYPES[kinds[name]], None) for field, name in fields.items()],
            bases=(RecordRow,),
            namespace={"kinds": kinds},
            rename=fields,
            forbid_unknown_fields=not only,
            gc=False,
        )
    except ValueError:  # some names are not supported, for instance those with quotes
        return None
    page = msgspec.defstruct("Page", [("hits", GenericAlias(list, (row,)))], bases=(_DecodedPage,))
    return msgspec.json.Decoder(page)
