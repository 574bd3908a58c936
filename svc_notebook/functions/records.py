"""Delete or replace records, clear, drop, copy and move indices."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Unpack

from svc_notebook import loading
from svc_notebook.api.indices import CopyScope
from svc_notebook.api.shapes import BatchRequest
from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import AsyncClient
from svc_notebook.client.operations import (
    BATCH_RECORDS,
    WriteOutcome,
    count_records,
    write_and_wait,
)
from svc_notebook.errors import BadInput, KeyRefused, NotFound, did_you_mean
from svc_notebook.frames.records import id_text
from svc_notebook.functions.frame_records import ids_in, without_told
from svc_notebook.loading.sending.load import OnProgress
from svc_notebook.loading.sources.python_records import awaited
from svc_notebook.loading.sources.source import Source
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.journalled_write import noting, warn_not_recorded
from svc_notebook.tuning.changes.state import SCOPES, read_part

Done = dict[str, Any]


async def delete_records(
    index: str,
    ids: Iterable[Any] | None = None,
    *,
    filters: str | None = None,
    client: AnyClient | None = None,
) -> Done:
    """Delete records by their objectIDs, or all that pass filters."""
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


async def clear_index(index: str, *, client: AnyClient | None = None) -> Done:
    """Delete all records of an index; its settings, synonyms and rules stay."""
    own = asynchronous(client)
    before = await _count_existing(own, index)
    outcome = await write_and_wait(
        own, own.clear_objects(index), index=index, confirm=lambda: _is_empty(own, index)
    )
    return await _told(own, index, before, outcome)


async def _is_empty(client: AsyncClient, index: str) -> bool:
    return not await count_records(client, index)


async def drop_index(index: str, *, client: AnyClient | None = None) -> Done:
    """Delete an index with its records, settings, synonyms and rules."""
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


async def copy_index(
    index: str,
    destination: str,
    *,
    scope: OneOrMany | None = None,
    client: AnyClient | None = None,
) -> Done:
    """Copy an index onto another, all of it or, by `scope`, settings, synonyms or rules alone.

    Counted are the records of the destination.
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


async def move_index(index: str, destination: str, *, client: AnyClient | None = None) -> Done:
    """Move an index to another name; what is there gives way. Counted is the destination."""
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
            warn_not_recorded(destination, *(scope or ()))
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


async def replace_records(
    index: str,
    source: Source,
    *,
    least: float = 0.5,
    skip_rejected: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[loading.RowOptions],
) -> loading.LoadResult:
    """Replace an index's records by a file's or a DataFrame's; its settings and the like stay.

    The new ones are loaded into a temporary index, which then takes the other's place. Nothing
    changes if anything goes wrong, if a row cannot be sent, or if less than the share `least` of
    the number of old records would be there.
    """
    if not 0 <= least <= 1:
        raise BadInput(f"`least` is a share, from 0 to 1, not {least!r}")
    own = asynchronous(client)
    async with awaited(source, options) as given, own.replacing(index, least=least) as scratch:
        rows = without_told(given, options)
        result = await loading.load(own, rows, scratch, on_progress=on_progress, **options)
        if result.rejected_rows and not skip_rejected:
            raise BadInput(
                f"{result.rejected_rows} rows cannot be sent; nothing was replaced. `plan` says "
                "why, `skip_rejected` leaves them out"
            )
    return dataclasses.replace(result, index=index)
