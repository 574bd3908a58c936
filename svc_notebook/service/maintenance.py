"""Background maintenance while no writes run: merge segments, save engine files, warm up."""

from __future__ import annotations

import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.records import count_bodies, drop_retired, find_retired
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.store import Store, is_damage, is_storage_trouble
from svc_notebook.service.tasks.queue import Tasks

# Seconds between two checks.
POLL_SECONDS = 0.5
# Records an index may have per second without writes before its segments are merged: long merges
# wait longer, so that a pause between two writes is not spent on merging a million records.
MERGED_RECORDS_PER_QUIET_SECOND = 50_000
# Under continuous writes, files are written at this interval in seconds, or less often if saving
# takes long: at most a twentieth of the time.
SPELL, BURDEN = 5.0, 20
# Maximum total records of the engines opened at a start; others are opened by their first search.
MAX_PRELOADED_RECORDS = 200_000


class Maintenance:
    """The background thread that maintains engines and their files and runs periodic functions."""

    def __init__(
        self,
        store: Store,
        tasks: Tasks,
        catalog: IndexRegistry,
        chores: Sequence[Callable[[], None]],
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._catalog = catalog
        self._chores = chores
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="svc-keeper", daemon=True)
        self._seen = -1
        self._troubles: dict[Callable[[], None], str] = {}
        self._merged: dict[int, int] = {}
        self._warmed: dict[int, tuple[Any, ...]] = {}
        self._retired: set[str] = set()
        self._quiet_since = time.monotonic()
        self._save_after = self._quiet_since + SPELL

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop without waiting for current work; files are replaced atomically."""
        self._stopping.set()

    def _work(self) -> None:
        self._try(self._open_ahead)
        self._try(self._warm_all)
        while not self._stopping.wait(POLL_SECONDS):
            for chore in (*self._chores, self._look):
                self._try(chore)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
            self._troubles.pop(work, None)
        except Exception as error:
            if self._stopping.is_set():
                return
            if is_damage(error):
                self._store.report_damage(error)
            elif isinstance(error, OSError) or is_storage_trouble(error):
                self._tell(work, str(error))
            else:
                traceback.print_exc(file=sys.stderr)

    def _tell(self, work: Callable[[], None], trouble: str) -> None:
        """Report a failing disk once, although each check tries again."""
        if self._troubles.get(work) != trouble:
            sys.stderr.write(f"tidying waits: {trouble}; free the disk or the data folder\n")
        self._troubles[work] = trouble

    def _open_ahead(self) -> None:
        """Open engines ahead, last written first, so that searches need not wait for a replay."""
        left = MAX_PRELOADED_RECORDS
        for shelf in sorted(self._catalog.all(), key=lambda one: one.stamp, reverse=True):
            count = count_bodies(self._store, shelf.home)
            if count <= left and not self._stopping.is_set():
                left -= count
                shelf.engine.get()

    def _look(self) -> None:
        self._drop_retired()
        if self._tasks.published != self._seen or self._tasks.last != self._seen:
            self._seen, self._quiet_since = self._tasks.published, time.monotonic()
            if time.monotonic() > self._save_after:
                self._save()
            return
        quiet = time.monotonic() - self._quiet_since
        self._save()
        for shelf in self._catalog.stored():
            if self._merged.get(shelf.id) != shelf.stamp:
                self._merge(shelf, quiet)
        self._warm_all()
        self._catalog.sweep()

    def _save(self) -> None:
        """Write outdated files; under continuous writes only at intervals."""
        start = time.monotonic()
        for shelf in self._catalog.unsaved():
            self._catalog.save(shelf)
        end = time.monotonic()
        self._save_after = end + max(SPELL, BURDEN * (end - start))

    def _drop_retired(self) -> None:
        """Drop retired tables that were already found at the last check."""
        before, self._retired = self._retired, find_retired(self._store)
        if before & self._retired:
            with self._store.writing() as connection:
                drop_retired(connection, before)

    def _merge(self, shelf: PublishedIndex, quiet: float) -> None:
        """Merge an engine's segments into one: each segment costs every search about 0.5 ms."""
        index = shelf.engine.get()
        if quiet * MERGED_RECORDS_PER_QUIET_SECOND >= len(index):
            index.compact()
            self._catalog.save(shelf)
            self._merged[shelf.id] = shelf.stamp

    def _warm_all(self) -> None:
        shelves = self._catalog.all()
        for shelf in shelves:
            if not self._stopping.is_set():
                self._warm(shelf)
        for gone in self._warmed.keys() - {shelf.id for shelf in shelves}:
            del self._warmed[gone]

    def _warm(self, shelf: PublishedIndex) -> None:
        """Compile resources ahead, so that the first search after a start or change is fast."""
        library, opened = self._catalog.library, shelf.engine.opened
        knowledge, rules = library.knowledge(shelf.id), library.rules(shelf.id)
        # Weak references, so that merged or cleared segments are freed before the next check.
        views = shelf.engine.get().segment_store.readers if opened else ()
        pieces = tuple(weakref.ref(view.segment) for view in views)
        now = shelf.stamp, pieces, knowledge.lexicon, knowledge.synonyms, rules
        if self._warmed.get(shelf.id) != now:
            library.warm(shelf.id, shelf.settings)
            if opened:
                shelf.engine.get().warm(knowledge)
            self._warmed[shelf.id] = now
