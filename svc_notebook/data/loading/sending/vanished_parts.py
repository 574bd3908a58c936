"""Stored parts of texts that are shorter than before, and records from before they were split."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from svc_notebook.data.loading.history.recorder import MAX_IDS_PER_REQUEST, read_records
from svc_notebook.data.loading.load_plan.text_parts import PART_MARK
from svc_notebook.errors import NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.loading.table import SourceTable


async def find_vanished_parts(
    client: AsyncClient, index: str, table: SourceTable
) -> AsyncIterator[list[str]]:
    """Yield stored ids without a part, for some rows at a time, those with high numbers first.

    The parts of a row have the numbers from 1 without a gap, so that only the next one is read.
    If the deletion is interrupted, none is missing in between.
    """
    chunks = table.db.chunks(f"{table.parts_sql} ORDER BY source_id", MAX_IDS_PER_REQUEST)
    while chunk := await table.db.in_thread(next, chunks, None):
        rows: list[tuple[str, int]] = list(zip(*chunk.to_pydict().values(), strict=True))
        try:
            stored = await _find(client, index, rows)
        except NotFound:
            return
        if stored:
            yield stored


async def _find(client: AsyncClient, index: str, rows: Sequence[tuple[str, int]]) -> list[str]:
    whole = await _read_stored(client, index, [name for name, _ in rows])
    beyond: list[str] = []
    left = list(rows)
    while left:
        left = [(name, number + 1) for name, number in left]
        ids = {f"{name}{PART_MARK}{number}": (name, number) for name, number in left}
        stored = await _read_stored(client, index, [*ids])
        beyond += stored
        left = [ids[part] for part in stored]
    return [*reversed(beyond), *whole]


async def _read_stored(client: AsyncClient, index: str, ids: Sequence[str]) -> list[str]:
    records: Any = await asyncio.shield(read_records(client, index, ids))
    return [name for name, record in zip(ids, records, strict=True) if record is not None]
