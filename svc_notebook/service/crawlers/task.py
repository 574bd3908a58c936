"""Tasks of crawlers: stored requests to run, pause, update, reindex or crawl URLs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawler import StoredCrawler, require_crawler
from svc_notebook.service.store import Store

Kind = Literal["run", "pause", "update", "reindex", "part", "urls"]
State = Literal["pending", "blocked", "cancelled", "done"]
# Finished tasks kept per crawler.
MAX_FINISHED_TASKS = 1000


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
        f"SELECT {COLUMNS} FROM crawler_tasks WHERE crawler = ? AND id = ?", crawler.number, id
    )
    if not rows:
        raise BadInput(f"the crawler {crawler.name} has no task {id[:80]}")
    return StoredCrawlerTask(*rows[0])


def pending_urls(store: Store, crawler: StoredCrawler) -> StoredCrawlerTask | None:
    """Return a crawler's first pending task with URLs, or None."""
    rows = store.read(
        f"SELECT {COLUMNS} FROM crawler_tasks "
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


COLUMNS = "id, kind, state, writes"

_pack = msgspec.json.encode
