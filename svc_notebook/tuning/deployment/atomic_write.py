"""The atomic write of a configuration: a copy of the index is changed and moved over the index."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from svc_notebook.core.display import format_count
from svc_notebook.data.client import (
    AsyncClient,
    TemporaryIndex,
    count_records,
    drop_temporary_indices,
    list_temporary_indices,
)
from svc_notebook.errors import BadInput, KeyRefused
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.journalled_write import list_steps, recording
from svc_notebook.tuning.changes.state import Delta, Objects, Scope, write_part
from svc_notebook.tuning.deployment.configuration_files import list_entries


def describe_price(index: str, records: int) -> str:
    """Describe the cost and the conditions of an atomic write."""
    return (
        f"{format_count(records, 'record')} of {index} will be copied within the service, which "
        "may count each as an operation and stores both until the move; if records of "
        f"{index} are written meanwhile, nothing is deployed"
    )


async def write_atomically(
    client: AsyncClient, index: str, deltas: Mapping[Scope, Delta], *, note: str
) -> Change | None:
    """Change a copy of an index and move it over the index: searches see all changes at once.

    What an interrupted call left is deleted first. Raises `BadInput` if the index was written
    while it was copied; until the move was accepted, the index is as it was.
    """
    await _drop_left(client, index)
    proposed: dict[Scope, Objects] = {scope: delta.after for scope, delta in deltas.items()}
    before = await _read_version(client, index)
    async with TemporaryIndex(client, index, "deploy") as copy:
        for scope, objects in list_steps(deltas):
            await write_part(client, copy.name, scope, objects)
        if await _read_version(client, index) != before:
            raise BadInput(
                f"{index} was written while it was copied; nothing was deployed. Deploy again, "
                "without atomic=True if it is written all the time"
            )
        async with recording(client, index, proposed, note=note) as recorded:
            await copy.promote([])
    return recorded.change


async def _drop_left(client: AsyncClient, index: str) -> None:
    """Delete the copies that interrupted calls of this machine left."""
    with suppress(KeyRefused):  # a key that may not list indices
        listed = await list_temporary_indices(client)
        names = [
            item["name"]
            for item, name in listed
            if name.index == index and name.purpose == "deploy" and name.is_left
        ]
        if names:
            await drop_temporary_indices(client, names, unused=True)


async def _read_version(client: AsyncClient, index: str) -> tuple[object, ...]:
    """Return what changes when an index is written; its number of records, if that is all."""
    try:
        entries = await list_entries(client)
    except KeyRefused:  # a key that may not list indices
        return (await count_records(client, index),)
    return tuple(
        entry.get(name)
        for entry in entries
        if entry["name"] == index
        for name in ("entries", "updatedAt", "dataSize")
    )
