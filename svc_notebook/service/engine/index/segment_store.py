"""The segments of some records under one schema; indices of the same records may share them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
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
# While more writes wait, segments of at least so many records are merged in larger numbers.
BUSY_MERGE_FACTOR, BUSY_SEGMENT_RECORDS = 8, 4096
MIN_SEGMENT_RECORDS = 256
# Maximum number of records of a merged segment, which needs memory until it is saved.
MAX_MERGED_RECORDS = 2**21
# Segments of at least this many records are memory-mapped once they are saved.
LARGE_SEGMENT_RECORDS = 50_000
# Segments with files of at least this size are memory-mapped, too.
LARGE_SEGMENT_BYTES = 16 * 2**20

Chunks = Callable[[], Iterable[Sequence[Record]]]


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
    ) -> None:
        self.schema = schema
        self.readers = tuple(readers)
        # Where its segments have files, once it was saved or loaded.
        self.folder: Path | None = None
        self.vectors = vectors
        self.model_settings = model_settings
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
        while readers := _find_full_size_class(self.readers, busy=busy):
            self._merge(readers)

    def fork(self) -> SegmentStore:
        """Return an independent store of the same records."""
        return SegmentStore(self.schema, self.readers, self.vectors, self.model_settings)

    def for_schema(self, schema: Schema, records: Chunks) -> SegmentStore:
        """Return a store for a schema: this one if it suffices, else one of all `records()`."""
        return self if self.schema.serves(schema) else SegmentStore.from_chunks(schema, records())

    def compact(self, after_merge: Callable[[], None] | None = None) -> None:
        """Merge the segments into as few as there may be; a concurrent writer is not blocked.

        `after_merge` is called after each merge: a segment that is saved then needs no memory.
        """
        for readers in _group_by_size(self.readers):
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
                len(segment) >= LARGE_SEGMENT_RECORDS
                or measure_segment(folder, segment.name) >= LARGE_SEGMENT_BYTES
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
    readers: Sequence[SegmentReader], *, busy: bool
) -> Sequence[SegmentReader]:
    """Return the readers to merge of the smallest size class that is full."""
    classes: dict[int, list[SegmentReader]] = {}
    for reader in readers:
        classes.setdefault(_size_class(reader.count), []).append(reader)
    for _, members in sorted(classes.items()):
        smallest = _group_by_size(members)[0]
        large = smallest[0].count >= BUSY_SEGMENT_RECORDS
        if len(smallest) >= (BUSY_MERGE_FACTOR if busy and large else MERGE_FACTOR):
            return smallest
    return []


def _group_by_size(readers: Iterable[SegmentReader]) -> list[list[SegmentReader]]:
    """Group readers, the smallest first, each group with as many records as may be merged."""
    groups: list[list[SegmentReader]] = []
    total = 0
    for reader in sorted(readers, key=lambda candidate: candidate.count):
        total += reader.count
        if not groups or total > MAX_MERGED_RECORDS:
            groups.append([])
            total = reader.count
        groups[-1].append(reader)
    return groups


def _size_class(count: int) -> int:
    return ((count // MIN_SEGMENT_RECORDS).bit_length() + 1) // 2
