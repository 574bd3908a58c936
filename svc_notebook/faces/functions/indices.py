"""List, clear, drop, copy and move indices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

from pandas import DataFrame

from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient, WriteOutcome, count_records, write_and_wait
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, KeyRefused, NotFound, did_you_mean
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.tuning.changes import SCOPES, noting, read_part, warn_not_recorded


@public(verb("indices", "indices", lists=True), endpoints=("list_indices",))
async def read_indices(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """List the indices.

    Returns
    -------
    DataFrame
        One row per index: `name` (str), `entries` (int64), `dataSize` and `fileSize` (int64,
        bytes), `createdAt` and `updatedAt` (datetime64[us, UTC]), `lastBuildTimeS` (int64,
        seconds), `numberOfPendingTasks` (int64), `pendingTask` (bool), `primary` (str, empty
        for an index that is not a replica) and `replicas` (object, a list or None).

    Examples
    --------
    >>> indices = svc.read_indices()
    >>> indices.loc[indices["name"] == "products", "entries"].item()
    240
    """
    return await frames.read_indices(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb(
        "clear",
        "clear products",
        "clear products --yes",
        destructive="delete all records of {index}",
    ),
    endpoints=("clear_objects",),
)
async def clear_index(index: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Delete all records of an index and keep its settings, synonyms and rules.

    Returns
    -------
    dict
        `index`, and the number of records `before` and `after` (None if the key may not
        search); `status` if the key may not read tasks.

    Raises
    ------
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.clear_index("products")
    {'index': 'products', 'before': 240, 'after': 0}
    """
    aio = asynchronous(client)
    before = await count_existing(aio, index)
    outcome = await write_and_wait(
        aio, aio.clear_objects(index), index=index, confirm=lambda: _is_empty(aio, index)
    )
    return await count_after(aio, index, before, outcome)


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
    like=clear_index.__doc__,
)
async def drop_index(index: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Delete an index with its records, settings, synonyms and rules.

    Examples
    --------
    >>> svc.drop_index("products")
    {'index': 'products', 'before': 240, 'after': 0}
    """
    aio = asynchronous(client)
    before = await count_existing(aio, index)
    outcome = await write_and_wait(
        aio, aio.delete_index(index), index=index, confirm=lambda: _is_gone(aio, index)
    )
    return await count_after(aio, index, before, outcome)


async def _is_gone(client: AsyncClient, index: str) -> bool:
    try:
        await client.search(index, hitsPerPage=1, analytics=False)
    except NotFound:
        return True
    return False


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
) -> WriteSummary:
    """Copy an index, or its settings, synonyms or rules alone, to another index.

    A whole copy replaces the destination; a copy with `scope` replaces only these parts of it.

    Parameters
    ----------
    destination : str
        Name of the index that is created or replaced.
    scope : {'settings', 'synonyms', 'rules'} or list of these, default None
        Parts to copy; None copies everything, records included.

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
    TaskFailed

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
    for scope in named:
        if scope not in SCOPES:
            raise BadInput(
                f"`scope` must be one or more of {', '.join(SCOPES)}, not {scope!r}"
                f"{did_you_mean(scope, SCOPES)}"
            )
    return named


@public(
    verb("move", "move products-new products", destructive="move {index} onto {destination}"),
    endpoints=("operate_index",),
    like=copy_index.__doc__,
)
async def move_index(
    index: str, destination: str, *, client: AnyClient | None = None
) -> WriteSummary:
    """Move an index to another name; the index that has this name is replaced.

    Parameters
    ----------
    destination : str
        New name.

    Raises
    ------
    NotFound
    TaskFailed

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
) -> WriteSummary:
    aio = asynchronous(client)
    await count_existing(aio, index)
    before = await _count(aio, destination)
    async with _journalled(aio, index, destination, scope):
        outcome = await write_and_wait(
            aio, aio.operate_index(index, operation, destination, scope), index=index
        )
    after = await _count(aio, destination)
    counts = {"before": before, "after": after}
    return {"index": index, "destination": destination, **counts, **outcome.facts()}


@asynccontextmanager
async def _journalled(
    client: AsyncClient, index: str, destination: str, scope: list[CopyScope] | None
) -> AsyncIterator[None]:
    """Record the parts that a copy changes in the journal; a whole copy leaves nothing to undo."""
    async with AsyncExitStack() as stack:
        try:
            parts = {part: await read_part(client, index, part) for part in scope or ()}
        except KeyRefused:
            warn_not_recorded(destination, *(scope or ()))
        else:
            note = f"copy from {index}"
            await stack.enter_async_context(
                noting(client, destination, parts, whole=True, note=note)
            )
        yield


async def count_after(
    client: AsyncClient, index: str, before: int | None, outcome: WriteOutcome
) -> WriteSummary:
    """Return the number of records before and after a write, and the outcome of the write."""
    after = await _count(client, index)
    return {"index": index, "before": before, "after": after, **outcome.facts()}


async def count_existing(client: AsyncClient, index: str) -> int | None:
    """Count the records of an index, or raise `NotFound`; None if the key may not count."""
    counted = await _count(client, index)
    if counted == 0:
        await client.search(index, hitsPerPage=1)  # raises NotFound if the index does not exist
    return counted


async def _count(client: AsyncClient, index: str) -> int | None:
    try:
        return await count_records(client, index)
    except KeyRefused:
        return None
