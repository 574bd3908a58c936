"""Records by their ids, indices, settings, logs and tasks, as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypedDict, Unpack
from uuid import UUID

import pandas as pd

from svc_notebook.core.api.shapes import ObjectRequest
from svc_notebook.core.api.values import list_texts
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.operations import MAX_IDS_PER_REQUEST
from svc_notebook.data.client.tasks import Tasks, sort_tasks
from svc_notebook.data.frames.columns import Backend, Columns, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import DEFAULTS, INDICES, LOGS, SETTINGS, TASKS
from svc_notebook.errors import BadInput, UnexpectedAnswer

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

MAX_SHOWN_IDS = 5


@remembered
async def read_records(
    client: AsyncClient,
    index: str,
    ids: Iterable[Any],
    *,
    columns: Sequence[str] | None = None,
    flatten: bool = False,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read records in the order of their ids: one row for each stored record.

    Ids without a record cause a warning and are listed in `attrs["svc"]["missing"]`. `flatten`
    gives each member of an object its own column, `size.width`.
    """
    texts = _id_texts(ids)
    names = names_of(columns)
    gathered = Columns(others_of(names), flatten=flatten)
    stored: list[str] = []
    missing: list[str] = []
    for start in range(0, len(texts), MAX_IDS_PER_REQUEST):
        part = texts[start : start + MAX_IDS_PER_REQUEST]
        answer = await client.get_objects([_request(index, name, names) for name in part])
        pairs = [*zip(part, answer["results"], strict=True)]
        missing += [name for name, record in pairs if record is None]
        stored += [name for name, record in pairs if record is not None]
        gathered.add(_without_id(record) for _, record in pairs if record is not None)
    if missing:
        _warn_of_missing(index, len(texts), missing)
    frame = gathered.frame()
    frame.insert(0, "objectID", pd.Series(stored, dtype="str"))
    return finished(frame, {"index": index, "missing": missing}, dtype_backend)


def _warn_of_missing(index: str, count: int, missing: Sequence[str]) -> None:
    shown = ", ".join(f"`{name}`" for name in missing[:MAX_SHOWN_IDS])
    more = ", …" if len(missing) > MAX_SHOWN_IDS else ""
    warn_user(
        f"{len(missing):,} of {count:,} ids {'is' if len(missing) == 1 else 'are'} not in {index}: "
        f'{shown}{more}; attrs["svc"]["missing"] lists them'
    )


def _id_texts(ids: Iterable[Any]) -> list[str]:
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise BadInput(f"`ids` must be a list of objectIDs, such as [{ids!r}]")
    return [id_text(name) for name in ids]


def id_text(given: Any) -> str:
    """Convert an objectID to text; whole numbers are valid ids, also as floats, and UUIDs."""
    if (isinstance(given, str) and given) or isinstance(given, UUID):
        return str(given)
    if isinstance(given, float) and given.is_integer():
        return str(int(given))
    if isinstance(given, bool) or not isinstance(given, SupportsIndex) or isinstance(given, str):
        raise BadInput(
            f"{given!r} is not an objectID; convert ids to text: ids.dropna().astype(str)"
        )
    return str(int(given))


def _request(index: str, object_id: str, columns: Sequence[str] | None) -> ObjectRequest:
    request: ObjectRequest = {"indexName": index, "objectID": object_id}
    return request if columns is None else {**request, "attributesToRetrieve": list(columns)}


def names_of(columns: Iterable[str] | None) -> list[str] | None:
    """Return column names as a list; raise `BadInput` for a single name before anything is sent."""
    if isinstance(columns, str):
        raise BadInput(f"`columns` must be a list of names: columns=[{columns!r}]")
    return None if columns is None else list_texts(columns, "columns")


def others_of(columns: Sequence[str] | None) -> list[str] | None:
    """Return the columns other than the id."""
    return None if columns is None else [name for name in columns if name != "objectID"]


def _without_id(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "objectID"}


@remembered
async def read_indices(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """List the indices."""
    answer = await client.list_indices()
    return finished(typed(answer["items"], INDICES, DEFAULTS), {}, dtype_backend)


@remembered
async def read_settings(client: AsyncClient, index: str) -> pd.DataFrame:
    """Read an index's settings: `setting`, `value`."""
    settings = await client.get_settings(index)
    rows = [{"setting": name, "value": value} for name, value in sorted(settings.items())]
    return finished(typed(rows, SETTINGS, DEFAULTS), {"index": index}, None)


class LogOptions(TypedDict, total=False):
    """Filters of logged requests; by default the newest ones of every type."""

    offset: int
    indexName: str | None
    type: Literal["all", "query", "build", "error"]


@remembered
async def read_logs(
    client: AsyncClient,
    length: int,
    *,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> pd.DataFrame:
    """Read logged requests, the newest first."""
    answer = await client.get_logs(length=length, **options)
    rows = [{**entry} for entry in answer["logs"]]
    for row in rows:
        for name in ("answer_code", "processing_time_ms", "query_nb_hits", "nb_api_calls"):
            row[name] = _number(name, row.get(name))
    return finished(typed(rows, LOGS, DEFAULTS), {"length": length, **options}, dtype_backend)


def _number(name: str, text: Any) -> int:
    """Read a number that the logs contain as text."""
    try:
        return int(str(text or 0))
    except ValueError:
        raise UnexpectedAnswer(
            f"get_logs: `{name}` of a logged request is {str(text)[:60]!r}, not a number",
            endpoint="get_logs",
        ) from None


@remembered
async def read_tasks(
    client: AsyncClient,
    tasks: Tasks,
    *,
    index: str | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read whether tasks are published; tasks are numbers, or responses of writes, as in `wait`.

    `index` is the index of tasks that do not name theirs; a task of the application has none.
    """
    rows = []
    for name, numbers in sort_tasks(tasks, index).items():
        for number in numbers:
            call = client.get_app_task(number) if name is None else client.get_task(name, number)
            rows.append({"taskID": number, "index": name or "", **await call})
    return finished(typed(rows, TASKS, DEFAULTS), {"index": index}, dtype_backend)
