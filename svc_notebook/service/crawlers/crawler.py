"""Crawlers as stored, with the versions of their configurations, and their tasks."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

import msgspec

from svc_notebook.errors import BadInput, Refused
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.store import Store

_pack = msgspec.json.encode
Config = dict[str, Any]
COLUMNS = (
    "number, id, name, created, updated, running, version, due, began, ended, "
    "blocking_task, blocking_error"
)
# Configuration versions kept per crawler, including the current one.
MAX_CONFIGURATION_VERSIONS = 100


@dataclass(frozen=True)
class StoredCrawler:
    """A crawler and its state.

    `began` and `ended` are the times of its last reindex; `due` is the time of its next scheduled
    one.
    """

    number: int
    id: str
    name: str
    created: str
    updated: str
    running: bool
    version: int
    due: float | None
    began: str | None
    ended: str | None
    blocking_task: str | None
    blocking_error: str | None

    @property
    def blocked(self) -> bool:
        """Whether a failed task prevents further crawls."""
        return self.blocking_task is not None

    @property
    def next_start(self) -> float | None:
        """The time of its next scheduled reindex; None if it is paused or blocked."""
        return self.due if self.running and not self.blocked else None


def find_crawler(store: Store, id: str) -> StoredCrawler:
    """Return a crawler; raises `Refused` with 403 if it does not exist (api.md, Errors)."""
    rows = store.read(f"SELECT {COLUMNS} FROM crawlers WHERE id = ?", id)
    if not rows:
        raise unknown_crawler(id)
    return StoredCrawler(*rows[0])


def unknown_crawler(id: str) -> Refused:
    """Return the error for a crawler that does not exist."""
    return Refused(f"Crawler {id[:80]} does not exist", status=403)


def read_crawlers(store: Store) -> list[StoredCrawler]:
    """Return all crawlers in order of creation."""
    return [
        StoredCrawler(*row) for row in store.read(f"SELECT {COLUMNS} FROM crawlers ORDER BY number")
    ]


def current_config(store: Store, crawler: StoredCrawler) -> Config:
    """Return the current configuration of a crawler; raises `Refused` if it was deleted."""
    rows = store.read(
        "SELECT config FROM crawler_versions WHERE crawler = ? AND version = "
        "(SELECT version FROM crawlers WHERE number = ?)",
        crawler.number,
        crawler.number,
    )
    if not rows:
        raise unknown_crawler(crawler.id)
    return dict(msgspec.json.decode(rows[0][0]))


def current_configs(store: Store) -> list[Config]:
    """Return the current configurations of all crawlers."""
    rows = store.read(
        "SELECT config FROM crawler_versions JOIN crawlers ON crawler = crawlers.number "
        "AND crawler_versions.version = crawlers.version ORDER BY crawlers.number"
    )
    return [msgspec.json.decode(config) for (config,) in rows]


def insert_crawler(connection: sqlite3.Connection, name: str, config: Config) -> str:
    """Insert a crawler, initially paused; return its id."""
    new_id, now = str(uuid4()), stamp_now()
    [number] = connection.execute(
        "INSERT INTO crawlers (id, name, created, updated) VALUES (?, ?, ?, ?) RETURNING number",
        (new_id, name, now, now),
    ).fetchone()
    add_version(connection, number, config)
    return new_id


def change_crawler(connection: sqlite3.Connection, number: int, **changes: Any) -> None:
    """Update columns of a crawler."""
    columns = ", ".join(f"{name} = ?" for name in changes)
    connection.execute(
        f"UPDATE crawlers SET {columns} WHERE number = ?", (*changes.values(), number)
    )


def delete_crawler(connection: sqlite3.Connection, number: int) -> None:
    """Delete a crawler with its configurations and tasks; its ledgers are deleted in parts."""
    connection.execute("UPDATE crawls SET state = 'dropped' WHERE crawler = ?", [number])
    connection.execute("DELETE FROM crawler_tasks WHERE crawler = ?", [number])
    connection.execute("DELETE FROM crawler_versions WHERE crawler = ?", [number])
    connection.execute("DELETE FROM crawlers WHERE number = ?", [number])


def require_crawler(connection: sqlite3.Connection, crawler: StoredCrawler) -> None:
    """Raise `Refused` if a crawler was deleted since it was read; a write begins with it."""
    if not connection.execute(
        "SELECT 1 FROM crawlers WHERE number = ?", [crawler.number]
    ).fetchone():
        raise unknown_crawler(crawler.id)


def add_version(connection: sqlite3.Connection, number: int, config: Mapping[str, Any]) -> None:
    """Add a configuration version to a crawler, and delete versions beyond the limit."""
    [version] = connection.execute(
        "UPDATE crawlers SET version = version + 1, updated = ? WHERE number = ? RETURNING version",
        (stamp_now(), number),
    ).fetchone()
    connection.execute(
        "INSERT INTO crawler_versions VALUES (?, ?, ?, ?)",
        (number, version, msgspec.json.encode(config), stamp_now()),
    )
    connection.execute(
        "DELETE FROM crawler_versions WHERE crawler = ? AND version <= ?",
        (number, version - MAX_CONFIGURATION_VERSIONS),
    )


Kind = Literal["run", "pause", "update", "reindex", "part", "urls"]
State = Literal["pending", "blocked", "cancelled", "done"]
# Finished tasks kept per crawler.
MAX_FINISHED_TASKS = 1000
TASK_COLUMNS = "id, kind, state, writes"


class Urls(msgspec.Struct, frozen=True):
    """The URLs of a task: those still to visit, and all that are known.

    `hops` counts for each redirect target the redirects that led to it.
    """

    left: Sequence[str] = ()
    known: Sequence[str] = ()
    hops: Mapping[str, int] = {}

    def after(self, visited: Collection[str], hops_of: Mapping[str, int]) -> Urls:
        """Return the URLs after some visits, which may have found redirect targets."""
        new = [url for url in dict.fromkeys(hops_of) if url not in self.known]
        left = [url for url in (*self.left, *new) if url not in visited]
        return Urls(left, [*self.known, *new], {**self.hops, **hops_of})


@dataclass(frozen=True)
class StoredCrawlerTask:
    """A task; `writes` is the number of its last write."""

    id: str
    kind: Kind
    state: State
    writes: int = 0

    @property
    def open(self) -> bool:
        """Whether the task is pending, or blocked and can be cancelled."""
        return self.state in ("pending", "blocked")


def find_task(store: Store, crawler: StoredCrawler, id: str) -> StoredCrawlerTask:
    """Return a task of a crawler; raises `BadInput`."""
    rows = store.read(
        f"SELECT {TASK_COLUMNS} FROM crawler_tasks WHERE crawler = ? AND id = ?", crawler.number, id
    )
    if not rows:
        raise BadInput(f"the crawler {crawler.name} has no task {id[:80]}")
    return StoredCrawlerTask(*rows[0])


def pending_urls(store: Store, crawler: StoredCrawler) -> StoredCrawlerTask | None:
    """Return a crawler's first pending task with URLs, or None."""
    rows = store.read(
        f"SELECT {TASK_COLUMNS} FROM crawler_tasks "
        "WHERE crawler = ? AND kind = 'urls' AND state = 'pending' ORDER BY number LIMIT 1",
        crawler.number,
    )
    return StoredCrawlerTask(*rows[0]) if rows else None


def last_write(store: Store, crawler: StoredCrawler) -> int:
    """Return the number of the last write of a whole crawl; 0 if there is none."""
    [[writes]] = store.read(
        "SELECT coalesce(max(writes), 0) FROM crawler_tasks "
        "WHERE crawler = ? AND kind IN ('reindex', 'part')",
        crawler.number,
    )
    return int(writes)


def recent_times(store: Store, crawler: StoredCrawler, kind: Kind, since: float) -> list[float]:
    """Return the times of a crawler's tasks of one kind since a time, in order."""
    rows = store.read(
        "SELECT time FROM crawler_tasks WHERE crawler = ? AND kind = ? AND time > ? ORDER BY time",
        crawler.number,
        kind,
        since,
    )
    return [time for (time,) in rows]


def insert_task(
    connection: sqlite3.Connection,
    crawler: StoredCrawler,
    kind: Kind,
    time: float,
    urls: Sequence[str] = (),
) -> str:
    """Insert a task, pending if it needs further work, otherwise done; return its id.

    Raises `Refused` if the crawler was deleted since it was read.
    """
    require_crawler(connection, crawler)
    new_id = str(uuid4())
    state = "pending" if kind in ("reindex", "part", "urls") else "done"
    connection.execute(
        "INSERT INTO crawler_tasks (id, crawler, kind, time, state, urls) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (new_id, crawler.number, kind, time, state, _pack(Urls(urls, urls)) if urls else None),
    )
    connection.execute(
        "DELETE FROM crawler_tasks WHERE crawler = ? AND state IN ('done', 'cancelled') "
        "AND number <= (SELECT max(number) FROM crawler_tasks) - ?",
        (crawler.number, MAX_FINISHED_TASKS),
    )
    return new_id


def end_task(connection: sqlite3.Connection, id: str, state: State, writes: int = 0) -> None:
    """Store the final state of a task, and the write that makes its result visible."""
    connection.execute(
        "UPDATE crawler_tasks SET state = ?, writes = max(writes, ?), urls = NULL WHERE id = ?",
        (state, writes, id),
    )


def end_blocking(connection: sqlite3.Connection, crawler: StoredCrawler) -> None:
    """Cancel the task that blocks a crawler, if any."""
    connection.execute(
        "UPDATE crawler_tasks SET state = 'cancelled', urls = NULL "
        "WHERE crawler = ? AND state = 'blocked'",
        [crawler.number],
    )


def store_urls(connection: sqlite3.Connection, id: str, urls: Urls) -> None:
    """Store the remaining URLs of a task."""
    connection.execute("UPDATE crawler_tasks SET urls = ? WHERE id = ?", (_pack(urls), id))


def read_urls(source: Store | sqlite3.Connection, id: str) -> Urls:
    """Return the URLs of a task; none after it is done."""
    sql = "SELECT urls FROM crawler_tasks WHERE id = ? AND urls IS NOT NULL"
    rows = source.read(sql, id) if isinstance(source, Store) else source.execute(sql, [id])
    return next((msgspec.json.decode(urls, type=Urls) for (urls,) in rows), Urls())
