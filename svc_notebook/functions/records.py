"""Delete records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.api.shapes import BatchRequest
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import (
    BATCH_RECORDS,
    count_records,
    write_and_wait,
)
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput
from svc_notebook.frames.records import id_text
from svc_notebook.functions.frame_records import ids_in
from svc_notebook.functions.indices import count_after, count_existing
from svc_notebook.session.connection import AnyClient, asynchronous

Done = dict[str, Any]


def names_no_records(given: Mapping[str, Any]) -> bool:
    """Return whether a call of `delete_records` is refused, because it names no records."""
    return not given.keys() & {"ids", "filters"}


@public(
    verb(
        "delete",
        "delete products 17 18",
        'delete products --filters "price < 1" --yes',
        variable="ids",
        destructive="delete records of {index}",
        spares=names_no_records,
    ),
    endpoints=("delete_by", "batch"),
    replaces={"delete_object": "delete_records"},
)
async def delete_records(
    index: str,
    ids: Iterable[Any] | None = None,
    *,
    filters: str | None = None,
    client: AnyClient | None = None,
) -> Done:
    """Delete records by objectID or by filters.

    Parameters
    ----------
    index : str
        Name of the index.
    ids : str, list, Series or DataFrame with a column `objectID`, default None
        objectIDs of the records.
    filters : str, default None
        Filters that the deleted records match, such as `price < 10`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, and the number of records `before` and `after` (None if the key may not
        search); `status` if the key may not read tasks.

    Raises
    ------
    BadInput
        If not exactly one of `ids` and `filters` is given.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.delete_records("products", ["LMP-001", "LMP-002"])
    {'index': 'products', 'before': 240, 'after': 238}
    >>> svc.delete_records("products", filters="category:Lighting")["after"]
    200
    """
    if (ids is None) == (filters is None):
        raise BadInput("name the records by their ids or by filters; `clear` deletes all")
    steps = [_deletion(each) for each in _ids_of(ids)]
    own = asynchronous(client)
    before = await count_existing(own, index)

    async def are_gone() -> bool:
        if filters is None:
            return await _lacks(own, index, steps[-BATCH_RECORDS:])
        return not await count_records(own, index, filters=filters)

    if filters is None:
        answers: list[Any] = [await own.batch(index, part) for part in _parts(steps)]
    else:
        answers = [await own.delete_by(index, filters=filters)]
    outcome = await write_and_wait(own, answers, index=index, confirm=are_gone)
    return await count_after(own, index, before, outcome)


async def _lacks(client: AsyncClient, index: str, steps: Sequence[BatchRequest]) -> bool:
    """Say whether these deletions are done; an index applies its tasks in order."""
    ids = [step["body"]["objectID"] for step in steps]
    wanted: Any = [
        {"indexName": index, "objectID": each, "attributesToRetrieve": ["objectID"]} for each in ids
    ]
    return not any((await client.get_objects(wanted))["results"])


def _ids_of(ids: Iterable[Any] | None) -> Iterable[Any]:
    return [ids] if isinstance(ids, str) else ids_in(ids) if ids is not None else ()


def _deletion(given: Any) -> BatchRequest:
    return {"action": "deleteObject", "body": {"objectID": id_text(given)}}


def _parts(steps: Sequence[BatchRequest]) -> Iterator[list[BatchRequest]]:
    return (
        list(steps[start : start + BATCH_RECORDS]) for start in range(0, len(steps), BATCH_RECORDS)
    )
