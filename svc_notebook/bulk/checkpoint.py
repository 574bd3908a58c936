"""What a load has been acknowledged, kept on disk so that a later one can go on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from svc_notebook.bulk.batches import Span
from svc_notebook.bulk.options import Options


class Entry(msgspec.Struct):
    """One acknowledged batch."""

    first: int
    last: int
    rows: int
    task: int

    @property
    def span(self) -> Span:
        """The positions it settles."""
        return Span(self.first, self.last)


@dataclass
class Checkpoint:
    """A file with a line for each acknowledged batch, after one naming the index written to."""

    path: Path
    target: str
    entries: list[Entry] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def anew(self, target: str) -> Checkpoint:
        """Forget what an earlier load left behind."""
        self.path.unlink(missing_ok=True)
        return Checkpoint(self.path, target)

    def write(self, entry: Entry) -> None:
        """Keep an acknowledgement; once this returns, a killed process does not lose it."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = not self.path.exists()
            self._file = self.path.open("ab")
            if new:
                self._file.write(msgspec.json.encode(self.target) + b"\n")
        self.entries.append(entry)
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()

    def close(self, *, done: bool) -> None:
        """End the load; what is done needs no checkpoint."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if done:
            self.path.unlink(missing_ok=True)


def open_checkpoint(fingerprint: str, app: str, target: str, facts: str) -> Checkpoint:
    """Read back what an earlier load of the same source, index and options left behind."""
    digest = hashlib.sha256("\n".join([fingerprint, app, facts]).encode()).hexdigest()
    checkpoint = Checkpoint(state_folder() / f"{digest[:32]}.jsonl", target)
    if checkpoint.path.exists():
        _read(checkpoint)
    return checkpoint


def facts_of(index: str, if_exists: str, options: Options) -> str:
    """Name all that makes two loads of one source the same."""
    return f"{index}|{if_exists}|{sorted(asdict(options).items(), key=str)}"


def state_folder() -> Path:
    """The folder of the checkpoints."""
    from platformdirs import user_state_path

    return user_state_path("svc-notebook", appauthor=False) / "loads"


def _read(checkpoint: Checkpoint) -> None:
    whole, _, _torn = checkpoint.path.read_bytes().rpartition(b"\n")
    header, *lines = whole.split(b"\n")
    try:
        checkpoint.target = msgspec.json.decode(header, type=str)
        checkpoint.entries = [msgspec.json.decode(line, type=Entry) for line in lines]
    except msgspec.MsgspecError:
        checkpoint.path.unlink()
