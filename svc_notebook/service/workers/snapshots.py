"""The state of an index as workers receive it: which segments, settings and resources it has.

The service compares the state that a worker has with its own before each search, and sends what
changed in front of it. So a worker never answers from an older state than the service would.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.index.storage import SUFFIX, decode_segment, encode_segment
from svc_notebook.service.engine.index.storage import read_segment as map_segment
from svc_notebook.service.engine.search_index import IndexState
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.workers.messages import IndexSnapshot, ResourceVersions, SegmentState

# A segment without a file is sent if it has at most this many records.
MAX_SENT_RECORDS = 2_000
# And if its arrays take at most this many bytes.
MAX_SENT_BYTES = 4 * 2**20


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
