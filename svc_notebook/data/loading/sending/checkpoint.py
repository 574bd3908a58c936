"""The checkpoint of a load: what was acknowledged, on disk, so that a later load resumes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from svc_notebook.core.files import (
    FileLock,
    add_checksum,
    user_state_folder,
    verify_checksum,
    write_atomically,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.batches import Span
from svc_notebook.errors import BadInput

S = TypeVar("S", bound=msgspec.Struct)
Entry = TypeVar("Entry", bound=msgspec.Struct)


class CheckpointHeader(msgspec.Struct):
    """The target index, and the state of source and options of a load."""

    target: str
    state: str


class AcknowledgedBatch(msgspec.Struct):
    """One acknowledged batch."""

    first: int
    last: int
    rows: int
    task: int
    # The digest of its rows; 0 if unknown.
    digest: int = 0

    @property
    def span(self) -> Span:
        """The positions that it settles."""
        return Span(self.first, self.last)


@dataclass
class Checkpoint(Generic[Entry]):
    """A file with a line about the load, followed by a line for each acknowledged batch.

    A distributed load has a line for each published partition: `kind` is the type of the entries.
    """

    path: Path
    state: str
    # The target of an earlier load, if there was one, and the entries that can be resumed.
    target: str | None = None
    # The state of source and options of the earlier load.
    earlier_state: str | None = None
    entries: list[Entry] = field(default_factory=list)
    kind: Any = AcknowledgedBatch
    # Whether the file has the name of the target index, without which entries mean nothing.
    _begun: bool = True

    def begin(self, target: str, *, at_once: bool = True) -> None:
        """Discard the checkpoint of an earlier load, and write the name of the target index.

        If not `at_once`, the name is written with the first entry: for an index that is not
        deleted if a load that has sent nothing is interrupted.
        """
        self.target, self.entries = target, []
        self._begun = at_once
        if not at_once:
            self.discard()
            return
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.path, _line(CheckpointHeader(target, self.state)))

    def write(self, entry: Entry) -> None:
        """Write an acknowledgement; after this returns, it survives a killed process.

        If the disk is full, a batch is at worst sent again.
        """
        line = _line(entry)
        if not self._begun:
            line = _line(CheckpointHeader(self.target or "", self.state)) + line
        with suppress(OSError), self.path.open("ab" if self._begun else "wb") as file:
            file.write(line)
            self._begun = True
        self.entries.append(entry)

    def discard(self) -> None:
        """Remove the file, which a completed load does not need."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Prevent other loads of this source into this index while this one runs."""
        lock = FileLock(self.path.with_suffix(".lock"))
        try:
            lock.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            free = lock.acquire()
        except OSError:
            free = True  # if nothing can be written or locked, there is no checkpoint to protect
        if not free:
            raise BadInput(
                "another load of the same source into this index is running: wait for its end"
            )
        try:
            yield
        finally:
            lock.release(remove=True)


def open_checkpoint(location: str, state: str) -> Checkpoint[AcknowledgedBatch]:
    """Read the checkpoint of an earlier load of the same source into the same index."""
    return open_checkpoint_of(AcknowledgedBatch, location, state)


def open_checkpoint_of(kind: type[Entry], location: str, state: str) -> Checkpoint[Entry]:
    """Read a checkpoint whose entries are of this type."""
    digest = hashlib.sha256(location.encode()).hexdigest()
    path = state_folder() / f"{digest[:32]}.jsonl"
    checkpoint: Checkpoint[Entry] = Checkpoint(path, state, kind=kind)
    with suppress(OSError):
        _read(checkpoint)
    return checkpoint


def facts_of(if_exists: str, options: LoadSettings, hash_scheme: str = "") -> str:
    """Return what identifies a load of one source into one index.

    `hash_scheme` names the hash of rows, if ids are hashes.
    """
    import duckdb

    # Another release can read a file differently.
    facts = {**vars(options), "if_exists": if_exists, "duckdb": duckdb.__version__}
    # It does not change what is sent.
    del facts["replace_records"]
    if options.cursor is None:
        del facts["cursor"]
    if not options.split:
        del facts["split"], facts["distinct"]
    if hash_scheme:
        facts["ids"] = hash_scheme
    return str(sorted(facts.items(), key=str))


def has_other_ids(earlier: str | None, source_state: str, hash_scheme: str) -> bool:
    """Return whether an earlier load of the same source used another hash scheme for ids."""
    if earlier is None or not earlier.startswith(f"{source_state}|"):
        return False
    return str(("id", None)) in earlier and str(("ids", hash_scheme)) not in earlier


def state_folder() -> Path:
    """Return the folder of the checkpoints."""
    return user_state_folder("loads")


def _read(checkpoint: Checkpoint[Entry]) -> None:
    whole, _, torn = checkpoint.path.read_bytes().rpartition(b"\n")
    first, *lines = whole.split(b"\n")
    header = _checked(first, CheckpointHeader)
    if header is None:
        checkpoint.discard()
        return
    checkpoint.target, checkpoint.earlier_state = header.target, header.state
    if header.state != checkpoint.state:
        return
    # A damaged line is ignored: its batch is sent again.
    checkpoint.entries = [entry for line in lines if (entry := _checked(line, checkpoint.kind))]
    if torn or len(checkpoint.entries) < len(lines):
        # Only complete lines are kept, so that the next line does not continue a torn one.
        kept: list[msgspec.Struct] = [header, *checkpoint.entries]
        write_atomically(checkpoint.path, map(_line, kept))


def _line(row: msgspec.Struct) -> bytes:
    return add_checksum(msgspec.json.encode(row))


def _checked(line: bytes, kind: type[S]) -> S | None:
    json = verify_checksum(line)
    if json is None:
        return None
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(json, type=kind)
    return None
