"""Whole indices as DataFrames: at once, or in chunks with a cursor to resume from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import pandas as pd

from svc_notebook.api.parameters import SearchParams
from svc_notebook.client.request_options import with_extra
from svc_notebook.errors import BadInput, CursorRepeated
from svc_notebook.frames.columns import Backend, Columns, Known, finished
from svc_notebook.frames.page_decoder import PageReader
from svc_notebook.frames.provenance import note_origin, remembered
from svc_notebook.frames.records import names_of, others_of

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient


class BrowsePosition(TypedDict):
    """A place in a browse: so many records into the page that a cursor gives, the first without."""

    cursor: str | None
    skip: int


@overload
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: None = None,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> pd.DataFrame: ...
@overload
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: int,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> AsyncIterator[pd.DataFrame]: ...
@remembered
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: int | None = None,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> pd.DataFrame | AsyncIterator[pd.DataFrame]:
    """Read all records that pass the filters: `objectID`, then their attributes.

    With `chunksize`, an iterator of frames of so many rows, of which one is held at a time; each
    has the columns of those before it, then what is new, and says in `attrs["svc"]["next"]` where
    the one after it begins, which `cursor` takes. `flatten` gives each member of an object its own
    column, `size.width`.
    """
    if chunksize is not None:
        _check_size(chunksize)  # now, not when the first chunk is asked for
        return browse_chunks(
            client, index, chunksize,
            columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
            extra=extra, **params,
        )  # fmt: skip
    shape = _Shape(index, names_of(columns), flatten, dtype_backend, params)
    gathered, place = shape.gather(), _place(cursor)
    reader = shape.reader(place)
    pages = with_extra(client, extra).browse_pages(
        index, cursor=place["cursor"], read=reader, **shape.asked
    )
    try:
        async for page in pages:
            # Not in a thread: it takes a millisecond, and two only contend for Python's lock.
            gathered.add(page["hits"][place["skip"] :])
            if shape.is_plain:
                reader.expect(gathered.kinds)
            place = _place(None)
    except CursorRepeated as error:
        error.result = shape.frame(gathered)
        error.add_note("`.result` of this error is the DataFrame of what was read")
        raise
    return shape.frame(gathered)


async def browse_chunks(
    client: AsyncClient,
    index: str,
    chunksize: int,
    *,
    columns: Sequence[str] | None = None,
    cursor: str | BrowsePosition | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
    extra: Mapping[str, Any] | None = None,
    **params: Unpack[SearchParams],
) -> AsyncGenerator[pd.DataFrame]:
    """Yield an index as frames of `chunksize` rows; the last one, with less, may be empty."""
    _check_size(chunksize)
    shape = _Shape(index, names_of(columns), flatten, dtype_backend, params)
    given = {"index": index, "chunksize": chunksize, "columns": shape.columns, "flatten": flatten}
    given |= {"dtype_backend": dtype_backend, "extra": extra, **params}
    held, place = _Held(), _place(cursor)
    reader, known = shape.reader(place), Known()

    def chunk() -> pd.DataFrame:
        gathered = shape.gather()
        for part in held.give(chunksize):
            gathered.add(part)
        frame = known.complete(shape.frame(gathered))
        if shape.is_plain:
            reader.expect(known.kinds)
        note_origin(frame, client, read_browse.__name__, given)
        frame.attrs["svc"]["next"] = held.place
        return frame

    pages = with_extra(client, extra).browse_pages(
        index, cursor=place["cursor"], read=reader, **shape.asked
    )
    fault: CursorRepeated | None = None
    try:
        async for page in pages:
            held.take(_PageRest(place, page["hits"][place["skip"] :]))
            place = _place(page.get("cursor"))
            while held.count > chunksize:
                yield chunk()
    except CursorRepeated as error:
        fault = error
    if fault is None or held.count:
        yield chunk()
    if fault:
        raise fault


@dataclass(frozen=True)
class _PageRest:
    """What is left of a page, and where that begins."""

    place: BrowsePosition
    hits: Sequence[Any]

    def after(self, count: int) -> _PageRest:
        """Return what is left after some more were taken."""
        skip = self.place["skip"] + count
        return _PageRest({"cursor": self.place["cursor"], "skip": skip}, self.hits[count:])


class _Held:
    """Records read and not yet given out."""

    def __init__(self) -> None:
        self._pages: list[_PageRest] = []
        self.count = 0

    @property
    def place(self) -> BrowsePosition | None:
        """Where the first of them stands."""
        return self._pages[0].place if self._pages else None

    def take(self, page: _PageRest) -> None:
        """Take in a page."""
        self._pages.append(page)
        self.count += len(page.hits)

    def give(self, count: int) -> Iterator[Sequence[Any]]:
        """Give out the first records, those of each page by themselves."""
        while self._pages and count:
            page = self._pages.pop(0)
            part = page.hits[:count]
            if len(part) < len(page.hits):
                self._pages.insert(0, page.after(len(part)))
            count -= len(part)
            self.count -= len(part)
            yield part


@dataclass(frozen=True)
class _Shape:
    """What a browse asks for, and the frames it makes of the answers."""

    index: str
    columns: Sequence[str] | None
    flatten: bool
    backend: Backend | None
    params: SearchParams

    @property
    def asked(self) -> SearchParams:
        """Return the parameters to send."""
        asked: SearchParams = {"attributesToHighlight": [], **self.params}
        if self.columns is None:
            return asked
        return {**asked, "attributesToRetrieve": list(self.columns)}

    def gather(self) -> Columns:
        """Return columns to put records in."""
        others = others_of(self.columns)
        wanted = None if others is None else ["objectID", *others]
        return Columns(wanted, flatten=self.flatten)

    def reader(self, place: BrowsePosition) -> PageReader:
        """Return what reads the pages; records that are skipped say nothing about columns."""
        every = self.columns is None
        return PageReader(only=not every, peek=every and self.is_plain and not place["skip"])

    @property
    def is_plain(self) -> bool:
        """Whether each column is an attribute."""
        return not self.flatten and not any("." in name for name in self.columns or ())

    def frame(self, gathered: Columns) -> pd.DataFrame:
        """Make a frame, the ids first."""
        frame = gathered.frame()
        ids: Any = frame.pop("objectID") if "objectID" in frame else []
        frame.insert(0, "objectID", pd.Series(ids, dtype="str"))
        return finished(frame, {"index": self.index, "params": dict(self.params)}, self.backend)


def _place(cursor: str | BrowsePosition | None) -> BrowsePosition:
    if isinstance(cursor, Mapping):
        return cursor
    if cursor is not None and not isinstance(cursor, str):
        raise BadInput('`cursor` is what a browse told: frame.attrs["svc"]["next"]')
    return {"cursor": cursor, "skip": 0}


def _check_size(chunksize: int) -> None:
    if not isinstance(chunksize, int) or chunksize < 1:
        raise BadInput(f"`chunksize` is a number of rows, 1 or more, not {chunksize!r}")
