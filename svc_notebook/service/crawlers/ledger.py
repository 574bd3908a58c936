"""The URL ledger of a crawl in SQLite; a URL's outcome and its records are in one transaction.

Records are written through the service's task queue. If the process is killed, either both the
outcome of a page and its records are stored, or neither; then the page is visited again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawl import (
    Crawl,
    indices_of,
    insert_crawl,
    is_running,
    last_crawl,
    temporary_index_name,
)
from svc_notebook.service.crawlers.crawler import (
    Config,
    StoredCrawler,
    end_task,
    read_urls,
    store_urls,
)
from svc_notebook.service.indices.records import read_bodies
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.store import Store
from svc_notebook.service.tasks.batch_operations import (
    BatchOperation,
    check_operation,
    encode_operations,
)
from svc_notebook.service.tasks.queue import NewTask, TaskQueue, TaskTransaction

if TYPE_CHECKING:
    from svc_notebook.service.crawl.visits import PendingUrl, Remembered, VisitOutcome

# Limit of the message of one URL: extractors and libraries return messages of any length.
MAX_MESSAGE_CHARS = 500
# The failure after which a whole crawl keeps the live records of a URL.
KEEPING_REASON = "rendered_incomplete"
ObjectIds = dict[str, list[str]]
Writes = dict[str, list[BatchOperation]]


class CrawlLedger:
    """The ledger of a reindex, whose records are staged in temporary indices."""

    def __init__(
        self,
        store: Store,
        tasks: TaskQueue,
        crawler: StoredCrawler,
        crawl: Crawl,
        catalog: IndexRegistry,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._crawler = crawler
        self._crawl = crawl
        self._catalog = catalog
        before = last_crawl(store, crawler.number, ("over",))
        self._before = before.id if before else 0

    def waiting(self, n: int) -> list[PendingUrl]:
        """Return the first `n` pending URLs, by depth, then by order of discovery."""
        from svc_notebook.service.crawl.visits import PendingUrl

        rows = self._store.read(
            "SELECT url, depth, kind, seed, hops FROM crawl_urls "
            "WHERE crawl = ? AND status IS NULL ORDER BY depth, place LIMIT ?",
            self._crawl.id,
            n,
        )
        return [
            PendingUrl(url, depth, kind, bool(seed), hops) for url, depth, kind, seed, hops in rows
        ]

    def add(self, new_urls: Iterable[PendingUrl], *, limit: int | None = None) -> None:
        """Queue the unknown URLs, while fewer than `limit` pages are known."""
        with self._store.writing() as connection:
            if is_running(connection, self._crawl.id):
                add_urls(connection, self._crawl.id, new_urls, limit)

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        new_urls: Iterable[PendingUrl],
        *,
        limit: int | None = None,
    ) -> None:
        """Store outcomes with their records and queue the found URLs, in one transaction.

        A crawl that was cancelled in the meantime stores nothing.
        """
        with self._tasks.transaction() as transaction:
            if not is_running(transaction.connection, self._crawl.id):
                return
            rows = read_rows(
                transaction.connection, self._crawl.id, [visit.url for visit in outcomes]
            )
            fresh = [visit for visit in outcomes if rows.get(visit.url, _UNKNOWN_URL)[0] is None]
            ended = [
                (outcome, self._kept_records(transaction.connection, outcome.url))
                if outcome.reason == KEEPING_REASON
                else check_records(outcome)
                for outcome in fresh
            ]
            settle_urls(transaction.connection, self._crawl.id, ended)
            writes = [
                {temporary_index_name(i, self._crawler): s for i, s in page_writes.items()}
                for _, page_writes in ended
            ]
            queue_writes(transaction, self._crawl.task, writes)
            add_urls(transaction.connection, self._crawl.id, new_urls, limit)

    def _kept_records(self, connection: sqlite3.Connection, url: str) -> Writes:
        """Return writes of the live records that a URL gave in the last whole crawl."""
        _, given = read_rows(connection, self._before, [url]).get(url, _UNKNOWN_URL)
        writes: Writes = {}
        for index, ids in given.items():
            if index in indices_of(self._crawl.config) and (live := self._catalog.get(index)):
                bodies = read_bodies(self._store, live.records_id, ids).values()
                writes[index] = [
                    check_operation("addObject", msgspec.json.decode(body), "record")
                    for body in bodies
                ]
        return writes

    def remembered(self, url: str) -> Remembered | None:
        """Return the revalidation data of a URL from the last whole crawl, or None."""
        from svc_notebook.service.crawl.visits import Remembered

        rows = self._store.read(
            "SELECT remembered FROM crawl_urls WHERE crawl = ? AND url = ?", self._before, url
        )
        if not rows or rows[0][0] is None:
            return None
        return msgspec.msgpack.decode(rows[0][0], type=Remembered)


class TaskLedger:
    """The ledger of one task with given URLs; records are written to the crawler's current indices.

    During a reindex these are the temporary indices. Otherwise they are the live indices, where the
    records replace those that the same URL gave before.
    """

    def __init__(
        self, store: Store, tasks: TaskQueue, crawler: StoredCrawler, task: str, config: Config
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._crawler = crawler
        self._task = task
        self._config = config

    def waiting(self, n: int) -> list[PendingUrl]:
        """Return the first `n` URLs that were not visited yet."""
        from svc_notebook.service.crawl.visits import PendingUrl

        urls = read_urls(self._store, self._task)
        return [PendingUrl(url, seed=True, hops=urls.hops.get(url, 0)) for url in urls.left[:n]]

    def add(self, new_urls: Iterable[PendingUrl], *, limit: int | None = None) -> None:
        """Do nothing: a task visits only its given URLs and their redirect targets."""

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        new_urls: Iterable[PendingUrl],
        *,
        limit: int | None = None,
    ) -> None:
        """Store outcomes with their records, as in `CrawlLedger`, and queue redirect targets."""
        with self._tasks.transaction() as transaction:
            connection = transaction.connection
            urls = read_urls(connection, self._task)
            if not urls.left:  # the crawler was deleted
                return
            crawl, live = self._find_crawl(connection)
            for outcome in outcomes:
                if outcome.url in urls.left:
                    self._settle(transaction, crawl, outcome, live=live)
            urls = urls.after(
                [entry.url for entry in outcomes], {entry.url: entry.hops for entry in new_urls}
            )
            if urls.left:
                store_urls(connection, self._task, urls)
            else:
                end_task(connection, self._task, "done")

    def remembered(self, url: str) -> Remembered | None:
        """Return None: a URL given explicitly is always fetched again."""
        return None

    def _find_crawl(self, connection: sqlite3.Connection) -> tuple[int, bool]:
        """Return the crawl whose ledger is used, and whether its records are live."""
        if crawl := last_crawl(connection, self._crawler.number, ("running",)):
            return crawl.id, False
        if crawl := last_crawl(connection, self._crawler.number, ("over",)):
            return crawl.id, True
        return insert_crawl(connection, self._crawler, self._task, self._config, "over"), True

    def _settle(
        self, transaction: TaskTransaction, crawl: int, outcome: VisitOutcome, *, live: bool
    ) -> None:
        connection = transaction.connection
        rows = read_rows(connection, crawl, [outcome.url])
        outcome, writes = check_records(outcome)
        settle_urls(connection, crawl, [(outcome, writes)])
        before = rows.get(outcome.url, _UNKNOWN_URL)[1] if outcome.status == "DONE" else {}
        for index, ids in before.items():
            now = {step.id for step in writes.get(index, ())}
            gone = [object_id for object_id in ids if object_id not in now]
            kept = ids_of_other_urls(connection, crawl, outcome.url, index, gone)
            writes.setdefault(index, []).extend(
                BatchOperation("deleteObject", object_id)
                for object_id in gone
                if object_id not in kept
            )
        named = {
            i if live else temporary_index_name(i, self._crawler): steps
            for i, steps in writes.items()
        }
        queue_writes(transaction, self._task, [named])


def check_records(outcome: VisitOutcome) -> tuple[VisitOutcome, Writes]:
    """Convert the records of an outcome to writes; one invalid record fails the whole page."""
    try:
        return outcome, {
            index: [check_operation("addObject", record, "record") for record in records]
            for index, records in outcome.records.items()
        }
    except BadInput as error:
        failed = replace(
            outcome,
            status="FAILED",
            category="indexing",
            reason="invalid_record",
            readable=str(error),
            yielded=(),
            remember=None,
        )
        return failed, {}


def queue_writes(transaction: TaskTransaction, task: str, writes: Sequence[Writes]) -> None:
    """Queue the writes of some pages, one task per index, which the crawler's task waits for."""
    by_index: Writes = {}
    for writes_of_page in writes:
        for index, steps in writes_of_page.items():
            by_index.setdefault(index, []).extend(steps)
    for index, steps in by_index.items():
        if steps:
            number = transaction.queue(NewTask(index, "steps", encode_operations(steps)))
            transaction.connection.execute(
                "UPDATE crawler_tasks SET writes = ? WHERE id = ?", (number, task)
            )


def add_urls(
    connection: sqlite3.Connection, crawl: int, new_urls: Iterable[PendingUrl], limit: int | None
) -> None:
    """Add unknown URLs; sitemaps do not count against the limit."""
    fresh = {pending.url: pending for pending in new_urls}
    pages = [pending for pending in fresh.values() if pending.kind == "page"]
    sitemaps = [pending for pending in fresh.values() if pending.kind != "page"]
    _insert(connection, crawl, sitemaps, -1)
    if pages:
        [page_count] = connection.execute(
            "SELECT pages FROM crawls WHERE id = ?", [crawl]
        ).fetchone()
        max_rows = -1 if limit is None else max(0, limit - page_count)
        added = _insert(connection, crawl, pages, max_rows)
        connection.execute("UPDATE crawls SET pages = pages + ? WHERE id = ?", (added, crawl))


def _insert(
    connection: sqlite3.Connection, crawl: int, new_urls: Sequence[PendingUrl], max_rows: int
) -> int:
    """Insert at most `max_rows` unknown URLs; return their number."""
    rows = [
        (
            pending.url,
            pending.depth,
            pending.kind,
            int(pending.seed),
            pending.hops,
            pending.referrer,
        )
        for pending in new_urls
    ]
    return connection.execute(
        "INSERT INTO crawl_urls (crawl, url, depth, kind, seed, hops, referrer) "
        "SELECT ?, json_extract(new.value, '$[0]'), json_extract(new.value, '$[1]'), "
        "json_extract(new.value, '$[2]'), json_extract(new.value, '$[3]'), "
        "json_extract(new.value, '$[4]'), (SELECT place FROM crawl_urls "
        "WHERE crawl = ? AND url = json_extract(new.value, '$[5]')) "
        "FROM json_each(?) AS new WHERE NOT EXISTS (SELECT 1 FROM crawl_urls "
        "WHERE crawl = ? AND url = json_extract(new.value, '$[0]')) "
        "ORDER BY new.key LIMIT ?",
        (crawl, crawl, msgspec.json.encode(rows).decode(), crawl, max_rows),
    ).rowcount


def settle_urls(
    connection: sqlite3.Connection, crawl: int, ended: Iterable[tuple[VisitOutcome, Writes]]
) -> None:
    """Store the outcomes of URLs and the objectIDs that each gave."""
    now = time.time()
    connection.executemany(
        "INSERT INTO crawl_urls (crawl, url, depth, kind, seed, status, category, reason, "
        "readable, ended, given, remembered) "
        "VALUES (?, ?, ?, 'page', 0, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (crawl, url) DO UPDATE SET status = excluded.status, "
        "category = excluded.category, reason = excluded.reason, readable = excluded.readable, "
        "ended = excluded.ended, "
        "given = CASE excluded.status WHEN 'DONE' THEN excluded.given "
        "ELSE coalesce(excluded.given, given) END, "
        "remembered = excluded.remembered",
        [
            (
                crawl,
                outcome.url,
                outcome.depth,
                outcome.status,
                outcome.category,
                outcome.reason,
                outcome.readable[:MAX_MESSAGE_CHARS],
                now,
                _object_ids(writes),
                msgspec.msgpack.encode(outcome.remember) if outcome.remember else None,
            )
            for outcome, writes in ended
        ],
    )


def read_rows(
    connection: sqlite3.Connection, crawl: int, urls: Sequence[str]
) -> dict[str, tuple[str | None, ObjectIds]]:
    """Return the status and objectIDs of URLs; unknown URLs are omitted."""
    rows = connection.execute(
        "SELECT url, status, given FROM crawl_urls WHERE crawl = ? "
        "AND url IN (SELECT value FROM json_each(?))",
        (crawl, msgspec.json.encode(urls).decode()),
    )
    return {
        url: (status, msgspec.json.decode(object_ids or b"{}")) for url, status, object_ids in rows
    }


def ids_of_other_urls(
    connection: sqlite3.Connection, crawl: int, url: str, index: str, ids: Sequence[str]
) -> set[str]:
    """Return those of the objectIDs that another URL also gives."""
    if not ids:
        return set()
    rows = connection.execute(
        "SELECT DISTINCT named.value FROM crawl_urls AS other, json_each(other.given) AS one, "
        "json_each(one.value) AS named WHERE other.crawl = ? AND other.url <> ? "
        "AND other.given IS NOT NULL AND one.key = ? "
        "AND named.value IN (SELECT value FROM json_each(?))",
        (crawl, url, index, msgspec.json.encode(ids).decode()),
    )
    return {name for (name,) in rows}


_UNKNOWN_URL: tuple[None, ObjectIds] = (None, {})


def _object_ids(writes: Writes) -> str | None:
    object_ids = {index: [step.id for step in steps] for index, steps in writes.items()}
    return msgspec.json.encode(object_ids).decode() if object_ids else None
