"""Comparison of rows with the stored records: what a load of a DataFrame would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import pandas as pd

from svc_notebook.core.api.validation import same
from svc_notebook.data.client.operations import index_exists
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.preparation import Prepared, prepare
from svc_notebook.data.loading.options import LoadSettings, RowOptions
from svc_notebook.data.loading.sending.batches import pack_batches
from svc_notebook.data.loading.sending.stored_records import check_mergeable, records_of
from svc_notebook.data.loading.sources.python_records import Rows, are_records
from svc_notebook.errors import BadInput, NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

MAX_IDS_PER_REQUEST = 1000  # services refuse more
Record = Mapping[str, Any]
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
        records = _records(prepared)
        while part := await db.in_thread(lambda: list(islice(records, MAX_IDS_PER_REQUEST))):
            stored = await _read(client, index, [record["objectID"] for record in part])
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


def _records(prepared: Prepared) -> Iterator[Record]:
    for batch in pack_batches(prepared):
        yield from records_of(batch)


async def _read(client: AsyncClient, index: str, names: Sequence[str]) -> Sequence[Record | None]:
    """Read the stored records of these ids; None for each if the index does not exist."""
    requests: Any = [{"indexName": index, "objectID": name} for name in names]
    try:
        answer: Any = await client.get_objects(requests)
    except NotFound:
        return [None] * len(names)
    results: Sequence[Record | None] = answer["results"]
    return results


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
