"""Append-only journals on disk: one line for each state of an entry.

Each line carries a checksum: a torn or damaged line is skipped and does not affect the others.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import msgspec

from svc_notebook.core.files import (
    add_checksum,
    hold_lock,
    user_data_folder,
    verify_checksum,
    write_atomically,
)
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.config import ClientConfig
from svc_notebook.errors import BadInput, did_you_mean

Entry = TypeVar("Entry", bound=msgspec.Struct)
_WARNED_PATHS: set[Path] = set()


class JournalFile(Generic[Entry]):
    """A journal; subclasses name the kind of its entries and the field with their id."""

    decoder: ClassVar[msgspec.json.Decoder]  # type: ignore[type-arg] # of the entries
    id_field: ClassVar[str]
    # What an entry is called, the verb that lists entries, and what is impossible without them.
    noun: ClassVar[str]
    lister: ClassVar[str]
    purpose: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = path

    async def write(self, entry: Entry) -> None:
        """Append the current state of an entry; after this returns, it survives a killed process.

        Raises `BadInput` if it cannot be written to disk.
        """
        with self._open():
            async with hold_lock(self.path.with_suffix(".lock")):
                line = add_checksum(msgspec.json.encode(entry))
                await asyncio.to_thread(append_line, self.path, line)

    async def compact(self, keep: Callable[[list[Entry]], list[Entry]]) -> None:
        """Keep one line for each entry that `keep` returns, and those of other versions."""
        with self._open():
            async with hold_lock(self.path.with_suffix(".lock")):
                await asyncio.to_thread(self._rewrite, keep)

    def _rewrite(self, keep: Callable[[list[Entry]], list[Entry]]) -> None:
        lines = map(verify_checksum, self.path.read_bytes().split(b"\n"))
        foreign = [json for json in lines if json is not None and self._decode(json) is None]
        kept = map(msgspec.json.encode, keep(JournalFile.read(self)))
        content = b"".join(map(add_checksum, (*foreign, *kept)))
        write_atomically(self.path, content, sync=True, mode=0o600)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold the lock of the journal, so that other processes of this user wait.

        Raises `BadInput` if the journal cannot be written.
        """
        async with AsyncExitStack() as stack:
            with self._open():
                await stack.enter_async_context(hold_lock(self.path.with_suffix(".turn")))
            yield

    @contextmanager
    def _open(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            yield
        except OSError as error:
            raise BadInput(f"{describe_unwritable(self.path, error)}; {self.purpose}") from None

    def read(self) -> list[Entry]:
        """Read every entry in its latest state, oldest first."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise BadInput(f"the journal {self.path} cannot be read: {error.strerror}") from None
        decoded = [self._decode(json) for json in map(verify_checksum, lines) if json is not None]
        entries = [entry for entry in decoded if entry is not None]
        if len(entries) < len(decoded):
            self._warn_once(len(decoded) - len(entries))
        # A later line about an entry replaces the earlier one.
        return list({self.id_of(entry): entry for entry in entries}.values())

    def id_of(self, entry: Entry) -> str:
        """Return the id of an entry."""
        return str(getattr(entry, self.id_field))

    def _decode(self, json: bytes) -> Entry | None:
        """Read an entry; None if another version wrote it, in which case it stays in the file."""
        try:
            entry: Entry = self.decoder.decode(json)
        except msgspec.MsgspecError:
            return None
        return entry

    def _warn_once(self, lines: int) -> None:
        if self.path not in _WARNED_PATHS:
            _WARNED_PATHS.add(self.path)
            count_text = "1 line" if lines == 1 else f"{lines} lines"
            warn_user(
                f"skipped {count_text} of the journal {self.path}, written by another version of "
                f"svc-notebook: list and undo those {self.noun}s with that version"
            )

    def find(self, entry_id: str) -> Entry:
        """Find an entry by its id, or by an unambiguous prefix of it."""
        entries = {self.id_of(entry): entry for entry in self.read()}
        if entry_id in entries:
            return entries[entry_id]
        matching = [name for name in entries if entry_id and name.startswith(entry_id)]
        if len(matching) == 1:
            return entries[matching[0]]
        if matching:
            raise BadInput(f"`{entry_id}` is ambiguous: {', '.join(matching)}")
        advice = did_you_mean(entry_id, entries) or f"; `{self.lister}` lists them"
        raise BadInput(f"the journal has no {self.noun} `{entry_id}`{advice}")


# Journals of the changes of indices in the folder of an application; that of loads has no digest.
JOURNALS = "*-*.jsonl"


def application_folder(connection: ClientConfig) -> Path:
    """Return the folder of the journals of an application."""
    app_id, address = connection.place
    folder = f"{encode_name(app_id)}-{short_digest(app_id, address)}"
    return user_data_folder("changes") / folder


def encode_name(name: str) -> str:
    """Encode a name for any file system; a digest beside it makes it unique."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40]


def short_digest(*parts: str) -> str:
    """Return a digest of texts that is short enough for the name of a file."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def describe_unwritable(path: Path, error: OSError) -> str:
    """Describe why a journal cannot be written, and where else it can be."""
    return (
        f"the journal {path} cannot be written: {error.strerror or error} (set XDG_DATA_HOME to a "
        "folder that can be written)"
    )


def append_line(path: Path, line: bytes) -> None:
    """Write one line to disk, on its own line even after a torn one."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        torn = end > 0 and file.read(1) != b"\n"
        file.write(b"\n" + line if torn else line)
        file.flush()
        os.fsync(file.fileno())
