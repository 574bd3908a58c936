"""Interrupted changes of an index, as editors show them with the two ways to end each."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes import Change, Journal, describe_change, read_interruptions


class InterruptedChange(TypedDict):
    """One interrupted change: its id, its description, and the labels of its two actions."""

    change: str
    text: str
    finish: str
    revert: str


async def list_interrupted(client: AsyncClient, index: str) -> list[InterruptedChange]:
    """List the interrupted changes of an index that are made in part, oldest first.

    The index is read only if the journal has such changes. None is listed if the journal cannot be
    read, about which the next write warns.
    """
    try:
        interruptions = await read_interruptions(client, Journal.of(client, index))
    except BadInput:
        return []
    return [_describe(entry.change) for entry in interruptions if entry.missing]


def _describe(change: Change) -> InterruptedChange:
    when = datetime.fromtimestamp(change.when).astimezone()
    made_by = f", {change.note}" if change.note else ""
    return {
        "change": change.change_id,
        "text": f"A change of {when:%Y-%m-%d %H:%M} was interrupted and may be made in part: "
        f"{describe_change(change)}{made_by}.",
        "finish": "Finish the undo" if change.parent else "Finish it",
        "revert": "Cancel the undo" if change.parent else "Take it back",
    }
