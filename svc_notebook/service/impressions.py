"""Impressions: for each queryID the search, its time and the hits that it returned."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode

import msgspec

from svc_notebook.core.api.shapes import SearchImpression
from svc_notebook.service.events import (
    CLEANUP_SECONDS,
    MAX_AGE_MS,
    MAX_SEARCH_DISTANCE_MS,
    RowSelection,
    conditions,
    current_milliseconds,
    delete_old_rows,
)
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.store import Store

# Maximum number of searches kept, and of hits kept per search.
MAX_SEARCHES, MAX_HITS_PER_SEARCH = 250_000, 100
# Maximum number of searches waiting to be written; while the disk is full, further ones are lost.
MAX_PENDING_SEARCHES = 50_000
# An hour after a search no event of it can arrive. Without any, it then keeps only the first hits,
# and the parameters that readers use. Few are thinned at a time, because searches wait for it.
MAX_THINNED_HITS, THINNED_PER_FLUSH = 20, 500
THINNED_PARAMETERS = {"query", *FILTERS, "page", "hitsPerPage", "offset", "length"}


class Impressions:
    """Impressions in memory, written regularly: a kill may lose those of the last second."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._new: dict[str, SearchImpression] = {}
        self._cleanup_after = 0.0

    def add(self, impression: SearchImpression) -> None:
        """Store one search in memory."""
        with self._lock:
            if len(self._new) >= MAX_PENDING_SEARCHES:
                del self._new[next(iter(self._new))]
            self._new[impression["queryID"]] = impression

    def times(self, queries: Iterable[str]) -> dict[str, int]:
        """Return the times of known searches by queryID, in milliseconds."""
        ids = set(queries)
        with self._lock:
            times = {
                query: impression["timestamp"]
                for query in ids
                if (impression := self._new.get(query))
            }
        if left := ids - times.keys():
            rows = self._store.read(
                "SELECT query, time FROM shown WHERE query IN (SELECT value FROM json_each(?))",
                msgspec.json.encode(sorted(left)).decode(),
            )
            times |= {str(query): int(moment) for query, moment in rows}
        return times

    def read(self, choice: RowSelection, length: int) -> list[tuple[int, SearchImpression]]:
        """Return searches with their numbers, in order of time."""
        self.flush()
        where, values = conditions(choice, {})
        rows = self._store.read(
            f"SELECT number, token, body FROM shown WHERE {where} ORDER BY number LIMIT ?",
            *values,
            length,
        )
        return [(number, _impression(token, body)) for number, token, body in rows]

    def flush(self) -> None:
        """Write new searches to disk, and thin some; once a minute delete old ones."""
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
                for impression in new:
                    self._new.pop(impression["queryID"], None)
        if time.monotonic() >= self._cleanup_after:
            self._cleanup_after = time.monotonic() + CLEANUP_SECONDS
            delete_old_rows(self._store, "shown", current_milliseconds() - MAX_AGE_MS, MAX_SEARCHES)
        self._thin(current_milliseconds() - MAX_SEARCH_DISTANCE_MS)

    def _thin(self, before: int) -> None:
        """Shorten searches without events that are older than a time."""
        rows = self._store.read(
            "SELECT number, body, EXISTS (SELECT 1 FROM outcomes WHERE query_id = query) "
            "FROM shown WHERE thinned = 0 AND time < ? LIMIT ?",
            before,
            THINNED_PER_FLUSH,
        )
        if rows:
            with self._store.writing() as connection:
                connection.executemany(
                    "UPDATE shown SET body = ?, thinned = 1 WHERE number = ?",
                    [(body if used else _shorten(body), number) for number, body, used in rows],
                )


def _row(impression: SearchImpression) -> tuple[str, int, str, str, bytes]:
    # The token is stored only in its column, so that it can be deleted.
    others = [part for part in impression["params"].split("&") if not part.startswith("userToken=")]
    body = msgspec.json.encode({**impression, "userToken": "", "params": "&".join(others)})
    return (
        impression["queryID"],
        impression["timestamp"],
        impression["index"],
        impression["userToken"],
        body,
    )


def _impression(token: str, body: bytes) -> SearchImpression:
    plain = body if body.startswith(b"{") else zlib.decompress(body)
    impression: SearchImpression = msgspec.json.decode(plain)
    return {**impression, "userToken": token}


def _shorten(body: bytes) -> bytes:
    impression = _impression("", body)
    pairs: Sequence[tuple[str, str]] = parse_qsl(impression["params"], keep_blank_values=True)
    impression["params"] = urlencode([pair for pair in pairs if pair[0] in THINNED_PARAMETERS])
    impression["objectIDs"] = impression["objectIDs"][:MAX_THINNED_HITS]
    return zlib.compress(msgspec.json.encode(impression))
