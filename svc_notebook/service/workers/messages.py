"""The messages between the service and its search workers, and the state of an index in them.

The state is which segments, settings and resources an index has. The service compares the state
that a worker has with its own before each search, and sends what changed in front of it. So a
worker never answers from an older state than the service would.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from svc_notebook.core.api.shapes import SearchImpression
from svc_notebook.errors import BadInput, KeyRefused, NotFound, Refused
from svc_notebook.service.analytics.ab_tests import RunningTest
from svc_notebook.service.analytics.search_counts import CountedSearch
from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.index.storage import SUFFIX, decode_segment, encode_segment
from svc_notebook.service.engine.index.storage import read_segment as map_segment
from svc_notebook.service.engine.search_index import IndexState
from svc_notebook.service.http.auth import Caller, read_embedded
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.keyring import StoredKey

# A segment without a file is sent if it has at most this many records.
MAX_SENT_RECORDS = 2_000
# And if its arrays take at most this many bytes.
MAX_SENT_BYTES = 4 * 2**20
# The length of a message precedes it, as an integer of this size in network byte order.
LENGTH_BYTES = 4
# An empty message: the caller of the current search no longer waits for it.
CANCEL = bytes(LENGTH_BYTES)

# The endpoints whose calls workers answer, by name.
SEARCH_ENDPOINTS = ("search", "get_search", "search_many", "search_facet")

# The versions of an index's synonyms and rules, and of the application's dictionaries.
ResourceVersions: TypeAlias = tuple[int, int]


class Unencodable(Exception):
    """A value that JSON can carry and messages cannot, such as a number of 65 bits."""


class SegmentState(msgspec.Struct, array_like=True):
    """One segment of an index: its file or its encoded arrays, neither if the worker has it."""

    name: str
    records: int
    alive: bytes
    folder: str = ""
    encoded: bytes = b""


class IndexSnapshot(msgspec.Struct, array_like=True):
    """What a search of an index depends on, besides its stored records."""

    id: int
    name: str
    settings: dict[str, Any]
    engine_settings: dict[str, Any]
    primary_id: int
    segments: list[SegmentState]
    resources: ResourceVersions


class CallerFacts(msgspec.Struct, array_like=True):
    """A caller whose key was checked; `embedded` is the text of a secured key."""

    keys: list[tuple[str, dict[str, Any], int, str, float | None]]
    admin: bool
    address: str
    embedded: str | None

    @classmethod
    def of(cls, caller: Caller) -> CallerFacts:
        """Return the facts of a caller."""
        keys = [(k.value, dict(k.fields), k.created, k.index, k.ends) for k in caller.keys]
        return cls(keys, caller.admin, caller.address, caller.secured_text)

    def caller(self) -> Caller:
        """Return the caller; equal embedded texts become the same restriction, as in `auth`."""
        text = self.embedded
        return Caller(
            tuple(StoredKey(*fields) for fields in self.keys),
            self.admin,
            self.address,
            None if text is None else read_embedded(text),
            secured_text=text,
        )


class SearchCall(msgspec.Struct, array_like=True):
    """One call of a search endpoint, or a part of a call with several searches."""

    endpoint: str
    given: dict[str, Any]
    caller: CallerFacts
    indices: list[str]
    headers: dict[str, str]
    seconds: float
    tests: dict[str, RunningTest] = {}


class WorkerRequest(msgspec.Struct, array_like=True):
    """A call, preceded by the indices that changed since the last one and those that are gone."""

    snapshots: list[IndexSnapshot]
    dropped: list[int]
    call: SearchCall


class Refusal(msgspec.Struct, array_like=True):
    """An error of the caller, as it is raised in the service."""

    kind: str
    message: str
    status: int

    @classmethod
    def of(cls, error: Exception) -> Refusal | None:
        """Return the refusal of an error; None for other errors."""
        kind = type(error).__name__
        if REFUSALS.get(kind) is not type(error):
            return None
        if isinstance(error, Refused):
            return cls(kind, error.message, error.status)
        return cls(kind, str(error), 400)

    def error(self) -> Exception:
        """Return the error."""
        made = REFUSALS[self.kind]
        return (
            made(self.message, status=self.status)
            if issubclass(made, Refused)
            else made(self.message)
        )


REFUSALS: dict[str, type[BadInput] | type[Refused]] = {
    kind.__name__: kind for kind in (BadInput, KeyRefused, NotFound, Refused)
}


class WorkerReply(msgspec.Struct, array_like=True):
    """The outcome of a call.

    `declined` leaves the search to the service, for a `reason`: the worker does not have what the
    search needs, or failed; `fault` is the traceback of an unexpected error. `outdated` does, too:
    files of an index are gone. `facts` are the members of the answer that the logs show, `reads`
    the objectIDs of the records that were read, by table. `joined` answers of several workers are
    not compressed yet.
    """

    outcome: Literal["ready", "answered", "refused", "declined", "outdated", "cancelled"]
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}
    plain: bytes = b""
    facts: dict[str, Any] = {}
    impressions: list[SearchImpression] = []
    counted: list[CountedSearch] = []
    reads: list[tuple[int, list[str]]] = []
    refusal: Refusal | None = None
    joined: bool = False
    reason: str = ""
    fault: str = ""


def frame(message: msgspec.Struct) -> bytes:
    """Encode a message with its length; raises `Unencodable`."""
    try:
        body = msgspec.msgpack.encode(message)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unencodable("unencodable values") from error
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def split_frames(received: bytearray) -> Sequence[bytes]:
    """Remove the complete messages from the received bytes and return them."""
    bodies = []
    start = 0
    while len(received) - start >= LENGTH_BYTES:
        size = int.from_bytes(received[start : start + LENGTH_BYTES], "big")
        end = start + LENGTH_BYTES + size
        if len(received) < end:
            break
        bodies.append(bytes(received[start + LENGTH_BYTES : end]))
        start = end
    del received[:start]
    return bodies


@dataclass(frozen=True)
class IndexView:
    """What a search in the service would use at this moment."""

    index: PublishedIndex
    state: IndexState
    readers: tuple[SegmentReader, ...]
    resources: ResourceVersions

    @classmethod
    def of(cls, catalog: IndexRegistry, name: str) -> IndexView | None:
        """Return the view of an index; None if it does not exist or is not open."""
        index = catalog.get(name)
        if index is None or not index.engine.is_open:
            return None
        # Before the readers: a later change is then sent again, never missed.
        resources = catalog.resources.versions(index.id)
        state = index.engine.get().state
        return cls(index, state, state.segment_store.readers, resources)


class SentIndex:
    """The state of an index that a worker has; it keeps no segment in memory."""

    def __init__(self, view: IndexView) -> None:
        self.name = view.index.name
        self.segments = {reader.segment.name for reader in view.readers}
        self._resources = view.resources
        self._parts = tuple(map(weakref.ref, (view.index, view.state, *view.readers)))

    def matches(self, view: IndexView) -> bool:
        """Return whether the state is the one of the view."""
        parts = (view.index, view.state, *view.readers)
        return (
            self._resources == view.resources
            and len(parts) == len(self._parts)
            and all(ref() is part for ref, part in zip(self._parts, parts, strict=True))
        )


def take_snapshot(view: IndexView, sent: SentIndex | None) -> IndexSnapshot | None:
    """Return the snapshot for a worker; None if a segment can neither be read nor sent."""
    folder = view.state.segment_store.folder
    segments = []
    for reader in view.readers:
        described = _describe(reader, folder, sent.segments if sent else ())
        if described is None:
            return None
        segments.append(described)
    index = view.index
    return IndexSnapshot(
        index.id,
        index.name,
        dict(index.settings),
        dict(view.state.settings),
        index.primary_id,
        segments,
        view.resources,
    )


def _describe(
    reader: SegmentReader, folder: Path | None, sent_names: set[str] | tuple[()]
) -> SegmentState | None:
    segment = reader.segment
    described = SegmentState(segment.name, len(segment), np.packbits(reader.alive).tobytes())
    if segment.name in sent_names:
        return described
    if folder is not None and (folder / f"{segment.name}{SUFFIX}").exists():
        described.folder = str(folder)
        return described
    if len(segment) > MAX_SENT_RECORDS:
        return None
    described.encoded = encode_segment(segment)
    return described if len(described.encoded) <= MAX_SENT_BYTES else None


def read_readers(
    snapshot: IndexSnapshot, segments: Mapping[str, Segment]
) -> tuple[SegmentReader, ...]:
    """Return the readers of a snapshot; raises the errors of reading files (`READ_ERRORS`)."""
    return tuple(
        SegmentReader(_read_segment(state, segments), _alive(state)) for state in snapshot.segments
    )


def _read_segment(state: SegmentState, segments: Mapping[str, Segment]) -> Segment:
    if state.name in segments:
        return segments[state.name]
    if state.encoded:
        segment = decode_segment(state.encoded, state.name)
    else:
        segment = map_segment(Path(state.folder), state.name)
    if len(segment) != state.records:
        raise ValueError(f"{state.name} is not the segment of the index")
    return segment


def _alive(state: SegmentState) -> np.ndarray:
    return np.unpackbits(np.frombuffer(state.alive, np.uint8), count=state.records).astype(bool)
