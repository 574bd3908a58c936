"""Tasks of crawlers: stored requests to run, pause, update, reindex or crawl URLs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawler import StoredCrawler
from svc_notebook.service.store import Store

Kind = Literal["run", "pause", "update", "reindex", "part", "urls"]
State = Literal["pending", "blocked", "cancelled", "done"]
# Tasks of each crawler that are kept once they are done.
MAX_FINISHED_TASKS = 1000


class Urls(msgspec.Struct, frozen=True):
    """The URLs of a task: those it has still to visit, and all it came to know.

    `hops` counts, for each that stands for another, how many led on to it.
    """

    left: Sequence[str] = ()
    known: Sequence[str] = ()
    hops: Mapping[str, int] = {}

    def after(self, visited: Collection[str], found: Mapping[str, int]) -> Urls:
        """What is left after some visits, which may have found that others stand for them."""
        new = [url for url in dict.fromkeys(found) if url not in self.known]
        left = [url for url in (*self.left, *new) if url not in visited]
        return Urls(left, [*self.known, *new], {**self.hops, **found})


@dataclass(frozen=True)
class StoredCrawlerTask:
    """A task; `writes` is the last write it came to."""

    id: str
    kind: Kind
    state: State
    writes: int = 0

    @property
    def open(self) -> bool:
        """Whether something is still to do, be it only to cancel it."""
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
    """The first task of a crawler that has URLs to visit."""
    rows = store.read(
        f"SELECT {COLUMNS} FROM crawler_tasks "
        "WHERE crawler = ? AND kind = 'urls' AND state = 'pending' ORDER BY number LIMIT 1",
        crawler.number,
    )
    return StoredCrawlerTask(*rows[0]) if rows else None


def last_write(store: Store, crawler: StoredCrawler) -> int:
    """The last write by which a whole crawl became visible; 0 if there was none."""
    [[writes]] = store.read(
        "SELECT coalesce(max(writes), 0) FROM crawler_tasks "
        "WHERE crawler = ? AND kind IN ('reindex', 'part')",
        crawler.number,
    )
    return int(writes)


def count_recent(store: Store, crawler: StoredCrawler, kind: Kind, since: float) -> int:
    """How many tasks of a kind a crawler took since a moment."""
    [[count]] = store.read(
        "SELECT count(*) FROM crawler_tasks WHERE crawler = ? AND kind = ? AND time > ?",
        crawler.number,
        kind,
        since,
    )
    return int(count)


def insert_task(
    connection: sqlite3.Connection,
    crawler: StoredCrawler,
    kind: Kind,
    time: float,
    urls: Sequence[str] = (),
) -> str:
    """Write down a task, done unless there is more to it; returns its id."""
    made = str(uuid4())
    state = "pending" if kind in ("reindex", "part", "urls") else "done"
    connection.execute(
        "INSERT INTO crawler_tasks (id, crawler, kind, time, state, urls) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (made, crawler.number, kind, time, state, _pack(Urls(urls, urls)) if urls else None),
    )
    connection.execute(
        "DELETE FROM crawler_tasks WHERE crawler = ? AND state IN ('done', 'cancelled') "
        "AND number <= (SELECT max(number) FROM crawler_tasks) - ?",
        (crawler.number, MAX_FINISHED_TASKS),
    )
    return made


def end_task(connection: sqlite3.Connection, id: str, state: State, writes: int = 0) -> None:
    """Say how a task ended, and which write makes that visible."""
    connection.execute(
        "UPDATE crawler_tasks SET state = ?, writes = max(writes, ?), urls = NULL WHERE id = ?",
        (state, writes, id),
    )


def end_blocking(connection: sqlite3.Connection, crawler: StoredCrawler) -> None:
    """Give up the task that blocks a crawler, if one does."""
    connection.execute(
        "UPDATE crawler_tasks SET state = 'cancelled', urls = NULL "
        "WHERE crawler = ? AND state = 'blocked'",
        [crawler.number],
    )


def keep_urls(connection: sqlite3.Connection, id: str, urls: Urls) -> None:
    """Say which URLs a task has still to visit."""
    connection.execute("UPDATE crawler_tasks SET urls = ? WHERE id = ?", (_pack(urls), id))


def read_urls(source: Store | sqlite3.Connection, id: str) -> Urls:
    """The URLs of a task; none once it is done."""
    sql = "SELECT urls FROM crawler_tasks WHERE id = ? AND urls IS NOT NULL"
    rows = source.read(sql, id) if isinstance(source, Store) else source.execute(sql, [id])
    return next((msgspec.json.decode(urls, type=Urls) for (urls,) in rows), Urls())


COLUMNS = "id, kind, state, writes"

_pack = msgspec.json.encode
