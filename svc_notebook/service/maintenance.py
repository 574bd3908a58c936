"""Background maintenance while no writes run: merge segments, save engine files, warm up."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.engine.execution import without_missing_tables
from svc_notebook.service.engine.text.word_forms import count_finished
from svc_notebook.service.heap import RELEASE_INTERVAL_SECONDS, release_free_memory
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.records import count_bodies, drop_retired, find_retired
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.store import Store
from svc_notebook.service.tasks.queue import TaskQueue

# Seconds between two checks of all indices while no writes run: these take milliseconds for
# hundreds of indices.
IDLE_SECONDS = 2.0
# Records an index may have per second without writes before its segments are merged: long merges
# wait longer, so that a pause between two writes is not spent on merging a million records.
MERGED_RECORDS_PER_QUIET_SECOND = 50_000
# Saving takes at most a twentieth of the time.
SAVE_PAUSE_FACTOR = 20
PAUSED_MESSAGE = "maintenance is paused"


@dataclass(frozen=True)
class MaintenanceLimits:
    """How often engines are maintained, and how many of them are opened ahead."""

    # Seconds between two checks.
    poll_seconds: float = 0.5
    # Under continuous writes, files are written at this interval in seconds, or less often if
    # saving takes long.
    save_interval_seconds: float = 5.0
    # Maximum total records of the engines opened at a start; others are opened by their first
    # search.
    max_preloaded_records: int = 200_000


class Maintenance:
    """The background threads that maintain engines and their files and run periodic functions."""

    def __init__(
        self,
        store: Store,
        tasks: TaskQueue,
        catalog: IndexRegistry,
        periodic: Sequence[Callable[[], None]],
        limits: MaintenanceLimits | None = None,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._catalog = catalog
        self._periodic = periodic
        self._limits = limits or MaintenanceLimits()
        # Two threads: what periodic functions write must not wait for a long merge.
        self._thread = BackgroundThread("svc-maintenance", self._work, store, PAUSED_MESSAGE)
        self._periodic_thread = BackgroundThread(
            "svc-periodic", self._run_periodic, store, PAUSED_MESSAGE
        )
        self._last_seen_task = -1
        self._merged: dict[int, int] = {}
        self._warmed: dict[int, tuple[Any, ...]] = {}
        self._retired: set[str] = set()
        self._quiet_since = self._check_after = time.monotonic()
        self._save_after = self._quiet_since + self._limits.save_interval_seconds
        self._release_after = self._quiet_since + RELEASE_INTERVAL_SECONDS

    def start(self) -> None:
        """Start the threads."""
        self._thread.start()
        self._periodic_thread.start()

    def stop(self) -> None:
        """Stop without waiting for current work; files are replaced atomically."""
        self._thread.stop()
        self._periodic_thread.stop()

    def _work(self) -> None:
        for function in (self._preload, self._warm_all):
            self._thread.attempt(function, retried=True)
        while not self._thread.stopping.wait(self._limits.poll_seconds):
            for function in (self._check, self._release):
                self._thread.attempt(function, retried=True)

    def _run_periodic(self) -> None:
        while not self._periodic_thread.stopping.wait(self._limits.poll_seconds):
            for function in self._periodic:
                self._periodic_thread.attempt(function, retried=True)

    def _preload(self) -> None:
        """Open engines ahead, last written first, so that searches need not wait for a replay."""
        left = self._limits.max_preloaded_records
        for index in sorted(self._catalog.all(), key=lambda index: index.stamp, reverse=True):
            count = count_bodies(self._store, index.records_id)
            if count <= left and not self._thread.stopping.is_set():
                left -= count
                index.engine.get()

    def _check(self) -> None:
        self._drop_retired()
        if {self._tasks.published, self._tasks.last} != {self._last_seen_task}:
            self._last_seen_task, self._quiet_since = self._tasks.published, time.monotonic()
            self._check_after = self._quiet_since
            if time.monotonic() > self._save_after:
                self._save()
            return
        if time.monotonic() < self._check_after:
            return
        quiet = time.monotonic() - self._quiet_since
        self._save()
        for index in self._catalog.list_open():
            if self._merged.get(index.id) != index.stamp:
                self._merge(index, quiet)
        self._warm_all()
        self._catalog.remove_leftovers()
        while self._is_quiet() and self._store.return_free_pages():
            pass
        self._check_after = time.monotonic() + IDLE_SECONDS

    def _is_quiet(self) -> bool:
        """Return whether no write has arrived since the last check, and the thread goes on."""
        return self._tasks.last == self._last_seen_task and not self._thread.stopping.is_set()

    def _release(self) -> None:
        """Return the memory of large arrays that searches and merges have freed."""
        if time.monotonic() > self._release_after:
            release_free_memory()
            self._release_after = time.monotonic() + RELEASE_INTERVAL_SECONDS

    def _save(self) -> None:
        """Write outdated files; under continuous writes only at intervals."""
        start = time.monotonic()
        for index in self._catalog.unsaved():
            self._catalog.save(index)
        end = time.monotonic()
        pause = max(self._limits.save_interval_seconds, SAVE_PAUSE_FACTOR * (end - start))
        self._save_after = end + pause

    def _drop_retired(self) -> None:
        """Drop retired tables that were already found at the last check."""
        before, self._retired = self._retired, find_retired(self._store)
        if before & self._retired:
            with self._store.writing() as connection:
                drop_retired(connection, before)

    def _merge(self, index: PublishedIndex, quiet: float) -> None:
        """Merge an engine's segments: each of them costs every search about 0.5 ms."""
        engine = index.engine.get()
        if quiet * MERGED_RECORDS_PER_QUIET_SECOND >= len(engine):
            engine.compact(partial(self._catalog.save, index))
            self._merged[index.id] = index.stamp

    def _warm_all(self) -> None:
        indices = self._catalog.all()
        # Tables of languages that settings name are built beside this; then it is done again.
        with without_missing_tables():
            for index in indices:
                if not self._thread.stopping.is_set():
                    self._warm(index)
        for gone in self._warmed.keys() - {index.id for index in indices}:
            del self._warmed[gone]

    def _warm(self, index: PublishedIndex) -> None:
        """Compile resources ahead, so that the first search after a start or change is fast."""
        resources, opened = self._catalog.resources, index.engine.is_open
        knowledge, rules = resources.language_resources(index.id), resources.rules(index.id)
        # Weak references, so that merged or cleared segments are freed before the next check.
        readers = index.engine.get().segment_store.readers if opened else ()
        pieces = tuple(weakref.ref(reader.segment) for reader in readers)
        built = count_finished()
        now = index.stamp, pieces, knowledge.lexicon, knowledge.synonyms, rules, built
        if self._warmed.get(index.id) != now:
            resources.warm(index.id, index.settings)
            if opened:
                index.engine.get().warm(knowledge)
            self._warmed[index.id] = now
