"""What a DataFrame would change in an index: each row beside the record that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from svc_notebook.bulk.batches import pack_batches
from svc_notebook.bulk.database import Database
from svc_notebook.bulk.merging import Stored, check_mergeable, digest, read_stored, records_of
from svc_notebook.bulk.options import Options, RowOptions
from svc_notebook.bulk.plan import Prepared, prepare
from svc_notebook.bulk.records import Rows, are_records
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

AT_ONCE = 1000  # records a request; the service takes no more
Record = Mapping[str, Any]


async def compare(
    client: AsyncClient, df: Rows, index: str, **options: Unpack[RowOptions]
) -> pd.DataFrame:
    """Compare rows with what is stored: `objectID`, `state`, and the `attributes` that differ.

    `state` is new, changed, unchanged, or missing for what is stored and no row has; those come
    last. Rows that could not be sent are left out and counted in `attrs["svc"]["rejected"]`.
    """
    if not isinstance(df, pd.DataFrame) and not are_records(df):
        raise BadInput(f"a DataFrame or dicts are compared, not {type(df).__name__}")
    checked = Options.of(options)
    check_mergeable(checked)
    db = Database()
    try:
        prepared = await db.in_thread(prepare, df, index, checked, db)
        stored = await read_stored(client, index)
        states, changed = await db.in_thread(_sort, prepared, stored)
    finally:
        await db.leave()
    differing = await _find_differing(client, index, changed)
    frame = _tabulate(states, differing)
    frame.attrs["svc"] = {"index": index, "rejected": prepared.plan.rejected_rows}
    return frame


def _sort(prepared: Prepared, stored: Stored) -> tuple[dict[str, str], dict[str, Record]]:
    """Return the state of each id, and the records that would change one that is stored."""
    states: dict[str, str] = {}
    changed: dict[str, Record] = {}
    for record in _records(prepared):
        name = record["objectID"]
        states[name] = _state(record, stored.get(name))
        if states[name] == "changed":
            changed[name] = record
    return states | dict.fromkeys(sorted(stored.keys() - states), "missing"), changed


def _records(prepared: Prepared) -> Iterator[Record]:
    for batch in pack_batches(prepared):
        yield from records_of(batch)


def _state(record: Record, known: bytes | None) -> str:
    if known is None:
        return "new"
    return "unchanged" if digest(record) == known else "changed"


async def _find_differing(
    client: AsyncClient, index: str, changed: Mapping[str, Record]
) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for names in _batched(changed):
        requests: Any = [{"indexName": index, "objectID": name} for name in names]
        answer = await client.get_objects(requests)
        for name, stored in zip(names, answer["results"], strict=True):
            found[name] = _differing(changed[name], stored or {})
    return found


def _batched(names: Iterable[str]) -> Iterator[Sequence[str]]:
    held = list(names)
    return (held[start : start + AT_ONCE] for start in range(0, len(held), AT_ONCE))


def _differing(one: Record, other: Record) -> list[str]:
    names = dict.fromkeys([*one, *other])
    return [n for n in names if (n in one) != (n in other) or one.get(n) != other.get(n)]


def _tabulate(states: Mapping[str, str], differing: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "objectID": pd.Series(list(states), dtype="str"),
            "state": pd.Series(list(states.values()), dtype="str"),
            "attributes": pd.Series([differing.get(name, []) for name in states], dtype=object),
        }
    )
