"""The history of changes to an index's configuration, and their undo."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec
import pandas as pd

from svc_notebook.core.display import join_first, shorten
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient, Client
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.journal import Change, Journal, Outcome, find_open, is_value_of
from svc_notebook.tuning.changes.snapshots import tabulate_change
from svc_notebook.tuning.changes.state import Delta, Differences, Scope, read_part
from svc_notebook.tuning.tables.schema import TIME

# Ends of an interrupted change: the missing part is written, or the written part is reverted.
End = Literal["finish", "revert"]
COLUMNS: dict[str, Any] = {
    "change_id": "string", "when": TIME, "index": "string", "scope": "string",
    "changed": "string", "before": object, "after": object,
    "note": "string", "parent": "string", "state": "string",
}  # fmt: skip
MAX_NAMED_ENTRIES = 3
MAX_VALUE_CHARACTERS = 24  # of a value in the summary of a change


@public(verb("history", "history products", lists=True))
async def history(index: str, *, client: AnyClient | None = None) -> pd.DataFrame:
    """Return the changes made to an index from this machine, newest first.

    Returns
    -------
    DataFrame
        One row per change and scope: `change_id` (string), `when` (datetime64[us, UTC]),
        `index` and `scope` (string), `changed` (string, the change in words), `before` and
        `after` (object, dicts by name), `note` (string), `parent` (string, the change that it
        undid) and `state` (string, `done`, or `open` for a change that was interrupted or whose
        outcome is unknown, about which a warning is given).

    Examples
    --------
    >>> svc.tuning.apply("products", {"hitsPerPage": 10}, note="shorter pages")
    >>> svc.tuning.history("products").loc[0, ["scope", "after", "note", "state"]].tolist()
    ['settings', {'hitsPerPage': 10}, 'shorter pages', 'done']
    """
    journal = Journal.of(asynchronous(client), index)
    changes = journal.read()
    interrupted = find_open(changes)
    for change in interrupted:
        warn_user(journalled_write.describe_interruption(change))
    recorded = [change for change in reversed(changes) if change.state != "failed"]
    rows = [row for change in recorded for row in _rows(change)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["when"] = pd.to_datetime(frame["when"], unit="s", utc=True)
    typed: pd.DataFrame = frame.astype(COLUMNS)
    typed.attrs["svc"] = {
        "index": index, "path": str(journal.path),
        "interrupted": [change.change_id for change in interrupted],
    }  # fmt: skip
    return typed


def _rows(change: Change) -> Iterator[tuple[Any, ...]]:
    for scope, delta in change.deltas.items():
        yield (
            change.change_id, change.when, change.index, scope, _summarize(scope, delta),
            dict(delta.before), dict(delta.after), change.note, change.parent, change.state,
        )  # fmt: skip


def _summarize(scope: Scope, delta: Delta) -> str:
    """Describe the change of a scope in one line: old and new values of settings, or names."""
    parts = [
        f"{name} {_shorten(value)} → {_shorten(delta.after[name])}"
        if scope == "settings"
        else f"{name} {_kind(value, delta.after[name])}"
        for name, value in list(delta.before.items())[:MAX_NAMED_ENTRIES]
    ]
    rest = len(delta.before) - len(parts)
    return "; ".join(parts) + (f"; {rest:,} more" if rest else "")


def _kind(before: Any, after: Any) -> str:
    return "added" if before is None else "removed" if after is None else "changed"


def _shorten(value: Any) -> str:
    if value is None:
        return "default"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(text, MAX_VALUE_CHARACTERS)


def settle_undo(given: Mapping[str, Any], client: Client) -> tuple[str, dict[str, Any]]:
    """Describe the change that is undone, and bind the call to it."""
    reversal = find_reversal(client.aio, given["index"], given.get("change_id"))
    change = reversal.change
    action = f"undo change {change.change_id}: {describe_change(change)}"
    if reversal.started:
        action = f"finish the interrupted undo of change {change.change_id}"
    made_by = f", made by `{change.note}`" if change.note else ""
    force = ", overwriting what was changed there since" if given.get("force") else ""
    return f"{action}{made_by}{force}", {"change_id": change.change_id}


@public(
    verb(
        "undo",
        "undo products",
        "undo products 3f9c21aa --yes",
        names={"change_id": "change"},
        destructive="undo a change of {index}",
        settles=settle_undo,
    )
)
async def undo(
    index: str,
    change_id: str | None = None,
    *,
    force: bool = False,
    note: str = "",
    client: AnyClient | None = None,
) -> Differences:
    """Undo a change of the settings, synonyms and rules of an index.

    An undo is itself a change, which can be undone by its id. If it was interrupted, the same call
    finishes it.

    Parameters
    ----------
    change_id : str, default None
        Id of the change; None selects the newest that was not undone.
    force : bool, default False
        Overwrite values that were changed again since.

    Returns
    -------
    DataFrame
        One row per changed name, as `diff` returns it; `attrs["svc"]["change_id"]` is the id
        for `undo`.

    Raises
    ------
    BadInput
        If the change does not exist, or values were changed again since.
    TaskFailed

    Examples
    --------
    >>> svc.tuning.apply("products", {"hitsPerPage": 10})
    >>> svc.tuning.undo("products")
          scope         name  kind before after
    0  settings  hitsPerPage  gone     10    20
    """
    client = asynchronous(client)
    async with journalled_write.alone(client, index):
        reversal = find_reversal(client, index, change_id)
        return tabulate_change(await _revert(client, reversal, force=force, note=note))


async def end_interrupted(client: AsyncClient, index: str, change_id: str, end: End) -> None:
    """Finish an interrupted change of an index, or revert its written part.

    Raises `BadInput` if the change is not interrupted any more, or its values were changed since.
    """
    journal = Journal.of(client, index)
    async with journalled_write.alone(client, index):
        change = next((c for c in find_open(journal.read()) if c.change_id == change_id), None)
        if change is None:
            raise BadInput(f"the change {change_id} of {index} is not interrupted any more: reload")
        if end == "revert":
            await _revert(client, find_reversal(client, index, change_id))
            return
        if conflicts := await _find_conflicts(client, change):
            raise BadInput(_refusal(change, conflicts))
        proposed = {scope: delta.after for scope, delta in change.deltas.items()}
        await journalled_write.write_change(
            client, index, proposed, note=change.note, parent=change.parent
        )


async def _revert(
    client: AsyncClient, reversal: Reversal, *, force: bool = False, note: str = ""
) -> Change | None:
    """Write what an index had before a change; the caller holds the lock of the index."""
    change, started = reversal
    if change.state == "failed":
        raise BadInput(f"the change {change.change_id} failed: there is nothing to undo")
    conflicts = await _find_conflicts(client, started or change)
    if conflicts and not force:
        raise BadInput(_refusal(change, conflicts))
    proposed = {scope: delta.before for scope, delta in change.deltas.items()}
    undo_note = note or f"undo {change.change_id}" + (f": {change.note}" if change.note else "")
    made = await journalled_write.write_change(
        client, change.index, proposed, note=undo_note, parent=change.change_id
    )
    if change.state == "open":
        outcome: Outcome = "done" if made else "failed"
        await Journal.of(client, change.index).write(msgspec.structs.replace(change, state=outcome))
    return made


class Reversal(NamedTuple):
    """The change to undo, and its undo if that was started and interrupted."""

    change: Change
    started: Change | None


def find_reversal(client: AsyncClient, index: str, change_id: str | None = None) -> Reversal:
    """Find the change that `undo` would revert; nothing is sent."""
    journal = Journal.of(client, index)
    changes = journal.read()
    change = journal.find(change_id) if change_id else find_newest(changes, index)
    undos = [other for other in find_open(changes) if other.parent == change.change_id]
    return Reversal(change, undos[-1] if undos else None)


def describe_change(change: Change) -> str:
    """Describe the size and names of a change, such as `2 settings (distinct, ranking)`."""
    parts = [_describe_delta(scope, list(delta.before)) for scope, delta in change.deltas.items()]
    return f"{', '.join(parts) or 'nothing'} on {change.index}"


def _describe_delta(scope: Scope, names: list[str]) -> str:
    what = scope if len(names) != 1 else scope[:-1]
    more = f" and {len(names) - MAX_NAMED_ENTRIES} more" if len(names) > MAX_NAMED_ENTRIES else ""
    return f"{len(names):,} {what} ({', '.join(names[:MAX_NAMED_ENTRIES])}{more})"


def find_newest(changes: list[Change], index: str) -> Change:
    """Find the newest change that is not an undo and was not undone completely."""
    undone: set[str] = set()
    interrupted = {change.change_id for change in find_open(changes)}
    for change in reversed(changes):
        if change.state == "failed" or change.change_id in undone:
            continue
        if not change.parent:
            return change
        if change.change_id not in interrupted:
            undone.add(change.parent)
        elif original := next((c for c in changes if c.change_id == change.parent), None):
            return original  # its undo has to be finished
    raise BadInput(
        f"there is nothing to undo: the journal on this machine has no change of {index}"
    )


async def _find_conflicts(client: AsyncClient, change: Change) -> list[str]:
    """Return the names whose value the change did not leave: somebody else changed them since."""
    conflicts = []
    for scope, delta in change.deltas.items():
        current = await read_part(client, change.index, scope, delta.before)
        conflicts += [
            f"{scope} `{name}`"
            for name, value in current.items()
            if not is_value_of(change, scope, name, value)
        ]
    return conflicts


def _refusal(change: Change, conflicts: list[str]) -> str:
    return (
        f"{join_first(conflicts)} changed again since {change.change_id}; undo the later change "
        "first, or overwrite it with force=True"
    )
