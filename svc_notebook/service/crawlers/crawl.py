"""One crawl as stored in the database: its configuration and its state."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from svc_notebook.core.api.shapes import CrawledUrl, UrlStatus
from svc_notebook.service.crawlers.crawler import Config, StoredCrawler
from svc_notebook.service.store import Store


def read_url_outcomes(
    store: Store,
    crawl: int,
    status: UrlStatus | None,
    reason: str | None,
    after: int,
    length: int,
) -> list[tuple[int, CrawledUrl]]:
    """Return up to `length` visited URLs with their places, after the place `after`.

    Sitemaps are included only if they failed, as in the statistics.
    """
    rows = store.read(
        "SELECT one.place, one.url, one.kind, one.status, one.category, one.reason, one.readable, "
        "one.depth, one.ended, other.url FROM crawl_urls AS one "
        "LEFT JOIN crawl_urls AS other ON other.place = one.referrer AND other.crawl = one.crawl "
        "WHERE one.crawl = ? AND one.place > ? AND one.status IS NOT NULL "
        "AND (one.kind = 'page' OR one.status = 'FAILED') "
        "AND one.status = coalesce(?, one.status) AND one.reason = coalesce(?, one.reason) "
        "ORDER BY one.place LIMIT ?",
        crawl,
        after,
        status,
        reason,
        length,
    )
    return [
        (
            number,
            {
                "url": url,
                "kind": kind,
                "status": ended_as,
                "category": category,
                "reason": why,
                "message": message,
                "depth": depth,
                "time": _write_time(ended),
                "referrer": referrer,
            },
        )
        for number, url, kind, ended_as, category, why, message, depth, ended, referrer in rows
    ]


def _write_time(seconds: float | None) -> str | None:
    """Format a time; URLs visited before the time was stored have none."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


# A crawl is `over` when its pages are live; the ledger of a `dropped` crawl is deleted.
State = Literal["running", "blocked", "over", "dropped"]
COLUMNS = "id, crawler, task, config, state"
# Rows deleted in one transaction.
DELETE_CHUNK_ROWS = 5000


@dataclass(frozen=True)
class Crawl:
    """A crawl: its crawler, its task, and the configuration at its start."""

    id: int
    crawler: int
    task: str
    config: Config
    state: State


def last_crawl(
    source: Store | sqlite3.Connection,
    crawler: int,
    states: Sequence[State] = ("running", "blocked", "over"),
) -> Crawl | None:
    """Return the last crawl of a crawler that is in one of the given states."""
    sql = (
        f"SELECT {COLUMNS} FROM crawls WHERE crawler = ? "
        "AND state IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT 1"
    )
    values = crawler, msgspec.json.encode(states).decode()
    if isinstance(source, Store):
        return _first(source.read(sql, *values))
    return _first(source.execute(sql, values).fetchall())


def insert_crawl(
    connection: sqlite3.Connection, crawler: StoredCrawler, task: str, config: Config, state: State
) -> int:
    """Insert a crawl with an empty ledger; return its id."""
    [number] = connection.execute(
        "INSERT INTO crawls (crawler, task, config, state) VALUES (?, ?, ?, ?) RETURNING id",
        (crawler.number, task, msgspec.json.encode(config), state),
    ).fetchone()
    return int(number)


def move_crawl(connection: sqlite3.Connection, id: int, state: State) -> None:
    """Change the state of a crawl."""
    connection.execute("UPDATE crawls SET state = ? WHERE id = ?", (state, id))


def set_warning(connection: sqlite3.Connection, id: int, warning: str) -> None:
    """Store a crawl's warning; an empty one removes it."""
    connection.execute("UPDATE crawls SET warning = ? WHERE id = ?", (warning or None, id))


def read_warnings(store: Store, crawler: int) -> list[str]:
    """Return the warning of the crawl whose records are live, as a list."""
    crawl = last_crawl(store, crawler, ("over",))
    rows = store.read("SELECT warning FROM crawls WHERE id = ?", crawl.id) if crawl else []
    return [warning for (warning,) in rows if warning]


def is_running(connection: sqlite3.Connection, id: int) -> bool:
    """Return whether a crawl is still running."""
    return bool(
        connection.execute(
            "SELECT 1 FROM crawls WHERE id = ? AND state = 'running'", [id]
        ).fetchone()
    )


def drop_others(connection: sqlite3.Connection, crawler: int, id: int) -> None:
    """Mark the other crawls of a crawler as dropped."""
    connection.execute(
        "UPDATE crawls SET state = 'dropped' WHERE crawler = ? AND id <> ?", (crawler, id)
    )


def inherit_urls(connection: sqlite3.Connection, crawl: Crawl) -> None:
    """Copy from the previous whole crawl the URLs and records that a crawl of some actions skipped.

    The ledger then still has all records of each URL, including those in indices that this
    crawl does not change.
    """
    before = last_crawl(connection, crawl.crawler, ("over",))
    if before is None:
        return
    connection.execute(
        "UPDATE crawl_urls SET given = json_patch(coalesce(("
        "SELECT old.given FROM crawl_urls AS old WHERE old.crawl = ? AND old.url = crawl_urls.url"
        "), '{}'), coalesce(given, '{}')) WHERE crawl = ?",
        (before.id, crawl.id),
    )
    connection.execute(
        "UPDATE OR IGNORE crawl_urls SET crawl = ? WHERE crawl = ?", (crawl.id, before.id)
    )


def sweep_crawls(connection: sqlite3.Connection) -> bool:
    """Delete a part of the dropped ledgers; return whether there may be more."""
    gone = connection.execute(
        "DELETE FROM crawl_urls WHERE place IN (SELECT place FROM crawl_urls "
        "WHERE crawl IN (SELECT id FROM crawls WHERE state = 'dropped') LIMIT ?)",
        [DELETE_CHUNK_ROWS],
    ).rowcount
    if gone < DELETE_CHUNK_ROWS:
        connection.execute("DELETE FROM crawls WHERE state = 'dropped'")
    return gone == DELETE_CHUNK_ROWS


def indices_of(config: Config) -> list[str]:
    """Return the full names of the indices that a configuration writes to, without duplicates."""
    prefix = config.get("indexPrefix") or ""
    return list(dict.fromkeys(prefix + action["indexName"] for action in config["actions"]))


def temporary_index_name(index: str, crawler: StoredCrawler) -> str:
    """Return the name of the temporary index in which a reindex stages the records of an index."""
    return f"{index}_tmp_{crawler.id[:8]}"


def _first(rows: Sequence[tuple[Any, ...]]) -> Crawl | None:
    if not rows:
        return None
    number, crawler, task, config, state = rows[0]
    return Crawl(number, crawler, task, msgspec.json.decode(config), state)
