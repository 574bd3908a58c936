"""Writes of an index's configuration with a record in the journal, so that they can be undone."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec

from svc_notebook.api.warning import warn_user
from svc_notebook.client import AsyncClient
from svc_notebook.client.temporary_index import is_scratch
from svc_notebook.errors import UNCERTAIN_FAILURES, BadInput, KeyRefused, NotFound, SvcError
from svc_notebook.tuning.changes.journal import Change, Journal, Outcome, new_change
from svc_notebook.tuning.changes.state import Delta, Objects, Scope, compare, read_part, write_parts

Wanted = Mapping[Scope, Objects]


async def apply(
    client: AsyncClient, index: str, wanted: Wanted, *, note: str = "", parent: str = ""
) -> Change | None:
    """Write objects and a journal record; return the change, None if nothing differs.

    Raises `BadInput` before anything is sent if the journal cannot be written.
    """
    async with recording(client, index, wanted, note=note, parent=parent) as recorded:
        if recorded.change:
            parts = {scope: delta.after for scope, delta in recorded.change.deltas.items()}
            await write_parts(client, index, parts)
    return recorded.change


@asynccontextmanager
async def alone(client: AsyncClient, index: str) -> AsyncIterator[None]:
    """Hold the lock of an index, so that no other process of this user changes it."""
    async with Journal.of(client, index).alone():
        yield


class RecordedChange:
    """The change that is being recorded; None if nothing differs."""

    change: Change | None = None


@asynccontextmanager
async def recording(
    client: AsyncClient,
    index: str,
    wanted: Wanted,
    *,
    whole: bool = False,
    note: str = "",
    parent: str = "",
    between: Objects | None = None,
) -> AsyncIterator[RecordedChange]:
    """Record the change to `wanted`, by scope and name, that the caller makes inside.

    With `whole`, objects of a scope that are not named are deleted. `between` are settings that
    the caller sets on its way. The outcome is read from the index, because a failed call may have
    had an effect; it is unknown if none is visible yet and the service may have accepted the write.
    """
    # Changes of a scratch copy are recorded when it is promoted.
    journal, recorded = None if is_scratch(index) else Journal.of(client, index), RecordedChange()
    deltas = await _find_deltas(client, index, wanted, whole)
    if deltas:
        recorded.change = new_change(index, deltas, note, parent, between)
        await _record(journal, recorded.change)
    try:
        yield recorded
    except (Exception, asyncio.CancelledError) as error:
        if recorded.change:
            is_uncertain = isinstance(error, (*UNCERTAIN_FAILURES, asyncio.CancelledError))
            await _close(client, journal, recorded, "open" if is_uncertain else "failed")
        raise
    if recorded.change:
        await _close(client, journal, recorded, "done")


async def _find_deltas(
    client: AsyncClient, index: str, wanted: Wanted, whole: bool
) -> dict[Scope, Delta]:
    found: dict[Scope, Delta] = {}
    for scope, objects in wanted.items():
        before = await _read_or_nothing(client, index, scope, None if whole else objects)
        delta = compare(scope, before, objects)
        if delta.before:
            found[scope] = delta
    return found


async def _read_or_nothing(
    client: AsyncClient, index: str, scope: Scope, names: Objects | None
) -> Objects:
    """Read a scope; empty for an index that does not exist yet."""
    try:
        return await read_part(client, index, scope, names)
    except NotFound:
        return {}


async def _record(journal: Journal | None, change: Change) -> None:
    if journal:
        await journal.write(change)


async def _close(
    client: AsyncClient, journal: Journal | None, recorded: RecordedChange, state: Outcome
) -> None:
    """Record the outcome of a change, `state` if it has no visible effect.

    It stays open if the index cannot be read.
    """
    assert recorded.change
    with suppress(SvcError):
        recorded.change = await _read_outcome(client, recorded.change, state)
        await _record(journal, recorded.change)


async def _read_outcome(client: AsyncClient, change: Change, state: Outcome) -> Change:
    current = {
        scope: await _read_or_nothing(client, change.index, scope, delta.before)
        for scope, delta in change.deltas.items()
    }
    if state != "done" and not _differs(change, current):
        return msgspec.structs.replace(change, state=state)
    found = {
        scope: compare(
            scope, delta.before, {name: current[scope].get(name) for name in delta.before}
        )
        for scope, delta in change.deltas.items()
    }
    # After a failure, a scope may be as it was.
    made = {scope: delta for scope, delta in found.items() if delta.before} or found
    return msgspec.structs.replace(change, deltas=made, state="done")


def _differs(change: Change, current: Mapping[Scope, Objects]) -> bool:
    return any(
        compare(scope, delta.before, current[scope]).before
        for scope, delta in change.deltas.items()
    )


def warn_not_recorded(index: str, *scopes: Scope) -> None:
    """Warn that a change is made without a journal record."""
    warn_user(
        f"this key cannot read the {' and '.join(scopes)} of {index} (right `settings`): the "
        "change is not in the journal and cannot be undone by `undo`"
    )


@asynccontextmanager
async def noting(
    client: AsyncClient, index: str, wanted: Wanted, *, whole: bool = False, note: str = ""
) -> AsyncIterator[None]:
    """Record a change if possible; otherwise warn, and let the caller make it without a record.

    Other processes of this user that change the index wait until it is made, if the lock can be
    written. This is for direct changes: a key with write access may lack read access, and a full
    disk must not prevent the change.
    """
    if is_scratch(index):
        yield
        return
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(alone(client, index))
            context = recording(client, index, wanted, whole=whole, note=note)
            await stack.enter_async_context(context)
        except KeyRefused:
            warn_not_recorded(index, *wanted)
        except BadInput as error:
            warnings.warn(f"{error}", stacklevel=2)
        yield
