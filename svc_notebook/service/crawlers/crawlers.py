"""Create, change, run and inspect all crawlers of the service."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from svc_notebook.core.api.shapes import CrawledUrl, CrawlTest, UrlStatistic, UrlStatus
from svc_notebook.errors import BadInput, TooMany
from svc_notebook.service.crawlers.configurations import (
    check_config,
    check_name,
    find_config_error,
    find_index_conflicts,
    need_crawl,
    next_due,
)
from svc_notebook.service.crawlers.crawl import last_crawl, read_url_outcomes, read_warnings
from svc_notebook.service.crawlers.crawler import (
    Config,
    Kind,
    StoredCrawler,
    add_version,
    change_crawler,
    current_config,
    current_configs,
    delete_crawler,
    find_crawler,
    find_task,
    insert_crawler,
    insert_task,
    last_write,
    read_crawlers,
    recent_times,
)
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.jobs import try_url
from svc_notebook.service.crawlers.reindex import begin_reindex, cancel_crawl, unblock
from svc_notebook.service.crawlers.scheduler import CrawlScheduler
from svc_notebook.service.indices.published_index import stamp_now

DAY_SECONDS = 24 * 3600
MAX_CRAWL_CALLS_PER_DAY = 200  # calls per day that crawl given URLs (api.md, Limits)
MAX_EXTRA_URLS = 9999  # URLs in `extraUrls` (api-notes, section 13)
MAX_PARALLEL_TRIALS = 4  # each occupies one of the threads that answer writes


class Crawlers:
    """All crawlers, from `start` to `stop`; a change is on disk before it is acknowledged."""

    def __init__(self, dependencies: CrawlerDependencies) -> None:
        self._dependencies = dependencies
        self._scheduler = CrawlScheduler(dependencies)
        self._trials = threading.BoundedSemaphore(MAX_PARALLEL_TRIALS)
        self._locks: dict[int, threading.Lock] = {}

    def start(self) -> None:
        """Resume the crawls that were running."""
        self._scheduler.start()

    def stop(self) -> None:
        """Stop; running crawls resume at the next start."""
        self._scheduler.stop()

    def wake(self) -> None:
        """Check the schedules at once."""
        self._scheduler.wake()

    def is_idle(self) -> bool:
        """Return whether no crawl is running."""
        return not self._scheduler.jobs

    def all(self) -> list[StoredCrawler]:
        """Return all crawlers in order of creation."""
        return read_crawlers(self._dependencies.store)

    def find(self, id: str) -> StoredCrawler:
        """Return one crawler; raises `Refused`."""
        return find_crawler(self._dependencies.store, id)

    def config(self, crawler: StoredCrawler) -> Config:
        """Return the current configuration of a crawler."""
        return current_config(self._dependencies.store, crawler)

    def is_reindexing(self, crawler: StoredCrawler) -> bool:
        """Return whether a whole crawl is running or paused, or its records are not live yet."""
        crawling = last_crawl(self._dependencies.store, crawler.number, ("running",)) is not None
        return (
            crawling
            or last_write(self._dependencies.store, crawler) > self._dependencies.tasks.published
        )

    def warnings(self, id: str) -> list[str]:
        """Return a crawler's warnings: shared indices, and problems of its last crawl."""
        crawler, store = self.find(id), self._dependencies.store
        return [
            *find_index_conflicts(store, id, self.config(crawler)),
            *read_warnings(store, crawler.number),
        ]

    def create(self, name: str, config: Config) -> str:
        """Create a crawler; return its id."""
        complete = self._with_app_id(config)
        check_config(self._dependencies, complete)
        with self._dependencies.store.writing() as connection:
            return insert_crawler(connection, check_name(name), complete)

    def delete(self, id: str) -> str:
        """Delete a crawler with its crawls and temporary indices; return the time."""
        with self._locked(id) as crawler, self._dependencies.tasks.transaction() as transaction:
            cancel_crawl(transaction, crawler)
            delete_crawler(transaction.connection, crawler.number)
        self._scheduler.wake()
        return stamp_now()

    def update(self, id: str, name: str | None, config: Config | None) -> str:
        """Change the name or configuration of a crawler; return the task's id."""
        if name is None and config is None:
            raise BadInput("give a `name` or a `config`")
        changes = {} if name is None else {"name": check_name(name), "updated": stamp_now()}
        with self._locked(id) as crawler:
            return self._change(crawler, "update", changes, config and self._with_app_id(config))

    def configure(self, id: str, changes: Config) -> str:
        """Change top-level members of a configuration; return the task's id."""
        need_crawl()
        from svc_notebook.service.crawl.configuration import merge

        with self._locked(id) as crawler:
            return self._change(crawler, "update", {}, merge(self.config(crawler), changes))

    def run(self, id: str) -> str:
        """Resume a crawler, or wait for its next scheduled crawl; return the task's id."""
        crawler = self.find(id)
        due = crawler.due if crawler.running else self._next_due(self.config(crawler))
        return self._change(crawler, "run", {"running": True, "due": due})

    def pause(self, id: str) -> str:
        """Pause a crawler; return the task's id."""
        return self._change(self.find(id), "pause", {"running": False})

    def reindex(self, id: str) -> str:
        """Start a whole crawl, replacing a running one; return the task's id."""
        crawler = self.find(id)
        need_crawl()
        task = begin_reindex(self._dependencies, crawler)
        self._scheduler.wake()
        return task

    def crawl(self, id: str, urls: Sequence[str], save: bool | None) -> str:
        """Crawl URLs now; return the task's id."""
        self.find(id)
        need_crawl()
        if not urls:
            raise BadInput("`urls` is empty: list the URLs to crawl")
        named = [read_url(url, f"urls[{number}]") for number, url in enumerate(urls)]
        with self._locked(id) as crawler:
            task = self._queue_urls(crawler, list(dict.fromkeys(named)), save)
        self._scheduler.wake()
        return task

    def _queue_urls(self, crawler: StoredCrawler, urls: Sequence[str], save: bool | None) -> str:
        """Queue URLs, and add those that later crawls shall visit; return the task's id."""
        config, now = self.config(crawler), self._dependencies.clock()
        if error := find_config_error(self._dependencies, config):
            raise BadInput(error)
        times = recent_times(self._dependencies.store, crawler, "urls", now - DAY_SECONDS)
        if len(times) >= MAX_CRAWL_CALLS_PER_DAY:
            wait = math.ceil(times[-MAX_CRAWL_CALLS_PER_DAY] + DAY_SECONDS - now)
            raise TooMany(
                f"{MAX_CRAWL_CALLS_PER_DAY} calls per day are allowed; try again in {wait} s",
                wait=wait,
            )
        kept = self._with_urls(crawler, config, urls, save)
        with self._dependencies.store.writing() as connection:
            if kept:
                add_version(connection, crawler.number, kept)
            return insert_task(connection, crawler, "urls", now, urls)

    def is_pending(self, id: str, task: str) -> bool:
        """Return whether a task is pending, or its writes are not published yet."""
        stored_task = find_task(self._dependencies.store, self.find(id), task)
        return stored_task.open or stored_task.writes > self._dependencies.tasks.published

    def cancel(self, id: str, task: str) -> None:
        """Cancel the task that blocks a crawler, and discard the staged records of its crawl."""
        crawler = self.find(id)
        find_task(self._dependencies.store, crawler, task)
        if task != crawler.blocking_task:
            raise BadInput(f"the task {task} does not block the crawler {crawler.name}")
        due = self._next_due(self.config(crawler))
        with self._dependencies.tasks.transaction() as transaction:
            unblock(transaction, crawler)
            change_crawler(transaction.connection, crawler.number, due=due)
        self._scheduler.wake()

    def statistics(self, id: str) -> list[UrlStatistic]:
        """Return the numbers of URLs of the last crawl by outcome, most frequent first."""
        from svc_notebook.service.crawl.visits import describe_reason

        crawl = last_crawl(self._dependencies.store, self.find(id).number)
        rows = self._dependencies.store.read(
            "SELECT reason, status, category, count(*) FROM crawl_urls "
            "WHERE crawl = ? AND status IS NOT NULL AND (kind = 'page' OR status = 'FAILED') "
            "GROUP BY reason, status, category ORDER BY count(*) DESC, reason",
            crawl.id if crawl else 0,
        )
        return [
            {"reason": r, "status": s, "category": c, "readable": describe_reason(r), "count": n}
            for r, s, c, n in rows
        ]

    def urls(
        self, id: str, status: UrlStatus | None, reason: str | None, after: int, length: int
    ) -> list[tuple[int, CrawledUrl]]:
        """Return the outcomes of the URLs that `statistics` counts, each with its ledger place."""
        crawl = last_crawl(self._dependencies.store, self.find(id).number)
        return (
            read_url_outcomes(self._dependencies.store, crawl.id, status, reason, after, length)
            if crawl
            else []
        )

    def test(self, id: str, url: str, changes: Config | None) -> CrawlTest:
        """Test one URL, optionally with configuration changes; raises `TooMany`."""
        crawler = self.find(id)
        need_crawl()
        from svc_notebook.service.crawl.configuration import merge

        named = read_url(url, "url")
        config = merge(self.config(crawler), changes or {})
        check_config(self._dependencies, config)
        if not self._trials.acquire(blocking=False):
            raise TooMany(f"{MAX_PARALLEL_TRIALS} URLs are being tested already; try again later")
        try:
            return self._scheduler.run(try_url(self._dependencies, config, named))
        finally:
            self._trials.release()

    def domains(self) -> list[str]:
        """Return the domains of all start URLs, without duplicates."""
        configs = current_configs(self._dependencies.store)
        urls = (
            url
            for config in configs
            for name in START_URL_MEMBERS
            for url in config.get(name) or ()
        )
        return sorted({host for url in urls if (host := urlsplit(url).hostname)})

    @contextmanager
    def _locked(self, id: str) -> Iterator[StoredCrawler]:
        """Lock a crawler's configuration, so that changes are made one at a time."""
        with self._locks.setdefault(self.find(id).number, threading.Lock()):
            yield self.find(id)

    def _with_app_id(self, config: Config) -> Config:
        """Return the configuration with this application's id, unless it has another one."""
        return {"appId": self._dependencies.keyring.facts["appId"], **config}

    def _change(
        self,
        crawler: StoredCrawler,
        kind: Kind,
        changes: Mapping[str, Any],
        config: Config | None = None,
    ) -> str:
        """Change a crawler, and its configuration if given; return the task's id."""
        values = dict(changes)
        if config is not None:
            check_config(self._dependencies, config)
            values["due"] = self._next_due(config)
        with self._dependencies.store.writing() as connection:
            if config is not None:
                add_version(connection, crawler.number, config)
            if values:
                change_crawler(connection, crawler.number, **values)
            task = insert_task(connection, crawler, kind, self._dependencies.clock())
        self._scheduler.wake()
        return task

    def _next_due(self, config: Config) -> float | None:
        return next_due(config, self._dependencies.clock())

    def _with_urls(
        self, crawler: StoredCrawler, config: Config, urls: Sequence[str], save: bool | None
    ) -> Config | None:
        """Return the configuration with the URLs that later crawls shall visit; None if unchanged.

        By default, the URLs are added that the last whole crawl did not index (api-notes, section
        13).
        """
        if save is False:
            return None
        present = _list_start_urls(config) | (set() if save else self._indexed(crawler, urls))
        new = [url for url in urls if url not in present]
        if not new:
            return None
        extra = [*(config.get("extraUrls") or ()), *new]
        if len(extra) > MAX_EXTRA_URLS:
            raise BadInput(
                f"`extraUrls` would have {len(extra)} URLs; the limit is {MAX_EXTRA_URLS}"
            )
        return {**config, "extraUrls": extra}

    def _indexed(self, crawler: StoredCrawler, urls: Sequence[str]) -> set[str]:
        crawl = last_crawl(self._dependencies.store, crawler.number, ("over",))
        return {
            url
            for url in urls
            if crawl
            and self._dependencies.store.read(
                "SELECT 1 FROM crawl_urls WHERE crawl = ? AND url = ? AND status = 'DONE'",
                crawl.id,
                url,
            )
        }


# The members of a configuration that contain start URLs.
START_URL_MEMBERS = ("startUrls", "sitemaps", "extraUrls")


def _list_start_urls(config: Config) -> set[str]:
    return {url for name in START_URL_MEMBERS for url in config.get(name) or ()}


def read_url(url: str, at: str) -> str:
    """Normalize a page's URL as a crawl does; raises `BadInput` for an invalid one."""
    from svc_notebook.service.crawl.urls import MAX_URL_CHARACTERS, normalize

    if len(url) > MAX_URL_CHARACTERS:
        raise BadInput(f"`{at}` is longer than {MAX_URL_CHARACTERS} characters")
    if (spelled := normalize(url)) is None:
        raise BadInput(f"`{at}`: {url[:80]!r} is not a URL; use one that begins with https://")
    return spelled
