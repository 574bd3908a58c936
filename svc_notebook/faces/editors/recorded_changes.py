"""Changes of the journal as editors list them; interrupted ones with two ways to end each."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from pandas import DataFrame

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


class AppliedChange(TypedDict):
    """One change: `when` in seconds since 1970, and what changed, by part.

    `undone` is whether a later change reverted it, `open` whether its outcome is unknown.
    """

    id: str
    when: float
    note: str
    changed: list[list[str]]
    undone: bool
    open: bool


def list_applied(history: DataFrame) -> list[AppliedChange]:
    """Return the changes of a history, as `svc.tuning.history` returns it, newest first."""
    applied: dict[str, AppliedChange] = {}
    rows = history.to_dict("records")
    reverted = _find_undone([(row["change_id"], row["parent"]) for row in rows])
    for row in rows:
        change = applied.setdefault(row["change_id"], {
            "id": row["change_id"], "when": row["when"].timestamp(), "note": row["note"],
            "changed": [], "undone": row["change_id"] in reverted, "open": row["state"] == "open",
        })  # fmt: skip
        change["changed"].append([row["scope"], row["changed"]])
    return list(applied.values())


def _find_undone(changes: list[tuple[str, str]]) -> set[str]:
    """Return the changes that are undone; the newest change, which is first, decides."""
    undone: set[str] = set()
    for name, parent in changes:
        if parent and name not in undone:
            undone.add(parent)
    return undone
