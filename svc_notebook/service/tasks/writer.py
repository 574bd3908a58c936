"""The single thread that applies tasks in order and publishes their results to readers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from svc_notebook.service.background_thread import ERROR_LOG, BackgroundThread
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.store import Store, is_sqlite_damage, is_storage_failure
from svc_notebook.service.tasks.appliers import Publish, prepare_run, select_run
from svc_notebook.service.tasks.queue import QueuedTask, TaskQueue

# Seconds that a stop waits for the current run; the rest is applied at the next start.
STOP_SECONDS = 0.4
# Seconds between two attempts while the disk is full or another program locks the file.
RETRY_SECONDS = 0.2
# Seconds without writes before large segments are merged: the batches of a load follow each other.
MERGE_PAUSE_SECONDS = 0.25
PAUSED_MESSAGE = "writes are paused"
# A pause that lasts as long is reported to who asks for a task; most end by themselves.
REPORTED_PAUSE_SECONDS = 3.0


class WritesPaused(Exception):
    """A task waits because the disk fails; the message says what to do."""


class Writer:
    """Applies tasks in the background, from `start` to `stop`."""

    def __init__(self, store: Store, tasks: TaskQueue, catalog: IndexRegistry) -> None:
        self._store = store
        self._tasks = tasks
        self._catalog = catalog
        self._thread = BackgroundThread("svc-writer", self._work, store, PAUSED_MESSAGE)

    def start(self) -> None:
        """Start with the pending tasks of the last run."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current run."""
        self._thread.stop()
        self._tasks.arrived.set()
        self._thread.join(STOP_SECONDS)

    def check(self) -> None:
        """Raise `WritesPaused` if no task can be applied."""
        if failure := self._thread.describe_failure(REPORTED_PAUSE_SECONDS):
            raise WritesPaused(f"{failure}; what was accepted is written as soon as that is done")

    def _work(self) -> None:
        while not self._thread.stopping.is_set():
            if run := self._tasks.next_run():
                self._apply(select_run(self._catalog, run))
            else:
                self._tasks.arrived.wait()

    def _apply(self, run: Sequence[QueuedTask]) -> None:
        """Apply a run; while the disk fails, retry it."""
        apply = partial(self._try, run)
        while not self._thread.stopping.is_set() and not self._thread.attempt(apply, retried=True):
            self._thread.stopping.wait(RETRY_SECONDS)

    def _try(self, run: Sequence[QueuedTask]) -> None:
        try:
            try:
                self._publish(self._commit(run))
            finally:
                self._catalog.in_flight_writes.mark_visible()
        except Exception as error:
            if (
                is_storage_failure(error)
                or is_sqlite_damage(error)
                or self._thread.stopping.is_set()
            ):
                raise
            if len(run) > 1:  # a task that cannot be applied must not discard the others
                for task in run:
                    self._apply([task])
                return
            self._discard(run[0], error)
        self._tasks.published = run[-1].id
        self._merge(run)

    def _commit(self, run: Sequence[QueuedTask]) -> Publish:
        # Opening an engine reads records, so it precedes the changes of this run.
        for name in dict.fromkeys(task.index_name for task in run):
            if index := self._catalog.get(name):
                for published in self._catalog.replica_group(index):
                    published.engine.get()
        apply = prepare_run(self._catalog, run)
        with self._store.writing() as connection:
            return apply(connection)

    def _publish(self, publish: Publish) -> None:
        """Make a run visible to readers; on an error, reload the registry from the store."""
        if not self._thread.attempt(publish) and not self._thread.stopping.is_set():
            self._catalog.refresh()

    def _merge(self, run: Sequence[QueuedTask]) -> None:
        """Merge small segments once the run is published, so that its callers need not wait."""
        waiting = self._tasks.last > run[-1].id
        busy = waiting or self._tasks.arrived.wait(MERGE_PAUSE_SECONDS)
        if self._thread.stopping.is_set():
            return
        names = {task.index_name for task in run}
        self._thread.attempt(partial(self._catalog.merge_small_segments, names, busy=busy))

    def _discard(self, task: QueuedTask, error: Exception) -> None:
        """Delete a task that can never be applied, because it would block all later tasks."""
        ERROR_LOG.write_traceback(error)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM tasks WHERE id = ?", [task.id])
