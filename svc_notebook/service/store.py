"""One SQLite file: the only truth about everything the service holds."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from svc_notebook.errors import LocalServiceFailed

# One step a version; a step is never changed once it has been released.
MIGRATIONS = (
    """
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE indices (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        settings BLOB NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        stamp INTEGER NOT NULL
    );
    CREATE TABLE tasks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        index_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL
    );
    CREATE TABLE keys (
        value TEXT NOT NULL,
        index_name TEXT NOT NULL DEFAULT '',
        fields BLOB NOT NULL,
        created INTEGER NOT NULL,
        ends REAL,
        deleted INTEGER,
        PRIMARY KEY (value, index_name)
    ) WITHOUT ROWID;
    CREATE TABLE entries (
        owner INTEGER NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (owner, kind, id)
    ) WITHOUT ROWID;
    CREATE TABLE sources (source TEXT PRIMARY KEY, description TEXT) WITHOUT ROWID;
    CREATE TABLE logs (number INTEGER PRIMARY KEY, time REAL NOT NULL, entry BLOB NOT NULL);
    """,
)
# Kilobytes of pages a connection keeps: the writer's many, each reader's few, for there are many
# readers and they share the mapped file.
WRITER_CACHE, READER_CACHE = 64_000, 4_000
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "busy_timeout = 10000",
    "mmap_size = 1073741824",
    "journal_size_limit = 67108864",
    "temp_store = MEMORY",
)


class Store:
    """A connection that writes, under a lock, and one that reads for each thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        try:
            self._writer = self._connect(WRITER_CACHE)
            self._migrate()
        except sqlite3.Error as error:
            raise LocalServiceFailed(f"{path} cannot be used: {error}") from error

    def _connect(self, cache: int) -> sqlite3.Connection:
        # Threads take turns by the lock, and `close` comes from another thread than the readers'.
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        for pragma in (*_PRAGMAS, f"cache_size = -{cache}"):
            connection.execute(f"PRAGMA {pragma}")
        self._opened.append(connection)
        return connection

    def _migrate(self) -> None:
        [version] = self._writer.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise LocalServiceFailed(
                f"{self._path} was written by a newer version of svc-notebook; update this one"
            )
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            self._writer.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the writing connection for one transaction: all of it is kept, or nothing."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # When the disk is full, SQLite has rolled back by itself.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def read(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one query on this thread's own connection."""
        return list(self.stream(sql, *values))

    def stream(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run one query whose rows are taken one by one."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect(READER_CACHE)
        return connection.execute(sql, values)

    def close(self) -> None:
        """Close every connection; what is committed is safe."""
        with self._lock:
            for connection in self._opened:
                connection.close()


def is_storage_trouble(error: Exception) -> bool:
    """Whether the disk, the memory or another program on the file failed, not what was asked."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, MemoryError) or (code is not None and code & 0xFF in TROUBLES)


# The low byte of a code is its kind; the rest tells more.
TROUBLES = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL,
}  # fmt: skip
