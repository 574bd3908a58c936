"""The journal of changes to the configuration of an index: append-only, one line per change.

There is one file for each index of an application, in the user's data folder. A change is written
as one line before it is made and as another when it is done. Each line is flushed to disk, so that
the state before the change survives a killed process. Lines carry a checksum: a torn or damaged
line is skipped and does not affect the others.
"""

from __future__ import annotations

import secrets
import time
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
from svc_notebook.tuning.changes.state import Delta, Scope

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
    lister = "history"
    purpose = "without it a change cannot be undone"

    @classmethod
    def of(cls, client: Client | AsyncClient, index: str) -> Journal:
        """Return the journal of an index of the client's application."""
        name = f"{encode_name(index)}-{short_digest(index)}.jsonl"
        return cls(application_folder(client.connection) / name)


def new_change(index: str, deltas: dict[Scope, Delta], note: str, parent: str) -> Change:
    """Create a change that is about to be made."""
    return Change(secrets.token_hex(4), time.time(), index, deltas, note, parent)
