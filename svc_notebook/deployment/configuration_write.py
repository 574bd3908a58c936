"""The configuration of an index changed while it is searched: steps in a safe order, journalled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from svc_notebook.api.attributes import attributes_in
from svc_notebook.client import AsyncClient
from svc_notebook.errors import NotFound, Stopped, SvcError
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.journalled_write import recording
from svc_notebook.tuning.changes.state import Delta, Objects, Scope, read_part, write_part

FACETS = "attributesForFaceting"
Step = tuple[Scope, Objects]


def list_steps(deltas: Mapping[Scope, Delta], *, all_facets: bool = False) -> list[Step]:
    """Return the writes of a change, in an order in which no moment lacks what a search needs.

    Rules filter by facets. So facets that are new come before the rules, and those that go stay
    until the rules are replaced. `all_facets` writes facets that the index already has, too.
    """
    settings = deltas.get("settings")
    between = facets_between(deltas)
    steps: list[Step] = []
    if settings:
        first = {name: value for name, value in settings.after.items() if name != FACETS}
        if FACETS in settings.after:
            facets = settings.after[FACETS] if between is None else between
            if all_facets or facets != settings.before[FACETS]:
                first[FACETS] = facets
        steps.append(("settings", first))
    steps += [(scope, deltas[scope].after) for scope in _LISTS if scope in deltas]
    if settings and between is not None:
        steps.append(("settings", {FACETS: settings.after[FACETS]}))
    return [(scope, objects) for scope, objects in steps if objects]


_LISTS: tuple[Scope, ...] = ("synonyms", "rules")


def facets_between(deltas: Mapping[Scope, Delta]) -> list[str] | None:
    """Return old and new facets together, if facets go while rules change; else None."""
    settings = deltas.get("settings")
    if not settings or FACETS not in settings.after or "rules" not in deltas:
        return None
    new = list(settings.after[FACETS] or ())
    names = {name for one in new for name in attributes_in(one)}
    going = [one for one in settings.before[FACETS] or () if not names & {*attributes_in(one)}]
    return [*new, *going] if going else None


async def change_index(
    client: AsyncClient,
    index: str,
    wanted: Mapping[Scope, Objects],
    *,
    note: str,
    forward_to: tuple[str, ...] = (),
) -> Change | None:
    """Write a change step by step under a record in the journal; None if nothing differs.

    With `forward_to`, the replicas of the index, each step is forwarded to them. After an error,
    the steps that were made are reverted; after an interruption, `undo` does that.
    """
    compared = await _read_deltas(client, index, wanted)
    between = facets_between(compared)
    around = {FACETS: between} if between is not None else {}
    made: list[Step] = []
    async with recording(client, index, wanted, note=note, between=around) as recorded:
        deltas: Mapping[Scope, Delta] = recorded.change.deltas if recorded.change else {}
        # Replicas get what the index already has, too.
        steps = list_steps(compared, all_facets=True) if forward_to else list_steps(deltas)
        try:
            for step in steps:
                made.append(step)
                await write_part(client, index, *step, forward=bool(forward_to))
        except asyncio.CancelledError:
            raise Stopped(
                f"stopped: {len(made) - 1} of {len(steps)} steps were written to {index}; the next "
                "one may have been written. The same call again writes the rest, "
                f"`svc undo {index}` on that service reverts all"
            ) from None
        except Exception as error:
            error.add_note(await _revert(client, index, deltas, made))
            raise
    return recorded.change


async def _read_deltas(
    client: AsyncClient, index: str, wanted: Mapping[Scope, Objects]
) -> dict[Scope, Delta]:
    """Return what is wanted with what the index has, also where both are equal."""
    found: dict[Scope, Delta] = {}
    for scope, objects in wanted.items():
        try:
            before = await read_part(client, index, scope, objects)
        except NotFound:  # the change creates the index
            before = dict.fromkeys(objects)
        found[scope] = Delta(before, objects)
    return found


async def _revert(
    client: AsyncClient, index: str, deltas: Mapping[Scope, Delta], made: list[Step]
) -> str:
    """Revert the steps that were made, the last one first; return what happened, in words."""
    done = list(dict.fromkeys(scope for scope, _ in reversed(made)))
    with suppress(SvcError):
        for scope in done:
            if scope in deltas:
                await write_part(client, index, scope, deltas[scope].before)
        return f"{index} is as it was: the steps that were written are reverted"
    return (
        f"{index} could not be reverted: its {', '.join(reversed(done))} may be changed in part. "
        f"The same call again writes the rest, `svc undo {index}` on that service reverts all"
    )
