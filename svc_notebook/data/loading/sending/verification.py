"""Verification: the comparison of sent records with the stored ones, after they are published."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

from svc_notebook.data.loading.load_plan.preparation import Prepared, record_of
from svc_notebook.data.loading.load_plan.row_order import Span
from svc_notebook.data.loading.options import Action, LoadSettings
from svc_notebook.data.loading.sending.batches import pack_batches
from svc_notebook.errors import BadInput, NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Records per request; services refuse more.
MAX_IDS_PER_REQUEST = 1000
Record = Mapping[str, Any]
# From the sent and the stored record, if any, to the problem, if any.
Check = Callable[[Record, Record | None], str | None]


async def verify(client: AsyncClient, index: str, prepared: Prepared) -> pd.DataFrame:
    """Read back every record that was sent, and return those that differ.

    The source is read again, and a thousand records are in memory at a time.
    """
    check = _check_of(prepared.options)
    wrong: list[tuple[str, str]] = []
    sent = _records(prepared)
    while records := await prepared.table.db.in_thread(
        lambda: list(islice(sent, MAX_IDS_PER_REQUEST))
    ):
        stored = await _read(client, index, records)
        wrong += await asyncio.to_thread(_problems, check, records, stored)
    return pd.DataFrame(wrong, columns=["objectID", "problem"], dtype="str")


def check_differences(differences: pd.DataFrame | None, index: str) -> None:
    """Refuse to replace an index if records differ from the rows that were sent."""
    if differences is not None and len(differences):
        object_id, problem = differences.iloc[0]
        raise BadInput(
            f"{len(differences):,} records differ from the rows that were sent; the first is "
            f"{object_id!r}, which {problem}; {index} is unchanged. Load it again"
        )


async def still_holds(
    client: AsyncClient, index: str, prepared: Prepared, spans: Sequence[Span]
) -> bool:
    """Return whether an index still contains what was sent, checked by one record of each span."""
    sent = await prepared.table.db.in_thread(_first_records, prepared, spans)
    return await holds(client, index, sent, prepared.options)


async def holds(
    client: AsyncClient, index: str, sent: Sequence[Record], options: LoadSettings
) -> bool:
    """Return whether an index contains these records, at most a thousand, as they were sent."""
    try:
        stored = await _read(client, index, sent) if sent else []
    except NotFound:
        stored = [None] * len(sent)
    return not _problems(_check_of(options), sent, stored)


def _first_records(prepared: Prepared, spans: Sequence[Span]) -> list[Record]:
    """Encode the first sent record of each span, of at most a thousand spans."""
    step = -(-len(spans) // MAX_IDS_PER_REQUEST)
    excluded = {*prepared.dropped.tolist(), *prepared.repeats}
    firsts = (next((n for n in range(*span) if n not in excluded), None) for span in spans[::step])
    positions = sorted({first for first in firsts if first is not None})
    table = prepared.table
    if prepared.operations is not None:
        return [record_of(prepared.operations[position]) for position in positions]
    if not positions:
        return []
    some = f"(SELECT unnest({positions}::BIGINT[]))"
    query = f"SELECT {prepared.operation} FROM {table.numbered} WHERE pos IN {some}"
    return [record_of(operation) for (operation,) in table.db.rows(query)]


async def _read(
    client: AsyncClient, index: str, records: Sequence[Record]
) -> Sequence[Record | None]:
    """Read the stored versions of these records, in their order."""
    requests: Any = [{"indexName": index, "objectID": record["objectID"]} for record in records]
    answer: Any = await client.get_objects(requests)
    results: Sequence[Record | None] = answer["results"]
    return results


def _check_of(options: LoadSettings) -> Check:
    if options.operations or options.duplicates == "keep":
        # The stored record depends on its previous state.
        return lambda _, stored: "is missing" if stored is None else None
    return CHECKS[options.action]


def _records(prepared: Prepared) -> Iterator[Record]:
    for batch in pack_batches(prepared):
        yield from (request["body"] for request in msgspec.json.decode(batch.body)["requests"])


def _problems(
    check: Check, sent: Sequence[Record], stored: Sequence[Record | None]
) -> list[tuple[str, str]]:
    pairs = zip(sent, stored, strict=True)
    checked = [(record["objectID"], check(record, answer)) for record, answer in pairs]
    return [(object_id, problem) for object_id, problem in checked if problem]


def _check_record(sent: Record, stored: Record | None) -> str | None:
    return None if sent == stored else "is missing" if stored is None else "is different"


def _check_members(sent: Record, stored: Record | None) -> str | None:
    if stored is None:
        return "is missing"
    same = all(stored.get(name) == value for name, value in sent.items())
    return None if same else "is different"


CHECKS: dict[Action, Check] = {
    "replace": _check_record,
    "update": _check_members,
    "update_existing": lambda sent, stored: (
        None if stored is None else _check_members(sent, stored)
    ),
    "delete": lambda sent, stored: None if stored is None else "is still there",
}
