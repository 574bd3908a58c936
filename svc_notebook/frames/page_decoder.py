"""Decode pages of a browse into column buffers: faster and smaller than dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from types import GenericAlias
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
from msgspec.structs import astuple
from pandas.api.extensions import ExtensionArray

try:
    import pyarrow as pa
except ImportError:
    pa = None

# What values of most columns are alike in, and need not be asked for each by itself.
Kind = type[str] | type[int]
Kinds = Mapping[str, Kind | None]
# Packed values, or the number of them where all are missing.
Part = npt.NDArray[Any] | ExtensionArray | int

TEXT = pd.Series([""]).dtype
# Where pandas keeps text in Arrow's arrays, they are made and joined without its help.
ARROW = pa is not None and getattr(TEXT, "storage", "") == "pyarrow"
# Whole numbers beyond this have no float of their own.
MAX_EXACT_FLOAT_INTEGER = 2**53


def pack_values(values: list[Any], kind: Kind | None = None) -> Part:
    """Pack values in the dtype that suits them; none is of another `kind`, where that is known."""
    if kind is str:
        return _texts(values)
    if kind is int:
        with suppress(TypeError, OverflowError):
            return np.array(values, dtype="int64")
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


def kind_of(part: Part) -> Kind | None:
    """Say of which one kind the values of a part are, if they are."""
    return _KINDS.get(_kind(part))


def kind_of_dtype(dtype: Any) -> Kind | None:
    """Say of which one kind the values of a column are, if they are."""
    return _KINDS.get(str(dtype))


_KINDS: Mapping[str, Kind] = {
    "arrow": str,
    **({} if str(TEXT) == "object" else {str(TEXT): str}),
    "int64": int,
    "Int64": int,
}


def _texts(values: list[Any]) -> Part:
    texts: Part
    texts = pa.array(values, pa.large_string()) if ARROW else pd.Series(values, dtype=TEXT).values
    return texts


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _numbers(values: list[Any], kinds: set[type], *, gaps: bool) -> Part:
    """Keep whole numbers what they are, even where one is missing or a float would round it."""
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
    """Make one part of the last texts, for what they took to serve those that come next."""
    last = parts[-count:]
    if ARROW and {_kind(part) for part in last if not isinstance(part, int)} == {"arrow"}:
        filled = [_gap(part, "arrow") if isinstance(part, int) else part for part in last]
        parts[-count:] = [pa.concat_arrays(filled)]


def join_parts(parts: Sequence[Part]) -> pd.Series[Any]:
    """Join parts to a column, in a dtype that suits all."""
    kinds = {_kind(part) for part in parts if not isinstance(part, int)}
    kind = _common(kinds, gaps=any(isinstance(part, int) for part in parts))
    if kind is None:
        whole = pack_values([value for part in parts for value in _values(part)])
        return _joined([whole], "object" if isinstance(whole, int) else _kind(whole))
    return _joined(parts, kind)


def _kind(part: Part) -> str:
    return str(getattr(part, "dtype", "arrow"))


def _common(kinds: set[str], *, gaps: bool) -> str | None:
    """Name the dtype of parts joined, or nothing where only the values can tell."""
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


# A field takes room in every row, whether or not the row has a value for it.
MAX_STRUCT_FIELDS = 500
# So often is it learned anew what to expect; an index of such variety gains nothing by it.
MAX_RELEARNINGS = 20


class RecordRow(msgspec.Struct):
    """A record whose attributes were known before it was read."""

    kinds: ClassVar[Kinds] = {}
    """The attributes, each with the one kind that its values are of, where that was known."""

    @classmethod
    def pivot(cls, rows: Sequence[RecordRow]) -> Iterator[tuple[str, list[Any], Kind | None]]:
        """Yield each attribute with its values, None where a row has none, and their kind."""
        columns = zip(*map(astuple, rows), strict=True)
        for (name, kind), values in zip(cls.kinds.items(), columns, strict=True):
            yield name, list(values), kind


class _DecodedPage(msgspec.Struct):
    hits: list[Any]
    cursor: str | None = None


class _Unread(msgspec.Struct):
    hits: list[msgspec.Raw]


class PageReader:
    """Reads pages into rows of the attributes it expects, and into dicts where there are others.

    An attribute may be expected to hold one kind of value, which need not be looked at again then.
    With `only` those attributes, others are passed over. With `peek` the first record tells which
    to expect from the beginning.
    """

    def __init__(self, *, only: bool = False, peek: bool = False) -> None:
        self._only = only
        self._peek = peek
        self._expected: Kinds = {}
        self._lessons = 0
        self._decoder: msgspec.json.Decoder[_DecodedPage] | None = None

    def expect(self, kinds: Kinds) -> None:
        """Expect these attributes from now on; there are only ever more, and of fewer kinds."""
        if kinds == self._expected:
            return
        self._lessons += 1
        if self._lessons > MAX_RELEARNINGS:
            kinds = dict.fromkeys(kinds)
        if kinds != self._expected:
            self._expected = {**kinds}
            self._decoder = _make_decoder(self._expected, only=self._only)

    def __call__(self, content: bytes) -> Any:
        """Read a page; raises `msgspec.DecodeError`."""
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


_TYPES: Mapping[Kind | None, Any] = {str: str | None, int: int | None, None: Any}


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
    except ValueError:  # some names cannot be told to it: those with quotes, for instance
        return None
    page = msgspec.defstruct("Page", [("hits", GenericAlias(list, (row,)))], bases=(_DecodedPage,))
    return msgspec.json.Decoder(page)
