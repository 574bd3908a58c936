"""A whole crawl (reindex), from its start to the publication of its records.

Records are staged in temporary indices, which replace the live indices by moves. The settings,
synonyms and rules of the live indices are kept as they are at the time of the move.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from svc_notebook.service.crawlers.crawl import (
    Crawl,
    aside,
    drop_others,
    indices_of,
    inherit_urls,
    insert_crawl,
    is_running,
    last_crawl,
    move_crawl,
    warn_of,
)
from svc_notebook.service.crawlers.crawler import (
    Config,
    StoredCrawler,
    change_crawler,
    find_crawler,
    present_config,
)
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.crawlers.preconditions import find_fault, read_config
from svc_notebook.service.crawlers.schedule_times import next_due
from svc_notebook.service.crawlers.task import Kind, end_blocking, end_task, find_task, insert_task
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.indices.records import count_bodies
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations
from svc_notebook.service.tasks.queue import NewTask, TaskTransaction

SCOPE = ["settings", "synonyms", "rules"]
# Shares of failed URLs among those read or failed: from the first on, a first crawl is not
# published, because the site or the configuration is at fault; above the second, a published crawl
# carries a warning.
MAX_FIRST_FAILED_PERCENT, WARN_FAILED_PERCENT = 90, 50
MAX_REASONS = 3  # reasons named in an error


def begin_reindex(
    parts: CrawlerDependencies, crawler: StoredCrawler, part: Config | None = None
) -> str:
    """Start a crawl, replacing one that is running or blocked; return the task's id.

    A `part` is the configuration with some of its actions; the other indices are not changed.
    """
    present = present_config(parts.store, crawler)
    config = part or present
    fault = find_fault(parts, config)
    now = parts.clock()
    with parts.tasks.transaction() as beside:
        give_up(beside, crawler)
        kind: Kind = "part" if part else "reindex"
        task = insert_task(beside.connection, crawler, kind, now)
        crawl = insert_crawl(beside.connection, crawler, task, config, "running")
        change_crawler(
            beside.connection,
            crawler.number,
            running=True,
            began=stamp_now(),
            due=None if fault else next_due(present, now),
        )
        if fault:
            _block(beside, crawler, crawl, task, fault)
            return task
        for draft in _preparations(parts, crawler, config):
            beside.queue(draft)
    return task


def unblock(beside: TaskTransaction, crawler: StoredCrawler) -> None:
    """Cancel the task that blocks a crawler; for a blocked crawl, discard its staged records."""
    if last_crawl(beside.connection, crawler.number, ("blocked",)):
        give_up(beside, crawler)
    else:
        _let_go(beside, crawler)


def _let_go(beside: TaskTransaction, crawler: StoredCrawler) -> None:
    change_crawler(beside.connection, crawler.number, blocking_task=None, blocking_error=None)
    end_blocking(beside.connection, crawler)


def give_up(beside: TaskTransaction, crawler: StoredCrawler) -> None:
    """Cancel the running or blocked crawl, if any, and delete its temporary indices."""
    _let_go(beside, crawler)
    crawl = last_crawl(beside.connection, crawler.number, ("running", "blocked"))
    if crawl is None:
        return
    move_crawl(beside.connection, crawl.id, "dropped")
    for index in indices_of(crawl.config):
        beside.queue(
            NewTask(aside(index, crawler), "steps", encode_operations([BatchOperation("delete")]))
        )
    end_task(beside.connection, crawl.task, "cancelled")


def block(parts: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl, error: str) -> None:
    """Stop a crawl that cannot be published; its task blocks the crawler until it is cancelled."""
    with parts.tasks.transaction() as beside:
        if is_running(beside.connection, crawl.id):
            _block(beside, crawler, crawl.id, crawl.task, error)


def block_urls(parts: CrawlerDependencies, crawler: StoredCrawler, task: str, error: str) -> None:
    """Record that URLs could not be crawled: their task blocks the crawler, unless another does."""
    with parts.tasks.transaction() as beside:
        blocked = find_crawler(parts.store, crawler.id).blocked
        end_task(beside.connection, task, "cancelled" if blocked else "blocked")
        if not blocked:
            change_crawler(
                beside.connection, crawler.number, blocking_task=task, blocking_error=error
            )


def publish(parts: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl) -> None:
    """Replace the live indices by the staged ones, unless a safety check fails."""
    fault = find_fault(parts, crawl.config) or find_loss(parts, crawler, crawl)
    if fault:
        block(parts, crawler, crawl, fault)
        return
    with parts.tasks.transaction() as beside:
        if not is_running(beside.connection, crawl.id):
            return
        number = 0
        for draft in _moves(parts, crawler, crawl.config):
            number = beside.queue(draft)
        if find_task(parts.store, crawler, crawl.task).kind == "part":
            inherit_urls(beside.connection, crawl)
        warn_of(beside.connection, crawl.id, find_warning(parts, crawler, crawl))
        move_crawl(beside.connection, crawl.id, "over")
        drop_others(beside.connection, crawler.number, crawl.id)
        end_task(beside.connection, crawl.task, "done", number)
        change_crawler(beside.connection, crawler.number, ended=stamp_now())


def find_loss(parts: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl) -> str:
    """Return which of the configuration's `safetyChecks` a crawl fails; empty if none."""
    configuration = read_config(crawl.config)
    first = True
    for index in indices_of(crawl.config):
        before, after = _count(parts, index), _count(parts, aside(index, crawler))
        first = first and not before
        if fault := _loss(index, before, after, configuration.max_lost_percentage):
            return fault
    most, ends = configuration.max_failed_urls, read_ends(parts, crawl)
    if most is not None and ends.failed > most:
        return (
            f"{ends.failed} URLs failed, and `maxFailedUrls` is {most}: nothing was published; see "
            "the statistics for why, then cancel this task or reindex"
        )
    if most is None and first and ends.failed_percent >= MAX_FIRST_FAILED_PERCENT:
        return (
            f"SafeReindexingError: this first crawl failed: {ends.describe_failures()}; nothing "
            "was published; mend that and reindex, or set `maxFailedUrls` in "
            "`safetyChecks.beforeIndexPublishing` to publish what there is"
        )
    return ""


@dataclass(frozen=True)
class CrawlCounts:
    """The number of URLs that were read, and the numbers of failed URLs by reason."""

    done: int
    reasons: Mapping[str, int]

    @property
    def failed(self) -> int:
        """The number of failed URLs."""
        return sum(self.reasons.values())

    @property
    def failed_percent(self) -> float:
        """The percentage of failed URLs among those that were read or failed."""
        return 100 * self.failed / max(self.failed + self.done, 1)

    def describe_failures(self) -> str:
        """Return a text with the number of failed URLs and their most frequent reasons."""
        named = ", ".join(f"{reason} {n}" for reason, n in [*self.reasons.items()][:MAX_REASONS])
        return f"{self.failed} of {self.failed + self.done} URLs failed ({named})"


def read_ends(parts: CrawlerDependencies, crawl: Crawl) -> CrawlCounts:
    """Count the URLs of a crawl by outcome, without skipped ones; frequent reasons first."""
    rows = parts.store.read(
        "SELECT status, reason, count(*) FROM crawl_urls WHERE crawl = ? "
        "AND (status = 'FAILED' OR (status = 'DONE' AND kind = 'page')) "
        "GROUP BY status, reason ORDER BY count(*) DESC, reason",
        crawl.id,
    )
    done = sum(count for status, _, count in rows if status == "DONE")
    return CrawlCounts(
        done, {reason: count for status, reason, count in rows if status == "FAILED"}
    )


def find_warning(parts: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl) -> str:
    """Return the warning of a published crawl: an empty index, or many failures."""
    empty = [one for one in indices_of(crawl.config) if not _count(parts, aside(one, crawler))]
    ends = read_ends(parts, crawl)
    said = [f"the last crawl left no record in {', '.join(empty)}"] if empty else []
    if ends.failed_percent > WARN_FAILED_PERCENT:
        said.append(f"of the last crawl {ends.describe_failures()}")
    return "; ".join(said) and f"{'; '.join(said)}: see how its URLs ended"


def _loss(index: str, before: int, after: int, percent: float) -> str:
    if after >= before * (1 - percent / 100):
        return ""
    return (
        f"SafeReindexingError: {index} would go from {before} records to {after}, and "
        f"`maxLostRecordsPercentage` is {percent:g}: nothing was published; if that is right, "
        "raise it in `safetyChecks.beforeIndexPublishing` and reindex; else cancel this task"
    )


def _count(parts: CrawlerDependencies, index: str) -> int:
    shelf = parts.catalog.get(index)
    return count_bodies(parts.store, shelf.records_id) if shelf else 0


def _block(
    beside: TaskTransaction, crawler: StoredCrawler, crawl: int, task: str, error: str
) -> None:
    end_blocking(beside.connection, crawler)
    move_crawl(beside.connection, crawl, "blocked")
    end_task(beside.connection, task, "blocked")
    change_crawler(
        beside.connection,
        crawler.number,
        blocking_task=task,
        blocking_error=error,
        ended=stamp_now(),
    )


def _preparations(
    parts: CrawlerDependencies, crawler: StoredCrawler, config: Config
) -> Iterable[NewTask]:
    """Return the tasks that create the temporary indices, with live or initial settings."""
    initial = read_config(config).initial_settings
    for index in indices_of(config):
        if parts.catalog.get(index):
            yield _draft(index, "copy", destination=aside(index, crawler), scope=SCOPE)
        else:
            settings = initial.get(index, {})
            yield _draft(aside(index, crawler), "settings", settings=settings, forward=False)


def _moves(parts: CrawlerDependencies, crawler: StoredCrawler, config: Config) -> Iterable[NewTask]:
    """Return the tasks that move the temporary indices onto the live ones; live settings stay."""
    for index in indices_of(config):
        if parts.catalog.get(index):
            if read_config(config).save_backup:
                yield _draft(index, "copy", destination=f"{index}_backup", scope=None)
            yield _draft(index, "copy", destination=aside(index, crawler), scope=SCOPE)
        yield _draft(aside(index, crawler), "move", destination=index)


def _draft(index: str, kind: str, **order: Any) -> NewTask:
    return NewTask(index, kind, msgspec.json.encode(order))
