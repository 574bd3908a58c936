"""The journal of changes to the configuration of an index: append-only, one line per change.

There is one file for each index of an application, in the user's data folder. A change is written
as one line before it is made and as another when it is done. Each line is flushed to disk, so that
the state before the change survives a killed process. Lines carry a checksum: a torn or damaged
line is skipped and does not affect the others. The outcome of an interrupted change is unknown
until the index is read.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from svc_notebook.data.client import (
    AsyncClient,
    Client,
    JournalFile,
    application_folder,
    encode_name,
    short_digest,
)
from svc_notebook.errors import NotFound, SvcError
from svc_notebook.tuning.changes.state import (
    Delta,
    Objects,
    Scope,
    compare,
    read_part,
    same_value,
)

Outcome = Literal["done", "failed", "open"]


class Change(msgspec.Struct, frozen=True):
    """One change: the state before and after; `parent` is the change that it undoes.

    It is `open` until its outcome is written, and stays open if the outcome is unknown. `between`
    has the settings that it sets on its way, which an interruption may have left.
    """

    change_id: str
    when: float
    index: str
    deltas: dict[Scope, Delta]
    note: str = ""
    parent: str = ""
    state: Outcome = "open"
    between: dict[str, Any] = {}


class Journal(JournalFile[Change]):
    """The journal of changes of one index."""

    # Created here, once: msgspec fails if two threads use a type for the first time simultaneously.
    decoder = msgspec.json.Decoder(Change)
    id_field = "change_id"
    noun = "change"
    lister = "svc.tuning.history"
    purpose = "without it a change cannot be undone"

    @classmethod
    def of(cls, client: Client | AsyncClient, index: str) -> Journal:
        """Return the journal of an index of the client's application."""
        name = f"{encode_name(index)}-{short_digest(index)}.jsonl"
        return cls(application_folder(client.connection) / name)


def new_change(index: str, deltas: dict[Scope, Delta], note: str, parent: str) -> Change:
    """Create a change that is about to be made."""
    return Change(secrets.token_hex(4), time.time(), index, deltas, note, parent)


@dataclass(frozen=True)
class Interruption:
    """An interrupted change, and what the index has now under the names of the change."""

    change: Change
    current: Mapping[Scope, Objects]

    @property
    def missing(self) -> list[tuple[Scope, str]]:
        """The scopes and names whose value is not that after the change."""
        return [
            (scope, name)
            for scope, delta in self.change.deltas.items()
            for name, value in delta.after.items()
            if not same_value(scope, name, self.current[scope].get(name), value)
        ]

    def is_untouched(self, scope: Scope, name: str) -> bool:
        """Return whether a name has a value that the change sets, not one of another writer."""
        return is_value_of(self.change, scope, name, self.current[scope].get(name))

    def join(self, deltas: Mapping[Scope, Delta]) -> Change:
        """Return the change with the differences to write, so that one undo reverts all of it."""
        joined: dict[Scope, Delta] = {}
        for scope in dict.fromkeys([*self.change.deltas, *deltas]):
            more = deltas.get(scope, Delta({}, {}))
            earlier = self.change.deltas.get(scope, Delta({}, {}))
            kept = [name for name in earlier.before if self.is_untouched(scope, name)]
            before = {**more.before, **{name: earlier.before[name] for name in kept}}
            now = {name: self.current[scope].get(name) for name in kept}
            delta = compare(scope, before, {**now, **more.after})
            if delta.before:
                joined[scope] = delta
        return msgspec.structs.replace(self.change, deltas=joined)


def find_open(changes: Sequence[Change]) -> list[Change]:
    """Return the changes whose outcome is unknown, and that no later change settles, oldest first.

    A change is settled by its undo, and an interrupted undo by a later one of the same change.
    """
    return [
        change
        for position, change in enumerate(changes)
        if change.state == "open"
        and not any(
            later.state == "done" and later.parent in (change.change_id, change.parent or None)
            for later in changes[position + 1 :]
        )
    ]


def is_value_of(change: Change, scope: Scope, name: str, value: Any) -> bool:
    """Return whether a value is the one before a change, after it, or between its steps."""
    delta = change.deltas[scope]
    values = [delta.before.get(name), delta.after.get(name)]
    if scope == "settings" and name in change.between:
        values.append(change.between[name])
    return any(same_value(scope, name, value, other) for other in values)


async def read_interruptions(client: AsyncClient, journal: Journal) -> list[Interruption]:
    """Read what the index has of its interrupted changes; a change that cannot be read is left out.

    A change that is made completely is recorded as done.
    """
    interruptions = []
    for change in find_open(journal.read()):
        with suppress(SvcError):
            current = {
                scope: await read_or_nothing(client, change.index, scope, delta.before)
                for scope, delta in change.deltas.items()
            }
            interruption = Interruption(change, current)
            if not interruption.missing:
                await journal.write(msgspec.structs.replace(change, state="done"))
            interruptions.append(interruption)
    return interruptions


def find_continued(
    interruptions: Sequence[Interruption],
    proposed: Mapping[Scope, Objects],
    *,
    whole: bool,
    note: str,
    parent: str,
) -> Interruption | None:
    """Return the newest interruption that a change with these objects continues, if any.

    It is of the same call, by its note or by the change that both undo, and the change has all that
    is missing.
    """
    for interruption in reversed(interruptions):
        change = interruption.change
        same_call = change.parent == parent if parent else change.note == note and not change.parent
        if same_call and all(
            scope in proposed and (whole or name in proposed[scope])
            for scope, name in interruption.missing
        ):
            return interruption
    return None


async def read_or_nothing(
    client: AsyncClient, index: str, scope: Scope, names: Objects | None
) -> Objects:
    """Read a scope; empty for an index that does not exist yet."""
    try:
        return await read_part(client, index, scope, names)
    except NotFound:
        return {}
