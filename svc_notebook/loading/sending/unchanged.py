"""Skip rows whose stored record is already identical."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.client.operations import FULL_RECORD_PARAMS, index_exists
from svc_notebook.errors import BadInput
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sending.batches import HEAD, TAIL, Batch

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# What each stored record holds, by its id.
Stored = dict[str, bytes]


class _Step(msgspec.Struct):
    action: str
    body: dict[str, Any]


class _Request(msgspec.Struct):
    requests: list[_Step]


def check_mergeable(options: LoadSettings) -> None:
    """Reject options whose rows cannot be compared with stored records."""
    if options.action != "replace" or options.duplicates == "keep":
        raise BadInput("if_exists='merge' compares whole records: leave out action and duplicates")


async def read_stored(client: AsyncClient, index: str) -> Stored:
    """Read a whole index as a digest of each record."""
    stored: Stored = {}
    if await index_exists(client, index):
        async for page in client.browse_pages(index, **FULL_RECORD_PARAMS):
            stored.update((hit["objectID"], digest(hit)) for hit in page["hits"])
    return stored


def records_of(batch: Batch) -> list[dict[str, Any]]:
    """Decode the records of a batch."""
    steps = msgspec.json.decode(batch.body, type=_Request).requests
    return [step.body for step in steps]


def keep_changed(batch: Batch, stored: Stored) -> Batch:
    """Keep the operations of a batch that would change a record."""
    steps = msgspec.json.decode(batch.body, type=_Request).requests
    changed = [step for step in steps if stored.get(step.body["objectID"]) != digest(step.body)]
    body = HEAD + b",".join(map(msgspec.json.encode, changed)) + TAIL
    return replace(batch, rows=len(changed), body=body)


def digest(record: Mapping[str, Any]) -> bytes:
    """Return a digest that is equal for equal records, whatever the order of their attributes."""
    return blake2b(msgspec.json.encode(record, order="deterministic"), digest_size=12).digest()
