"""The registry of published indices, each with its engine."""

from __future__ import annotations

import math
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from svc_notebook.errors import NotFound
from svc_notebook.service.engine import Index, SegmentStore
from svc_notebook.service.engine.query.options import NEURAL
from svc_notebook.service.engine.semantic.latent_model import ModelSettings
from svc_notebook.service.indices.published_index import (
    COLUMNS,
    InFlightWrites,
    LazyEngine,
    PublishedIndex,
)
from svc_notebook.service.indices.records import (
    add_stamps,
    count_bodies,
    measure_bodies,
    read_changed,
    read_chunks,
    read_ids,
)
from svc_notebook.service.indices.replica_group import (
    merge_schemas,
    segment_stores_of,
    split_by_schema,
)
from svc_notebook.service.resources.compiled import CompiledResources
from svc_notebook.service.search_models import Embedder, Reranker
from svc_notebook.service.store import Store

# The file that has vectors computed for an index whose settings do not ask for them.
VECTOR_REQUEST = "vectors.wanted"
# How long vectors are kept after the last such search, and how often the file is renewed.
VECTOR_REQUEST_SECONDS, RENEWAL_SECONDS = 3600.0, 60.0

# Adding up the bytes of an index's records takes at most a twentieth of the time if it is slow.
SLOW_MEASUREMENT_SECONDS, MEASUREMENT_PAUSE_FACTOR = 0.1, 20

Chunk = list[dict[str, Any]]


class _Measured(NamedTuple):
    """The records of an index at a stamp: their number and bytes, and when to add them up again."""

    stamp: int
    records: int
    size: int
    repeat_after: float


class NamedIndices(dict[str, PublishedIndex]):
    """Indices by name; the replicas among them, so that finding a group reads few indices."""

    def __init__(self, indices: Mapping[str, PublishedIndex]) -> None:
        super().__init__(indices)
        self.replicas = tuple(index for index in indices.values() if index.primary_id)

    def with_changes(self, changed: Mapping[str, PublishedIndex]) -> NamedIndices:
        """Return the indices with some replaced or added."""
        indices = NamedIndices({})
        indices.update(self)
        indices.update(changed)
        indices.replicas = (
            *(replica for replica in self.replicas if replica.name not in changed),
            *(index for index in changed.values() if index.primary_id),
        )
        return indices

    def group(self, index: PublishedIndex) -> list[PublishedIndex]:
        """Return the indices that have the records of an index, in no order."""
        primary = self.get(index.name)
        if index.primary_id or primary is None or primary.id != index.id or primary.primary_id:
            return [other for other in self.values() if other.records_id == index.records_id]
        return [primary, *(other for other in self.replicas if other.primary_id == index.id)]


class IndexRegistry:
    """The published indices by name; readers never wait for the writer."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.resources = CompiledResources(store)
        self.in_flight_writes = InFlightWrites()
        self._folder = folder
        # The stamp and the segments in the engine files.
        self._saved: dict[int, tuple[int, list[str]]] = {}
        # How often the files of each index were marked as out of date.
        self._marks: Counter[int] = Counter()
        self._sizes: dict[int, _Measured] = {}
        self.closing = False
        self.embedder: Embedder | None = None
        self.reranker: Reranker | None = None
        self.vector_problems: dict[int, str] = {}
        self._renewals: dict[int, float] = {}
        # Requests so far of this process: what computes vectors looks at all indices after each.
        self.vector_requests = 0
        self._by_name = NamedIndices({})
        with store.writing() as connection:
            add_stamps(connection)
        self.refresh()
        self.remove_leftovers()

    def refresh(self) -> None:
        """Reload the indices from the store; unchanged indices keep their engines."""
        self.resources.forget()
        rows = self.store.read(f"SELECT {COLUMNS} FROM indices")
        fresh = [self._build_index(*row) for row in rows]
        self._by_name = NamedIndices(
            {
                index.name: old if (old := self._by_name.get(index.name)) == index else index
                for index in fresh
            }
        )

    def _build_index(self, id: int, name: str, settings: bytes, *facts: Any) -> PublishedIndex:
        index = PublishedIndex(id, name, msgspec.json.decode(settings), *facts)
        return PublishedIndex(**{**vars(index), "engine": LazyEngine(lambda: self._open(index))})

    def _open(self, index: PublishedIndex) -> Index:
        """Open an engine on the segment store that its replica group shares, or on a new one."""
        groups = split_by_schema(self.replica_group(index))
        group = next(
            (candidate for candidate in groups if index.id in (member.id for member in candidate)),
            [index],
        )
        first = group[0]
        if first.id != index.id:
            return index.build_engine(first.engine.get().segment_store)
        segment_store = self._load_segment_store(group)
        segment_store.model_settings = ModelSettings.of(index.settings)
        return index.build_engine(segment_store)

    def _load_segment_store(self, group: list[PublishedIndex]) -> SegmentStore:
        """Load the engine files and apply later writes, or rebuild everything from the records."""
        first, schema = group[0], merge_schemas(group)
        segment_store, stamp = SegmentStore.load(self._files(first)) or (None, -1)
        if segment_store is None or stamp > first.stamp or not segment_store.schema.serves(schema):
            shutil.rmtree(self._files(first), ignore_errors=True)
            return SegmentStore.from_chunks(schema, self.chunks(first.records_id))
        if stamp == first.stamp:
            self._saved[first.id] = stamp, segment_store.names
        else:
            self._catch_up(segment_store, stamp, first.records_id)
        return segment_store

    def _catch_up(self, segment_store: SegmentStore, stamp: int, records_id: int) -> None:
        """Index the records written after a task; indexing a record again has no effect."""
        for chunk in self._while_open(read_changed(self.store, records_id, stamp)):
            segment_store.put(chunk)
        if len(segment_store) > count_bodies(self.store, records_id):
            stored_ids = read_ids(self.store, records_id)
            segment_store.delete(
                name
                for name in Index(segment_store=segment_store).matching({})
                if name not in stored_ids
            )

    def chunks(self, id: int) -> Iterable[Chunk]:
        """Yield an index's records in chunks; raises when the service stops."""
        return self._while_open(read_chunks(self.store, id))

    def _while_open(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if self.closing:
                raise InterruptedError("the service is stopping")
            yield chunk

    def find(self, name: str) -> PublishedIndex:
        """Return the index; raises `NotFound`."""
        index = self._by_name.get(name)
        if index is None:
            raise NotFound(f"Index {name} does not exist", status=404)
        return index

    def get(self, name: str) -> PublishedIndex | None:
        """Return the index, or None."""
        return self._by_name.get(name)

    def unretrievable_attributes(self, names: Iterable[str]) -> set[str]:
        """Return the attributes that these indices hide from ordinary keys."""
        indices = [index for name in names if (index := self.get(name))]
        return {a for index in indices for a in index.settings.get("unretrievableAttributes", ())}

    def replica_group(self, index: PublishedIndex) -> list[PublishedIndex]:
        """Return the replica group of an index: the primary, then its replicas.

        An index that was withdrawn in the meantime is a separate group.
        """
        return sorted(self._by_name.group(index) or [index], key=_sort_key)

    def replicas_of(self, index: PublishedIndex | None) -> list[PublishedIndex]:
        """Return the replicas of an index, none of a replica or of an index that does not exist."""
        return self.replica_group(index)[1:] if index and not index.primary_id else []

    def all(self) -> list[PublishedIndex]:
        """Return all indices, sorted by name."""
        return [index for _, index in sorted(self._by_name.items())]

    def publish(self, *indices: PublishedIndex) -> None:
        """Make the new state of indices visible to readers, all at once."""
        self._by_name = self._by_name.with_changes({index.name: index for index in indices})

    def withdraw(self, name: str) -> None:
        """Remove an index from the view of readers."""
        self._by_name = NamedIndices({n: kept for n, kept in self._by_name.items() if n != name})

    def measure(self, index: PublishedIndex) -> tuple[int, int]:
        """Return the number and bytes of an index's records.

        Adding up the bytes of millions of records takes seconds. Such a sum is repeated only after
        a multiple of that time, however often the records change; their number is always exact.
        """
        measured = self._sizes.get(index.id)
        if measured and measured.stamp == index.stamp:
            return measured.records, measured.size
        if measured and index.engine.is_open and time.monotonic() < measured.repeat_after:
            count = len(index.engine.get())
            return count, measured.size if count else 0
        begun = time.monotonic()
        count, size = measure_bodies(self.store, index.records_id)
        now = time.monotonic()
        slow = now - begun > SLOW_MEASUREMENT_SECONDS
        repeat_after = now + MEASUREMENT_PAUSE_FACTOR * (now - begun) if slow else now
        self._sizes[index.id] = _Measured(index.stamp, count, size, repeat_after)
        return count, size

    def merge_small_segments(self, names: Iterable[str], *, busy: bool) -> None:
        """Merge small segments of some indices; fewer if they are `busy`: more writes wait."""
        indices = (index for name in names if (index := self.get(name)))
        group = {member.id: member for index in indices for member in self.replica_group(index)}
        for segment_store in segment_stores_of(
            [member for member in group.values() if member.engine.is_open]
        ):
            segment_store.merge_small_segments(busy=busy)

    def list_open(self) -> list[PublishedIndex]:
        """Return the indices with an open engine; the first one of each shared segment store."""
        opened = (index for index in self._by_name.values() if index.engine.is_open)
        firsts: dict[SegmentStore, PublishedIndex] = {}
        for index in sorted(opened, key=_sort_key):
            firsts.setdefault(index.engine.get().segment_store, index)
        return list(firsts.values())

    def list_open_stores(self) -> list[tuple[SegmentStore, list[PublishedIndex]]]:
        """Return the open segment stores, each with the open indices that share it."""
        stores: dict[SegmentStore, list[PublishedIndex]] = {}
        opened = (index for index in self._by_name.values() if index.engine.is_open)
        for index in sorted(opened, key=_sort_key):
            stores.setdefault(index.engine.get().segment_store, []).append(index)
        return list(stores.items())

    def wants_vectors(self, index: PublishedIndex) -> bool:
        """Return whether an index is searched by vectors: by its settings, or on request."""
        if index.settings.get("mode") == NEURAL:
            return True
        try:
            requested = self._vector_request(index).stat().st_mtime
        except OSError:
            return False
        return time.time() - requested < VECTOR_REQUEST_SECONDS

    def request_vectors(self, index: PublishedIndex) -> None:
        """Have vectors computed for an index whose settings do not ask for them.

        The request is a file, which other processes see; it is renewed as long as searches ask.
        """
        now = time.monotonic()
        if now > self._renewals.get(index.records_id, -math.inf):
            path = self._vector_request(index)
            with suppress(OSError):  # a full disk: hits are found by words
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.touch()
            self._renewals[index.records_id] = now + RENEWAL_SECONDS
            self.vector_requests += 1

    def _vector_request(self, index: PublishedIndex) -> Path:
        return self._folder / str(index.records_id) / VECTOR_REQUEST

    def mark_unsaved(self, index: PublishedIndex) -> None:
        """Have the engine files of an index written again, also if they are being written."""
        self._marks[index.id] += 1
        self._saved.pop(index.id, None)

    def unsaved(self) -> list[PublishedIndex]:
        """Return the indices whose engine files are out of date."""
        return [
            index
            for index in self.list_open()
            if self._saved.get(index.id) != (index.stamp, index.engine.get().segment_store.names)
        ]

    def save(self, index: PublishedIndex) -> None:
        """Write the engine files, so that the next start need not rebuild them.

        Records written during the save may or may not be in the files. They are newer than the
        stamp of the files, so they are read from the records again when the files are loaded.
        """
        engine = index.engine.get()
        # A merge or a mark meanwhile makes them out of date.
        names, marks = engine.segment_store.names, self._marks[index.id]
        engine.save(self._files(index), index.stamp)
        if self._marks[index.id] == marks:
            self._saved[index.id] = index.stamp, names

    def _files(self, index: PublishedIndex) -> Path:
        """Return the folder of an index's engine files; a replica has one per primary."""
        has_records = index.records_id == index.id
        return self._folder / (str(index.id) if has_records else f"{index.id}-{index.records_id}")

    def remove_leftovers(self) -> None:
        """Remove the remains of deleted indices: compiled resources in memory, and engine files.

        Also removes the files of an index that shares the files of another one.
        """
        self.resources.retain([index.id for index in self._by_name.values()])
        waiting = (index for index in self._by_name.values() if not index.engine.is_open)
        kept = {self._files(index) for index in (*waiting, *self.list_open())}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path not in kept:
                number, _, _ = path.name.partition("-")
                self._saved.pop(int(number), None) if number.isdecimal() else None
                shutil.rmtree(path, ignore_errors=True)


def _sort_key(index: PublishedIndex) -> tuple[int, str]:
    """Sort key: primaries before replicas, then by name."""
    return index.primary_id, index.name
