"""Comparison of rows with the stored records, before and after they are sent.

Before: what a load of a DataFrame would change. After: whether the index has what was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import pandas as pd

from svc_notebook.core.api.validation import same
from svc_notebook.data.client.operations import MAX_IDS_PER_REQUEST, index_exists
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.history.recorder import read_existing, read_records
from svc_notebook.data.loading.load_plan.preparation import Prepared, prepare, record_of
from svc_notebook.data.loading.options import Action, LoadSettings, RowOptions
from svc_notebook.data.loading.sending.batches import Span, pack_batches
from svc_notebook.data.loading.sending.stored_records import check_mergeable, records_of
from svc_notebook.data.loading.sources.python_records import Rows, are_records
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

Record = Mapping[str, Any]
# From the sent and the stored record, if any, to the problem, if any.
Check = Callable[[Record, Record | None], str | None]
Missing = Literal["ignore", "report"]


async def compare(
    client: AsyncClient,
    df: Rows,
    index: str,
    *,
    missing: Missing = "ignore",
    **options: Unpack[RowOptions],
) -> pd.DataFrame:
    """Compare rows with stored records: `objectID`, `state`, and the differing `attributes`.

    `state` is new, changed or unchanged, for each id of the rows. With `missing="report"` stored
    records without a row follow, with the state `missing`. Rows that cannot be sent are left out
    and counted in `attrs["svc"]["rejected"]`.
    """
    if not isinstance(df, pd.DataFrame) and not are_records(df):
        raise BadInput(f"compare takes a DataFrame or dicts, not {type(df).__name__}")
    if missing not in get_args(Missing):
        raise BadInput(f"`missing` must be one of {', '.join(get_args(Missing))}, not {missing!r}")
    checked = LoadSettings.of(options)
    check_mergeable(checked)
    db = Database()
    differing: dict[str, Sequence[str] | None] = {}
    try:
        prepared = await db.in_thread(prepare, df, index, checked, db)
        records = _encode_records(prepared)
        while part := await db.in_thread(lambda: list(islice(records, MAX_IDS_PER_REQUEST))):
            stored = await read_existing(client, index, [record["objectID"] for record in part])
            for record, stored_record in zip(part, stored, strict=True):
                differing[record["objectID"]] = (
                    None if stored_record is None else _differing(record, stored_record)
                )
    finally:
        await db.leave()
    others = await _read_others(client, index, differing.keys()) if missing == "report" else []
    frame = _tabulate(differing, others)
    frame.attrs["svc"] = {
        "index": index, "rejected": prepared.plan.rejected_rows,
        "application": client.connection.app_id, "address": client.connection.address,
    }  # fmt: skip
    return frame


def _encode_records(prepared: Prepared) -> Iterator[Record]:
    for batch in pack_batches(prepared):
        yield from records_of(batch)


async def _read_others(client: AsyncClient, index: str, names: Collection[str]) -> list[str]:
    """Read the stored ids other than these."""
    if not await index_exists(client, index):
        return []
    pages = client.browse_pages(index, attributesToRetrieve=["objectID"], attributesToHighlight=[])
    return sorted([
        hit["objectID"] async for page in pages for hit in page["hits"]
        if hit["objectID"] not in names
    ])  # fmt: skip


def _differing(sent: Record, other: Record) -> list[str]:
    names = dict.fromkeys([*sent, *other])
    return [n for n in names if n not in sent or n not in other or not same(sent[n], other[n])]


def _tabulate(differing: Mapping[str, Sequence[str] | None], others: Sequence[str]) -> pd.DataFrame:
    states = [
        "new" if names is None else "changed" if names else "unchanged"
        for names in differing.values()
    ]
    lists = [list(names or ()) for names in differing.values()]
    return pd.DataFrame(
        {
            "objectID": pd.Series([*differing, *others], dtype="str"),
            "state": pd.Series([*states, *["missing"] * len(others)], dtype="str"),
            "attributes": pd.Series([*lists, *([] for _ in others)], dtype=object),
        }
    )


async def verify(client: AsyncClient, index: str, prepared: Prepared) -> pd.DataFrame:
    """Read back every record that was sent, and return those that differ.

    The source is read again, and a thousand records are in memory at a time.
    """
    check = _check_of(prepared.options)
    wrong: list[tuple[str, str]] = []
    sent = _encode_records(prepared)
    while records := await prepared.table.db.in_thread(
        lambda: list(islice(sent, MAX_IDS_PER_REQUEST))
    ):
        stored = await read_records(client, index, [record["objectID"] for record in records])
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
    stored = await read_existing(client, index, [record["objectID"] for record in sent])
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
    listed = f"(SELECT unnest({positions}::BIGINT[]))"
    query = f"SELECT {prepared.operation} FROM {table.numbered} WHERE pos IN {listed}"
    return [record_of(operation) for (operation,) in table.db.rows(query)]


def _check_of(options: LoadSettings) -> Check:
    if options.operations or options.duplicates == "keep":
        # The stored record depends on its previous state.
        return lambda _, stored: "is missing" if stored is None else None
    return CHECKS[options.action]


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
