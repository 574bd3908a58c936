"""Stored user events, and impressions: the search of each queryID and the hits it returned."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from svc_notebook.core.api.shapes import Event, SearchImpression
from svc_notebook.errors import BadInput
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.store import DAY_MS, HOUR_MS, Store, current_milliseconds

# Maximum age of an event, and maximum distance from its search (api.md, Events); timestamps may be
# in the future by the latter, for clocks that are fast.
MAX_EVENT_AGE_MS, MAX_SEARCH_DISTANCE_MS = 4 * DAY_MS, HOUR_MS
# At most the last million events of 90 days are kept; cleanup runs once a minute.
MAX_EVENTS, MAX_AGE_MS = 1_000_000, 90 * DAY_MS
CLEANUP_SECONDS = 60.0
# Maximum number of searches kept, and of hits kept per search.
MAX_SEARCHES, MAX_HITS_PER_SEARCH = 250_000, 100
# Maximum number of searches waiting to be written; while the disk is full, further ones are lost.
MAX_PENDING_SEARCHES = 50_000
# An hour after a search no event of it can arrive. Without any, it then keeps only the first hits,
# and the parameters that readers use. Few are thinned at a time, because searches wait for it.
MAX_THINNED_HITS, THINNED_PER_FLUSH = 20, 500
THINNED_PARAMETERS = {"query", *FILTERS, "page", "hitsPerPage", "offset", "length"}


@dataclass(frozen=True)
class RowSelection:
    """A selection of rows; None selects all. Times are in milliseconds."""

    index: str | None = None
    token: str | None = None
    kind: str | None = None
    since: int | None = None
    until: int | None = None
    after: int = 0


class Events:
    """The table of events; each row is an event as received, with its time."""

    def __init__(self, store: Store, max_events: int = MAX_EVENTS) -> None:
        self._store = store
        self._max_events = max_events
        self._cleanup_after = 0.0

    def store(self, events: Sequence[Event], received: int) -> None:
        """Store valid events, all or none; returns after they are on disk.

        An event with a timestamp is stored once, even if it is sent several times.
        """
        rows = [_row(event, received) for event in events]
        with self._store.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO events (time, index_name, kind, token, known, digest, body) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def read(self, choice: RowSelection, length: int) -> list[tuple[int, Event]]:
        """Return events with their numbers, in order of arrival."""
        where, values = conditions(choice, {"kind": choice.kind})
        rows = self._store.read(
            f"SELECT number, time, body FROM events WHERE {where} ORDER BY number LIMIT ?",
            *values,
            length,
        )
        return [(number, _event(moment, body)) for number, moment, body in rows]

    def request_deletion(self, token: str) -> None:
        """Request the deletion of a user's present events; returns after the request is on disk."""
        with self._store.writing() as connection:
            connection.execute(
                "INSERT INTO forgotten (token, time, last) "
                "SELECT ?, ?, coalesce(max(number), 0) FROM events",
                (token, current_milliseconds()),
            )

    def delete_due(self) -> None:
        """Delete events as requested; once a minute also those that are too old or too many."""
        for requested in self._store.read("SELECT rowid, token, time, last FROM forgotten"):
            self._delete_events(*requested)
        if time.monotonic() >= self._cleanup_after:
            self._cleanup_after = time.monotonic() + CLEANUP_SECONDS
            oldest = current_milliseconds() - MAX_AGE_MS
            delete_old_rows(self._store, "events", oldest, self._max_events)

    def _delete_events(self, row: int, token: str, requested: int, last: int) -> None:
        with self._store.writing() as connection:
            connection.execute(
                "DELETE FROM events WHERE number <= ? AND (token = ? OR known = ?)",
                (last, token, token),
            )
            connection.execute(
                "UPDATE shown SET token = '' WHERE token = ? AND time <= ?", (token, requested)
            )
            connection.execute(
                "DELETE FROM counted WHERE user = ? AND time <= ?", (token, requested)
            )
            connection.execute("DELETE FROM forgotten WHERE rowid = ?", (row,))


def conditions(choice: RowSelection, others: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the SQL condition for a selection, and the values of its placeholders."""
    conditions_by_words = {
        "number > ?": choice.after,
        "index_name = ?": choice.index,
        "token = ?": choice.token,
        "time >= ?": choice.since,
        "time < ?": choice.until,
        **{f"{name} = ?": value for name, value in others.items()},
    }
    given = {words: value for words, value in conditions_by_words.items() if value is not None}
    return " AND ".join(given), [*given.values()]


def delete_old_rows(store: Store, table: str, before: int, kept: int) -> None:
    """Delete rows of a table that are older than a time, or beyond the newest `kept` rows."""
    with store.writing() as connection:
        connection.execute(
            f"DELETE FROM {table} WHERE time < ? "
            f"OR number <= (SELECT max(number) FROM {table}) - ?",
            (before, kept),
        )


def _row(event: Event, received: int) -> tuple[Any, ...]:
    body = msgspec.json.encode(event, order="sorted")
    digest = blake2b(body, digest_size=16).digest() if "timestamp" in event else None
    return (
        event.get("timestamp", received), event["index"], event["eventType"], event["userToken"],
        event.get("authenticatedUserToken"), digest, body,
    )  # fmt: skip


def _event(moment: int, body: bytes) -> Event:
    event: Event = msgspec.json.decode(body)
    return {**event, "timestamp": moment}


def queries_of(event: Event) -> list[str]:
    """Return the queryIDs of an event: its own, and those of purchased items."""
    parts = (event, *event.get("objectData", ()))
    return [part["queryID"] for part in parts if "queryID" in part]


def check_time(event: Event, at: str, received: int, searched: Mapping[str, int]) -> None:
    """Raise `BadInput` for an event that is too old, in the future, or too far from its search.

    `searched` maps known queryIDs to the times of their searches.
    """
    moment = event.get("timestamp", received)
    if moment < received - MAX_EVENT_AGE_MS:
        raise BadInput(
            f"`{at}.timestamp` is more than 4 days old; it is in milliseconds since 1970, and its "
            "default is the time of receipt"
        )
    if moment > received + MAX_SEARCH_DISTANCE_MS:
        raise BadInput(f"`{at}.timestamp` is in the future; it is in milliseconds since 1970")
    for query in queries_of(event):
        if abs(moment - searched.get(query, moment)) > MAX_SEARCH_DISTANCE_MS:
            raise BadInput(f"`{at}` is not within an hour of the search with the queryID {query}")


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
                    map(_impression_row, new),
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


def _impression_row(impression: SearchImpression) -> tuple[str, int, str, str, bytes]:
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
