"""The checkpoint of a load: the acknowledged batches, on disk, so that a later load resumes it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar
from zlib import crc32

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.loading.load_plan.row_order import Span
from svc_notebook.loading.options import LoadSettings

S = TypeVar("S", bound=msgspec.Struct)


class CheckpointHeader(msgspec.Struct):
    """The index that was written to, and the state of source and options it was written from."""

    target: str
    state: str


class AcknowledgedBatch(msgspec.Struct):
    """One acknowledged batch."""

    first: int
    last: int
    rows: int
    task: int
    # What tells its rows by their content; 0 where that is not known.
    digest: int = 0

    @property
    def span(self) -> Span:
        """The positions it settles."""
        return Span(self.first, self.last)


@dataclass
class Checkpoint:
    """A file with a line for each acknowledged batch, after one about the load as a whole."""

    path: Path
    state: str
    # Where an earlier load wrote to, if there was one, and what can be gone on with.
    target: str | None = None
    # The state that the earlier load was in.
    found: str | None = None
    entries: list[AcknowledgedBatch] = field(default_factory=list)

    def begin(self, target: str) -> None:
        """Forget what an earlier load left behind, and name the index that will be written to."""
        self.target, self.entries = target, []
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.write_bytes(_line(CheckpointHeader(target, self.state)))

    def write(self, entry: AcknowledgedBatch) -> None:
        """Keep an acknowledgement; once this returns, a killed process does not lose it.

        Where the disk takes no more, a batch is at worst sent again.
        """
        with suppress(OSError), self.path.open("ab") as file:
            file.write(_line(entry))
        self.entries.append(entry)

    def discard(self) -> None:
        """Remove the file: what is done needs no checkpoint."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other loads of this source into this index from starting meanwhile."""
        path = self.path.with_suffix(".lock")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = path.open("ab")
        except OSError:
            yield  # where nothing can be written there is no checkpoint to spoil
            return
        with file:
            if not _lock(file):
                raise BadInput("the same source is being loaded into this index already")
            try:
                yield
            finally:
                with suppress(OSError):
                    path.unlink()


def open_checkpoint(place: str, state: str) -> Checkpoint:
    """Read back what an earlier load of the same source into the same index left behind."""
    digest = hashlib.sha256(place.encode()).hexdigest()
    checkpoint = Checkpoint(state_folder() / f"{digest[:32]}.jsonl", state)
    with suppress(OSError):
        _read(checkpoint)
    return checkpoint


def facts_of(if_exists: str, options: LoadSettings, hash_scheme: str = "") -> str:
    """Name all that makes two loads of one source into one index the same.

    `hash_scheme` names how ids are made of rows, where they are.
    """
    import duckdb

    # Another release may read a file in another way.
    facts = {**asdict(options), "if_exists": if_exists, "duckdb": duckdb.__version__}
    if hash_scheme:
        facts["ids"] = hash_scheme
    return str(sorted(facts.items(), key=str))


def has_other_ids(found: str | None, source_state: str, hash_scheme: str) -> bool:
    """Whether an earlier load of the same source, found by its state, hashed rows another way."""
    if found is None or not found.startswith(f"{source_state}|"):
        return False
    return str(("id", None)) in found and str(("ids", hash_scheme)) not in found


def state_folder() -> Path:
    """The folder of the checkpoints."""
    from platformdirs import user_state_path

    return user_state_path("svc-notebook", appauthor=False) / "loads"


def _read(checkpoint: Checkpoint) -> None:
    whole, _, torn = checkpoint.path.read_bytes().rpartition(b"\n")
    first, *lines = whole.split(b"\n")
    header = _checked(first, CheckpointHeader)
    if header is None:
        checkpoint.discard()
        return
    checkpoint.target, checkpoint.found = header.target, header.state
    if header.state != checkpoint.state:
        return
    # A line that is damaged is as if it were not there: its batch is sent again.
    checkpoint.entries = [entry for line in lines if (entry := _checked(line, AcknowledgedBatch))]
    if torn or len(checkpoint.entries) < len(lines):
        _rewrite(checkpoint.path, [header, *checkpoint.entries])


def _rewrite(path: Path, rows: Sequence[msgspec.Struct]) -> None:
    """Leave only whole lines, so that the next one does not continue a torn one."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(b"".join(map(_line, rows)))
    fresh.replace(path)


def _line(row: msgspec.Struct) -> bytes:
    json = msgspec.json.encode(row)
    return b"%08x %b\n" % (crc32(json), json)


def _checked(line: bytes, kind: type[S]) -> S | None:
    check, _, json = line.partition(b" ")
    if check != b"%08x" % crc32(json):
        return None
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(json, type=kind)
    return None


def _lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed, or this process ends in any way."""
    try:
        import fcntl
    except ImportError:
        return _lock_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_windows(file: IO[bytes]) -> bool:
    import msvcrt

    system: Any = msvcrt
    try:
        system.locking(file.fileno(), system.LK_NBLCK, 1)
    except OSError:
        return False
    return True
