"""One published index: its row, its engine, and the records that are being written to it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.engine import VIRTUAL, Index, SegmentStore
from svc_notebook.service.engine.execution import stop_clock
from svc_notebook.service.indices import records
from svc_notebook.service.resources.entries import drop_entries

COLUMNS = "id, name, settings, created, updated, stamp, leader, virtual"

# Seconds for which a change is remembered, and that a search waits to see it.
REMEMBERED_SECONDS, MAX_WAIT_SECONDS = 0.5, 0.2


class LazyEngine:
    """An engine that is opened on first use."""

    def __init__(self, open: Callable[[], Index]) -> None:
        self._open = open
        self._lock = threading.Lock()
        self._index: Index | None = None

    def get(self) -> Index:
        """Return the engine; the first caller opens it, others wait."""
        if self._index is None:
            with stop_clock(), self._lock:
                if self._index is None:
                    self._index = self._open()
        return self._index

    def set(self, index: Index) -> None:
        """Set an engine that was created elsewhere."""
        self._index = index

    @property
    def is_open(self) -> bool:
        """Whether the engine is open."""
        return self._index is not None


@dataclass(frozen=True)
class PublishedIndex:
    """One index: its name, settings, times, and the last task that changed it (`stamp`).

    `primary_id` is the id of the primary of a replica, which has no records itself, and 0 for
    other indices.
    """

    id: int
    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    stamp: int = 0
    primary_id: int = 0
    virtual: bool = False
    engine: LazyEngine = field(default_factory=lambda: LazyEngine(Index), compare=False)

    @property
    def records_id(self) -> int:
        """The id of the index that contains the records."""
        return self.primary_id or self.id

    def build_engine(self, segment_store: SegmentStore) -> Index:
        """Return an engine that searches a segment store with the settings of this index."""
        return Index(self.settings | ({VIRTUAL: True} if self.virtual else {}), segment_store)


def stamp_now() -> str:
    """Return the current time in the format of the API."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def insert_index(
    connection: sqlite3.Connection,
    name: str,
    settings: Mapping[str, Any] | None = None,
    *,
    primary_id: int = 0,
    virtual: bool = False,
) -> PublishedIndex:
    """Create an empty index, or a replica of the index `primary_id`."""
    initial_settings = dict(settings or {})
    now = stamp_now()
    row = connection.execute(
        "INSERT INTO indices (name, settings, created, updated, stamp, leader, virtual) "
        "VALUES (?, ?, ?, ?, 0, ?, ?) RETURNING id",
        (name, msgspec.json.encode(initial_settings), now, now, primary_id, virtual),
    ).fetchone()
    if not primary_id:
        records.create_table(connection, row[0])
    return PublishedIndex(
        row[0],
        name,
        initial_settings,
        now,
        now,
        0,
        primary_id,
        virtual,
        LazyEngine(lambda: Index(initial_settings)),
    )


def update_index(connection: sqlite3.Connection, index: PublishedIndex) -> None:
    """Store the changed facts of an index."""
    connection.execute(
        "UPDATE indices SET name = ?, settings = ?, updated = ?, stamp = ?, leader = ?, "
        "virtual = ? WHERE id = ?",
        (
            index.name,
            msgspec.json.encode(index.settings),
            index.updated,
            index.stamp,
            index.primary_id,
            index.virtual,
            index.id,
        ),
    )


def delete_index(connection: sqlite3.Connection, index: PublishedIndex) -> None:
    """Delete an index that has records, with its entries; its record table is dropped later."""
    connection.execute("DELETE FROM indices WHERE id = ?", [index.id])
    drop_entries(connection, index.id)


def check_attribute_count(
    index: str, published: PublishedIndex | None, records: Iterable[Mapping[str, Any]]
) -> None:
    """Raise `BadInput` if an index would have too many attributes with these records.

    Records that are queued but not published yet are not counted.
    """
    names = list_attributes(records)
    if published is not None and published.engine.is_open:
        names |= published.engine.get().attribute_names()
    if len(names) > limits.MAX_INDEX_ATTRIBUTES:
        raise BadInput(
            f"{index} would have {len(names):,} attributes, the maximum is "
            f"{limits.MAX_INDEX_ATTRIBUTES:,}: if the names of attributes are values, such as ids, "
            'send a list of objects instead, such as [{"name": "a", "value": 1}]'
        )


def list_attributes(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the attributes of records; those of objects inside an attribute as `a.b`."""
    names: set[str] = set()
    for record in records:
        names.update(record)
        for name, value in record.items():
            if type(value) in (dict, list):
                names.update(_list_inner(name, value))
    return names


def _list_inner(path: str, value: Any) -> Iterator[str]:
    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if type(value) is dict:
            for name, inner in value.items():
                yield f"{path}.{name}"
                if type(inner) in (dict, list):
                    waiting.append((f"{path}.{name}", inner))
        else:
            waiting += [(path, item) for item in value if type(item) in (dict, list)]


class InFlightWrite(NamedTuple):
    """One change: its number, index, time and objectIDs; None means all records."""

    number: int
    records_id: int
    time: float
    ids: frozenset[str] | None


class InFlightWrites:
    """Changes that are stored but may not be visible to searches yet; one writer, many readers.

    `waiting` is the number of readers that wait for a change.
    """

    def __init__(self) -> None:
        self._recent: deque[InFlightWrite] = deque()
        self._started = self._visible = 0
        self.waiting = 0
        self._became_visible = threading.Condition()

    def begin(self, records_id: int, ids: Iterable[str] | None) -> None:
        """Record, before storing, which records of an index change; None means all."""
        now = time.monotonic()
        while self._recent and self._recent[0].time < now - REMEMBERED_SECONDS:
            self._recent.popleft()
        named = None if ids is None else frozenset(ids)
        self._recent.append(InFlightWrite(self._started + 1, records_id, now, named))
        self._started += 1

    def mark_visible(self) -> None:
        """Record that all changes so far are visible to searches."""
        with self._became_visible:
            self._visible = self._started
            self._became_visible.notify_all()

    def last_visible(self) -> int:
        """Return the number of the last change that a new search is certain to see."""
        return self._visible

    def may_have_changed(self, since: int, records_id: int, ids: Iterable[str]) -> bool:
        """Return whether any of these records may have changed since the change of this number."""
        if self._started == since:
            return False
        later = [
            write
            for write in list(self._recent)
            if write.number > since and write.records_id == records_id
        ]
        return any(write.ids is None or not write.ids.isdisjoint(ids) for write in later)

    def wait(self) -> None:
        """Wait until the changes so far are visible to searches."""
        started = self._started
        with self._became_visible:
            self.waiting += 1
            self._became_visible.wait_for(lambda: self._visible >= started, MAX_WAIT_SECONDS)
            self.waiting -= 1


def check_index_name(name: str) -> str:
    """Return a valid index name; raises `BadInput`."""
    if not name or name == "*":
        raise BadInput(f"{name!r} is not a valid index name")
    if len(name) > limits.MAX_INDEX_NAME_CHARACTERS:
        most = limits.MAX_INDEX_NAME_CHARACTERS
        raise BadInput(f"the index name is longer than {most} characters")
    if "\x00" in name:
        raise BadInput("the index name contains a null character")
    return name
