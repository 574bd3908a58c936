"""Pages of a browse read as rows: values of known attributes, in less time and room than dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import GenericAlias
from typing import Any, ClassVar

import msgspec
from msgspec.structs import astuple

from svc_notebook.frames.parts import Kind, Kinds

# A field takes room in every row, whether or not the row has a value for it.
MOST = 500
# So often is it learned anew what to expect; an index of such variety gains nothing by it.
LESSONS = 20


class Row(msgspec.Struct):
    """A record whose attributes were known before it was read."""

    kinds: ClassVar[Kinds] = {}
    """The attributes, each with the one kind that its values are of, where that was known."""

    @classmethod
    def pivot(cls, rows: Sequence[Row]) -> Iterator[tuple[str, list[Any], Kind | None]]:
        """Yield each attribute with its values, None where a row has none, and their kind."""
        columns = zip(*map(astuple, rows), strict=True)
        for (name, kind), values in zip(cls.kinds.items(), columns, strict=True):
            yield name, list(values), kind


class _Page(msgspec.Struct):
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
        self._decoder: msgspec.json.Decoder[_Page] | None = None

    def expect(self, kinds: Kinds) -> None:
        """Expect these attributes from now on; there are only ever more, and of fewer kinds."""
        if kinds == self._expected:
            return
        self._lessons += 1
        if self._lessons > LESSONS:
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


def _make_decoder(kinds: Kinds, *, only: bool) -> msgspec.json.Decoder[_Page] | None:
    if len(kinds) > MOST:
        return None
    fields = {f"f{number}": name for number, name in enumerate(kinds)}
    try:
        row = msgspec.defstruct(
            "Row",
            [(field, _TYPES[kinds[name]], None) for field, name in fields.items()],
            bases=(Row,),
            namespace={"kinds": kinds},
            rename=fields,
            forbid_unknown_fields=not only,
            gc=False,
        )
    except ValueError:  # some names cannot be told to it: those with quotes, for instance
        return None
    page = msgspec.defstruct("Page", [("hits", GenericAlias(list, (row,)))], bases=(_Page,))
    return msgspec.json.Decoder(page)
