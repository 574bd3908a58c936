"""The background thread that runs crawls and starts scheduled ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from svc_notebook.core.terminal import write_log
from svc_notebook.errors import BadInput, Refused
from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.crawlers.configurations import need_crawl, part_due
from svc_notebook.service.crawlers.crawl import last_crawl, sweep_crawls
from svc_notebook.service.crawlers.crawler import (
    StoredCrawler,
    current_config,
    pending_urls,
    read_crawlers,
)
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.jobs import run_reindex, run_urls
from svc_notebook.service.crawlers.reindex import begin_reindex
from svc_notebook.service.heap import release_free_memory

T = TypeVar("T")
# The kind of a job and its number or id.
JobKey = tuple[str, int | str]
# Maximum seconds between two checks of schedules and clocks, and seconds that a stop waits for
# jobs.
MAX_CHECK_INTERVAL_SECONDS, STOP_GRACE_SECONDS = 30.0, 1.5
# Seconds after the last job during which free memory is still returned to the system.
RELEASE_SECONDS = 150.0


@dataclass
class Job:
    """A running job."""

    task: asyncio.Task[None]
    stopped: asyncio.Event = field(default_factory=asyncio.Event)


class CrawlScheduler:
    """The scheduler thread, from `start` to `stop`; unfinished jobs resume at the next start."""

    def __init__(self, dependencies: CrawlerDependencies) -> None:
        self._dependencies = dependencies
        self.jobs: dict[JobKey, Job] = {}
        self._wake_up = asyncio.Event()
        self._ready = threading.Event()
        self._reported = False
        self._last_job_time = self._last_release_time = float("-inf")
        self._thread = BackgroundThread("svc-crawl", self._run, dependencies.store)

    def start(self) -> None:
        """Start the thread and resume unfinished jobs."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Stop after the current pages, or cancel them after a grace period."""
        self._thread.stop()
        self.wake()
        self._thread.join(STOP_GRACE_SECONDS + 0.3)

    def wake(self) -> None:
        """Wake the scheduler because there may be a new job."""
        if self._thread.is_alive:
            with suppress(RuntimeError):  # the loop was just closed
                self._loop.call_soon_threadsafe(self._wake_up.set)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the caller in this thread and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _run(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        while not self._thread.stopping.is_set():
            self._wake_up.clear()
            rest = self._check()
            try:
                await asyncio.wait_for(self._wake_up.wait(), rest)
            except TimeoutError:
                continue
        await self._end_jobs()

    async def _end_jobs(self) -> None:
        """Stop all jobs, then the extractors; otherwise their pages would be recorded as failed."""
        for job in self.jobs.values():
            job.stopped.set()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if left:
            _, late = await asyncio.wait(left, timeout=STOP_GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.wait(left, timeout=0.2)
        self._dependencies.engines.close()

    def _check(self) -> float:
        """Start due jobs and stop obsolete ones; return the seconds until the next check."""
        try:
            return self._update_jobs()
        except Exception as error:
            self._thread.report(error)
            return 1.0

    def _update_jobs(self) -> float:
        now = self._dependencies.clock()
        crawlers = read_crawlers(self._dependencies.store)
        late = [candidate for candidate in crawlers if self._is_due(candidate, now)]
        if (late or any(self._current_jobs(crawlers))) and not self._can_crawl():
            return MAX_CHECK_INTERVAL_SECONDS
        for crawler in late:
            with suppress(Refused):  # it was deleted since it was read
                config = current_config(self._dependencies.store, crawler)
                begin_reindex(self._dependencies, crawler, part_due(config, crawler.due or now))
        self._replace_jobs(read_crawlers(self._dependencies.store) if late else crawlers)
        if self._sweep():
            return 0.1
        self._dependencies.engines.stop_idle()
        self._release(now)
        return _seconds_to_start(crawlers, now)

    def _replace_jobs(self, crawlers: list[StoredCrawler]) -> None:
        """Stop the jobs that are no longer current, and begin those that are new."""
        current_jobs = dict(self._current_jobs(crawlers))
        for name in self.jobs.keys() - current_jobs.keys():
            self.jobs[name].stopped.set()
        for name, work in current_jobs.items():
            if name not in self.jobs:
                self._begin(name, work)

    def _release(self, now: float) -> None:
        """Return memory freed by crawls; segments they wrote are merged for a while afterwards."""
        if self.jobs:
            self._last_job_time = now
        if (
            now - self._last_job_time <= RELEASE_SECONDS
            and now - self._last_release_time >= MAX_CHECK_INTERVAL_SECONDS
        ):
            self._last_release_time = now
            release_free_memory()

    def _can_crawl(self) -> bool:
        """Return whether the packages for crawling are installed; if not, report it once."""
        try:
            need_crawl()
        except BadInput as error:
            if not self._reported:
                write_log(f"crawls are waiting: {error}")
            self._reported = True
            return False
        return True

    def _is_due(self, crawler: StoredCrawler, now: float) -> bool:
        if not crawler.next_start or crawler.next_start > now:
            return False
        return last_crawl(self._dependencies.store, crawler.number, ("running",)) is None

    def _current_jobs(self, crawlers: list[StoredCrawler]) -> Iterator[tuple[JobKey, Any]]:
        """Yield the current jobs: per crawler one crawl, if it runs, and one task with URLs."""
        for crawler in crawlers:
            crawl = last_crawl(self._dependencies.store, crawler.number, ("running",))
            if crawl and crawler.running:
                yield ("crawl", crawl.id), partial(run_reindex, self._dependencies, crawler, crawl)
            if task := pending_urls(self._dependencies.store, crawler):
                yield ("urls", task.id), partial(run_urls, self._dependencies, crawler, task)

    def _begin(self, name: JobKey, work: Any) -> None:
        stopped = asyncio.Event()

        async def do() -> None:
            try:
                await work(stopped)
            except Refused:  # the crawler was deleted since it was read
                pass
            except Exception as error:
                self._thread.report(error)
                if not self._thread.stopping.is_set():
                    await asyncio.sleep(1)
            finally:
                self.jobs.pop(name, None)
                self._wake_up.set()

        self.jobs[name] = Job(self._loop.create_task(do()), stopped)

    def _sweep(self) -> bool:
        """Delete a part of the dropped ledgers; return whether there are more."""
        if not self._dependencies.store.read(
            "SELECT 1 FROM crawls WHERE state = 'dropped' LIMIT 1"
        ):
            return False
        with self._dependencies.store.writing() as connection:
            return sweep_crawls(connection)


def _seconds_to_start(crawlers: list[StoredCrawler], now: float) -> float:
    """Return the seconds until the next start of a crawler, or until the next check."""
    starts = (crawler.next_start or now for crawler in crawlers)
    waits = [start - now for start in starts if start > now]
    return max(0.05, min([MAX_CHECK_INTERVAL_SECONDS, *waits]))
