"""Compute the vectors of records in the background while no writes run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from svc_notebook.core.terminal import write_log
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.background_thread import ERROR_LOG, BackgroundThread
from svc_notebook.service.engine import SegmentStore
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.semantic.latent_model import LatentModel
from svc_notebook.service.engine.semantic.vector_index import LATENT, VectorIndex
from svc_notebook.service.engine.semantic.vector_table import VectorTable
from svc_notebook.service.heap import release_free_memory
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.records import read_bodies
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.search_models import Embedder
from svc_notebook.service.store import Store, is_damage
from svc_notebook.service.tasks.queue import TaskQueue

# Maximum seconds that one step of the computation waits for writes.
MAX_PAUSE_SECONDS = 2.0
# Texts per call of an embedder, and seconds between two publications of its vectors.
BATCH_TEXTS, PUBLISH_SECONDS = 64, 10.0
# Maximum seconds before an embedder is called again after an error.
MAX_RETRY_SECONDS = 600.0
NO_SCIPY = "the package SciPy is missing: install svc-notebook[semantic] and restart the service"


@dataclass(frozen=True)
class VectorTimes:
    """When the vectors of records are computed."""

    # Seconds between two checks, and between two checks of all indices while nothing asks for
    # vectors: these take milliseconds for hundreds of indices.
    poll_seconds: float = 0.25
    idle_seconds: float = 2.0
    # Seconds without writes before vectors are computed, or since the last time under steady
    # writes.
    quiet_seconds: float = 1.0
    max_wait_seconds: float = 30.0
    # Seconds before an embedder is called again after an error; they double up to the maximum.
    min_retry_seconds: float = 5.0


@dataclass
class _Retry:
    """When to try again after an error."""

    seconds: float
    after: float


class VectorBuilder:
    """The background thread that computes vectors for the indices that search by them."""

    def __init__(
        self,
        store: Store,
        tasks: TaskQueue,
        catalog: IndexRegistry,
        embedder: Embedder | None,
        times: VectorTimes | None = None,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._catalog = catalog
        self._embedder = embedder
        self._times = times or VectorTimes()
        self._thread = BackgroundThread("svc-vectors", self._work, store)
        self._last_seen_task = -1
        self._last_seen_request = 0
        self._quiet_since = self._built_at = self._check_after = time.monotonic()
        self._retries: dict[int, _Retry] = {}

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop without waiting for current work; published vectors are complete."""
        self._thread.stop()

    def _work(self) -> None:
        while not self._thread.stopping.wait(self._times.poll_seconds):
            self._thread.attempt(self._check)

    def _check(self) -> None:
        now, times = time.monotonic(), self._times
        if {self._tasks.published, self._tasks.last} != {self._last_seen_task}:
            self._last_seen_task, self._quiet_since = self._tasks.published, now
            quiet_check = now + times.quiet_seconds + times.poll_seconds
            self._check_after = min(self._check_after, quiet_check)
        requests = self._catalog.vector_requests
        if now < self._check_after and requests == self._last_seen_request:
            return
        quiet_after = self._quiet_since + times.quiet_seconds
        self._check_after = quiet_after if now < quiet_after else now + times.idle_seconds
        self._last_seen_request = requests
        for store, indices in self._catalog.list_open_stores():
            if not any(map(self._catalog.wants_vectors, indices)):
                self._drop(store, indices)
            elif self._is_due(indices[0]) and self._is_outdated(store, indices[0]):
                self._build(store, indices)

    def _is_due(self, index: PublishedIndex) -> bool:
        now = time.monotonic()
        retry = self._retries.get(index.id)
        if retry and now < retry.after:
            return False
        if now - self._quiet_since > self._times.quiet_seconds:
            return True
        return now - self._built_at > self._times.max_wait_seconds

    @property
    def _computes_latent(self) -> bool:
        return self._embedder is None or self._embedder.fuses_latent

    def _source(self, index: PublishedIndex) -> str:
        return self._embedder.source(index.settings) if self._embedder else LATENT

    def _latent_vectors(self, store: SegmentStore) -> VectorIndex | None:
        vectors = store.vectors
        return vectors.latent if vectors and self._embedder else vectors

    def _present_vectors(self, store: SegmentStore, index: PublishedIndex) -> VectorIndex:
        """Return the vectors of the store if they are of the current source, else none."""
        # A merge of segments may replace the vectors meanwhile.
        vectors, source = store.vectors, self._source(index)
        if vectors is None or vectors.source != source:
            return VectorIndex(source)
        return vectors

    def _is_outdated(self, store: SegmentStore, index: PublishedIndex) -> bool:
        vectors = store.vectors
        if not len(store):
            return False
        if vectors is None or (self._embedder and vectors.source != self._source(index)):
            return True
        if vectors.source != LATENT and not self._embedder:
            return False  # kept for a start with the embedder
        latent = self._latent_vectors(store)
        is_outdated = _needs_latent(store, latent) if self._computes_latent else bool(latent)
        return is_outdated or vectors.lacks_sketches or vectors.count_missing(store.readers) > 0

    def _drop(self, store: SegmentStore, indices: Sequence[PublishedIndex]) -> None:
        if store.vectors:
            store.publish_vectors(None)
            self._catalog.mark_unsaved(indices[0])
        self._set_problem(indices, "")

    def _build(self, store: SegmentStore, indices: Sequence[PublishedIndex]) -> None:
        index = indices[0]
        try:
            self._update(store, index)
        except ImportError:
            self._report(indices, NO_SCIPY)
        except LocalServiceFailed as error:
            self._report(indices, str(error))
        except Exception as error:
            if is_damage(error) or self._thread.stopping.is_set():
                raise
            ERROR_LOG.write_traceback(error)
            self._report(indices, f"vectors cannot be computed ({type(error).__name__}: {error})")
        else:
            self._retries.pop(index.id, None)
            self._set_problem(indices, "")
        self._built_at = time.monotonic()
        self._catalog.mark_unsaved(index)
        release_free_memory()

    def _update(self, store: SegmentStore, index: PublishedIndex) -> None:
        if self._computes_latent and _needs_latent(store, self._latent_vectors(store)):
            self._compute(store, index)
        if self._embedder:
            self._embed(store, index, self._embedder)
        if store.vectors and store.vectors.lacks_sketches:
            store.publish_vectors(store.vectors.with_sketches(store.readers, self._pause))

    def _report(self, indices: Sequence[PublishedIndex], problem: str) -> None:
        """Report a problem once, and in the responses of searches; try again later."""
        index = indices[0]
        if self._catalog.vector_problems.get(index.id) != problem:
            write_log(f"vectors of {index.name}: {problem}")
        self._set_problem(indices, problem)
        last = self._retries.get(index.id)
        seconds = self._times.min_retry_seconds
        if last:
            seconds = min(2 * last.seconds, MAX_RETRY_SECONDS)
        self._retries[index.id] = _Retry(seconds, time.monotonic() + seconds)

    def _set_problem(self, indices: Sequence[PublishedIndex], problem: str) -> None:
        """Set or clear the problem of all indices that share a segment store."""
        for index in indices:
            if problem:
                self._catalog.vector_problems[index.id] = problem
            else:
                self._catalog.vector_problems.pop(index.id, None)

    def _compute(self, store: SegmentStore, index: PublishedIndex) -> None:
        """Compute the vectors by the latent model, and the model if it is outdated."""
        readers, settings = store.readers, store.model_settings
        vectors = self._latent_vectors(store)
        model = vectors.model if vectors and _has_model(store, vectors) else None
        fresh = model is None
        if vectors is None or model is None:
            model = LatentModel.fit(readers, settings, self._pause)
            vectors = VectorIndex(LATENT, model, fitted=sum(reader.count for reader in readers))
        for reader in readers:
            missing = int(np.count_nonzero(vectors.missing_rows(reader)))
            if missing:
                table = model.embed_segment(reader.segment, self._pause)
                vectors = vectors.with_table(reader, table, 0 if fresh else missing)
        if self._embedder:
            vectors = replace(self._present_vectors(store, index), latent=vectors)
        store.publish_vectors(vectors)

    def _embed(self, store: SegmentStore, index: PublishedIndex, embedder: Embedder) -> None:
        """Compute the vectors by the embedder; those before an error are kept."""
        vectors = self._present_vectors(store, index)
        if vectors.latent and not embedder.fuses_latent:
            vectors = replace(vectors, latent=None)
            store.publish_vectors(vectors)
        for reader in store.readers:
            rows = np.flatnonzero(vectors.missing_rows(reader))
            before = vectors.table_of(reader)
            parts = []
            if before:
                stored = np.flatnonzero(before.known)
                parts.append((stored, before.take(stored)))
            published = time.monotonic()
            for start in range(0, len(rows), BATCH_TEXTS):
                self._pause()
                batch = rows[start : start + BATCH_TEXTS]
                try:
                    embedded = self._embed_batch(index, reader, batch, embedder)
                    _check_dimensions(vectors, parts, embedded, embedder)
                except LocalServiceFailed:
                    self._publish(store, vectors, reader, parts)
                    raise
                parts.append((batch, embedded))
                if time.monotonic() - published > PUBLISH_SECONDS:
                    vectors = self._publish(store, vectors, reader, parts)
                    published = time.monotonic()
            if len(rows):
                vectors = self._publish(store, vectors, reader, parts)
        if usage := embedder.take_usage():
            write_log(f"vectors of {index.name}: {usage}")

    def _publish(
        self,
        store: SegmentStore,
        vectors: VectorIndex,
        reader: SegmentReader,
        parts: Sequence[tuple[Array, VectorTable]],
    ) -> VectorIndex:
        if not parts:
            return vectors
        vectors = vectors.with_table(reader, VectorTable.joined(len(reader.segment), parts))
        store.publish_vectors(vectors)
        return vectors

    def _embed_batch(
        self, index: PublishedIndex, reader: SegmentReader, rows: Array, embedder: Embedder
    ) -> VectorTable:
        """Return the vectors of some rows; a record without text has the vector 0."""
        ids = reader.segment.ids.take(rows)
        bodies = read_bodies(self._store, index.records_id, ids)
        records = [msgspec.json.decode(bodies.get(name, b"{}")) for name in ids]
        return VectorTable.of(embedder.embed_records(records, index.settings, index.name))

    def _pause(self) -> None:
        """Wait while writes are pending; raises `InterruptedError` when the service stops."""
        until = time.monotonic() + MAX_PAUSE_SECONDS
        while self._tasks.published != self._tasks.last and time.monotonic() < until:
            if self._thread.stopping.wait(0.02):
                break
        if self._thread.stopping.is_set():
            raise InterruptedError("the service is stopping")


def _needs_latent(store: SegmentStore, latent: VectorIndex | None) -> bool:
    """Return whether latent vectors, or their model, are missing or outdated."""
    if latent is None or not _has_model(store, latent):
        return True
    return latent.count_missing(store.readers) > 0


def _has_model(store: SegmentStore, latent: VectorIndex) -> bool:
    """Return whether the model of latent vectors suits the records and the settings."""
    return latent.suits(store.model_settings) and not latent.is_outdated(len(store))


def _check_dimensions(
    vectors: VectorIndex,
    parts: Sequence[tuple[Array, VectorTable]],
    embedded: VectorTable,
    embedder: Embedder,
) -> None:
    """Raise `LocalServiceFailed` if vectors of records differ in their number of dimensions."""
    before = [*vectors.tables.values(), *(table for _, table in parts)]
    others = {table.dimensions for table in before} - {embedded.dimensions}
    if others:
        raise LocalServiceFailed(
            f"the embedder {embedder.name} returned {embedded.dimensions} dimensions, and "
            f"{min(others)} before: if the model changed, change the `version` of the "
            "function and restart the service, so that all records are embedded again"
        )
