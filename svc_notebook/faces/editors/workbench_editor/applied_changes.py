"""The changes of an index in the journal, as a view lists them."""

from __future__ import annotations

from typing import TypedDict

from pandas import DataFrame


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
