"""Records, whole indices and what the service tells about them, as DataFrames."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypedDict, Unpack, overload

import pandas as pd

from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import ObjectRequest
from svc_notebook.errors import BadInput
from svc_notebook.frames.columns import Backend, Columns, finished, typed
from svc_notebook.frames.schemas import DEFAULTS, INDICES, LOGS, SETTINGS

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# So many records a request; the service takes no more.
AT_ONCE = 1000


async def read_records(
    client: AsyncClient,
    index: str,
    ids: Iterable[Any],
    *,
    columns: Sequence[str] | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read records in the order of their ids; one that is not there is a row of missing values.

    `attrs["svc"]["missing"]` names those that are not there.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise BadInput(f"`ids` is a list of objectIDs, such as [{ids!r}]")
    wanted = [id_text(each) for each in ids]
    gathered = Columns(_others(columns))
    missing: list[str] = []
    for start in range(0, len(wanted), AT_ONCE):
        part = wanted[start : start + AT_ONCE]
        answer = await client.get_objects([_request(index, each, columns) for each in part])
        found = [record or {} for record in answer["results"]]
        missing += [each for each, record in zip(part, found, strict=True) if not record]
        gathered.add(_without_id(record) for record in found)
    frame = gathered.frame()
    frame.insert(0, "objectID", pd.Series(wanted, dtype="str"))
    return finished(frame, {"index": index, "missing": missing}, dtype_backend)


def id_text(given: Any) -> str:
    """Write an objectID as text; whole numbers are ids too."""
    if isinstance(given, str) and given:
        return given
    if isinstance(given, bool) or not isinstance(given, SupportsIndex) or isinstance(given, str):
        raise BadInput(f"{given!r} is no objectID; ids are text: ids.dropna().astype(str)")
    return str(int(given))


def _request(index: str, each: str, columns: Sequence[str] | None) -> ObjectRequest:
    request: ObjectRequest = {"indexName": index, "objectID": each}
    return request if columns is None else {**request, "attributesToRetrieve": list(columns)}


def _others(columns: Sequence[str] | None) -> list[str] | None:
    if isinstance(columns, str):
        raise BadInput(f"`columns` should be a list of names: columns=[{columns!r}]")
    return None if columns is None else [name for name in columns if name != "objectID"]


def _without_id(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "objectID"}


@overload
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> pd.DataFrame: ...
@overload
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: int,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> AsyncIterator[pd.DataFrame]: ...
async def read_browse(
    client: AsyncClient,
    index: str,
    *,
    columns: Sequence[str] | None = None,
    chunksize: int | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> pd.DataFrame | AsyncIterator[pd.DataFrame]:
    """Read all records that pass the filters: `objectID`, then their attributes.

    With `chunksize`, an iterator of frames of so many rows, of which one is held at a time.
    """
    if chunksize is not None:
        _check_size(chunksize)  # now, not when the first chunk is asked for
        return browse_chunks(
            client, index, chunksize, columns=columns, dtype_backend=dtype_backend, **params
        )
    gathered = Columns(_with_id(columns))
    async for page in client.browse_pages(index, **_browsed(columns, params)):
        gathered.add(page["hits"])
    return _records_frame(gathered, index, params, dtype_backend)


async def browse_chunks(
    client: AsyncClient,
    index: str,
    chunksize: int,
    *,
    columns: Sequence[str] | None = None,
    dtype_backend: Backend | None = None,
    **params: Unpack[SearchParams],
) -> AsyncIterator[pd.DataFrame]:
    """Yield an index as frames of `chunksize` rows."""
    _check_size(chunksize)
    held: list[Any] = []
    async for page in client.browse_pages(index, **_browsed(columns, params)):
        held += page["hits"]
        while len(held) > chunksize:
            yield _chunk(held[:chunksize], index, columns, params, dtype_backend)
            held = held[chunksize:]
    yield _chunk(held, index, columns, params, dtype_backend)


def _check_size(chunksize: int) -> None:
    if not isinstance(chunksize, int) or chunksize < 1:
        raise BadInput(f"`chunksize` is a number of rows, 1 or more, not {chunksize!r}")


def _chunk(
    records: list[Any],
    index: str,
    columns: Sequence[str] | None,
    params: Mapping[str, Any],
    backend: Backend | None,
) -> pd.DataFrame:
    gathered = Columns(_with_id(columns))
    gathered.add(records)
    return _records_frame(gathered, index, params, backend)


def _with_id(columns: Sequence[str] | None) -> list[str] | None:
    others = _others(columns)
    return None if others is None else ["objectID", *others]


def _browsed(columns: Sequence[str] | None, params: SearchParams) -> SearchParams:
    asked: SearchParams = {"attributesToHighlight": [], **params}
    return asked if columns is None else {**asked, "attributesToRetrieve": list(columns)}


def _records_frame(
    gathered: Columns, index: str, params: Mapping[str, Any], backend: Backend | None
) -> pd.DataFrame:
    frame = gathered.frame()
    ids: Any = frame.pop("objectID") if "objectID" in frame else []
    frame.insert(0, "objectID", pd.Series(ids, dtype="str"))
    return finished(frame, {"index": index, "params": dict(params)}, backend)


async def read_indices(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """List the indices."""
    answer = await client.list_indices()
    return finished(typed(answer["items"], INDICES, DEFAULTS), {}, dtype_backend)


async def read_settings(client: AsyncClient, index: str) -> pd.DataFrame:
    """Read an index's settings: `setting`, `value`."""
    settings = await client.get_settings(index)
    rows = [{"setting": name, "value": value} for name, value in sorted(settings.items())]
    return finished(typed(rows, SETTINGS, DEFAULTS), {"index": index}, None)


class LogOptions(TypedDict, total=False):
    """Which logged requests to read: ten of every kind unless told otherwise."""

    length: int
    offset: int
    indexName: str | None
    type: Literal["all", "query", "build", "error"]


async def read_logs(
    client: AsyncClient,
    *,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> pd.DataFrame:
    """Read logged requests, the newest first."""
    answer = await client.get_logs(**options)
    rows = [{**entry} for entry in answer["logs"]]
    for row in rows:
        for name in ("answer_code", "processing_time_ms", "query_nb_hits", "nb_api_calls"):
            row[name] = int(str(row.get(name) or 0))
    return finished(typed(rows, LOGS, DEFAULTS), dict(options), dtype_backend)
