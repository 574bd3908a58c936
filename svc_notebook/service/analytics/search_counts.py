"""Counted searches: collected in memory, stored in groups, and deleted when they are old."""

from __future__ import annotations

import sqlite3
import threading
import time
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from svc_notebook.service.analytics.counted_search import (
    CountedSearch,
    is_refinement,
    make_storable,
    normalize_query,
)
from svc_notebook.service.events import (
    CLEANUP_SECONDS,
    DAY_MS,
    MAX_SEARCH_DISTANCE_MS,
    current_milliseconds,
    delete_old_rows,
)
from svc_notebook.service.store import Store

# Within this time, a query that continues the typing of the last one replaces it.
TYPING_MS = 30_000
# Maximum number of searches waiting to be written; while the disk is full, further ones are lost.
MAX_PENDING_SEARCHES = 50_000
# Users whose last search is in memory; beyond, those who have not searched lately are dropped.
MAX_TYPING_USERS = 10_000
# The ids of objects that no counted search returned are deleted at this interval.
PRUNE_SECONDS = 24 * 3600.0
OBJECT_NUMBER = "I"  # the type code of `array` for four bytes

_INSERT = (
    "INSERT INTO counted (number, time, index_name, query, hits, user, query_id, filters, tags, "
    "country, objects, test, variant) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Retention(NamedTuple):
    """How long counted searches are kept: days, and maximum number of searches."""

    days: int = 90
    searches: int = 1_000_000


class _LastSearch(NamedTuple):
    number: int
    time: int
    query: str


class SearchCounter:
    """Counted searches in memory, written regularly: a kill may lose those of the last second."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self._store = store
        self._retention = retention
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._new: list[CountedSearch] = []
        self._number: int = store.read("SELECT coalesce(max(number), 0) FROM counted")[0][0]
        self._last: dict[tuple[str, str], _LastSearch] = {}
        self._cleanup_after = 0.0
        self._prune_after = time.monotonic() + PRUNE_SECONDS

    def add(self, search: CountedSearch) -> None:
        """Count one search in memory."""
        with self._lock:
            if len(self._new) < MAX_PENDING_SEARCHES:
                self._new.append(search)

    def flush(self) -> None:
        """Write new searches to disk; once a minute delete those that are not kept."""
        with self._flushing:
            with self._lock:
                new = self._new[:]
            if new:
                self._write(new)
                with self._lock:
                    del self._new[: len(new)]
            if time.monotonic() >= self._cleanup_after:
                self._cleanup_after = time.monotonic() + CLEANUP_SECONDS
                self._clean_up()

    def _write(self, new: Sequence[CountedSearch]) -> None:
        queries = [normalize_query(search.query) for search in new]
        numbers = range(self._number + 1, self._number + 1 + len(new))
        last = dict(self._last)
        superseded = _supersede(last, zip(numbers, new, queries, strict=True))
        with self._store.writing() as connection:
            objects = _number_objects(connection, new)
            # A search without a queryID cannot be clicked, so that it need not be kept.
            connection.executemany(
                _INSERT,
                (
                    _row(number, search, query, objects)
                    for number, search, query in zip(numbers, new, queries, strict=True)
                    if search.query_id or number not in superseded
                ),
            )
            marked = [(number,) for number in superseded]
            connection.executemany(
                "DELETE FROM counted WHERE number = ? AND query_id IS NULL", marked
            )
            connection.executemany(
                "UPDATE counted SET superseded = 1 WHERE number = ? AND NOT EXISTS "
                "(SELECT 1 FROM outcomes WHERE outcomes.query_id = counted.query_id)",
                marked,
            )
        self._number, self._last = numbers[-1], last

    def _clean_up(self) -> None:
        now = current_milliseconds()
        if len(self._last) > MAX_TYPING_USERS:
            self._last = {
                key: last for key, last in self._last.items() if now - last.time <= TYPING_MS
            }
        delete_old_rows(
            self._store, "counted", now - self._retention.days * DAY_MS, self._retention.searches
        )
        # Events of a search arrive within an hour; later, one that was typed over is not needed.
        due = now - MAX_SEARCH_DISTANCE_MS
        with self._store.writing() as connection:
            connection.execute(
                "DELETE FROM shown WHERE query IN "
                "(SELECT query_id FROM counted WHERE superseded = 1 AND time < ?)",
                (due,),
            )
            connection.execute("DELETE FROM counted WHERE superseded = 1 AND time < ?", (due,))
        if time.monotonic() >= self._prune_after:
            self._prune_after = time.monotonic() + PRUNE_SECONDS
            self._prune_objects()

    def _prune_objects(self) -> None:
        with self._store.writing() as connection:
            rows = connection.execute("SELECT objects FROM counted WHERE objects IS NOT NULL")
            used = np.unique(np.frombuffer(b"".join(row[0] for row in rows), OBJECT_NUMBER))
            connection.execute(
                "DELETE FROM counted_objects WHERE number NOT IN (SELECT value FROM json_each(?))",
                (_json(used.tolist()),),
            )


def _supersede(last: dict[tuple[str, str], _LastSearch], searches: Any) -> set[int]:
    """Return the numbers of searches that the next one of the same user replaces."""
    superseded = set()
    for number, search, query in searches:
        key = search.index, search.user
        earlier = last.get(key)
        if (
            earlier
            and search.time - earlier.time <= TYPING_MS
            and is_refinement(earlier.query, query)
        ):
            superseded.add(earlier.number)
        last[key] = _LastSearch(number, search.time, query)
    return superseded


def _number_objects(
    connection: sqlite3.Connection, new: Sequence[CountedSearch]
) -> Mapping[str, int]:
    """Return the numbers of the objects that the searches returned."""
    ids = _json(sorted({hit for search in new for hit in search.hits}))
    connection.execute(
        "INSERT OR IGNORE INTO counted_objects (id) SELECT value FROM json_each(?)", (ids,)
    )
    return dict(
        connection.execute(
            "SELECT id, number FROM counted_objects WHERE id IN (SELECT value FROM json_each(?))",
            (ids,),
        ).fetchall()
    )


def _row(
    number: int, search: CountedSearch, query: str, objects: Mapping[str, int]
) -> tuple[Any, ...]:
    numbers = array(OBJECT_NUMBER, [objects[hit] for hit in search.hits])
    return (
        number, search.time, search.index, query, search.hit_count, search.user, search.query_id,
        _json(filters) if (filters := search.used_filters()) else None,
        _json(sorted({*map(make_storable, search.tags)})) if search.tags else None,
        search.country and make_storable(search.country), numbers.tobytes() or None,
        search.test, search.variant,
    )  # fmt: skip


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
