"""Hold what was sent against what is stored, once all is published."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

from svc_notebook.bulk.batches import pack_batches
from svc_notebook.bulk.options import Action
from svc_notebook.bulk.plan import Prepared

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

# So many records a request; the service takes no more.
AT_ONCE = 1000
Record = Mapping[str, Any]
# Given what was sent and what is stored, if anything: what is wrong.
Check = Callable[[Record, Record | None], str | None]


async def verify(client: AsyncClient, index: str, prepared: Prepared) -> pd.DataFrame:
    """Read back every record that was sent, and name those that are not as they should be.

    The source is read once more, and a thousand records are held at a time.
    """
    options = prepared.options
    check = CHECKS[options.action]
    if options.operations or options.duplicates == "keep":
        check = _check_presence  # what is stored depends on what was before
    wrong: list[tuple[str, str]] = []
    sent = _records(prepared)
    while records := await prepared.table.db.in_thread(lambda: list(islice(sent, AT_ONCE))):
        found = await client.get_objects(
            [{"indexName": index, "objectID": record["objectID"]} for record in records]
        )
        wrong += await asyncio.to_thread(_faults, check, records, found["results"])
    return pd.DataFrame(wrong, columns=["objectID", "problem"], dtype="str")


def _records(prepared: Prepared) -> Iterator[Record]:
    for batch in pack_batches(prepared):
        yield from (step["body"] for step in msgspec.json.decode(batch.body)["requests"])


def _faults(
    check: Check, sent: Sequence[Record], stored: Sequence[Record | None]
) -> list[tuple[str, str]]:
    told = [(own["objectID"], check(own, found)) for own, found in zip(sent, stored, strict=True)]
    return [(object_id, problem) for object_id, problem in told if problem]


def _check_whole(sent: Record, stored: Record | None) -> str | None:
    return None if sent == stored else "is missing" if stored is None else "is different"


def _check_members(sent: Record, stored: Record | None) -> str | None:
    if stored is None:
        return "is missing"
    same = all(stored.get(name) == value for name, value in sent.items())
    return None if same else "is different"


def _check_members_if_there(sent: Record, stored: Record | None) -> str | None:
    return None if stored is None else _check_members(sent, stored)


def _check_presence(sent: Record, stored: Record | None) -> str | None:
    return "is missing" if stored is None else None


def _check_absence(sent: Record, stored: Record | None) -> str | None:
    return None if stored is None else "is still there"


CHECKS: dict[Action, Check] = {
    "replace": _check_whole,
    "update": _check_members,
    "update_existing": _check_members_if_there,
    "delete": _check_absence,
}
