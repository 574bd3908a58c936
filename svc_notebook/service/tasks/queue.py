"""The queue of writes: each write is a row in SQLite, committed before it is acknowledged."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from svc_notebook.service.store import Store

# Maximum consecutive tasks applied together: enough to amortize a commit, few enough that a waiting
# write is not delayed for long.
MAX_RUN_TASKS = 64
MAX_RUN_BYTES = 4 * 2**20


class NewTask(NamedTuple):
    """A write without a number."""

    index_name: str
    kind: str
    body: bytes


class QueuedTask(NamedTuple):
    """An accepted write."""

    id: int
    index_name: str
    kind: str
    body: bytes


@dataclass
class _PendingCommit:
    """A write that is being committed, and the numbers it gets."""

    tasks: Sequence[NewTask]
    ids: list[int] = field(default_factory=list)
    error: Exception | None = None


@dataclass
class TaskTransaction:
    """A transaction that changes other data and also queues writes."""

    connection: sqlite3.Connection
    ids: list[int] = field(default_factory=list)

    def queue(self, task: NewTask) -> int:
        """Queue a write; return its number, which is valid after the commit."""
        self.ids.append(_insert(self.connection, task))
        return self.ids[-1]


class TaskQueue:
    """Accepted writes in order of their numbers; all up to `published` are visible.

    A task's row is deleted in the transaction that applies it, so the table contains the pending
    tasks.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[_PendingCommit] = deque()
        self._commit_lock = threading.Lock()
        self.arrived = threading.Event()
        self.last = self._last_number()
        first = store.read("SELECT min(id) FROM tasks")[0][0]
        self.published = self.last if first is None else first - 1

    def _last_number(self) -> int:
        rows = self._store.read("SELECT seq FROM sqlite_sequence WHERE name = 'tasks'")
        return int(rows[0][0]) if rows else 0

    def submit(self, *tasks: NewTask) -> list[int]:
        """Return the numbers of the writes after they are on disk.

        The thread that holds the lock commits for all that wait, so that many writers share one
        flush.
        """
        pending = _PendingCommit(tasks)
        self._waiting.append(pending)
        with self._commit_lock:
            if not pending.ids and not pending.error:
                self._commit([self._waiting.popleft() for _ in range(len(self._waiting))])
        if pending.error:
            raise pending.error
        return pending.ids

    @contextmanager
    def transaction(self) -> Iterator[TaskTransaction]:
        """Provide a transaction that changes other data and queues the resulting writes."""
        with self._store.writing() as connection:
            transaction = TaskTransaction(connection)
            yield transaction
        if transaction.ids:
            with self._commit_lock:
                self.last = max(self.last, *transaction.ids)
            self.arrived.set()

    def _commit(self, commits: list[_PendingCommit]) -> None:
        try:
            with self._store.writing() as connection:
                numbers = [
                    [_insert(connection, task) for task in commit.tasks] for commit in commits
                ]
        except Exception as error:
            for pending in commits:
                pending.error = error
            return
        for pending, ids in zip(commits, numbers, strict=True):
            pending.ids = ids
        self.last = max(self.last, *(max(ids) for ids in numbers))
        self.arrived.set()

    def next_run(self) -> list[QueuedTask]:
        """Return the oldest pending task, and the writes of records that follow on such a write."""
        self.arrived.clear()
        run: list[QueuedTask] = []
        size = 0
        with self._store.rows(
            "SELECT id, index_name, kind, body FROM tasks WHERE id > ? ORDER BY id LIMIT ?",
            self.published,
            MAX_RUN_TASKS,
        ) as rows:
            for task in map(QueuedTask._make, rows):
                size += len(task.body)
                if run and (size > MAX_RUN_BYTES or {task.kind, run[0].kind} != {"steps"}):
                    break
                run.append(task)
        return run

    def pending(self) -> dict[str, int]:
        """Return the number of pending tasks by index."""
        return dict(
            self._store.read(
                "SELECT index_name, count(*) FROM tasks WHERE id > ? GROUP BY 1", self.published
            )
        )


def _insert(connection: sqlite3.Connection, task: NewTask) -> int:
    row = connection.execute(
        "INSERT INTO tasks (index_name, kind, body) VALUES (?, ?, ?) RETURNING id", task
    ).fetchone()
    return int(row[0])
