"""The SQLite database that contains all data of the service."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.terminal import write_log
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.migrations import MIGRATIONS

# Times are stored in milliseconds since 1970.
HOUR_MS, DAY_MS = 3600 * 1000, 24 * 3600 * 1000

# Pages of 4 kB: fewer free ones stay for later writes; a part of them is released at a time, so
# that a write waits for some milliseconds at most.
MIN_RETURNED_PAGES, RETURNED_PAGES = 256, 1_000
INCREMENTAL_VACUUM = 2
# Page cache per connection in kilobytes: large for the writer, small for each reader, because there
# are many readers and they share the mapped file.
WRITER_CACHE_KB, READER_CACHE_KB = 64_000, 4_000
# Of a new database: its file can become smaller. It precedes what writes the first page, and waits
# for other writers, also in a database that has the mode: a reader does not run it.
_WRITER_PRAGMAS = ("auto_vacuum = INCREMENTAL",)
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "busy_timeout = 10000",
    "mmap_size = 1073741824",
    "journal_size_limit = 67108864",
    # In pages of 4 kB. A load writes some pages, such as those of the queue, several times in this.
    "wal_autocheckpoint = 4000",
    "temp_store = MEMORY",
)


@dataclass
class ReaderConnection:
    """The reading connection of one thread; the lock `busy` prevents closing during use."""

    connection: sqlite3.Connection
    busy: threading.RLock = field(default_factory=threading.RLock)


class Store:
    """One connection for writing, under a lock, and one connection for reading per thread."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[ReaderConnection] = []
        self._opening = threading.Lock()
        self._closed = False
        self._damage_reported = False
        self._lock = threading.RLock()
        if read_only:  # another process writes, and keeps the file as it must be
            return
        make_file_private(path)
        try:
            self._writer = self._connect()
        except sqlite3.Error as error:
            raise LocalServiceFailed(describe_failure(path, error)) from error
        try:
            self._prepare(self._writer, *_WRITER_PRAGMAS, cache=WRITER_CACHE_KB)
            self._migrate()
        except (sqlite3.Error, LocalServiceFailed) as error:
            self._writer.close()
            if isinstance(error, LocalServiceFailed):
                raise
            raise LocalServiceFailed(describe_failure(path, error)) from error

    def _connect(self) -> sqlite3.Connection:
        # `close` is called from another thread than the connection's.
        return sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)

    @staticmethod
    def _prepare(connection: sqlite3.Connection, *pragmas: str, cache: int) -> None:
        for pragma in (*pragmas, *_PRAGMAS, f"cache_size = -{cache}"):
            connection.execute(f"PRAGMA {pragma}")

    def _migrate(self) -> None:
        [version] = self._writer.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise LocalServiceFailed(
                f"{self.path} was written by a newer version of svc-notebook; update this one"
            )
        scripts = "\n".join(MIGRATIONS[version:])
        if scripts:  # in one transaction, because each one waits for the disk
            self._writer.executescript(
                f"BEGIN; {scripts} PRAGMA user_version = {len(MIGRATIONS)}; COMMIT;"
            )

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Provide the writing connection for one transaction, which is committed or rolled back."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # When the disk is full, SQLite has already rolled back.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def return_free_pages(self) -> bool:
        """Release a part of the free pages to the disk; return whether others are left.

        The file becomes smaller at the next checkpoint. Databases that were made without this
        option keep their size.
        """
        with self._lock:
            [free] = self._writer.execute("PRAGMA freelist_count").fetchone()
            [mode] = self._writer.execute("PRAGMA auto_vacuum").fetchone()
            if mode != INCREMENTAL_VACUUM or free < MIN_RETURNED_PAGES:
                return False
            # `execute` ends a statement without columns at its first step, which is one page.
            self._writer.executescript(f"PRAGMA incremental_vacuum({RETURNED_PAGES})")
            if free > RETURNED_PAGES:
                return True
            self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            return False

    def read(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one query on this thread's connection; return all rows."""
        reader = self._reader()
        with reader.busy:
            return reader.connection.execute(sql, values).fetchall()

    @contextmanager
    def rows(self, sql: str, *values: Any) -> Iterator[sqlite3.Cursor]:
        """Run one query and provide a cursor over its rows."""
        reader = self._reader()
        with reader.busy:
            rows = reader.connection.execute(sql, values)
            try:
                yield rows
            finally:
                rows.close()

    def _reader(self) -> ReaderConnection:
        reader: ReaderConnection | None = getattr(self._local, "reader", None)
        if reader is None:
            with self._opening:
                if self._closed:
                    raise sqlite3.ProgrammingError("the store is closed")
                reader = self._local.reader = ReaderConnection(self._connect())
                self._readers.append(reader)
                self._prepare(reader.connection, cache=READER_CACHE_KB)
        return reader

    def report_damage(self, error: BaseException) -> str:
        """Report once on the standard error that the file is damaged; return a message."""
        if not self._damage_reported:
            self._damage_reported = True
            write_log(describe_damage(self.path, error))
        return f"the service's database is damaged ({error}); its output says what to do"

    def close(self) -> None:
        """Close all connections after their current use; committed data is safe."""
        with self._opening:
            self._closed = True
        for reader in self._readers:
            reader.connection.interrupt()
            with reader.busy:
                reader.connection.close()
        with self._lock:
            self._writer.close()


def make_file_private(path: Path) -> None:
    """Make a database file private to its owner before it contains a key, regardless of the umask.

    SQLite gives the files that it creates next to it the same permissions.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        if os.name == "posix":
            path.chmod(0o600)
    except OSError as error:
        raise LocalServiceFailed(f"{path} cannot be used: {error.strerror}") from error


def is_damage(error: BaseException) -> bool:
    """Return whether the error means that stored data is corrupt."""
    unreadable = isinstance(error, (msgspec.DecodeError, UnicodeDecodeError))
    return unreadable or is_sqlite_damage(error) or UNDECODED_MESSAGE in str(error)


def is_sqlite_damage(error: BaseException) -> bool:
    """Return whether SQLite reports the file as corrupt, as opposed to the decoder of a value."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGE_CODES


DAMAGE_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
UNDECODED_MESSAGE = "Could not decode to UTF-8"


def describe_damage(path: Path, error: BaseException) -> str:
    """Describe the damage of a database file and how to recover."""
    return (
        f"the database {path} is damaged: {_first_fault(path) or error}. Stop the service, keep "
        f"a copy of the folder {path.parent}, then put a backup of the folder in its place. Or "
        f"rescue what can be read, in the folder: `sqlite3 {path.name} .recover | sqlite3 "
        f"rescued.sqlite`; delete {path.name}-wal, {path.name}-shm and the folder engine, which is "
        f"rebuilt, and rename rescued.sqlite to {path.name}. Or start on another folder with "
        "--data, and load the records again"
    )


def describe_failure(path: Path, error: Exception) -> str:
    """Describe why a database cannot be used: damage, or a full disk for instance."""
    if is_damage(error):
        return describe_damage(path, error)
    if is_storage_failure(error):
        return describe_unusable(path, error)
    return f"{path} cannot be used: {error}"


def describe_unusable(path: Path, error: Exception) -> str:
    """Describe why a file of the data folder cannot be used, and what to do."""
    reason = getattr(error, "strerror", None) or error
    return f"{path} cannot be used: {reason}; {advise_on_storage(error)}"


def _first_fault(path: Path) -> str:
    """Return the first finding of SQLite's integrity check; empty if there is none or it fails."""
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return ""
    try:
        report = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.Error:
        return ""
    finally:
        connection.close()
    return "" if report == "ok" else " ".join(report.split())


def is_storage_failure(error: Exception) -> bool:
    """Return whether the disk, the memory or a lock of another program caused the error."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, MemoryError) or (
        code is not None and code & 0xFF in STORAGE_FAILURE_CODES
    )


def advise_on_storage(error: BaseException) -> str:
    """Return what to do about a storage failure, by its cause."""
    # The low byte of a code is the primary code; the rest is the extended code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in LOCKED_CODES:
        return "another program has the database file open: close it"
    if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
        return "close other programs that use much memory"
    if code in FORBIDDEN_CODES or isinstance(error, PermissionError):
        return "make the data folder writable"
    return "free space on the disk, or look for faults of it"


LOCKED_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
FORBIDDEN_CODES = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
STORAGE_FAILURE_CODES = {
    *LOCKED_CODES, *FORBIDDEN_CODES, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
}  # fmt: skip


def current_milliseconds() -> int:
    """Return the current Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
