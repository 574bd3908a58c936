"""The replacement of all records of an index in one step, by a temporary index that is moved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING

from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.shapes import BatchRequest, Record
from svc_notebook.data.client.operations import BATCH_RECORDS, count_records, is_own
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.data.client.temporary_index import AROUND_RECORDS, TemporaryIndex
from svc_notebook.errors import BadInput, SvcError, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.client import AsyncClient


@asynccontextmanager
async def replacing(
    client: AsyncClient,
    index: str,
    *,
    min_share: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
) -> AsyncIterator[str]:
    """Yield the name of a temporary index with the same settings, which replaces `index` at exit.

    The caller waits inside for what it writes. After an error, a cancellation or with too few
    records, `index` is unchanged and the temporary index is deleted.
    """
    kept = _check_scopes(scopes)
    await is_own(client, index)  # an error here leaves nothing behind
    temporary = await TemporaryIndex(client, index, "replace").open(kept)
    try:
        yield temporary.name
        await _check_share(client, index, temporary.name, min_share)
        await temporary.promote(kept)
    except BaseException:
        await temporary.discard()
        raise


async def replace_all(
    client: AsyncClient,
    index: str,
    records: Iterable[Record],
    *,
    min_share: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
    batch_size: int = BATCH_RECORDS,
    on_progress: OnProgress | None = None,
) -> int:
    """Replace all records of an index in one step; return the number of new records.

    Nothing changes after an error, or if the number of records would be less than the share
    `min_share` of the old number.
    """
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise BadInput(f"`batch_size` must be a number of records, 1 or more, not {batch_size!r}")
    async with replacing(client, index, min_share=min_share, scopes=scopes) as target:
        answers = [
            await client.batch(target, requests) for requests in _batches(iter(records), batch_size)
        ]
        ids = {object_id for answer in answers for object_id in answer["objectIDs"]}
        await client.wait(answers, index=target, on_progress=on_progress)
        await _check_count(client, target, len(ids))
    return len(ids)


def _batches(records: Iterator[Record], size: int) -> Iterator[list[BatchRequest]]:
    while chunk := list(islice(records, size)):
        yield [{"action": "addObject", "body": record} for record in chunk]


async def _check_count(client: AsyncClient, target: str, sent: int) -> None:
    if (stored := await count_records(client, target)) != sent:
        raise SvcError(f"{sent} records were sent but {stored} arrived; nothing was replaced")


async def _check_share(client: AsyncClient, index: str, target: str, min_share: float) -> None:
    old, new = await count_records(client, index), await count_records(client, target)
    if new < old * min_share:
        raise BadInput(
            f"{index} has {old} records and would have {new}; nothing was replaced. "
            "If that is intended, pass min_share=0"
        )


def _check_scopes(scopes: Sequence[CopyScope]) -> list[CopyScope]:
    scopes_allowed = ", ".join(AROUND_RECORDS)
    if isinstance(scopes, str):
        raise BadInput(f"`scopes` must be a list of {scopes_allowed}: scopes=[{scopes!r}]")
    for scope in scopes:
        if scope not in AROUND_RECORDS:
            advice = did_you_mean(f"{scope}", AROUND_RECORDS)
            raise BadInput(f"`scopes` must be of {scopes_allowed}, not {scope!r}{advice}")
    return list(scopes)
