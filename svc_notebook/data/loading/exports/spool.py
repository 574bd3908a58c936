"""The spool of an export: fetched pages on disk, for flat memory use and for resuming.

It collects the types of the values that each attribute of the records has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.files import write_atomically
from svc_notebook.data.loading.options import Kind

# Floats represent all whole numbers up to the first; those from the second on exceed 64 bits.
MAX_EXACT_FLOAT_INTEGER, INTEGER_LIMIT = 2**53, 2**63
SCALARS: dict[type, Kind] = {str: "string", bool: "boolean", int: "integer", float: "number"}
LARGE = "large integer"
LIST = "list of "
# The common type of several types, where it is not `json`.
COMMON_TYPES: dict[frozenset[str], str] = {
    frozenset(["integer", LARGE]): "integer",
    frozenset([LARGE]): "integer",
    frozenset(["integer", "number"]): "number",
    frozenset([LIST]): "json",
    frozenset(): "string",
}
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


@dataclass
class AttributeTypes:
    """The types of the values of each attribute, collected from records."""

    kinds: dict[str, set[str]] = field(default_factory=lambda: {"objectID": {"string"}})

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add the types of more records."""
        for record in records:
            for name, value in record.items():
                types = self.kinds.setdefault(name, set())
                if value is not None:
                    types.add(type_of(value))

    def decide(self) -> dict[str, str]:
        """Return each attribute's type: a scalar, `list of` scalars, or `json` for all others."""
        return {name: _common_type(types) for name, types in self.kinds.items()}

    def dtypes(self) -> dict[str, Kind]:
        """Return the `dtype` with which a load of the exported texts restores the values."""
        names: dict[str, Kind] = {name: name for name in SCALARS.values()}
        return {name: names.get(type_name, "json") for name, type_name in self.decide().items()}


def type_of(value: Any) -> str:
    """Return the type of one value that is not null."""
    if isinstance(value, list):
        return _type_of_list(value)
    if type(value) is int and abs(value) > MAX_EXACT_FLOAT_INTEGER:
        return LARGE if abs(value) < INTEGER_LIMIT else "json"
    return SCALARS.get(type(value), "json")


def _type_of_list(values: list[Any]) -> str:
    types = frozenset(map(type_of, values))
    if not types:
        return LIST
    item = _common_type(types) if len(types) == 1 else "json"
    return f"{LIST}{item}" if item in SCALARS.values() else "json"


def _common_type(types: Iterable[str]) -> str:
    distinct = frozenset(types)
    if len(distinct) > 1 and all(type_name.startswith(LIST) for type_name in distinct):
        distinct -= {LIST}  # an empty list can be a list of any type
    if len(distinct) == 1 and distinct not in COMMON_TYPES:
        return next(iter(distinct))
    return COMMON_TYPES.get(distinct, "json")
