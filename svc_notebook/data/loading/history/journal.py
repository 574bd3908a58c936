"""The journal of loads into the indices of an application."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from svc_notebook.core.display import shorten
from svc_notebook.core.files import is_locked
from svc_notebook.core.redaction import mask_secrets, show_address
from svc_notebook.data.client.journal_file import (
    JournalFile,
    application_folder,
    encode_name,
    short_digest,
)
from svc_notebook.data.loading.options import LoadCursor
from svc_notebook.data.loading.sources.source import QUERY

if TYPE_CHECKING:
    from pathlib import Path

    from svc_notebook.data.client.config import ClientConfig

# A larger journal keeps the newest loads, of half of this size.
MAX_JOURNAL_BYTES = 4_000_000
MAX_SHOWN_SOURCE_CHARACTERS = 300
LoadState = Literal["running", "finished", "interrupted", "failed", "undone"]


class LoadEntry(msgspec.Struct, frozen=True):
    """One load; `parent` is the load that it takes back, if it is an undo."""

    load_id: str
    when: float
    index: str
    source: str
    source_hash: str = ""
    application: str = ""
    address: str = ""
    user: str = ""
    if_exists: str = "append"
    action: str = "replace"
    options: dict[str, Any] = {}
    decisions: list[str] = []
    rows: int = 0
    sent: int = 0
    published: int = 0
    unchanged: int = 0
    deleted: int = 0
    rejected: int = 0
    dropped: int = 0
    seconds: float = 0.0
    state: LoadState = "running"
    # Why the load cannot be undone; empty if it can.
    not_undoable: str = ""
    parent: str = ""
    # The checkpoint with which the load is resumed.
    checkpoint: str = ""
    # The cursor of an increment, a digest of its source, and where it ends.
    cursor: str = ""
    cursor_source: str = ""
    cursor_type: str = ""
    cursor_value: str = ""
    cursor_files: dict[str, tuple[int, int]] = {}
    # The types that the columns were sent as, which later increments have, too.
    cursor_columns: dict[str, str] = {}


class LoadJournal(JournalFile[LoadEntry]):
    """The journal of loads of one application; versions for an undo are in files beside it."""

    # Created here, once: msgspec fails if two threads use a type for the first time simultaneously.
    decoder = msgspec.json.Decoder(LoadEntry)
    id_field = "load_id"
    noun = "load"
    lister = "svc.loads"
    purpose = "loads are not listed and cannot be undone"

    @classmethod
    def of(cls, connection: ClientConfig) -> LoadJournal:
        """Return the journal of an application."""
        return cls(application_folder(connection) / "loads.jsonl")

    async def write(self, entry: LoadEntry) -> None:
        """Append the state of a load; the oldest loads make room if the journal is too large."""
        await super().write(entry)
        if self.path.stat().st_size > MAX_JOURNAL_BYTES:
            await self.compact(self._keep_newest)

    def _keep_newest(self, entries: list[LoadEntry]) -> list[LoadEntry]:
        """Return the newest loads, those that run, and the last of each increment."""
        ends = {
            (entry.index, entry.cursor, entry.cursor_source): entry.load_id
            for entry in entries if entry.cursor and entry.state == "finished"
        }  # fmt: skip
        needed = {
            *ends.values(),
            *(running.load_id for running in entries if running.state == "running"),
        }
        room, kept = MAX_JOURNAL_BYTES // 2, []
        for entry in reversed(entries):
            room -= len(msgspec.json.encode(entry))
            if room > 0 or entry.load_id in needed:
                kept.append(entry)
            else:
                self.versions_path(entry.load_id).unlink(missing_ok=True)
        return kept[::-1]

    @property
    def versions_folder(self) -> Path:
        """The folder of the versions that undo loads."""
        return self.path.with_name("loads")

    def versions_path(self, load_id: str) -> Path:
        """Return the file of the versions that undo a load."""
        return self.versions_folder / f"{load_id}.jsonl"

    def lock_path(self, load_id: str) -> Path:
        """Return the file that the process of a running load locks."""
        return self.versions_folder / f"{load_id}.lock"

    def hashes_path(self, index: str) -> Path:
        """Return the file of the hashes of an index's records."""
        name = f"{encode_name(index)}-{short_digest(index)}.db"
        return self.path.with_name("hashes") / name

    def hashes_mark(self, index: str) -> Path:
        """Return the file that exists while the hashes of an index are those of its records."""
        return self.hashes_path(index).with_suffix(".valid")

    def read(self) -> list[LoadEntry]:
        """Read every load in its latest state, oldest first; a killed one is interrupted."""
        return [
            msgspec.structs.replace(entry, state="interrupted")
            if entry.state == "running" and not is_locked(self.lock_path(entry.load_id))
            else entry
            for entry in super().read()
        ]


def find_cursor(
    connection: ClientConfig, index: str, column: str, source: object, *, reset: bool
) -> LoadCursor:
    """Return where the last finished load of a source by a cursor ended; the start if none did."""
    if not reset:
        digest = digest_of_source(source)
        for entry in reversed(LoadJournal.of(connection).read()):
            load = (entry.index, entry.cursor, entry.cursor_source, entry.state)
            if load == (index, column, digest, "finished"):
                return LoadCursor(
                    column, entry.cursor_type, entry.cursor_value, entry.cursor_files,
                    columns=entry.cursor_columns,
                )  # fmt: skip
    return LoadCursor(column)


def digest_of_source(source: object) -> str:
    """Return a digest of a path, a URL or a query; empty for data, which has no name."""
    return short_digest(str(source)) if isinstance(source, (str, os.PathLike)) else ""


def describe_source(source: object, name: str) -> str:
    """Return a path, URL or query without secrets; the name of other sources."""
    if not isinstance(source, (str, os.PathLike)):
        return name
    text = os.fspath(source)
    shown = mask_secrets(text) if QUERY.match(text) else show_address(text)
    return shorten(shown, MAX_SHOWN_SOURCE_CHARACTERS)


def user_name() -> str:
    """Return the name of the user of this process; empty if the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
