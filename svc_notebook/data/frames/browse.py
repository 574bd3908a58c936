"""Whole indices as DataFrames, at once or in chunks, and DataFrames that are read on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import pandas as pd

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.data.client.config import with_extra
from svc_notebook.data.frames.columns import Backend, Columns, KnownColumns, finished
from svc_notebook.data.frames.page_decoder import PageReader
from svc_notebook.data.frames.provenance import FrameOrigin, note_origin, remembered
from svc_notebook.data.frames.records import names_of, others_of, read_records
from svc_notebook.errors import BadInput, CursorRepeated

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient


# Search arguments that select a page, or that a browse does not accept.
PAGING = {
    "page", "offset", "length", "hitsPerPage", "ranking", "criteria", "highlight", "chunksize",
    "cursor", "ids",
}  # fmt: skip


class BrowsePosition(TypedDict):
    """A position in a browse: `skip` records into the page of `cursor`, None for the first page."""

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

    With `chunksize`, return an iterator of DataFrames of that many rows, of which one is in memory
    at a time. Each has the columns of the previous ones, then the new ones, and contains in
    `attrs["svc"]["next"]` the position of the next one, which `cursor` accepts. `flatten` gives
    each member of an object its own column, `size.width`.
    """
    if chunksize is not None:
        _check_size(chunksize)  # checked now, not when the first chunk is requested
        return browse_chunks(
            client, index, chunksize,
            columns=columns, cursor=cursor, flatten=flatten, dtype_backend=dtype_backend,
            extra=extra, **params,
        )  # fmt: skip
    shape = _Shape(index, names_of(columns), flatten, dtype_backend, params)
    gathered, position = shape.gather(), _place(cursor)
    reader = shape.reader(position)
    pages = with_extra(client, extra).browse_pages(
        index, cursor=position["cursor"], read=reader, **shape.request_params
    )
    try:
        async for page in pages:
            # Not in a thread: it takes a millisecond, and two threads would compete for the GIL.
            gathered.add(page["hits"][position["skip"] :])
            if shape.is_plain:
                reader.expect(gathered.kinds)
            position = _place(None)
    except CursorRepeated as error:
        error.result = shape.frame(gathered)
        error.add_note("`.result` of this error is the DataFrame of the records that were read")
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
    """Yield an index as DataFrames of `chunksize` rows; the last one is shorter, possibly empty."""
    _check_size(chunksize)
    shape = _Shape(index, names_of(columns), flatten, dtype_backend, params)
    given = {"index": index, "chunksize": chunksize, "columns": shape.columns, "flatten": flatten}
    given |= {"dtype_backend": dtype_backend, "extra": extra, **params}
    buffer, position = _RecordBuffer(), _place(cursor)
    reader, known_columns = shape.reader(position), KnownColumns()

    def chunk() -> pd.DataFrame:
        gathered = shape.gather()
        for part in buffer.take(chunksize):
            gathered.add(part)
        frame = known_columns.complete(shape.frame(gathered))
        if shape.is_plain:
            reader.expect(known_columns.kinds)
        note_origin(frame, client, read_browse.__name__, given)
        frame.attrs["svc"]["next"] = buffer.position
        return frame

    pages = with_extra(client, extra).browse_pages(
        index, cursor=position["cursor"], read=reader, **shape.request_params
    )
    repeated: CursorRepeated | None = None
    try:
        async for page in pages:
            buffer.add(_PageRest(position, page["hits"][position["skip"] :]))
            position = _place(page.get("cursor"))
            while buffer.count > chunksize:
                yield chunk()
    except CursorRepeated as error:
        repeated = error
    if repeated is None or buffer.count:
        yield chunk()
    if repeated:
        raise repeated


@dataclass(frozen=True)
class _PageRest:
    """The remaining records of a page, and their position."""

    position: BrowsePosition
    hits: Sequence[Any]

    def after(self, count: int) -> _PageRest:
        """Return the rest after some more records are taken."""
        skip = self.position["skip"] + count
        return _PageRest({"cursor": self.position["cursor"], "skip": skip}, self.hits[count:])


class _RecordBuffer:
    """Records that were read and not yet returned."""

    def __init__(self) -> None:
        self._pages: list[_PageRest] = []
        self.count = 0

    @property
    def position(self) -> BrowsePosition | None:
        """The position of the first record."""
        return self._pages[0].position if self._pages else None

    def add(self, page: _PageRest) -> None:
        """Add a page."""
        self._pages.append(page)
        self.count += len(page.hits)

    def take(self, count: int) -> Iterator[Sequence[Any]]:
        """Remove and yield the first records, grouped by page."""
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
    """The requested columns and parameters of a browse, and the DataFrames built from its pages."""

    index: str
    columns: Sequence[str] | None
    flatten: bool
    backend: Backend | None
    params: SearchParams

    @property
    def request_params(self) -> SearchParams:
        """The parameters of the request."""
        params: SearchParams = {"attributesToHighlight": [], **self.params}
        if self.columns is None:
            return params
        return {**params, "attributesToRetrieve": list(self.columns)}

    def gather(self) -> Columns:
        """Return the columns that collect records."""
        others = others_of(self.columns)
        names = None if others is None else ["objectID", *others]
        return Columns(names, flatten=self.flatten)

    def reader(self, position: BrowsePosition) -> PageReader:
        """Return the page reader; skipped records do not affect the columns."""
        every = self.columns is None
        return PageReader(only=not every, peek=every and self.is_plain and not position["skip"])

    @property
    def is_plain(self) -> bool:
        """Whether each column is a top-level attribute."""
        return not self.flatten and not any("." in name for name in self.columns or ())

    def frame(self, gathered: Columns) -> pd.DataFrame:
        """Build a DataFrame, ids first."""
        frame = gathered.frame()
        ids: Any = frame.pop("objectID") if "objectID" in frame else []
        frame.insert(0, "objectID", pd.Series(ids, dtype="str"))
        return finished(frame, {"index": self.index, "params": dict(self.params)}, self.backend)


def _place(cursor: str | BrowsePosition | None) -> BrowsePosition:
    if isinstance(cursor, Mapping) and {"cursor", "skip"} <= cursor.keys():
        return cursor
    if cursor is not None and not isinstance(cursor, str):
        raise BadInput(
            '`cursor` must be a position that a browse returned: df.attrs["svc"]["next"]'
        )
    return {"cursor": cursor, "skip": 0}


def _check_size(chunksize: int) -> None:
    if chunksize < 1:
        raise BadInput(f"`chunksize` must be a number of rows, 1 or more, not {chunksize!r}")


async def refresh(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Repeat the request of a DataFrame: the same search, or the same records of a chunk."""
    origin = FrameOrigin.of(frame)
    if origin.reader == "read_records" or "chunksize" in origin.arguments:
        origin.check(client)
        return await read_records(client, _index_of(origin), frame["objectID"], **_shape(origin))
    return await origin.read(client)


async def next_page(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Read the page after the DataFrame of a search or a browse; empty after the last page."""
    origin = FrameOrigin.of(frame)
    if origin.reader == "search":
        return await origin.read(client, **_following(origin.arguments, frame.attrs["svc"]))
    if origin.reader != "read_browse":
        raise BadInput(f"the result of {origin.reader} has no pages; svc.refresh(…) reads it again")
    origin.check(client)
    position = frame.attrs["svc"].get("next")
    if position is None:
        rest = frame.head(0)
        rest.attrs = frame.attrs
        return rest
    pages = browse_chunks(client, **{**origin.arguments, "cursor": position})
    try:
        return await anext(pages)
    finally:
        await pages.aclose()


async def browse_all(client: AsyncClient, frame: pd.DataFrame) -> pd.DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit."""
    origin = FrameOrigin.of(frame)
    origin.check(client)
    kept = {name: value for name, value in origin.arguments.items() if name not in PAGING}
    if origin.reader not in ("search", "read_browse", "read_records"):
        raise BadInput(
            f"the result of {origin.reader} does not contain records of one index; pass the "
            "DataFrame of a search"
        )
    everything: pd.DataFrame = await read_browse(client, **kept)
    return everything


def _following(arguments: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    if arguments.get("offset") is not None:
        return {"offset": arguments["offset"] + facts.get("length", arguments.get("length", 0))}
    return {"page": facts.get("page", 0) + 1}


def _index_of(origin: FrameOrigin) -> str:
    return str(origin.arguments["index"])


def _shape(origin: FrameOrigin) -> dict[str, Any]:
    shaping = ("columns", "flatten", "dtype_backend")
    return {name: origin.arguments[name] for name in shaping if name in origin.arguments}
