"""The segments of some records under one schema; indices of the same records may share them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, Schema
from svc_notebook.service.engine.index.segment import (
    Segment,
    SegmentReader,
    apply_deletions,
    merge_readers,
)
from svc_notebook.service.engine.index.storage import (
    load_readers,
    load_vectors,
    measure_segment,
    read_segment,
    release_mapped_pages,
    save_readers,
)
from svc_notebook.service.engine.semantic.latent_model import DEFAULT_SETTINGS, ModelSettings
from svc_notebook.service.engine.semantic.vector_index import VectorIndex

# Number of segments of one size class that are merged into one of the next.
MERGE_FACTOR = 4
# The same for large segments while more writes wait.
BUSY_MERGE_FACTOR = 8
MIN_SEGMENT_RECORDS = 256

Chunks = Callable[[], Iterable[Sequence[Record]]]


@dataclass(frozen=True)
class SegmentLimits:
    """The sizes of segments at which they are merged and mapped in another way."""

    # Maximum number of records of a merged segment, which needs memory until it is saved.
    max_merged_records: int = 2**21
    # While more writes wait, segments of at least so many records are merged in larger numbers.
    busy_segment_records: int = 4096
    # Segments of at least this many records are memory-mapped once they are saved.
    large_segment_records: int = 50_000
    # Segments with files of at least this size are memory-mapped, too.
    large_segment_bytes: int = 16 * 2**20


DEFAULT_LIMITS = SegmentLimits()


class SegmentStore:
    """The segments of an index, replaced as a list.

    One writer at a time, any number of searches in other threads. A search uses the readers that it
    found at its start; a writer never changes a reader, it publishes new ones. Vectors are computed
    by `model_settings`, which are those of the first of the indices that share the store.
    """

    def __init__(
        self,
        schema: Schema,
        readers: Sequence[SegmentReader] = (),
        vectors: VectorIndex | None = None,
        model_settings: ModelSettings = DEFAULT_SETTINGS,
        limits: SegmentLimits = DEFAULT_LIMITS,
    ) -> None:
        self.schema = schema
        self.readers = tuple(readers)
        # Where its segments have files, once it was saved or loaded.
        self.folder: Path | None = None
        self.vectors = vectors
        self.model_settings = model_settings
        self.limits = limits
        self._publishing = threading.Lock()

    @classmethod
    def from_chunks(cls, schema: Schema, chunks: Iterable[Sequence[Record]]) -> SegmentStore:
        """Return a store of records given in chunks."""
        store = cls(schema)
        for chunk in chunks:
            store.put(chunk)
        return store

    def __len__(self) -> int:
        return sum(reader.count for reader in self.readers)

    def put(self, records: Sequence[Record]) -> None:
        """Add or replace whole records by their `objectID`."""
        self.prepare(records)()
        self.merge_small_segments()

    def delete(self, ids: Iterable[str]) -> None:
        """Delete records; unknown ids are ignored."""
        self.prepare(deleted=ids)()

    def clear(self) -> None:
        """Delete all records."""
        self.prepare(emptied=True)()

    def prepare(
        self, put: Sequence[Record] = (), deleted: Iterable[str] = (), *, emptied: bool = False
    ) -> Callable[[], None]:
        """Index records in advance; return a function that publishes the change atomically."""
        latest = {record[OBJECT_ID]: record for record in put}
        ids = sorted(latest)
        added = (
            [SegmentReader.of(Segment.of([latest[name] for name in ids], self.schema))]
            if ids
            else []
        )
        names = sorted({*ids, *deleted})

        def publish() -> None:
            with self._publishing:
                remaining = () if emptied else [reader.without(names) for reader in self.readers]
                self.readers = tuple(reader for reader in (*remaining, *added) if reader.count)

        return publish

    @property
    def names(self) -> list[str]:
        """The names of the segments."""
        return [reader.segment.name for reader in self.readers]

    def merge_small_segments(self, *, busy: bool = False) -> None:
        """Merge segments while a size class is full; `busy` means that more writes wait."""
        while readers := _find_full_size_class(self.readers, self.limits, busy=busy):
            self._merge(readers)

    def fork(self) -> SegmentStore:
        """Return an independent store of the same records."""
        return SegmentStore(
            self.schema, self.readers, self.vectors, self.model_settings, self.limits
        )

    def for_schema(self, schema: Schema, records: Chunks) -> SegmentStore:
        """Return a store for a schema: this one if it suffices, else one of all `records()`."""
        return self if self.schema.serves(schema) else SegmentStore.from_chunks(schema, records())

    def compact(self, after_merge: Callable[[], None] | None = None) -> None:
        """Merge the segments into as few as there may be; a concurrent writer is not blocked.

        `after_merge` is called after each merge: a segment that is saved then needs no memory.
        """
        for readers in _group_by_size(self.readers, self.limits):
            if len(readers) > 1 or readers[0].count < len(readers[0].segment):
                # A merge reads all pages of its segments; those of small ones are not of files.
                if any(reader.segment.mapped for reader in readers):
                    release_mapped_pages()
                self._merge(readers)
                if after_merge:
                    after_merge()

    def save(self, folder: Path, stamp: int) -> None:
        """Save to a folder; existing segment files are not rewritten."""
        readers = self.readers
        save_readers(folder, stamp, self.schema, readers, self.vectors)
        self.folder = folder
        for reader in readers:
            segment = reader.segment
            if not segment.mapped and (
                len(segment) >= self.limits.large_segment_records
                or measure_segment(folder, segment.name) >= self.limits.large_segment_bytes
            ):
                self._map_from_file(folder, segment)

    @classmethod
    def load(cls, folder: Path) -> tuple[SegmentStore, int] | None:
        """Load a saved store and its stamp; None if there is none or it is unreadable."""
        if (stored := load_readers(folder)) is None:
            return None
        schema, stamp, readers = stored
        store = cls(schema, readers, load_vectors(folder))
        store.folder = folder
        return store, stamp

    def publish_vectors(self, vectors: VectorIndex | None) -> None:
        """Publish the vectors of the records, keeping those of the same generation."""
        with self._publishing:
            vectors = vectors and vectors.with_earlier(self.vectors)
            self.vectors = vectors and vectors.within(self.readers)

    def _map_from_file(self, folder: Path, segment: Segment) -> None:
        """Replace a segment in memory by its memory-mapped file, which the system may page out."""
        mapped = read_segment(folder, segment.name).with_presorted_orders_of(segment)
        with self._publishing:
            self.readers = tuple(
                SegmentReader(mapped, reader.alive) if reader.segment is segment else reader
                for reader in self.readers
            )

    def _merge(self, readers: Sequence[SegmentReader]) -> None:
        """Merge readers; discard the result if one of them was dropped in the meantime."""
        merged, vectors = merge_readers(readers), self.vectors
        joined = vectors and vectors.join(readers, merged)
        with self._publishing:
            now = {reader.segment.name: reader for reader in self.readers}
            if all(reader.segment.name in now for reader in readers):
                merged = apply_deletions(
                    merged, readers, [now.pop(reader.segment.name) for reader in readers]
                )
                self.readers = (*now.values(), merged)
                self.vectors = self.vectors and self.vectors.with_earlier(joined)
                self.vectors = self.vectors and self.vectors.within(self.readers)


def _find_full_size_class(
    readers: Sequence[SegmentReader], limits: SegmentLimits, *, busy: bool
) -> Sequence[SegmentReader]:
    """Return the readers to merge of the smallest size class that is full."""
    classes: dict[int, list[SegmentReader]] = {}
    for reader in readers:
        classes.setdefault(_size_class(reader.count), []).append(reader)
    for _, members in sorted(classes.items()):
        smallest = _group_by_size(members, limits)[0]
        large = smallest[0].count >= limits.busy_segment_records
        if len(smallest) >= (BUSY_MERGE_FACTOR if busy and large else MERGE_FACTOR):
            return smallest
    return []


def _group_by_size(
    readers: Iterable[SegmentReader], limits: SegmentLimits
) -> list[list[SegmentReader]]:
    """Group readers, the smallest first, each group with as many records as may be merged."""
    groups: list[list[SegmentReader]] = []
    total = 0
    for reader in sorted(readers, key=lambda candidate: candidate.count):
        total += reader.count
        if not groups or total > limits.max_merged_records:
            groups.append([])
            total = reader.count
        groups[-1].append(reader)
    return groups


def _size_class(count: int) -> int:
    return ((count // MIN_SEGMENT_RECORDS).bit_length() + 1) // 2
