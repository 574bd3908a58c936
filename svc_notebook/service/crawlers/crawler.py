"""One crawler as stored in the database, with its configuration versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec

from svc_notebook.errors import Refused
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.store import Store

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
