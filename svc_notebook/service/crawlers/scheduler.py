"""The background thread that runs crawls and starts scheduled ones."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from svc_notebook.errors import BadInput
from svc_notebook.service.crawlers.crawl import last_crawl, sweep_crawls
from svc_notebook.service.crawlers.crawler import StoredCrawler, present_config, read_crawlers
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.preconditions import need_crawl
from svc_notebook.service.crawlers.reindex import begin_reindex
from svc_notebook.service.crawlers.schedule_times import part_due
from svc_notebook.service.crawlers.task import pending_urls
from svc_notebook.service.crawlers.work import work_reindex, work_urls
from svc_notebook.service.heap import release_free_memory

T = TypeVar("T")
# The kind of a job and its number or id.
Errand = tuple[str, int | str]
# Maximum seconds between two checks of schedules and clocks, and seconds that a stop waits for
# jobs.
LONGEST, GRACE = 30.0, 1.5
# Seconds after the last job during which free memory is still returned to the system.
RELEASE_SECONDS = 150.0


@dataclass
class Job:
    """A running job."""

    task: asyncio.Task[None]
    stopped: asyncio.Event = field(default_factory=asyncio.Event)


class CrawlScheduler:
    """The scheduler thread, from `start` to `stop`; unfinished jobs resume at the next start."""

    def __init__(self, parts: CrawlerDependencies) -> None:
        self._parts = parts
        self.jobs: dict[Errand, Job] = {}
        self._called = asyncio.Event()
        self._stopping = asyncio.Event()
        self._ready = threading.Event()
        self._told = False
        self._worked = self._released = float("-inf")
        self._thread = threading.Thread(target=self._run, name="svc-crawl", daemon=True)

    def start(self) -> None:
        """Start the thread and resume unfinished jobs."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Stop after the current pages, or cancel them after a grace period."""
        if self._thread.is_alive():
            self._hand_over(self._end)
            self._thread.join(GRACE + 0.3)

    def call(self) -> None:
        """Wake the scheduler because there may be a new job."""
        if self._thread.is_alive():
            self._hand_over(self._called.set)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the caller in this thread and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _hand_over(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop was just closed
            self._loop.call_soon_threadsafe(work)

    def _end(self) -> None:
        self._stopping.set()
        self._called.set()

    def _run(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        while not self._stopping.is_set():
            self._called.clear()
            rest = self._look()
            try:
                await asyncio.wait_for(self._called.wait(), rest)
            except TimeoutError:
                continue
        await self._end_jobs()

    async def _end_jobs(self) -> None:
        """Stop all jobs, then the extractors; otherwise their pages would be recorded as failed."""
        for job in self.jobs.values():
            job.stopped.set()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if left:
            _, late = await asyncio.wait(left, timeout=GRACE)
            for task in late:
                task.cancel()
            await asyncio.wait(left, timeout=0.2)
        self._parts.engines.close()

    def _look(self) -> float:
        """Start due jobs and stop obsolete ones; return the seconds until the next check."""
        try:
            return self._arrange()
        except Exception:
            if not self._stopping.is_set():
                traceback.print_exc(file=sys.stderr)
            return 1.0

    def _arrange(self) -> float:
        now = self._parts.clock()
        crawlers = read_crawlers(self._parts.store)
        late = [one for one in crawlers if self._is_due(one, now)]
        if (late or any(self._errands(crawlers))) and not self._can_crawl():
            return LONGEST
        for crawler in late:
            config = present_config(self._parts.store, crawler)
            begin_reindex(self._parts, crawler, part_due(config, crawler.due or now))
        errands = dict(self._errands(read_crawlers(self._parts.store) if late else crawlers))
        for name, job in self.jobs.items():
            if name not in errands:
                job.stopped.set()
        for name, work in errands.items():
            if name not in self.jobs:
                self._begin(name, work)
        if crawlers and self._sweep():
            return 0.1
        self._parts.engines.tidy()
        self._release(now)
        waits = [one.due - now for one in crawlers if one.due and one.running and not one.blocked]
        return max(0.05, min([LONGEST, *(wait for wait in waits if wait > 0)]))

    def _release(self, now: float) -> None:
        """Return memory freed by crawls; segments they wrote are merged for a while afterwards."""
        if self.jobs:
            self._worked = now
        if now - self._worked <= RELEASE_SECONDS and now - self._released >= LONGEST:
            self._released = now
            release_free_memory()

    def _can_crawl(self) -> bool:
        """Return whether the packages for crawling are installed; if not, report it once."""
        try:
            need_crawl()
        except BadInput as error:
            if not self._told:
                sys.stderr.write(f"crawls wait: {error}\n")
            self._told = True
            return False
        return True

    def _is_due(self, crawler: StoredCrawler, now: float) -> bool:
        if not crawler.due or crawler.due > now or not crawler.running or crawler.blocked:
            return False
        return last_crawl(self._parts.store, crawler.number, ("running",)) is None

    def _errands(self, crawlers: list[StoredCrawler]) -> Iterator[tuple[Errand, Any]]:
        """Yield the current jobs: per crawler one crawl, if it runs, and one task with URLs."""
        for crawler in crawlers:
            crawl = last_crawl(self._parts.store, crawler.number, ("running",))
            if crawl and crawler.running:
                yield ("crawl", crawl.id), partial(work_reindex, self._parts, crawler, crawl)
            if task := pending_urls(self._parts.store, crawler):
                yield ("urls", task.id), partial(work_urls, self._parts, crawler, task)

    def _begin(self, name: Errand, work: Any) -> None:
        stopped = asyncio.Event()

        async def do() -> None:
            try:
                await work(stopped)
            except Exception:
                if not self._stopping.is_set():
                    traceback.print_exc(file=sys.stderr)
                    await asyncio.sleep(1)
            finally:
                self.jobs.pop(name, None)
                self._called.set()

        self.jobs[name] = Job(self._loop.create_task(do()), stopped)

    def _sweep(self) -> bool:
        """Delete a part of the dropped ledgers; return whether there are more."""
        if not self._parts.store.read("SELECT 1 FROM crawls WHERE state = 'dropped' LIMIT 1"):
            return False
        with self._parts.store.writing() as connection:
            return sweep_crawls(connection)
