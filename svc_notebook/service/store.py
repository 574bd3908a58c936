"""The SQLite database that contains all data of the service."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.errors import LocalServiceFailed

# Adds the outcomes of events: one row for each clicked or converted object of a search. The revenue
# of an object without a price is its share of the event's value.
_ADD_OUTCOMES = """
    INSERT INTO outcomes
    SELECT e.number,
        coalesce(json_extract(e.text, '$.objectData[' || o.key || '].queryID'),
                 json_extract(e.text, '$.queryID')) AS query_id,
        coalesce(json_extract(e.text, '$.eventSubtype'), e.kind), o.value,
        json_extract(e.text, '$.positions[' || o.key || ']'),
        upper(json_extract(e.text, '$.currency')),
        coalesce(
            CAST(json_extract(e.text, '$.objectData[' || o.key || '].price') AS REAL)
            * coalesce(json_extract(e.text, '$.objectData[' || o.key || '].quantity'), 1),
            CAST(json_extract(e.text, '$.value') AS REAL) / e.objects)
    FROM (
        SELECT number, kind, CAST(body AS TEXT) AS text,
            coalesce(json_array_length(CAST(body AS TEXT), '$.objectIDs'), 1) AS objects
        FROM events
    ) AS e, json_each(coalesce(json_extract(e.text, '$.objectIDs'), '[null]')) AS o
    WHERE e.kind <> 'view' AND query_id IS NOT NULL
"""
# One migration per version; a released migration is never changed.
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
    """
    ALTER TABLE indices ADD COLUMN leader INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE indices ADD COLUMN virtual INTEGER NOT NULL DEFAULT 0;
    """,
    # Record tables have a stamp, which earlier versions cannot write: `records.add_stamps`.
    "",
    """
    CREATE TABLE crawlers (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        running INTEGER NOT NULL DEFAULT 0,
        version INTEGER NOT NULL DEFAULT 0,
        due REAL,
        began TEXT,
        ended TEXT,
        blocking_task TEXT,
        blocking_error TEXT
    );
    CREATE TABLE crawler_versions (
        crawler INTEGER NOT NULL,
        version INTEGER NOT NULL,
        config BLOB NOT NULL,
        created TEXT NOT NULL,
        PRIMARY KEY (crawler, version)
    ) WITHOUT ROWID;
    CREATE TABLE crawler_tasks (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        crawler INTEGER NOT NULL,
        kind TEXT NOT NULL,
        time REAL NOT NULL,
        state TEXT NOT NULL,
        urls BLOB,
        writes INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX crawler_tasks_recent ON crawler_tasks (crawler, kind, time);
    CREATE TABLE crawls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        crawler INTEGER NOT NULL,
        task TEXT NOT NULL,
        config BLOB NOT NULL,
        state TEXT NOT NULL,
        pages INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE crawl_urls (
        place INTEGER PRIMARY KEY,
        crawl INTEGER NOT NULL,
        url TEXT NOT NULL,
        depth INTEGER NOT NULL,
        kind TEXT NOT NULL,
        seed INTEGER NOT NULL,
        status TEXT,
        category TEXT,
        reason TEXT,
        readable TEXT,
        given BLOB,
        remembered BLOB,
        UNIQUE (crawl, url)
    );
    CREATE INDEX crawl_urls_waiting ON crawl_urls (crawl, depth, place) WHERE status IS NULL;
    """,
    """
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        kind TEXT NOT NULL,
        token TEXT NOT NULL,
        known TEXT,
        digest BLOB UNIQUE,
        body BLOB NOT NULL
    );
    CREATE INDEX events_of_index ON events (index_name, number);
    CREATE INDEX events_of_token ON events (token, number);
    CREATE INDEX events_of_known ON events (known, number) WHERE known IS NOT NULL;
    CREATE INDEX events_by_time ON events (time);
    CREATE TABLE shown (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        query TEXT NOT NULL UNIQUE,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        token TEXT NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX shown_of_index ON shown (index_name, number);
    CREATE INDEX shown_of_token ON shown (token, number) WHERE token <> '';
    CREATE INDEX shown_by_time ON shown (time);
    CREATE TABLE forgotten (token TEXT NOT NULL, time INTEGER NOT NULL, last INTEGER NOT NULL);
    """,
    "ALTER TABLE crawl_urls ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;",
    # More facts of each URL: the place of the URL that linked to it, and the time of its visit.
    """
    ALTER TABLE crawls ADD COLUMN warning TEXT;
    ALTER TABLE crawl_urls ADD COLUMN referrer INTEGER;
    ALTER TABLE crawl_urls ADD COLUMN ended REAL;
    """,
    # Counted searches; `objects` are numbers of `counted_objects`, four bytes each.
    f"""
    ALTER TABLE shown ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX shown_not_thinned ON shown (time) WHERE thinned = 0;
    CREATE TABLE counted (
        number INTEGER PRIMARY KEY,
        time INTEGER NOT NULL,
        index_name TEXT NOT NULL,
        query TEXT NOT NULL,
        hits INTEGER NOT NULL,
        user TEXT NOT NULL,
        superseded INTEGER NOT NULL DEFAULT 0,
        query_id TEXT,
        filters TEXT,
        tags TEXT,
        country TEXT,
        objects BLOB,
        test INTEGER,
        variant INTEGER
    );
    CREATE INDEX counted_of_index ON counted (index_name, time);
    CREATE INDEX counted_of_query_id ON counted (query_id) WHERE query_id IS NOT NULL;
    CREATE INDEX counted_superseded ON counted (time) WHERE superseded = 1;
    CREATE TABLE counted_objects (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
    CREATE TABLE outcomes (
        event INTEGER NOT NULL,
        query_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        object TEXT,
        position INTEGER,
        currency TEXT,
        revenue REAL
    );
    CREATE INDEX outcomes_of_query_id ON outcomes (query_id);
    CREATE INDEX outcomes_of_event ON outcomes (event);
    {_ADD_OUTCOMES};
    CREATE TRIGGER events_add_outcomes AFTER INSERT ON events BEGIN
        {_ADD_OUTCOMES} AND e.number = new.number;
        UPDATE counted SET superseded = 0 WHERE superseded = 1
            AND query_id IN (SELECT query_id FROM outcomes WHERE event = new.number);
    END;
    CREATE TRIGGER events_delete_outcomes AFTER DELETE ON events BEGIN
        DELETE FROM outcomes WHERE event = old.number;
    END;
    """,
    # The configurations of query suggestions; `due` is the time of their next build.
    """
    CREATE TABLE suggestions (
        index_name TEXT PRIMARY KEY,
        config BLOB NOT NULL,
        due INTEGER NOT NULL,
        started INTEGER,
        ended INTEGER,
        succeeded INTEGER,
        duration INTEGER,
        log BLOB
    ) WITHOUT ROWID;
    """,
    # A/B tests; `control` is the index whose searches are divided, times are in milliseconds.
    """
    CREATE TABLE ab_tests (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        control TEXT NOT NULL,
        name TEXT NOT NULL,
        created INTEGER NOT NULL,
        ends INTEGER NOT NULL,
        stopped INTEGER,
        variants BLOB NOT NULL,
        configuration BLOB NOT NULL
    );
    CREATE INDEX counted_of_test ON counted (test) WHERE test IS NOT NULL;
    """,
)
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
            raise LocalServiceFailed(_describe(path, error)) from error
        try:
            self._prepare(self._writer, *_WRITER_PRAGMAS, cache=WRITER_CACHE_KB)
            self._migrate()
        except (sqlite3.Error, LocalServiceFailed) as error:
            self._writer.close()
            if isinstance(error, LocalServiceFailed):
                raise
            raise LocalServiceFailed(_describe(path, error)) from error

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
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            self._writer.executescript(f"BEGIN; {script} PRAGMA user_version = {number}; COMMIT;")

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
        with self.rows(sql, *values) as rows:
            return rows.fetchall()

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
            sys.stderr.write(f"{describe_damage(self.path, error)}\n")
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


def _describe(path: Path, error: sqlite3.Error | LocalServiceFailed) -> str:
    return describe_damage(path, error) if is_damage(error) else f"{path} cannot be used: {error}"


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


# The low byte of a code is the primary code; the rest is the extended code.
STORAGE_FAILURE_CODES = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL,
}  # fmt: skip
