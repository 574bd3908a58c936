"""The journal of changes to the configuration of an index: append-only, one line per change.

There is one file for each index of an application, in the user's data folder. A change is written
as one line before it is made and as another when it is done. Each line is flushed to disk, so that
the state before the change survives a killed process. Lines carry a checksum: a torn or damaged
line is skipped and does not affect the others.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from svc_notebook.api.warning import warn_user
from svc_notebook.client import AsyncClient
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.files import add_checksum, hold_lock, verify_checksum
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


# Created here, once: msgspec fails if two threads use a type for the first time simultaneously.
_CHANGE = msgspec.json.Decoder(Change)
_WARNED_PATHS: set[Path] = set()


def new_change(index: str, deltas: dict[Scope, Delta], note: str, parent: str) -> Change:
    """Create a change that is about to be made."""
    return Change(secrets.token_hex(4), time.time(), index, deltas, note, parent)


class Journal:
    """The journal of changes of one index."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, client: AsyncClient, index: str) -> Journal:
        """Return the journal of an index of the client's application."""
        app_id, address = client.connection.place
        folder = f"{_encode_name(app_id)}-{_digest(app_id, address)}"
        return cls(journal_folder() / folder / f"{_encode_name(index)}-{_digest(index)}.jsonl")

    async def write(self, change: Change) -> None:
        """Append the current state of a change; after this returns, it survives a killed process.

        Raises `BadInput` if it cannot be written to disk.
        """
        with self._open():
            async with hold_lock(self.path.with_suffix(".lock")):
                line = add_checksum(msgspec.json.encode(change))
                await asyncio.to_thread(_append, self.path, line)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold the lock of the journal, so that no other process of this user changes the index.

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
            raise BadInput(
                f"the journal {self.path} cannot be written: {error.strerror}; without it a "
                "change cannot be undone"
            ) from None

    def read(self) -> list[Change]:
        """Read every change in its latest state, oldest first."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise BadInput(f"the journal {self.path} cannot be read: {error.strerror}") from None
        found = [_read(json) for json in map(verify_checksum, lines) if json is not None]
        known = [each for each in found if each]
        if len(known) < len(found):
            self._warn_once(len(found) - len(known))
        # A later line about a change replaces the earlier one.
        return list({each.change_id: each for each in known}.values())

    def _warn_once(self, lines: int) -> None:
        if self.path not in _WARNED_PATHS:
            _WARNED_PATHS.add(self.path)
            count_text = "1 line" if lines == 1 else f"{lines} lines"
            warn_user(
                f"skipped {count_text} of the journal {self.path}, written by another version of "
                "svc-notebook: list and undo those changes with that version"
            )

    def find(self, change_id: str) -> Change:
        """Find a change by its id, or by an unambiguous prefix of it."""
        changes = {each.change_id: each for each in self.read()}
        if change_id in changes:
            return changes[change_id]
        matching = [name for name in changes if change_id and name.startswith(change_id)]
        if len(matching) == 1:
            return changes[matching[0]]
        if matching:
            raise BadInput(f"`{change_id}` is ambiguous: {', '.join(matching)}")
        advice = did_you_mean(change_id, changes) or "; `history` lists them"
        raise BadInput(f"the journal has no change `{change_id}`{advice}")


def journal_folder() -> Path:
    """Return the folder of all journals."""
    from platformdirs import user_data_path

    return user_data_path("svc-notebook", appauthor=False) / "changes"


def _encode_name(name: str) -> str:
    """Encode a name for any file system; the digest beside it makes it unique."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _append(path: Path, line: bytes) -> None:
    """Write one line, on its own line even after a torn one."""
    own = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(own, "a+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        torn = end > 0 and file.read(1) != b"\n"
        file.write(b"\n" + line if torn else line)
        file.flush()
        os.fsync(file.fileno())


def _read(json: bytes) -> Change | None:
    """Read a change; None if another version wrote it, in which case it stays in the file."""
    try:
        return _CHANGE.decode(json)
    except msgspec.MsgspecError:
        return None
