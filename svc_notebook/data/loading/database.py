"""The private DuckDB database of a load: queries, aggregates, memory, and errors as `BadInput`."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from svc_notebook.core.locked_folders import TemporaryFolder
from svc_notebook.core.redaction import cause_of, mask_secrets
from svc_notebook.data.client.background_loop import regular_wake_ups
from svc_notebook.data.loading.sql import text
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from svc_notebook.data.loading.table import SourceTable

T = TypeVar("T")
# How long a cancelled load waits for the thread of its query.
INTERRUPT_SECONDS = 0.5
# How long closing waits for an interrupted query; then the query's thread closes the connection.
ABANDON_SECONDS = 10.0
CLOSE_POLL_SECONDS = 0.02
MIN_MEGABYTES = 128
THREADS = min(4, os.cpu_count() or 1)
SETTINGS = {
    "threads": THREADS,
    "memory_limit": f"{MIN_MEGABYTES}MB",
    "preserve_insertion_order": True,
}
# The files with a container's memory limit; a word instead of a number means no limit.
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
DEFAULT_MACHINE_BYTES = 8_000_000_000
# The maximum share of a machine's memory that one load takes.
MACHINE_SHARE = 0.75
# A table with more columns is read by one thread.
MAX_PARALLEL_COLUMNS = 100
# Aggregates of one pass: a pattern takes half a megabyte in each thread.
MAX_AGGREGATES_PER_PASS = 256
ROW_COUNT = "count(*)"
# The name of a table's column in SQL.
COLUMN = re.compile(r"\bc\d+\b")
POSITION = re.compile(r"\bpos\b")
# Fewer columns are computed faster side by side.
MIN_CELLWISE_COLUMNS = 64
# Columns of one query that counts distinct values, which are in memory.
MAX_DISTINCT_COLUMNS = 256
# The value of each cell in a template.
VALUE = "v"

ERROR_KIND = re.compile(r"[A-Z][A-Za-z-]*(?: [A-Za-z/]+)* Error: ")
ADVICE = {
    "ConversionException": "; TRY_CAST gives NULL where CAST fails",
    "InvalidInputException": "; check that it is complete and has the format of its extension",
    "OutOfMemoryException": "; load it in parts",
    "OSError": "; load it in parts",
}


class ReadingStopped(Exception):
    """A query was interrupted by the caller."""


class MemoryShort(BadInput):
    """A query needs more memory than its limit."""


class Database:
    """One in-memory database, opened when first used, and a folder that is removed at its end."""

    def __init__(self) -> None:
        # The name of the source in messages.
        self.about = "the source"
        self.stopped = False
        self._defined: set[str] = set()
        self._megabytes = MIN_MEGABYTES
        # The number of threads that read at once.
        self.threads = THREADS
        # Contexts that are closed with the database.
        self.ends = ExitStack()

    @cached_property
    def folder(self) -> Path:
        """A temporary folder for this database."""
        self._temporary = TemporaryFolder()
        return self._temporary.path

    @cached_property
    def connection(self) -> Any:
        """The DuckDB connection; opening it takes longer than sending a few rows."""
        if self.stopped:
            raise ReadingStopped
        config = SETTINGS | {"temp_directory": str(self.folder / "spill")}
        opened = import_duckdb().connect(config=config)
        opened.execute("SET TimeZone = 'UTC'")
        # DuckDB draws a progress bar in interactive sessions.
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

    def chunks(self, sql: str, rows: int, *, ordered: bool = False) -> Iterator[pa.RecordBatch]:
        """Run a query and stream its rows as Arrow record batches.

        If memory runs short, the query runs again with more. `ordered` says that it returns its
        rows in the same order each time: then it goes on after the rows that were streamed.
        """
        streamed = 0
        while True:
            skipped = 0
            try:
                for chunk in self._stream(sql, rows):
                    skipped_rows = min(streamed - skipped, len(chunk))
                    skipped += skipped_rows
                    if skipped_rows < len(chunk):
                        streamed += len(chunk) - skipped_rows
                        skipped = streamed
                        yield chunk.slice(skipped_rows)
                return
            except MemoryShort:
                if (streamed and not ordered) or not self._grant_more():
                    raise

    def _stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        with translated(self.about):
            relation = self.connection.sql(sql)
            if relation is None:
                raise BadInput("the SQL returns no rows; pass a SELECT")
            try:
                yield from read_relation(relation, rows)
            except OSError as error:  # Arrow raises it for an error between two batches
                raise _as_ours(self.about, error) from cause_of(error)

    def aggregates(
        self, expressions: Iterable[str], source: str, *, always: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Compute aggregates in passes of a few hundred; the keys are the SQL expressions.

        Each pass computes `always` and the number of rows, too.
        """
        distinct = list(dict.fromkeys(expressions))
        values: dict[str, Any] = {}
        for start in range(0, max(len(distinct), 1), MAX_AGGREGATES_PER_PASS):
            some = distinct[start : start + MAX_AGGREGATES_PER_PASS]
            every = list(dict.fromkeys([ROW_COUNT, *always, *some]))
            (row,) = self.rows(f"SELECT {', '.join(every)} FROM {source}")
            values |= zip(every, row, strict=True)
        return values

    def types(self, sql: str) -> dict[str, str]:
        """Return the type of each column of a query, by name."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE {sql}")}

    def names(self, query: str) -> list[str]:
        """Return the names of a query's columns in the query's case, duplicates included."""
        return [row[0] for row in self.rows(f"DESCRIBE {query}")]

    def keep(self, query: str, name: str) -> str:
        """Run a query once and store its rows on the disk, in order; return the table's name."""
        self.rows(f"ATTACH IF NOT EXISTS {text(str(self.folder / 'kept.db'))} AS kept")
        self.rows(f"CREATE OR REPLACE TABLE kept.{name} AS {query}")
        return f"kept.{name}"

    def grant_for_columns(self, columns: int) -> None:
        """Raise the limit for a wide table: each thread reads 2,048 rows at a time."""
        if columns > MAX_PARALLEL_COLUMNS:
            self.grant(MIN_MEGABYTES + columns, threads=1)

    def grant(self, megabytes: int, *, threads: int | None = None) -> None:
        """Raise the memory limit as far as the machine allows, and limit the threads."""
        most = max(MIN_MEGABYTES, int(machine_megabytes() * MACHINE_SHARE))
        self._megabytes = min(max(self._megabytes, megabytes), most)
        self.rows(f"SET memory_limit = '{self._megabytes}MB'")
        if threads is not None and threads < self.threads:
            self.threads = threads
            self.rows(f"SET threads = {threads}")

    def _grant_more(self) -> bool:
        """Double the memory limit for another attempt; return False if the machine has no more."""
        before = self._megabytes
        self.grant(2 * before)
        return self._megabytes > before

    def define(self, name: str, write: Callable[[list[str | None]], list[str | None]]) -> None:
        """Define a function from texts to texts in SQL."""
        import pyarrow as pa

        def run(texts: Any) -> Any:
            return pa.array(write(texts.to_pylist()), pa.string())

        if name not in self._defined:
            with translated(self.about):
                self.connection.create_function(name, run, ["VARCHAR"], "VARCHAR", type="arrow")
            self._defined.add(name)

    def register(self, name: str, table: Any) -> None:
        """Register an Arrow table under a name."""
        with translated(self.about):
            self.connection.register(name, table)

    async def in_thread(self, work: Callable[..., T], *args: Any) -> T:
        """Run blocking work in a thread; if cancelled, interrupt the query and await the thread."""
        running = asyncio.ensure_future(asyncio.to_thread(work, *args))
        try:
            with regular_wake_ups():
                return await asyncio.shield(running)
        except asyncio.CancelledError:
            self.interrupt()
            await asyncio.wait([running], timeout=INTERRUPT_SECONDS)
            # An error that nobody retrieves would be logged.
            running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise

    def interrupt(self) -> None:
        """Stop the running query, from any thread; later queries raise `ReadingStopped`."""
        self.stopped = True
        if opened := self.__dict__.get("connection"):
            opened.interrupt()

    def close(self) -> None:
        """Close the connection and remove the temporary files."""
        if opened := self.__dict__.pop("connection", None):
            _close(opened)
        if self.__dict__.pop("folder", None):
            self._temporary.remove()
        self.ends.close()

    async def leave(self) -> None:
        """Close without blocking the event loop, because ending the threads takes a while."""
        if self.__dict__.keys().isdisjoint(("connection", "folder")):
            self.close()  # nothing is open that takes time
            return
        await asyncio.shield(asyncio.to_thread(self.close))

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def import_duckdb() -> Any:
    """Import DuckDB; raises `BadInput` with the command that installs it."""
    try:
        import duckdb
        import pyarrow  # noqa: F401 - DuckDB returns rows as Arrow tables
    except ImportError as error:
        raise BadInput(
            'loads and exports need DuckDB and pyarrow: pip install "svc-notebook[bulk]"'
        ) from error
    return duckdb


def read_relation(relation: Any, rows: int) -> pa.RecordBatchReader:
    """Return the reader of a relation in batches; releases of DuckDB name it differently."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(rows)


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; waits until an interrupted query has released it."""
    import duckdb

    until = time.monotonic() + ABANDON_SECONDS
    while True:
        try:
            connection.close()
        except duckdb.Error:  # the connection is in use by a thread that is about to end
            if time.monotonic() > until:
                return  # that thread releases the last reference, which closes the connection
            connection.interrupt()
            time.sleep(CLOSE_POLL_SECONDS)
        else:
            return


def machine_megabytes(limit_files: Sequence[str] = CONTAINER_LIMITS) -> int:
    """Return the memory of the machine, or of the container, in MB; 8,000 if it is unknown."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):  # not every system defines these names
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in limit_files:
        with suppress(OSError, ValueError):
            sizes.append(int(Path(limit).read_text(encoding="ascii")))
    return min((size for size in sizes if size > 0), default=DEFAULT_MACHINE_BYTES) // 1_000_000


@contextmanager
def translated(about: str) -> Iterator[None]:
    """Raise errors of DuckDB as `BadInput`, `MemoryShort` or `ReadingStopped`."""
    duckdb = import_duckdb()
    try:
        yield
    except duckdb.InterruptException as error:
        raise ReadingStopped from error
    except duckdb.OutOfMemoryException as error:
        raise MemoryShort(_unreadable(about, error)) from cause_of(error)
    except duckdb.Error as error:
        raise BadInput(_unreadable(about, error)) from cause_of(error)


def _as_ours(about: str, error: OSError) -> Exception:
    if "INTERRUPT Error" in str(error):
        return ReadingStopped()
    kind = MemoryShort if "Out of Memory Error" in str(error) else BadInput
    return kind(_unreadable(about, error))


def _unreadable(about: str, error: Exception) -> str:
    """Return the first line of an error of DuckDB, without its kind, and advice."""
    line = str(error).strip().partition("\n")[0]
    reason = ERROR_KIND.sub("", line).rstrip(".") or "DuckDB gives no reason"
    advice = ADVICE.get(type(error).__name__, "")
    return f"{about} cannot be read: {mask_secrets(reason)}{advice}"


def aggregate(
    table: SourceTable, expressions: Iterable[str], source: str, *, always: Sequence[str] = ()
) -> dict[str, Any]:
    """Compute aggregates of a table's columns over `source`; the keys are the SQL expressions.

    `always` is computed, too, in every pass over columns side by side.

    An aggregate of each column by itself is compiled for each column, and each pass reads the whole
    table: the time would grow with the square of the number of columns. Aggregates of a wide table
    that differ only in their column are computed together, from one row for each cell, so that the
    time grows with the number of cells.
    """
    unique = list(dict.fromkeys(expressions))
    if len(table.fields) < MIN_CELLWISE_COLUMNS:
        return table.db.aggregates(unique, source, always=always)
    alike, others = _group_columns(table, unique)
    values: dict[str, Any] = {}
    for columns, by_template in alike:
        distinct = any("DISTINCT" in template for template in by_template)
        max_columns = MAX_DISTINCT_COLUMNS if distinct else len(columns)
        for start in range(0, len(columns), max_columns):
            part = columns[start : start + max_columns]
            values |= _aggregate_cells(table, part, by_template, source)
    return values | table.db.aggregates([*others, *always], source, always=always)


# Aggregates by template and column, or by column and template.
Templates = dict[str, dict[str, str]]


def _group_columns(
    table: SourceTable, expressions: Iterable[str]
) -> tuple[list[tuple[list[str], Templates]], list[str]]:
    """Return groups of columns with the same type and the same templates, and other aggregates."""
    types = {field.column: field.type for field in table.fields}
    of_column, others = _find_templates(expressions, types)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for column, by_template in of_column.items():
        groups[types[column], *by_template].append(column)
    alike = []
    for (_, *templates), columns in groups.items():
        if len(columns) < MIN_CELLWISE_COLUMNS:
            for column in columns:
                others += of_column[column].values()
        else:
            shared = {t: {c: of_column[c][t] for c in columns} for t in templates}
            alike.append((columns, shared))
    return alike, others


def _find_templates(
    expressions: Iterable[str], columns: Collection[str]
) -> tuple[Templates, list[str]]:
    """Return the aggregates of single columns, by column and template, and the others."""
    of_column: Templates = defaultdict(dict)
    others = []
    for expression in expressions:
        names = set(COLUMN.findall(expression))
        column = names.pop() if len(names) == 1 else ""
        if column in columns:
            of_column[column][COLUMN.sub(VALUE, expression)] = expression
        else:
            others.append(expression)
    return of_column, others


def _aggregate_cells(
    table: SourceTable, columns: Sequence[str], by_template: Templates, source: str
) -> dict[str, Any]:
    """Compute the templates for each column, from one row for each cell."""
    # The scan of a delimited file skips, and reports, only broken rows of the columns it reads.
    read = [field.column for field in table.fields] if table.untyped else columns
    number_of = {column: number for number, column in enumerate(read)}
    numbers = [number_of[column] for column in columns]
    among = f" WHERE i IN (SELECT unnest({numbers}))" if len(numbers) < len(read) else ""
    position = ", pos" if any(map(POSITION.search, by_template)) else ""
    cells = (
        f"SELECT unnest(range({len(read)})) AS i, unnest([{', '.join(read)}]) AS {VALUE}{position} "
        f"FROM {source}"
    )
    rows = table.db.rows(f"SELECT i, {', '.join(by_template)} FROM ({cells}){among} GROUP BY i")
    by_column = {read[number]: row for number, *row in rows}
    # A table without rows has no groups.
    nothing = [*map(_aggregate_nothing, by_template)]
    return {
        expressions[column]: by_column.get(column, nothing)[n]
        for n, expressions in enumerate(by_template.values())
        for column in columns
    }


def _aggregate_nothing(template: str) -> int | None:
    return 0 if template.startswith("count(") else None
