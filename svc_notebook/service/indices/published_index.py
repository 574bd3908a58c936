"""One published index: its row in the database and its engine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from svc_notebook.service.engine import VIRTUAL, Index, Stock
from svc_notebook.service.engine.deadline import stop_clock
from svc_notebook.service.indices import records
from svc_notebook.service.resources.entries import drop_entries

COLUMNS = "id, name, settings, created, updated, stamp, leader, virtual"


class Lazy:
    """An engine that is opened when it is first needed."""

    def __init__(self, open: Callable[[], Index]) -> None:
        self._open = open
        self._lock = threading.Lock()
        self._index: Index | None = None

    def get(self) -> Index:
        """Return the engine; the first caller opens it, the others wait."""
        if self._index is None:
            with stop_clock(), self._lock:
                if self._index is None:
                    self._index = self._open()
        return self._index

    def settle(self, index: Index) -> None:
        """Take an engine made elsewhere."""
        self._index = index

    @property
    def opened(self) -> bool:
        """Whether it was needed yet."""
        return self._index is not None


@dataclass(frozen=True)
class PublishedIndex:
    """One index: what it is called, how it searches, when it changed and by which task.

    A replica names the index it follows as its `leader`, and has no records of its own.
    """

    id: int
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    stamp: int = 0
    leader: int = 0
    virtual: bool = False
    engine: Lazy = field(default_factory=lambda: Lazy(Index), compare=False)

    @property
    def home(self) -> int:
        """The index that holds its records."""
        return self.leader or self.id

    def over(self, stock: Stock) -> Index:
        """Return an engine that searches a stock the way of this index."""
        return Index(self.settings | ({VIRTUAL: True} if self.virtual else {}), stock)


def stamp_now() -> str:
    """The present moment as the API writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def insert_shelf(
    connection: sqlite3.Connection,
    name: str,
    settings: Mapping[str, Any] | None = None,
    *,
    leader: int = 0,
    virtual: bool = False,
) -> PublishedIndex:
    """Make an index, empty or following another one."""
    own = dict(settings or {})
    now = stamp_now()
    row = connection.execute(
        "INSERT INTO indices (name, settings, created, updated, stamp, leader, virtual) "
        "VALUES (?, ?, ?, ?, 0, ?, ?) RETURNING id",
        (name, msgspec.json.encode(own), now, now, leader, virtual),
    ).fetchone()
    if not leader:
        records.create_table(connection, row[0])
    return PublishedIndex(row[0], name, own, now, now, 0, leader, virtual, Lazy(lambda: Index(own)))


def update_shelf(connection: sqlite3.Connection, shelf: PublishedIndex) -> None:
    """Write down what has changed about an index."""
    connection.execute(
        "UPDATE indices SET name = ?, settings = ?, updated = ?, stamp = ?, leader = ?, "
        "virtual = ? WHERE id = ?",
        (
            shelf.name,
            msgspec.json.encode(shelf.settings),
            shelf.updated,
            shelf.stamp,
            shelf.leader,
            shelf.virtual,
            shelf.id,
        ),
    )


def delete_shelf(connection: sqlite3.Connection, shelf: PublishedIndex) -> None:
    """Throw away an index that holds records, with all that it has; the records go later."""
    connection.execute("DELETE FROM indices WHERE id = ?", [shelf.id])
    drop_entries(connection, shelf.id)
