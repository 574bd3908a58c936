"""Writes of an index's configuration with a record in the journal, so that they can be undone.

An index is searched while it is changed; therefore the steps of a change have a safe order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec

from svc_notebook.core.api.attributes import attributes_in
from svc_notebook.core.api.parameters import LOCAL_PARAMETERS
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient, is_scratch
from svc_notebook.errors import UNCERTAIN_FAILURES, BadInput, KeyRefused, Stopped, SvcError
from svc_notebook.tuning.changes.journal import (
    Change,
    Interruption,
    Journal,
    Outcome,
    find_continued,
    new_change,
    read_interruptions,
    read_or_nothing,
)
from svc_notebook.tuning.changes.state import Delta, Objects, Scope, compare, write_part

Wanted = Mapping[Scope, Objects]
_WARNED_CHANGES: set[str] = set()

FACETS = "attributesForFaceting"
Step = tuple[Scope, Objects]
_LISTS: tuple[Scope, ...] = ("synonyms", "rules")


async def write_change(
    client: AsyncClient,
    index: str,
    proposed: Wanted,
    *,
    note: str = "",
    parent: str = "",
    forward_to: tuple[str, ...] = (),
) -> Change | None:
    """Write a change step by step under a record in the journal; None if nothing differs.

    With `forward_to`, the replicas of the index, each step is forwarded to them. After an error,
    the steps that were made are reverted; after an interruption, the same call writes the rest and
    `undo` reverts all. Raises `BadInput` before anything is sent if the journal cannot be written.
    """
    # Replicas get what the index already has, too.
    compared = await _read_deltas(client, index, proposed) if forward_to else {}
    async with recording(
        client, index, proposed, note=note, parent=parent, compared=compared
    ) as recorded:
        deltas: Mapping[Scope, Delta] = recorded.change.deltas if recorded.change else {}
        steps = list_steps(compared, all_facets=True) if forward_to else list_steps(deltas)
        written: list[Step] = []
        try:
            for step in steps:
                written.append(step)
                await write_part(client, index, *step, forward=bool(forward_to))
        except asyncio.CancelledError:
            raise Stopped(
                f"stopped: {len(written) - 1} of {len(steps)} steps were written to {index}; the "
                "next one may have been written. The same call again writes the rest, "
                f"`svc undo {index}` on that service reverts all"
            ) from None
        except Exception as error:
            error.add_note(await _revert(client, index, deltas, written))
            raise
    return recorded.change or recorded.finished


async def _read_deltas(
    client: AsyncClient, index: str, proposed: Mapping[Scope, Objects]
) -> dict[Scope, Delta]:
    """Return the proposed objects with those of the index, including equal ones."""
    deltas: dict[Scope, Delta] = {}
    for scope, objects in proposed.items():
        before = await read_or_nothing(client, index, scope, objects)
        deltas[scope] = Delta({name: before.get(name) for name in objects}, objects)
    return deltas


async def _revert(
    client: AsyncClient, index: str, deltas: Mapping[Scope, Delta], written: Sequence[Step]
) -> str:
    """Revert the steps that were written, the last one first; return what happened, in words."""
    scopes = list(dict.fromkeys(scope for scope, _ in reversed(written)))
    with suppress(SvcError):
        for scope in scopes:
            if scope in deltas:
                await write_part(client, index, scope, deltas[scope].before)
        return f"{index} is as it was: the steps that were written are reverted"
    return (
        f"{index} could not be reverted: its {', '.join(reversed(scopes))} may be changed in part. "
        f"The same call again writes the rest, `svc undo {index}` on that service reverts all"
    )


@asynccontextmanager
async def alone(client: AsyncClient, index: str) -> AsyncIterator[None]:
    """Hold the lock of an index, so that no other process of this user changes it."""
    async with Journal.of(client, index).alone():
        yield


class RecordedChange:
    """The change that is being recorded; None if nothing differs.

    `finished` is a change of the same call whose record was interrupted after its last step.
    """

    change: Change | None = None
    finished: Change | None = None


@asynccontextmanager
async def recording(
    client: AsyncClient,
    index: str,
    proposed: Wanted,
    *,
    whole: bool = False,
    note: str = "",
    parent: str = "",
    compared: Mapping[Scope, Delta] | None = None,
) -> AsyncIterator[RecordedChange]:
    """Record the change to `proposed`, by scope and name, that the caller makes inside.

    With `whole`, objects of a scope that are not named are deleted. `compared` are the differences
    that the caller's steps are made from, if they are not those to the index. A change that
    continues an interrupted one is recorded as part of it. The outcome is read from the index,
    because a failed call may have had an effect; it is unknown if none is visible yet and the
    service may have accepted the write.
    """
    _refuse_local_settings(client, proposed)
    # Changes of a scratch copy are recorded when it is promoted.
    journal, recorded = None if is_scratch(index) else Journal.of(client, index), RecordedChange()
    interruptions = await read_interruptions(client, journal) if journal else []
    deltas = await _find_deltas(client, index, proposed, whole)
    continued = find_continued(interruptions, proposed, whole=whole, note=note, parent=parent)
    _warn_of_interruptions(interruptions, continued, parent)
    if deltas:
        change = continued.join(deltas) if continued else new_change(index, deltas, note, parent)
        recorded.change = _with_facets_between(change, compared)
        await _record(journal, recorded.change)
    elif continued and not continued.missing:
        recorded.finished = continued.change
    try:
        yield recorded
    except (Exception, asyncio.CancelledError) as error:
        if recorded.change:
            is_uncertain = isinstance(error, (*UNCERTAIN_FAILURES, asyncio.CancelledError))
            await _close(client, journal, recorded, "open" if is_uncertain else "failed")
        raise
    if recorded.change:
        await _close(client, journal, recorded, "done")


def _with_facets_between(change: Change, compared: Mapping[Scope, Delta] | None) -> Change:
    """Add the facets that the index has between the steps of a change, if there are any."""
    between = facets_between(compared or change.deltas)
    return change if between is None else msgspec.structs.replace(change, between={FACETS: between})


def _refuse_local_settings(client: AsyncClient, proposed: Wanted) -> None:
    """Raise `BadInput` for settings that the service of the client does not have."""
    settings = proposed.get("settings") or {}
    local = [name for name in LOCAL_PARAMETERS if settings.get(name) is not None]
    if local and not client.connection.is_local:
        raise BadInput(
            f"only the local service has {', '.join(local)}, not {client.connection.address}; "
            "leave it out. Nothing was sent"
        )


def _warn_of_interruptions(
    interruptions: Sequence[Interruption], continued: Interruption | None, parent: str
) -> None:
    for interruption in interruptions:
        change = interruption.change
        is_handled = interruption is continued or change.change_id == parent
        if is_handled or not interruption.missing or change.change_id in _WARNED_CHANGES:
            continue
        _WARNED_CHANGES.add(change.change_id)
        warn_user(describe_interruption(change))


def describe_interruption(change: Change) -> str:
    """Say that a change was interrupted, and what finishes or reverts it."""
    made_by = f" ({change.note})" if change.note else ""
    advice = (
        f"`svc undo {change.index} {change.parent}` finishes it"
        if change.parent
        else f"the same call again finishes it, `svc undo {change.index} {change.change_id}` "
        "reverts it"
    )
    return (
        f"the change {change.change_id} of {change.index}{made_by} was interrupted and may be made "
        f"in part: {advice}"
    )


async def _find_deltas(
    client: AsyncClient, index: str, proposed: Wanted, whole: bool
) -> dict[Scope, Delta]:
    deltas: dict[Scope, Delta] = {}
    for scope, objects in proposed.items():
        before = await read_or_nothing(client, index, scope, None if whole else objects)
        delta = compare(scope, before, objects)
        if delta.before:
            deltas[scope] = delta
    return deltas


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


async def record_outcome(client: AsyncClient, change: Change) -> None:
    """Record the state that an interrupted change left; nothing if the index cannot be read."""
    recorded = RecordedChange()
    recorded.change = change
    await _close(client, Journal.of(client, change.index), recorded, "failed")


async def _read_outcome(client: AsyncClient, change: Change, state: Outcome) -> Change:
    current = {
        scope: await read_or_nothing(client, change.index, scope, delta.before)
        for scope, delta in change.deltas.items()
    }
    if state != "done" and not _differs(change, current):
        return msgspec.structs.replace(change, state=state)
    outcomes = {
        scope: compare(
            scope, delta.before, {name: current[scope].get(name) for name in delta.before}
        )
        for scope, delta in change.deltas.items()
    }
    # After a failure, a scope may be as it was.
    made = {scope: delta for scope, delta in outcomes.items() if delta.before} or outcomes
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
        "change is not in the journal and cannot be undone by `svc.tuning.undo`"
    )


@asynccontextmanager
async def noting(
    client: AsyncClient, index: str, proposed: Wanted, *, whole: bool = False, note: str = ""
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
            context = recording(client, index, proposed, whole=whole, note=note)
            await stack.enter_async_context(context)
        except KeyRefused:
            warn_not_recorded(index, *proposed)
        except BadInput as error:
            warn_user(f"{error}")
        yield


def list_steps(deltas: Mapping[Scope, Delta], *, all_facets: bool = False) -> list[Step]:
    """Return the writes of a change, in an order in which searches work between any two steps.

    Rules filter by facets. So facets that are new come before the rules, and those that go stay
    until the rules are replaced. `all_facets` writes facets that the index already has, too.
    """
    settings = deltas.get("settings", Delta({}, {}))
    first = {**settings.after}
    last: Objects = {}
    if FACETS in first:
        between = facets_between(deltas)
        final = first.pop(FACETS)
        facets = final if between is None else between
        if all_facets or facets != settings.before[FACETS]:
            first[FACETS] = facets
        if between is not None:
            last = {FACETS: final}
    lists = [(scope, deltas[scope].after) for scope in _LISTS if scope in deltas]
    steps: list[Step] = [("settings", first), *lists, ("settings", last)]
    return [(scope, objects) for scope, objects in steps if objects]


def facets_between(deltas: Mapping[Scope, Delta]) -> list[str] | None:
    """Return old and new facets together, if facets go while rules change; else None."""
    settings = deltas.get("settings", Delta({}, {}))
    if FACETS not in settings.after or "rules" not in deltas:
        return None
    new, old = (list(side[FACETS] or ()) for side in (settings.after, settings.before))
    names = {name for entry in new for name in attributes_in(entry)}
    dropped = [entry for entry in old if names.isdisjoint(attributes_in(entry))]
    return [*new, *dropped] if dropped else None
