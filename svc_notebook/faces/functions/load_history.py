"""List the loads of this machine, and undo them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import pandas as pd

from svc_notebook.data.client import Client, OnProgress
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import TIME
from svc_notebook.data.loading import LoadEntry, LoadJournal, find_load, why_not_undoable
from svc_notebook.data.loading import undo_load as carry_out
from svc_notebook.data.session import AnyClient, asynchronous

COLUMNS: dict[str, Any] = {
    "load_id": "string", "when": TIME, "index": "string", "source": "string", "state": "string",
    "undo": "string", "if_exists": "string", "action": "string", "rows": "Int64",
    "sent": "Int64", "published": "Int64", "unchanged": "Int64", "deleted": "Int64",
    "rejected": "Int64", "dropped": "Int64", "seconds": "float64", "user": "string",
    "cursor": "string", "cursor_value": "string", "parent": "string", "plan": object,
    "decisions": object, "source_hash": "string", "application": "string", "address": "string",
}  # fmt: skip
DRY_RUN = "dry run: nothing was changed"


class LoadUndoSummary(TypedDict, total=False):
    """What an undo of a load changed, or would change."""

    index: str
    load_id: str
    restored: int
    deleted: int
    unchanged: int
    conflicts: list[str]
    status: str


@public(verb("loads", "loads", "loads products", lists=True))
def loads(index: str | None = None, *, client: AnyClient | None = None) -> pd.DataFrame:
    """List the loads of this machine into the indices of an application, newest first.

    Parameters
    ----------
    index : str, default None
        Name of an index; None lists the loads into all of them.

    Returns
    -------
    DataFrame
        One row per load: `load_id` (string), `when` (datetime64[us, UTC]), `index` and `source`
        (string, without secrets), `state` (string, `running`, `finished`, `interrupted`, `failed`
        or `undone`), `undo` (string, `possible`, or why the load cannot be undone), `if_exists`
        and `action` (string, the action `undo` takes a load back), `rows`, `sent`, `published`,
        `unchanged`, `deleted`, `rejected` and `dropped` (Int64; dropped are those that
        `duplicates="last"` left out), `seconds` (float64), `user`, `cursor` and `cursor_value`
        (string, the highest value, at which the next load by this cursor begins), `parent`
        (string, the load that an undo took back), `plan` (object, a dict of the options),
        `decisions` (object, a list of the notes), `source_hash` (string, of the files, else of the
        rows that were sent), `application` and `address` (string).

    Raises
    ------
    BadInput
        If the journal cannot be read.

    Examples
    --------
    >>> svc.load("products.csv", "products", id="sku")
    >>> svc.loads("products").loc[0, ["state", "undo"]].tolist()
    ['finished', 'possible']
    """
    journal = LoadJournal.of(asynchronous(client).connection)
    entries = [entry for entry in journal.read() if index in (None, entry.index)]
    frame = pd.DataFrame([_row(journal, entry) for entry in reversed(entries)], columns=[*COLUMNS])
    frame["when"] = pd.to_datetime(frame["when"], unit="s", utc=True)
    typed: pd.DataFrame = frame.astype(COLUMNS)
    typed.attrs["svc"] = {"path": str(journal.path)}
    return typed


def _row(journal: LoadJournal, entry: LoadEntry) -> dict[str, Any]:
    facts = {name: getattr(entry, name) for name in entry.__struct_fields__ if name in COLUMNS}
    undo = why_not_undoable(journal, entry) or "possible"
    return {**facts, "plan": entry.options, "undo": undo}


def is_dry_run(given: Mapping[str, Any]) -> bool:
    """Return whether an undo is a dry run."""
    return bool(given.get("dry_run"))


def settle_undo(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe the load that is undone, and bind the call to it."""
    entry = find_load(client.aio, given["load_id"])
    force = ", overwriting what was changed since" if given.get("force") else ""
    text = (
        f"undo the load {entry.load_id} of {entry.source} into {entry.index} "
        f"({entry.sent:,} sent, {entry.deleted:,} deleted){force}"
    )
    return text, {"load_id": entry.load_id}


@public(
    verb(
        "undo-load",
        "undo-load 3f9c21aa --dry-run",
        "undo-load 3f9c21aa --yes",
        names={"load_id": "load"},
        destructive="undo the load {load_id}",
        spares=is_dry_run,
        settles=settle_undo,
    ),
    endpoints=("get_objects", "batch"),
    bar="records",
    label="load_id",
)
async def undo_load(
    load_id: str,
    *,
    dry_run: bool = False,
    force: bool = False,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> LoadUndoSummary:
    """Undo a load: restore the records that it replaced or deleted, and delete those it added.

    If it was interrupted, the same call finishes it. Loads of up to 100,000 records can be undone
    unless `undo_rows` sets another number; their previous versions are kept on this machine, for
    all loads of an application together up to 500 MB. Settings are not changed.

    Parameters
    ----------
    load_id : str
        Id of the load, which `loads` lists, or the beginning of it.
    dry_run : bool, default False
        Change nothing; return what would change.
    force : bool, default False
        Overwrite records that were changed since the load.

    Returns
    -------
    dict
        `index`, `load_id`, and the number of records `restored`, `deleted` and `unchanged`
        (records that are as they were before the load); `conflicts`, the ids of records that were
        changed since, and `status` for a dry run.

    Raises
    ------
    BadInput
        If there is no such load, it cannot be undone, or records were changed since.
    TaskFailed

    Examples
    --------
    >>> svc.load("products.csv", "bargains", id="sku")
    >>> undone = svc.undo_load(svc.loads("bargains").loc[0, "load_id"])
    >>> undone["restored"], undone["deleted"]
    (0, 240)
    """
    undo = await carry_out(
        asynchronous(client), load_id, dry_run=dry_run, force=force, on_progress=on_progress
    )
    summary: LoadUndoSummary = {
        "index": undo.entry.index, "load_id": undo.entry.load_id, "restored": len(undo.restored),
        "deleted": len(undo.deleted), "unchanged": undo.unchanged,
    }  # fmt: skip
    if dry_run:
        summary |= {"conflicts": undo.conflicts, "status": DRY_RUN}
    return summary
