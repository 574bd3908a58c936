"""The private DuckDB database of one load: Arrow results, and DuckDB errors mapped to ours."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from svc_notebook.client.background_loop import beating
from svc_notebook.errors import BadInput
from svc_notebook.loading.sql import text

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

T = TypeVar("T")
# Seconds in which a stopped query must end.
INTERRUPT_SECONDS = 0.5
# And how long it is waited for before its connection is left to it.
ABANDON_SECONDS = 10.0
LEAST_MEGABYTES = 128
THREADS = min(4, os.cpu_count() or 1)
SETTINGS = {
    "threads": THREADS,
    "memory_limit": f"{LEAST_MEGABYTES}MB",
    "preserve_insertion_order": True,
}
# Where a container's limit of memory stands; a text in place of a number is none.
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
PLENTY_BYTES = 8_000_000_000
# So much of a machine's memory one load may take.
MACHINE_SHARE = 0.75
# Columns of a table that is no longer read in several threads.
MAX_PARALLEL_COLUMNS = 100

KIND = re.compile(r"[A-Z][A-Za-z-]*(?: [A-Za-z/]+)* Error: ")
ADVICE = {
    "ConversionException": "; TRY_CAST gives NULL where CAST fails",
    "InvalidInputException": "; is it whole, and what its name says?",
    "OutOfMemoryException": "; load it in parts",
    "OSError": "; load it in parts",
}


class ReadingStopped(Exception):
    """A query was interrupted by the caller."""


class MemoryShort(BadInput):
    """A query needs more memory than its limit."""


class Database:
    """One in-memory database, opened when first used, and a folder that is gone when it closes."""

    def __init__(self) -> None:
        # What is read from, as messages name it.
        self.about = "the source"
        self.stopped = False
        self._defined: set[str] = set()
        self._megabytes, self._threads = LEAST_MEGABYTES, THREADS
        # What else ends with it.
        self.ends = ExitStack()

    @cached_property
    def folder(self) -> Path:
        """A folder of its own."""
        return Path(tempfile.mkdtemp(prefix="svc-load-"))

    @cached_property
    def connection(self) -> Any:
        """What runs the queries; opening it takes longer than a few rows do."""
        if self.stopped:
            raise ReadingStopped
        config = SETTINGS | {"temp_directory": str(self.folder / "spill")}
        opened = import_duckdb().connect(config=config)
        opened.execute("SET TimeZone = 'UTC'")
        # It would draw its own in interactive sessions.
        opened.execute("SET enable_progress_bar = false")
        return opened

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch everything."""
        while True:
            try:
                with translated(self.about):
                    fetched: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
                return fetched
            except MemoryShort:
                if not self._grant_more():
                    raise

    def chunks(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query and stream its rows as Arrow, as DuckDB gives them."""
        begun = False
        while True:
            try:
                for chunk in self._stream(sql, rows):
                    begun = True
                    yield chunk
                return
            except MemoryShort:
                if begun or not self._grant_more():
                    raise

    def _stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        with translated(self.about):
            relation = self.connection.sql(sql)
            if relation is None:
                raise BadInput("the SQL gives no rows; it should be a SELECT")
            read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            try:
                yield from read(rows)
            except OSError as error:  # what Arrow makes of an error amid the rows
                raise _meant(self.about, error) from error

    def types(self, sql: str) -> dict[str, str]:
        """Tell the names and types of a query's columns."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE {sql}")}

    def names(self, query: str) -> list[str]:
        """Tell the names of a query's columns as they are written, twins too."""
        return [row[0] for row in self.rows(f"DESCRIBE {query}")]

    def keep(self, query: str, name: str) -> str:
        """Run a query once and keep its rows on the disk, in order; returns what to read."""
        self.rows(f"ATTACH IF NOT EXISTS {text(str(self.folder / 'kept.db'))} AS kept")
        self.rows(f"CREATE OR REPLACE TABLE kept.{name} AS {query}")
        return f"kept.{name}"

    def make_room(self, columns: int) -> None:
        """Let a wide table have what it needs: rows are read 2,048 at a time in each thread."""
        if columns > MAX_PARALLEL_COLUMNS:
            self.grant(LEAST_MEGABYTES + columns, threads=1)

    def grant(self, megabytes: int, *, threads: int | None = None) -> None:
        """Allow queries so much memory, if the machine has it, and at most so many threads."""
        most = max(LEAST_MEGABYTES, int(machine_megabytes() * MACHINE_SHARE))
        self._megabytes = min(max(self._megabytes, megabytes), most)
        self.rows(f"SET memory_limit = '{self._megabytes}MB'")
        if threads is not None and threads < self._threads:
            self._threads = threads
            self.rows(f"SET threads = {threads}")

    def _grant_more(self) -> bool:
        """Allow twice the memory for another try; false where the machine has no more."""
        before = self._megabytes
        self.grant(2 * before)
        return self._megabytes > before

    @property
    def threads(self) -> int:
        """How many threads read at once."""
        return self._threads

    def define(self, name: str, write: Callable[[list[str | None]], list[str | None]]) -> None:
        """Make a function from texts to texts known to SQL."""
        import pyarrow as pa

        def run(texts: Any) -> Any:
            return pa.array(write(texts.to_pylist()), pa.string())

        if name not in self._defined:
            with translated(self.about):
                self.connection.create_function(name, run, ["VARCHAR"], "VARCHAR", type="arrow")
            self._defined.add(name)

    def register(self, name: str, table: Any) -> None:
        """Make an Arrow table known by a name."""
        with translated(self.about):
            self.connection.register(name, table)

    async def in_thread(self, work: Callable[..., T], *args: Any) -> T:
        """Run blocking work in a thread; cancelled, it stops the query and sees the thread end."""
        running = asyncio.ensure_future(asyncio.to_thread(work, *args))
        try:
            with beating():
                return await asyncio.shield(running)
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            running.add_done_callback(_forget)
            raise

    def interrupt(self) -> None:
        """Stop the running query, and any that would be the first, from any thread."""
        self.stopped = True
        if opened := self.__dict__.get("connection"):
            opened.interrupt()

    def close(self) -> None:
        """Forget everything, temporary files too."""
        if opened := self.__dict__.pop("connection", None):
            _close(opened)
        if folder := self.__dict__.pop("folder", None):
            shutil.rmtree(folder, ignore_errors=True)
        self.ends.close()

    async def leave(self) -> None:
        """Close without holding up the event loop: ending the threads takes a while."""
        await asyncio.shield(asyncio.to_thread(self.close))

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def import_duckdb() -> Any:
    """Import DuckDB, or say how to get it."""
    try:
        import duckdb
        import pyarrow  # noqa: F401 - DuckDB hands its rows over through it
    except ImportError as error:
        raise BadInput(
            'bulk work needs DuckDB and pyarrow: pip install "svc-notebook[bulk]"'
        ) from error
    return duckdb


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection, once a query that was stopped has let go of it."""
    import duckdb

    until = time.monotonic() + ABANDON_SECONDS
    while True:
        try:
            connection.close()
        except duckdb.Error:  # it is busy: the thread that uses it is on its way out
            if time.monotonic() > until:
                return  # and closes it with the last of its references
            connection.interrupt()
            time.sleep(0.02)
        else:
            return


def machine_megabytes() -> int:
    """Return the memory of the machine, or of the container, in MB; plenty where nothing tells."""
    found = []
    with suppress(AttributeError, OSError, ValueError):  # other systems have no such names
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in CONTAINER_LIMITS:
        with suppress(OSError, ValueError):
            found.append(int(Path(limit).read_text(encoding="ascii")))
    return min((size for size in found if size > 0), default=PLENTY_BYTES) // 1_000_000


def _forget(ended: asyncio.Future[Any]) -> None:
    if not ended.cancelled():
        ended.exception()


@contextmanager
def translated(about: str) -> Iterator[None]:
    """Convert a DuckDB error about a source into one of ours."""
    duckdb = import_duckdb()
    try:
        yield
    except duckdb.InterruptException as error:
        raise ReadingStopped from error
    except duckdb.OutOfMemoryException as error:
        raise MemoryShort(_unreadable(about, error)) from error
    except duckdb.Error as error:
        raise BadInput(_unreadable(about, error)) from error


def _meant(about: str, error: OSError) -> Exception:
    if "INTERRUPT Error" in str(error):
        return ReadingStopped()
    kind = MemoryShort if "Out of Memory Error" in str(error) else BadInput
    return kind(_unreadable(about, error))


def _unreadable(about: str, error: Exception) -> str:
    advice = ADVICE.get(type(error).__name__, "")
    return f"{about} cannot be read: {first_sentence(str(error))}{advice}"


def first_sentence(message: str) -> str:
    """Keep what a DuckDB message says is wrong, without the name of its kind."""
    line = message.strip().partition("\n")[0]
    return KIND.sub("", line).rstrip(".") or "DuckDB says nothing more"
