"""Delete records; the attributes and objectIDs of records in DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.shapes import BatchRequest
from svc_notebook.core.display import shorten
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import (
    BATCH_RECORDS,
    AsyncClient,
    Client,
    check_attributes,
    check_filters,
    count_records,
    run,
    warn_of_filters,
    write_and_wait,
)
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import added_to, hits_of, id_text
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, did_you_mean
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.indices import count_after, count_existing

MAX_SHOWN_CHARACTERS = 80  # of ids in a confirmation
DRY_RUN = "dry run: nothing was deleted"

SEARCH_COLUMNS = ("query", "rank", "queryID")
HIGHLIGHTED = "highlighted."
MAX_LISTED_COLUMNS = 5  # columns named in a warning


def deletes_nothing(given: Mapping[str, Any]) -> bool:
    """Return whether a call of `delete_records` is a dry run, or names no records."""
    return bool(given.get("dry_run")) or not given.keys() & {"ids", "filters"}


def describe_deletion(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe a deletion with the number of records; bind the call to the ids that were read."""
    index, filters = given["index"], given.get("filters")
    ids = None if given.get("ids") is None else [*_ids_of(given["ids"])]
    names = f"filters: {filters}" if ids is None else f"ids: {', '.join(map(str, ids))}"
    shown, bound = shorten(names, MAX_SHOWN_CHARACTERS), {} if ids is None else {"ids": ids}
    try:
        matching, total = run(_count_matching(client.aio, index, ids, filters))
    except CallFailed:  # the call itself reports it, or the key may not search
        return f"delete records of {index} ({shown})", bound
    if filters is not None and not matching:
        faults = run(check_filters(client.aio, index, {"filters": filters}))
        shown = "; ".join([shown, *(fault.message for fault in faults)])
    return f"delete {matching:,} of {total:,} records of {index} ({shown})", bound


@public(
    verb(
        "delete",
        "delete products 17 18",
        'delete products --filters "price < 1" --yes',
        'delete products --filters "price < 1" --dry-run',
        variable="ids",
        destructive="delete records of {index}",
        spares=deletes_nothing,
        settles=describe_deletion,
    ),
    endpoints=("delete_by", "batch"),
    replaces={"delete_object": "delete_records"},
)
async def delete_records(
    index: str,
    ids: Iterable[Any] | None = None,
    *,
    filters: str | None = None,
    dry_run: bool = False,
    client: AnyClient | None = None,
) -> WriteSummary:
    """Delete records by objectID or by filters.

    Filters that match no record because of the attribute that they name cause a warning.

    Parameters
    ----------
    ids : str, list, Series or DataFrame with a column `objectID`, default None
        objectIDs of the records.
    filters : str, default None
        Filters that the deleted records match, such as `price < 10`.
    dry_run : bool, default False
        Delete nothing; return how many records there are and would be left.

    Returns
    -------
    dict
        `index`, and the number of records `before` and `after` (None if the key may not
        search); `status` for a dry run, or if the key may not read tasks.

    Raises
    ------
    BadInput
        If not exactly one of `ids` and `filters` is given, or `filters` is empty.
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.delete_records("products", filters="price < 10", dry_run=True)
    {'index': 'products', 'before': 240, 'after': 218, 'status': 'dry run: nothing was deleted'}
    >>> svc.delete_records("products", ["LMP-001", "LMP-002"])
    {'index': 'products', 'before': 240, 'after': 238}
    >>> svc.delete_records("products", filters="category:Lighting")["after"]
    200
    """
    if (ids is None) == (filters is None):
        raise BadInput(
            f"no records named; pass ids or filters; svc.clear_index({index!r}) deletes all"
        )
    if filters is not None and not filters.strip():
        raise BadInput(f"`filters` is empty; svc.clear_index({index!r}) deletes all records")
    steps = [_deletion(object_id) for object_id in _ids_of(ids)]
    aio = asynchronous(client)
    before = await count_existing(aio, index)
    if dry_run:
        matching, total = await _count_matching(aio, index, ids, filters)
        await _warn_of_no_match(aio, index, filters, matching)
        left = {"before": total, "after": total - matching, "status": DRY_RUN}
        return {"index": index, **left}
    if filters is not None:
        with suppress(KeyRefused):  # a key that may delete but not search
            matching = await count_records(aio, index, filters=filters)
            await _warn_of_no_match(aio, index, filters, matching)

    async def are_gone() -> bool:
        if filters is None:
            return await _are_deleted(aio, index, steps[-BATCH_RECORDS:])
        return not await count_records(aio, index, filters=filters)

    if filters is None:
        answers: list[Any] = [await aio.batch(index, part) for part in _parts(steps)]
    else:
        answers = [await aio.delete_by(index, filters=filters)]
    outcome = await write_and_wait(aio, answers, index=index, confirm=are_gone)
    return await count_after(aio, index, before, outcome)


async def _count_matching(
    client: AsyncClient, index: str, ids: Iterable[Any] | None, filters: str | None
) -> tuple[int, int]:
    """Return the number of records that ids or filters name, and of all records."""
    total = await count_records(client, index)
    if filters is not None:
        return await count_records(client, index, filters=filters), total
    names = list(dict.fromkeys(id_text(object_id) for object_id in _ids_of(ids)))
    stored = 0
    for start in range(0, len(names), BATCH_RECORDS):
        stored += await _count_stored(client, index, names[start : start + BATCH_RECORDS])
    return stored, total


async def _warn_of_no_match(
    client: AsyncClient, index: str, filters: str | None, matching: int
) -> None:
    if filters is not None and not matching:
        await warn_of_filters(client, index, {"filters": filters})


async def _are_deleted(client: AsyncClient, index: str, steps: Sequence[BatchRequest]) -> bool:
    """Return whether these deletions are done; an index applies its tasks in order."""
    ids = [step["body"]["objectID"] for step in steps]
    return not await _count_stored(client, index, ids)


async def _count_stored(client: AsyncClient, index: str, ids: Sequence[str]) -> int:
    """Return how many of these ids have a record."""
    requests: Any = [
        {"indexName": index, "objectID": object_id, "attributesToRetrieve": ["objectID"]}
        for object_id in ids
    ]
    return sum(result is not None for result in (await client.get_objects(requests))["results"])


def _ids_of(ids: Iterable[Any] | None) -> Iterable[Any]:
    return [ids] if isinstance(ids, str) else ids_in(ids) if ids is not None else ()


def _deletion(given: Any) -> BatchRequest:
    return {"action": "deleteObject", "body": {"objectID": id_text(given)}}


def _parts(steps: Sequence[BatchRequest]) -> Iterator[list[BatchRequest]]:
    return (
        list(steps[start : start + BATCH_RECORDS]) for start in range(0, len(steps), BATCH_RECORDS)
    )


def record_columns(source: Any, options: Mapping[str, Any]) -> Any:
    """Remove the columns that a search added to its hits, so that only records are sent.

    Such columns are ranks, queries, highlighted texts and criteria. A column that the options name
    stays, and so does every column of a DataFrame that is not the result of a search. A row for a
    query without hits is removed.
    """
    if not isinstance(source, DataFrame):
        return source
    named = {*(options.get("columns") or ()), *(options.get("operations") or ())}
    source = hits_of(source)
    if "svc" not in source.attrs and not named:
        _warn_of_search_columns([str(name) for name in source.columns])
    ids = options.get("id") or ()
    added = {*added_to(source).values()} - named - {*([ids] if isinstance(ids, str) else ids)}
    return source.loc[:, ~source.columns.isin([*added])] if added else source


async def warn_of_columns(
    client: AsyncClient,
    index: str,
    frame: DataFrame,
    columns: Iterable[str] | None,
    params: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Warn of requested columns that no record has.

    Only for columns that are empty in all records found, a sample of the index is checked.
    """
    names = params.get("attributesToRetrieve") if columns is None else columns
    if names is None or hits_of(frame).empty:
        return
    added = added_to(frame).values()
    empty = [
        name
        for name in names
        if name[:1] not in ("*", "-")
        and (name not in frame or (name not in added and frame[name].isna().all()))
    ]
    if empty:
        (await check_attributes(client, index, {"attributesToRetrieve": empty})).warn()


def _warn_of_search_columns(names: list[str]) -> None:
    """Warn of columns named like those that a search adds: pandas drops `attrs` in a merge."""
    places = names[: names.index("objectID")] if "objectID" in names else []
    marked = [name for name in names if name.startswith(HIGHLIGHTED)]
    searched = "rank" in places and places[-1] in SEARCH_COLUMNS
    added = [name for name in places if searched and name in SEARCH_COLUMNS] + marked
    if added:
        warn_user(
            f"columns that a search adds are sent as attributes of the records: "
            f"{', '.join(added[:MAX_LISTED_COLUMNS])}; select the columns to send by `columns=`"
        )


def ids_in(given: Any) -> Any:
    """Return the given ids, or the column `objectID` of the hits in a DataFrame."""
    if not isinstance(given, DataFrame):
        return given
    if "objectID" not in given:
        raise BadInput(
            "the DataFrame has no column `objectID`; pass the column of ids, such as df['id']"
        )
    return hits_of(given)["objectID"]


def check_column(frame: DataFrame, column: str) -> str:
    """Return the name of a column; raise `BadInput` if the DataFrame does not have it."""
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        raise BadInput(
            f"the DataFrame has no column `{column}`{did_you_mean(column, names)}; "
            "pass the column of ids as `id=`"
        )
    return column
