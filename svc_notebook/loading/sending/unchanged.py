"""The rows of a merge whose stored record is already identical; they are skipped."""

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

# The digest of each stored record, by its id.
Stored = dict[str, bytes]
DIGEST_BYTES = 12


class _Operation(msgspec.Struct):
    action: str
    body: dict[str, Any]


class _Request(msgspec.Struct):
    requests: list[_Operation]


def check_mergeable(options: LoadSettings) -> None:
    """Reject options whose rows cannot be compared with stored records."""
    if options.action != "replace" or options.duplicates == "keep":
        raise BadInput(
            "if_exists='merge' compares whole records: omit the options action and duplicates"
        )


async def read_stored(client: AsyncClient, index: str) -> Stored:
    """Read a whole index as a digest of each record."""
    stored: Stored = {}
    if await index_exists(client, index):
        async for page in client.browse_pages(index, **FULL_RECORD_PARAMS):
            stored.update((hit["objectID"], digest(hit)) for hit in page["hits"])
    return stored


def records_of(batch: Batch) -> list[dict[str, Any]]:
    """Decode the records of a batch."""
    requests = msgspec.json.decode(batch.body, type=_Request).requests
    return [operation.body for operation in requests]


def keep_changed(batch: Batch, stored: Stored) -> Batch:
    """Keep the operations of a batch that would change a record."""
    requests = msgspec.json.decode(batch.body, type=_Request).requests
    changed = [each for each in requests if stored.get(each.body["objectID"]) != digest(each.body)]
    body = HEAD + b",".join(map(msgspec.json.encode, changed)) + TAIL
    return replace(batch, rows=len(changed), body=body)


def digest(record: Mapping[str, Any]) -> bytes:
    """Return a digest that is equal for equal records, whatever the order of their attributes."""
    return blake2b(
        msgspec.json.encode(record, order="deterministic"), digest_size=DIGEST_BYTES
    ).digest()
