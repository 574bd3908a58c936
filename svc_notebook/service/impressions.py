"""Impressions: for each queryID the search, its time and the hits that it returned."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import msgspec

from svc_notebook.api.shapes import ShownSearch
from svc_notebook.service.events import (
    AGE,
    CLEANUP_SECONDS,
    Choice,
    conditions,
    drop_old,
    milliseconds,
)
from svc_notebook.service.store import Store

# Of so many searches, so many hits of each are kept.
KEPT, HITS = 250_000, 100
# Searches that wait to be written; more of them than that while the disk is full are lost.
MAX_PENDING_SEARCHES = 50_000


class Showings:
    """Kept in memory, and written down now and then: a kill may lose the last second of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._new: dict[str, ShownSearch] = {}
        self._tidy_after = 0.0

    def note(self, shown: ShownSearch) -> None:
        """Remember one search."""
        with self._lock:
            if len(self._new) >= MAX_PENDING_SEARCHES:
                del self._new[next(iter(self._new))]
            self._new[shown["queryID"]] = shown

    def times(self, queries: Iterable[str]) -> dict[str, int]:
        """When searches were made, of those that are known; milliseconds."""
        wanted = set(queries)
        with self._lock:
            found = {each: one["timestamp"] for each in wanted if (one := self._new.get(each))}
        if left := wanted - found.keys():
            rows = self._store.read(
                "SELECT query, time FROM shown WHERE query IN (SELECT value FROM json_each(?))",
                msgspec.json.encode(sorted(left)).decode(),
            )
            found |= {str(query): int(moment) for query, moment in rows}
        return found

    def read(self, choice: Choice, length: int) -> list[tuple[int, ShownSearch]]:
        """Read searches with their numbers, in the order in which they were made."""
        self.flush()
        where, values = conditions(choice, {})
        rows = self._store.read(
            f"SELECT number, token, body FROM shown WHERE {where} ORDER BY number LIMIT ?",
            *values,
            length,
        )
        return [(number, _shown(token, body)) for number, token, body in rows]

    def flush(self) -> None:
        """Write down what is new; once a minute forget what is old."""
        with self._lock:
            new = list(self._new.values())
        if new:
            with self._store.writing() as connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO shown (query, time, index_name, token, body) "
                    "VALUES (?, ?, ?, ?, ?)",
                    map(_row, new),
                )
            with self._lock:
                for one in new:
                    self._new.pop(one["queryID"], None)
        if time.monotonic() >= self._tidy_after:
            self._tidy_after = time.monotonic() + CLEANUP_SECONDS
            drop_old(self._store, "shown", milliseconds() - AGE, KEPT)


def _row(one: ShownSearch) -> tuple[str, int, str, str, bytes]:
    # The token stands in a column alone, or it could not be forgotten.
    others = [part for part in one["params"].split("&") if not part.startswith("userToken=")]
    body = msgspec.json.encode({**one, "userToken": "", "params": "&".join(others)})
    return one["queryID"], one["timestamp"], one["index"], one["userToken"], body


def _shown(token: str, body: bytes) -> ShownSearch:
    one: ShownSearch = msgspec.json.decode(body)
    return {**one, "userToken": token}
