"""What a load has been acknowledged, kept on disk so that a later one can go on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

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

    def write(self, entry: Entry) -> None:
        """Keep an acknowledgement; once this returns, a killed process does not lose it."""
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            lines = [self.target, entry] if new else [entry]
            file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        self.entries.append(entry)

    def anew(self, target: str) -> Checkpoint:
        """Forget what an earlier load left behind."""
        self.discard()
        return Checkpoint(self.path, target)

    def discard(self) -> None:
        """Remove the file: what is done needs no checkpoint."""
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
    whole, _, torn = checkpoint.path.read_bytes().rpartition(b"\n")
    header, *lines = whole.split(b"\n")
    try:
        target = msgspec.json.decode(header, type=str)
        entries = [msgspec.json.decode(line, type=Entry) for line in lines]
    except msgspec.MsgspecError:
        checkpoint.discard()
        return
    checkpoint.target, checkpoint.entries = target, entries
    if torn:
        # A process killed while it wrote; the next line must not continue that one.
        checkpoint.path.write_bytes(whole + b"\n")
