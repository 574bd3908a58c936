"""Delete or replace records, clear, drop, copy and move indices."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Unpack

from svc_notebook import loading
from svc_notebook.api.families.indices import CopyScope
from svc_notebook.api.shapes import BatchRequest
from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import (
    BATCH_RECORDS,
    WriteOutcome,
    count_records,
    write_and_wait,
)
from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput, KeyRefused, NotFound, did_you_mean
from svc_notebook.frames.records import id_text
from svc_notebook.functions.frame_records import ids_in, without_told
from svc_notebook.functions.loads import FILE_OPTIONS, SIZE_OPTIONS
from svc_notebook.loading.sources.python_records import awaited
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.journalled_write import noting, warn_not_kept
from svc_notebook.tuning.changes.state import SCOPES, read_part

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
    before = await _count_existing(own, index)

    async def are_gone() -> bool:
        if filters is None:
            return await _lacks(own, index, steps[-BATCH_RECORDS:])
        return not await count_records(own, index, filters=filters)

    if filters is None:
        answers: list[Any] = [await own.batch(index, part) for part in _parts(steps)]
    else:
        answers = [await own.delete_by(index, filters=filters)]
    outcome = await write_and_wait(own, answers, index=index, confirm=are_gone)
    return await _told(own, index, before, outcome)


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


@public(
    verb(
        "clear",
        "clear products",
        "clear products --yes",
        destructive="delete all records of {index}",
    ),
    endpoints=("clear_objects",),
)
async def clear_index(index: str, *, client: AnyClient | None = None) -> Done:
    """Delete all records of an index and keep its settings, synonyms and rules.

    Parameters
    ----------
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, and the number of records `before` and `after` (None if the key may not
        search); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.clear_index("products")
    {'index': 'products', 'before': 240, 'after': 0}
    """
    own = asynchronous(client)
    before = await _count_existing(own, index)
    outcome = await write_and_wait(
        own, own.clear_objects(index), index=index, confirm=lambda: _is_empty(own, index)
    )
    return await _told(own, index, before, outcome)


async def _is_empty(client: AsyncClient, index: str) -> bool:
    return not await count_records(client, index)


@public(
    verb(
        "drop",
        "drop products-old",
        "drop products-old --yes",
        destructive="delete the whole index {index}",
    ),
    endpoints=("delete_index",),
)
async def drop_index(index: str, *, client: AnyClient | None = None) -> Done:
    """Delete an index with its records, settings, synonyms and rules.

    Parameters
    ----------
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, and the number of records `before` and `after` (None if the key may not
        search); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.drop_index("products")
    {'index': 'products', 'before': 240, 'after': 0}
    """
    own = asynchronous(client)
    before = await _count_existing(own, index)
    outcome = await write_and_wait(
        own, own.delete_index(index), index=index, confirm=lambda: _is_gone(own, index)
    )
    return await _told(own, index, before, outcome)


async def _is_gone(client: AsyncClient, index: str) -> bool:
    try:
        await client.search(index, hitsPerPage=1, analytics=False)
    except NotFound:
        return True
    return False


async def _told(client: AsyncClient, index: str, before: int | None, outcome: WriteOutcome) -> Done:
    after = await _count(client, index)
    return {"index": index, "before": before, "after": after, **outcome.facts()}


@public(
    verb(
        "copy",
        "copy products products-new",
        "copy products test --scope settings,rules --yes",
        types={"scope": list[Literal["settings", "synonyms", "rules"]]},
        destructive="copy {index} onto {destination}",
    ),
    endpoints=("operate_index",),
)
async def copy_index(
    index: str,
    destination: str,
    *,
    scope: OneOrMany | None = None,
    client: AnyClient | None = None,
) -> Done:
    """Copy an index, or its settings, synonyms or rules alone, to another index.

    A whole copy replaces the destination; a copy with `scope` replaces only these parts of it.

    Parameters
    ----------
    index : str
        Name of the index.
    destination : str
        Name of the index that is created or replaced.
    scope : {'settings', 'synonyms', 'rules'} or list of these, default None
        Parts to copy; None copies everything, records included.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, `destination`, and the number of records of the destination `before` and
        `after` (None if the key may not search); `status` if the key may not read tasks.

    Raises
    ------
    BadInput
        If `scope` names an unknown part.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.copy_index("products", "products-copy")["after"]
    240
    >>> svc.copy_index("products", "products-empty", scope=["settings", "rules"])["after"]
    0
    """
    return await _put(index, "copy", destination, _scopes(scope), client)


def _scopes(given: OneOrMany | None) -> list[CopyScope] | None:
    if given is None:
        return None
    named: list[Any] = list_texts(given, "scope")
    for each in named:
        if each not in SCOPES:
            raise BadInput(
                f"`scope` is of {', '.join(SCOPES)}, not {each!r}{did_you_mean(each, SCOPES)}"
            )
    return named


@public(
    verb("move", "move products-new products", destructive="move {index} onto {destination}"),
    endpoints=("operate_index",),
)
async def move_index(index: str, destination: str, *, client: AnyClient | None = None) -> Done:
    """Move an index to another name; the index that has this name is replaced.

    Parameters
    ----------
    index : str
        Name of the index.
    destination : str
        New name.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `index`, `destination`, and the number of records of the destination `before` and
        `after` (None if the key may not search); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service accepts the write but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.copy_index("products", "products-new")
    >>> svc.move_index("products-new", "products-moved")["after"]
    240
    """
    return await _put(index, "move", destination, None, client)


async def _put(
    index: str,
    operation: Literal["copy", "move"],
    destination: str,
    scope: list[CopyScope] | None,
    client: AnyClient | None,
) -> Done:
    own = asynchronous(client)
    await _count_existing(own, index)
    before = await _count(own, destination)
    async with _noting(own, index, destination, scope):
        outcome = await write_and_wait(
            own, own.operate_index(index, operation, destination, scope), index=index
        )
    after = await _count(own, destination)
    counts = {"before": before, "after": after}
    return {"index": index, "destination": destination, **counts, **outcome.facts()}


@asynccontextmanager
async def _noting(
    client: AsyncClient, index: str, destination: str, scope: list[CopyScope] | None
) -> AsyncIterator[None]:
    """Keep what a copy of parts changes; a whole index is another, of which nothing is left."""
    async with AsyncExitStack() as stack:
        try:
            parts = {part: await read_part(client, index, part) for part in scope or ()}
        except KeyRefused:
            warn_not_kept(destination, *(scope or ()))
        else:
            note = f"copy from {index}"
            await stack.enter_async_context(
                noting(client, destination, parts, whole=True, note=note)
            )
        yield


async def _count_existing(client: AsyncClient, index: str) -> int | None:
    counted = await _count(client, index)
    if counted == 0:
        await client.search(index, hitsPerPage=1)  # refused where there is no such index
    return counted


async def _count(client: AsyncClient, index: str) -> int | None:
    try:
        return await count_records(client, index)
    except KeyRefused:
        return None


@public(
    verb(
        "replace",
        "replace products products.csv --id sku",
        "replace products products.parquet --min-share 0.9 --yes",
        without=(*SIZE_OPTIONS, *FILE_OPTIONS, "action", "operations"),
        names={"source": "file"},
        variable="source",
        destructive="replace all records of {index}",
    ),
    endpoints=("batch", "operate_index"),
    bar="rows",
    stream="source",
    renamed={"least": "min_share"},
)
async def replace_records(
    index: str,
    source: Source,
    *,
    min_share: float = 0.5,
    skip_rejected: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Replace all records of an index by those of a source.

    The new records are loaded into a temporary index with the settings, synonyms and rules of
    the index, which then replaces it. Nothing changes if the load fails.

    Parameters
    ----------
    index : str
        Name of the index.
    source : path, glob, URL, SQL query, DataFrame, Arrow table or dicts
        New records.
    min_share : float, default 0.5
        Minimum number of new records, as a share from 0 to 1 of the number of previous
        records.
    skip_rejected : bool, default False
        Replace the records although some rows of the source are rejected.
    client : Client or AsyncClient, default the current client
        Client to use.
    on_progress : callable, default None
        Function that is called with the number of rows sent and the total number of rows,
        or None.

    Returns
    -------
    LoadResult
        The number of rows sent, published and rejected.

    Raises
    ------
    BadInput
        If the source or an option is wrong, a row is rejected, or there are too few new
        records.
    CallFailed
        If the service cannot be reached or refuses the call.
    TaskFailed
        If the service does not publish the records within 600 seconds.
    Stopped
        If the load is cancelled.

    Examples
    --------
    >>> cheap = svc.samples.products().query("price < 50")
    >>> svc.replace_records("products", cheap, id="sku", min_share=0.2).published
    158
    """
    if not 0 <= min_share <= 1:
        raise BadInput(f"`min_share` is a share, from 0 to 1, not {min_share!r}")
    own = asynchronous(client)
    async with (
        awaited(source, options) as given,
        own.replacing(index, least=min_share) as scratch,
    ):
        rows = without_told(given, options)
        result = await loading.load(own, rows, scratch, on_progress=on_progress, **options)
        if result.rejected_rows and not skip_rejected:
            raise BadInput(
                f"{result.rejected_rows} rows cannot be sent; nothing was replaced. `plan` says "
                "why, `skip_rejected` leaves them out"
            )
    return dataclasses.replace(result, index=index)
