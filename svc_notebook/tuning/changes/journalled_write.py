"""Changes around an index's records that are kept, so that they can be undone."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec

from svc_notebook.api.warning import warn_user
from svc_notebook.client import AsyncClient
from svc_notebook.client.temporary_index import is_scratch
from svc_notebook.errors import BadInput, KeyRefused, NotFound, SvcError
from svc_notebook.tuning.changes.journal import Change, Journal, new_change
from svc_notebook.tuning.changes.state import Delta, Objects, Scope, compare, read_part, write_parts

Wanted = Mapping[Scope, Objects]


async def apply(
    client: AsyncClient, index: str, wanted: Wanted, *, note: str = "", parent: str = ""
) -> Change | None:
    """Write what is named, keep it in the journal, and return what was changed, if anything.

    A journal that cannot be written refuses before anything is sent.
    """
    async with keeping(client, index, wanted, note=note, parent=parent) as kept:
        if kept.change:
            parts = {scope: delta.after for scope, delta in kept.change.deltas.items()}
            await write_parts(client, index, parts)
    return kept.change


@asynccontextmanager
async def alone(client: AsyncClient, index: str) -> AsyncIterator[None]:
    """Let no other process of this user look at an index and change it at the same time."""
    async with Journal.of(client, index).alone():
        yield


class KeptChange:
    """The change that is being kept; None if nothing differs."""

    change: Change | None = None


@asynccontextmanager
async def keeping(
    client: AsyncClient,
    index: str,
    wanted: Wanted,
    *,
    whole: bool = False,
    note: str = "",
    parent: str = "",
) -> AsyncIterator[KeptChange]:
    """Keep the change that the caller makes inside: it leaves `wanted`, by scope and name.

    With `whole`, what is not named in a scope goes. How it ended is read off the index, for a
    call that failed may have been carried out.
    """
    # What is tried on a scratch copy is kept when it is promoted.
    journal, kept = None if is_scratch(index) else Journal.of(client, index), KeptChange()
    deltas = await _find_deltas(client, index, wanted, whole)
    if deltas:
        kept.change = new_change(index, deltas, note, parent)
        await _keep(journal, kept.change)
    try:
        yield kept
    except Exception:
        if kept.change:
            await _close(client, journal, kept, failed=True)
        raise
    if kept.change:
        await _close(client, journal, kept, failed=False)


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
    """Read a scope; of an index that is not there yet, that is nothing."""
    try:
        return await read_part(client, index, scope, names)
    except NotFound:
        return {}


async def _keep(journal: Journal | None, change: Change) -> None:
    if journal:
        await journal.write(change)


async def _close(
    client: AsyncClient, journal: Journal | None, kept: KeptChange, *, failed: bool
) -> None:
    """Write down how a change ended; one that cannot be looked at stays open."""
    assert kept.change
    with suppress(SvcError):
        kept.change = await _ended(client, kept.change, failed)
        await _keep(journal, kept.change)


async def _ended(client: AsyncClient, change: Change, failed: bool) -> Change:
    left = {
        scope: await _read_or_nothing(client, change.index, scope, delta.before)
        for scope, delta in change.deltas.items()
    }
    if failed and not _differs(change, left):
        return msgspec.structs.replace(change, state="failed")
    found = {
        scope: compare(scope, delta.before, {name: left[scope].get(name) for name in delta.before})
        for scope, delta in change.deltas.items()
    }
    return msgspec.structs.replace(change, deltas=found, state="done")


def _differs(change: Change, left: Mapping[Scope, Objects]) -> bool:
    return any(
        compare(scope, delta.before, left[scope]).before for scope, delta in change.deltas.items()
    )


def warn_not_kept(index: str, *scopes: Scope) -> None:
    """Warn that a change is made without a record of what was there before."""
    warn_user(
        f"this key may not read the {' and '.join(scopes)} of {index} (right `settings`): the "
        "change is not in the journal and cannot be undone by `undo`"
    )


@asynccontextmanager
async def noting(
    client: AsyncClient, index: str, wanted: Wanted, *, whole: bool = False, note: str = ""
) -> AsyncIterator[None]:
    """Keep a change where that can be done; where not, the change is made all the same.

    Others of this user who change the index wait until it is made, if the disk allows that much.
    For those who change an index by hand: a key that may write need not be one that may read, and
    a disk that is full is no reason to refuse.
    """
    if is_scratch(index):
        yield
        return
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(alone(client, index))
            around = keeping(client, index, wanted, whole=whole, note=note)
            await stack.enter_async_context(around)
        except KeyRefused:
            warn_not_kept(index, *wanted)
        except BadInput as error:
            warnings.warn(f"{error}", stacklevel=2)
        yield
