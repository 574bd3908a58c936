"""The spool of an export: fetched pages on disk, for flat memory use and for resuming."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.files import write_atomically
from svc_notebook.data.loading.exports.attribute_types import AttributeTypes

SPOOL_CHUNK_BYTES = 8_000_000


class SpoolPosition(msgspec.Struct):
    """The progress of an export: the length of the spool in bytes, and the next cursor."""

    facts: str
    cursor: str | None = None
    bytes: int = 0
    rows: int = 0
    total: int = 0
    # The names in the file are those of the first release.
    types: dict[str, set[str]] = msgspec.field(
        default_factory=lambda: AttributeTypes().kinds, name="kinds"
    )
    complete: bool = msgspec.field(default=False, name="whole")


@dataclass
class Spool:
    """A hidden file next to the target with one record per line, and one with the position."""

    path: Path
    position: SpoolPosition
    resumed: int = 0
    _encoder: msgspec.json.Encoder = field(default_factory=msgspec.json.Encoder, repr=False)

    def add(self, records: Sequence[Mapping[str, Any]], cursor: str | None, total: int) -> None:
        """Write a page; after this returns, it survives a killed process."""
        at = self.position
        with self.path.open("ab") as file:
            file.write(self._encoder.encode_lines(records))
            at.bytes = file.tell()
        AttributeTypes(at.types).add(records)
        at.rows += len(records)
        at.cursor, at.total, at.complete = cursor, total, not cursor
        # A draft of a fixed name is overwritten by the next process, if this one is killed.
        draft = self.path.with_name(f"{self.path.name}.mark.new")
        write_atomically(_position_file(self.path), self._encoder.encode(at), draft=draft)

    def pieces(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the records, some megabytes at a time."""
        decoder = msgspec.json.Decoder(dict[str, Any])
        with self.path.open("rb") as file:
            while piece := file.read(SPOOL_CHUNK_BYTES):
                yield decoder.decode_lines(piece + file.readline())

    def discard(self) -> None:
        """Remove both files."""
        for path in (self.path, _position_file(self.path)):
            path.unlink(missing_ok=True)


def open_spool(target: Path, facts: str, *, resume: bool) -> Spool:
    """Open the spool of an interrupted export with the same facts, or create a new one."""
    path = target.with_name(f".{target.name}.part")
    digest = hashlib.sha256(facts.encode()).hexdigest()
    spool = Spool(path, SpoolPosition(digest))
    position = _read_position(path) if resume else None
    if position is None or position.facts != digest or path.stat().st_size < position.bytes:
        spool.discard()
        path.touch()
        return spool
    with path.open("r+b") as file:
        file.truncate(position.bytes)
    return Spool(path, position, position.rows)


def _position_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.mark")


def _read_position(path: Path) -> SpoolPosition | None:
    try:
        return (
            msgspec.json.decode(_position_file(path).read_bytes(), type=SpoolPosition)
            if path.exists()
            else None
        )
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
