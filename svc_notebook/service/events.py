"""Stored user events: insertion, reading, retention and deletion by user token."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from svc_notebook.api.shapes import Event
from svc_notebook.errors import BadInput
from svc_notebook.service.store import Store

HOUR, DAY = 3600 * 1000, 24 * 3600 * 1000
# How old an event may be, and how far from its search (api.md, Events); clocks that are fast are
# forgiven as much.
OLDEST, NEAR = 4 * DAY, HOUR
# The last million of 90 days are kept; looked after once a minute.
KEPT, AGE = 1_000_000, 90 * DAY
CLEANUP_SECONDS = 60.0


@dataclass(frozen=True)
class Choice:
    """Which rows to read: None stands for all; times in milliseconds."""

    index: str | None = None
    token: str | None = None
    kind: str | None = None
    since: int | None = None
    until: int | None = None
    after: int = 0


class Events:
    """Rows of one table, each an event as it came, with the time it happened."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tidy_after = 0.0

    def take(self, events: Sequence[Event], received: int) -> None:
        """Store events that are valid, all or none; returns once they cannot be lost.

        An event that says when it happened is stored once, however often it is sent.
        """
        rows = [_row(event, received) for event in events]
        with self._store.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO events (time, index_name, kind, token, known, digest, body) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def read(self, choice: Choice, length: int) -> list[tuple[int, Event]]:
        """Read events with their numbers, in the order in which they came."""
        where, values = conditions(choice, {"kind": choice.kind})
        rows = self._store.read(
            f"SELECT number, time, body FROM events WHERE {where} ORDER BY number LIMIT ?",
            *values,
            length,
        )
        return [(number, _event(moment, body)) for number, moment, body in rows]

    def forget(self, token: str) -> None:
        """Ask for a user's events to go, those there are by now; returns once that is noted."""
        with self._store.writing() as connection:
            connection.execute(
                "INSERT INTO forgotten (token, time, last) "
                "SELECT ?, ?, coalesce(max(number), 0) FROM events",
                (token, milliseconds()),
            )

    def tidy(self) -> None:
        """Delete what was asked to go; once a minute what is too old or too much as well."""
        for asked in self._store.read("SELECT rowid, token, time, last FROM forgotten"):
            self._forget_now(*asked)
        if time.monotonic() >= self._tidy_after:
            self._tidy_after = time.monotonic() + CLEANUP_SECONDS
            drop_old(self._store, "events", milliseconds() - AGE, KEPT)

    def _forget_now(self, row: int, token: str, asked: int, last: int) -> None:
        with self._store.writing() as connection:
            connection.execute(
                "DELETE FROM events WHERE number <= ? AND (token = ? OR known = ?)",
                (last, token, token),
            )
            connection.execute(
                "UPDATE shown SET token = '' WHERE token = ? AND time <= ?", (token, asked)
            )
            connection.execute("DELETE FROM forgotten WHERE rowid = ?", (row,))


def milliseconds() -> int:
    """The time now, since 1970."""
    return time.time_ns() // 1_000_000


def conditions(choice: Choice, others: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Say in SQL which rows are chosen, with the values for its marks."""
    wanted = {
        "number > ?": choice.after,
        "index_name = ?": choice.index,
        "token = ?": choice.token,
        "time >= ?": choice.since,
        "time < ?": choice.until,
        **{f"{name} = ?": value for name, value in others.items()},
    }
    held = {words: value for words, value in wanted.items() if value is not None}
    return " AND ".join(held), [*held.values()]


def drop_old(store: Store, table: str, before: int, kept: int) -> None:
    """Delete a table's rows from before a time, and the oldest of more than are kept."""
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
    """The queryIDs an event names: its own, and those of what was bought."""
    parts = (event, *event.get("objectData", ()))
    return [part["queryID"] for part in parts if "queryID" in part]


def check_time(event: Event, at: str, received: int, searched: Mapping[str, int]) -> None:
    """Raise `BadInput` for an event too old, too new, or too far from its search.

    `searched` says when searches were made, of those that are known.
    """
    moment = event.get("timestamp", received)
    if moment < received - OLDEST:
        raise BadInput(
            f"`{at}.timestamp` is more than 4 days old; it is milliseconds since 1970, and left "
            "out it is the time of receipt"
        )
    if moment > received + NEAR:
        raise BadInput(f"`{at}.timestamp` lies in the future; it is milliseconds since 1970")
    for query in queries_of(event):
        if abs(moment - searched.get(query, moment)) > NEAR:
            raise BadInput(f"`{at}` is not within an hour of the search with the queryID {query}")
