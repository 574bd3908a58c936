"""The stored records of each index: one table per index, in order of arrival.

With one table per index, clearing and deleting a large index takes milliseconds. The order of
arrival makes writes sequential, and a browse page is one sequential read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from svc_notebook.service.store import Store

CHUNK_RECORDS = 2000
# Records stored by one statement: many take half of the time that they take one by one.
STATEMENT_RECORDS = 50


def create_table(connection: sqlite3.Connection, index: int) -> None:
    """Create the table of an index's records."""
    connection.execute(f"DROP TABLE IF EXISTS records_{index}")
    connection.execute(
        f"CREATE TABLE records_{index} "
        "(place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
        "stamp INTEGER NOT NULL, body BLOB NOT NULL)"
    )


def add_stamps(connection: sqlite3.Connection) -> None:
    """Migrate tables of older versions; their records count as changed by the last task."""
    indices = connection.execute("SELECT id, stamp FROM indices WHERE leader = 0").fetchall()
    for index, stamp in indices:
        columns = connection.execute(f"PRAGMA table_info(records_{index})").fetchall()
        if "stamp" not in [name for _, name, *_ in columns]:
            connection.execute(
                f"ALTER TABLE records_{index} ADD COLUMN stamp INTEGER NOT NULL DEFAULT {stamp}"
            )


def find_retired(store: Store) -> set[str]:
    """Return the tables of indices that are deleted, or are replicas now.

    They are kept for a while, for searches that started before.
    """
    return {name for (name,) in store.read(_RETIRED)}


def drop_retired(connection: sqlite3.Connection, in_use: Collection[str]) -> None:
    """Drop those retired tables that are in `known`."""
    for (name,) in connection.execute(_RETIRED).fetchall():
        if name in in_use:
            connection.execute(f"DROP TABLE {name}")


_RETIRED = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'records_[0-9]*' "
    "AND name NOT IN (SELECT 'records_' || id FROM indices WHERE leader = 0)"
)


def clear_table(connection: sqlite3.Connection, index: int) -> None:
    """Delete all records of an index."""
    connection.execute(f"DELETE FROM records_{index}")


def copy_table(connection: sqlite3.Connection, source: int, target: int) -> None:
    """Copy all records of one index to another, empty one.

    They get the number of the last accepted task as stamp; otherwise engine files from the time
    when the target had other records could be considered newer.
    """
    connection.execute(
        f"INSERT INTO records_{target} (place, id, stamp, body) "
        "SELECT place, id, (SELECT seq FROM sqlite_sequence WHERE name = 'tasks'), body "
        f"FROM records_{source} ORDER BY place"
    )


def put_bodies(
    connection: sqlite3.Connection, index: int, rows: Iterable[tuple[str, bytes]], stamp: int
) -> None:
    """Store the records of a task; a record with a known objectID is replaced."""
    stored = [*rows]
    many = len(stored) - len(stored) % STATEMENT_RECORDS
    for first, last, count in ((0, many, STATEMENT_RECORDS), (many, len(stored), 1)):
        values = ", ".join([f"(?, {stamp:d}, ?)"] * count)
        connection.executemany(
            f"INSERT INTO records_{index} (id, stamp, body) VALUES {values} "
            "ON CONFLICT (id) DO UPDATE SET body = excluded.body, stamp = excluded.stamp",
            ([*chain(*stored[n : n + count])] for n in range(first, last, count)),
        )


def delete_bodies(connection: sqlite3.Connection, index: int, ids: Iterable[str]) -> None:
    """Delete records by objectID."""
    connection.executemany(f"DELETE FROM records_{index} WHERE id = ?", ([i] for i in ids))


def read_bodies(store: Store, index: int, ids: Sequence[str]) -> dict[str, bytes]:
    """Read records by objectID; missing ones are omitted."""
    sql = f"SELECT id, body FROM records_{index} WHERE id IN (SELECT value FROM json_each(?))"
    return dict(_rows(store, sql, msgspec.json.encode(list(ids)).decode()))


def read_page(store: Store, index: int, after: int, count: int) -> list[tuple[int, bytes]]:
    """Read the next records in order of arrival, each with its place."""
    return _rows(
        store,
        f"SELECT place, body FROM records_{index} WHERE place > ? ORDER BY place LIMIT ?",
        after,
        count,
    )


# SQLite's largest integer.
MAX_SQLITE_INTEGER = 2**63 - 1


def read_window(store: Store, index: int, offset: int, count: int) -> list[tuple[int, bytes]]:
    """Read records by their position in order of arrival."""
    return _rows(
        store,
        f"SELECT place, body FROM records_{index} ORDER BY place LIMIT ? OFFSET ?",
        count,
        min(offset, MAX_SQLITE_INTEGER),
    )


def read_chunks(store: Store, index: int) -> Iterator[list[dict[str, Any]]]:
    """Yield all records, decoded, in chunks."""
    last = 0
    while rows := read_page(store, index, last, CHUNK_RECORDS):
        last = rows[-1][0]
        yield [msgspec.json.decode(body) for _, body in rows]


def read_changed(store: Store, index: int, stamp: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the records written after a task, decoded, in chunks."""
    last, sql = (
        0,
        (
            f"SELECT place, body FROM records_{index} WHERE place > ? AND stamp > ? "
            "ORDER BY place LIMIT ?"
        ),
    )
    while rows := _rows(store, sql, last, stamp, CHUNK_RECORDS):
        last = rows[-1][0]
        yield [msgspec.json.decode(body) for _, body in rows]


def count_bodies(store: Store, index: int) -> int:
    """Count the records of an index."""
    rows = _rows(store, f"SELECT count(*) FROM records_{index}")
    return int(rows[0][0]) if rows else 0


def read_ids(store: Store, index: int) -> set[str]:
    """Read the objectIDs of all records."""
    return {name for (name,) in _rows(store, f"SELECT id FROM records_{index}")}


def measure_bodies(store: Store, index: int) -> tuple[int, int]:
    """Return the number of records of an index and the sum of their bytes."""
    rows = _rows(store, f"SELECT count(*), coalesce(sum(length(body)), 0) FROM records_{index}")
    return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)


def _rows(store: Store, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    try:
        return store.read(sql, *values)
    except sqlite3.OperationalError as error:
        # The index was deleted after it was found and before it was read.
        if "no such table" in str(error):
            return []
        raise
