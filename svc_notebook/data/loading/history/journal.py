"""The journal of loads into the indices of an application, and the versions that undo each load.

The versions of records before and after a load are kept on disk while it runs, and read to undo it.
What a load makes of the records follows from the operations of its batches.
"""

from __future__ import annotations

import getpass
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from svc_notebook.core.display import shorten
from svc_notebook.core.files import add_checksum, is_locked, verify_checksum
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
    from svc_notebook.data.client.config import ClientConfig

# A larger journal keeps the newest loads, of half of this size.
MAX_JOURNAL_BYTES = 4_000_000
MAX_SHOWN_SOURCE_CHARACTERS = 300
LoadState = Literal["running", "finished", "interrupted", "failed", "undone"]
# What the file of one load, and the files of all loads of an application, may take on disk.
MAX_LOAD_BYTES, MAX_TOTAL_BYTES = 200_000_000, 500_000_000
# Records before the load; operations that it sent; ids that it deleted; records after it, where
# the operations do not say what they make of a record.
LineKind = Literal["before", "sent", "deleted", "after"]
_KINDS: dict[LineKind, bytes] = {"before": b"B", "sent": b"S", "deleted": b"D", "after": b"A"}
_NAMES = {letter: kind for kind, letter in _KINDS.items()}
PARTIAL, DELETION = "partialUpdateObject", "deleteObject"
Record = Mapping[str, Any]


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

    def versions_path(self, load_id: str) -> Path:
        """Return the file of the versions that undo a load."""
        return self.path.with_name("loads") / f"{load_id}.jsonl"

    def lock_path(self, load_id: str) -> Path:
        """Return the file that the process of a running load locks."""
        return self.versions_path(load_id).with_suffix(".lock")

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


class VersionsTooLarge(Exception):
    """The file of the versions would exceed its limit."""


class VersionsFile:
    """The file of one load: lines are written before the records are changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes = path.stat().st_size if path.exists() else 0

    def create(self) -> None:
        """Create the file, or keep that of a load that is resumed, after deleting old files."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _delete_oldest(self.path)
        self.path.touch(mode=0o600)

    def write(self, kind: LineKind, json: bytes) -> None:
        """Append a line; after this returns, it survives a killed process."""
        line = add_checksum(_KINDS[kind] + json)
        if self._bytes + len(line) > MAX_LOAD_BYTES:
            raise VersionsTooLarge
        with self.path.open("ab") as file:
            # A resumed load may begin after a torn line.
            file.write(b"\n" + line if self._bytes else line)
        self._bytes += len(line) + 1

    def read(self) -> Iterator[tuple[LineKind, bytes]]:
        """Yield the kind and the JSON of each complete line."""
        with self.path.open("rb") as file:
            for line in file:
                json = verify_checksum(line)
                if json and (kind := _NAMES.get(json[:1])):
                    yield kind, json[1:]

    def delete(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def _delete_oldest(path: Path) -> None:
    """Delete the oldest files until there is room for another load."""
    files = [(file.stat(), file) for file in path.parent.glob("*.jsonl") if file != path]
    files.sort(key=lambda entry: entry[0].st_mtime, reverse=True)
    total = MAX_LOAD_BYTES
    for facts, file in files:
        total += facts.st_size
        if total > MAX_TOTAL_BYTES:
            with suppress(OSError):
                file.unlink()


def encode(record: Record) -> bytes:
    """Return the JSON of a record, equal for equal records."""
    return msgspec.json.encode(record, order="deterministic")


class VersionTable:
    """The versions of each record before and after a load, in a temporary file."""

    def __init__(self, file: VersionsFile, *, replaces_index: bool) -> None:
        self._file = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute(
            "CREATE TABLE version (id TEXT PRIMARY KEY, before BLOB, after BLOB, unknown INTEGER) "
            "WITHOUT ROWID"
        )
        # Records that a replacement does not send are deleted.
        self._before = "INSERT OR IGNORE INTO version VALUES (?1, ?2, ?3, 0)"
        self._replaces_index = replaces_index
        self._file.execute("BEGIN")
        for kind, json in file.read():
            self._add(kind, json)
        self._file.execute("COMMIT")

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def read(self, size: int) -> Iterator[list[tuple[str, bytes | None, bytes | None, bool]]]:
        """Yield ids with the JSON before and after, None for none, and whether that is unknown."""
        last = ""
        query = "SELECT * FROM version WHERE id > ? ORDER BY id LIMIT ?"
        while rows := self._file.execute(query, (last, size)).fetchall():
            yield [(name, before, after, bool(unknown)) for name, before, after, unknown in rows]
            last = rows[-1][0]

    def before(self, name: str) -> bytes | None:
        """Return the JSON of a record before the load; None if there was none."""
        query = "SELECT before FROM version WHERE id = ?"
        json: bytes | None = self._file.execute(query, (name,)).fetchone()[0]
        return json

    def _add(self, kind: LineKind, json: bytes) -> None:
        if kind == "before":
            self._add_before(msgspec.json.decode(json))
        elif kind == "after":
            self._set_after((record["objectID"], record) for record in msgspec.json.decode(json))
        elif kind == "deleted":
            self._set_after((name, None) for name in msgspec.json.decode(json))
        else:
            for operation in operations_of(json):
                self._apply(operation)

    def _add_before(self, records: Sequence[Record]) -> None:
        for record in records:
            json = encode(record)
            after = None if self._replaces_index else json
            self._file.execute(self._before, (record["objectID"], json, after))

    def _set_after(self, versions: Iterator[tuple[str, Record | None]]) -> None:
        for name, record in versions:
            self._set(name, None if record is None else encode(record))

    def _set(self, name: str, after: bytes | None, *, unknown: bool = False) -> None:
        self._file.execute(
            "INSERT INTO version VALUES (?1, NULL, ?2, ?3) "
            "ON CONFLICT (id) DO UPDATE SET after = ?2, unknown = ?3",
            (name, after, unknown),
        )

    def _apply(self, operation: SentOperation) -> None:
        """Set what an operation makes of a record."""
        body = operation.body
        name = body["objectID"]
        if operation.action == DELETION:
            self._set(name, None)
        elif not operation.action.startswith(PARTIAL):
            self._set(name, encode(body))
        else:
            self._update(name, body, creates=operation.action == PARTIAL)

    def _update(self, name: str, body: dict[str, Any], *, creates: bool) -> None:
        query = "SELECT after FROM version WHERE id = ?"
        (json,) = self._file.execute(query, (name,)).fetchone() or (None,)
        if json is None and not creates:
            self._set(name, None)
            return
        stored = {} if json is None else msgspec.json.decode(json)
        uses_operation = any(isinstance(v, dict) and "_operation" in v for v in body.values())
        self._set(name, encode({**stored, **body}), unknown=uses_operation)


class SentOperation(msgspec.Struct):
    """One operation of a batch."""

    action: str
    body: dict[str, Any]


class _SentOperations(msgspec.Struct):
    requests: list[SentOperation]


class _NamedBody(msgspec.Struct):
    object_id: str = msgspec.field(name="objectID")


class _NamedOperation(msgspec.Struct):
    body: _NamedBody


class _NamedOperations(msgspec.Struct):
    requests: list[_NamedOperation]


def operations_of(body: bytes) -> list[SentOperation]:
    """Decode the operations of a batch."""
    return msgspec.json.decode(body, type=_SentOperations).requests


def ids_of(body: bytes) -> list[str]:
    """Return the ids of a batch; the rest of it is not decoded."""
    requests = msgspec.json.decode(body, type=_NamedOperations).requests
    return [operation.body.object_id for operation in requests]
