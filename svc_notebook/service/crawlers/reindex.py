"""A whole crawl (reindex), from its start to the publication of its records.

Records are staged in temporary indices, which replace the live indices by moves. The settings,
synonyms and rules of the live indices are kept as they are at the time of the move.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from svc_notebook.service.crawlers.configurations import find_config_error, next_due, read_config
from svc_notebook.service.crawlers.crawl import (
    Crawl,
    drop_others,
    indices_of,
    inherit_urls,
    insert_crawl,
    is_running,
    last_crawl,
    move_crawl,
    set_warning,
    temporary_index_name,
)
from svc_notebook.service.crawlers.crawler import (
    Config,
    Kind,
    StoredCrawler,
    change_crawler,
    current_config,
    end_blocking,
    end_task,
    find_crawler,
    find_task,
    insert_task,
)
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
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
    dependencies: CrawlerDependencies, crawler: StoredCrawler, part: Config | None = None
) -> str:
    """Start a crawl, replacing one that is running or blocked; return the task's id.

    A `part` is the configuration with some of its actions; the other indices are not changed.
    """
    current = current_config(dependencies.store, crawler)
    config = part or current
    error = find_config_error(dependencies, config)
    now = dependencies.clock()
    with dependencies.tasks.transaction() as transaction:
        cancel_crawl(transaction, crawler)
        kind: Kind = "part" if part else "reindex"
        task = insert_task(transaction.connection, crawler, kind, now)
        crawl = insert_crawl(transaction.connection, crawler, task, config, "running")
        change_crawler(
            transaction.connection,
            crawler.number,
            running=True,
            began=stamp_now(),
            due=None if error else next_due(current, now),
        )
        if error:
            _block(transaction, crawler, crawl, task, error)
            return task
        for new_task in _preparations(dependencies, crawler, config):
            transaction.queue(new_task)
    return task


def unblock(transaction: TaskTransaction, crawler: StoredCrawler) -> None:
    """Cancel the task that blocks a crawler; for a blocked crawl, discard its staged records."""
    if last_crawl(transaction.connection, crawler.number, ("blocked",)):
        cancel_crawl(transaction, crawler)
    else:
        _end_block(transaction, crawler)


def _end_block(transaction: TaskTransaction, crawler: StoredCrawler) -> None:
    change_crawler(transaction.connection, crawler.number, blocking_task=None, blocking_error=None)
    end_blocking(transaction.connection, crawler)


def cancel_crawl(transaction: TaskTransaction, crawler: StoredCrawler) -> None:
    """Cancel the running or blocked crawl, if any, and delete its temporary indices."""
    _end_block(transaction, crawler)
    crawl = last_crawl(transaction.connection, crawler.number, ("running", "blocked"))
    if crawl is None:
        return
    move_crawl(transaction.connection, crawl.id, "dropped")
    for index in indices_of(crawl.config):
        transaction.queue(
            NewTask(
                temporary_index_name(index, crawler),
                "steps",
                encode_operations([BatchOperation("delete")]),
            )
        )
    end_task(transaction.connection, crawl.task, "cancelled")


def block(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl, error: str
) -> None:
    """Stop a crawl that cannot be published; its task blocks the crawler until it is cancelled."""
    with dependencies.tasks.transaction() as transaction:
        if is_running(transaction.connection, crawl.id):
            _block(transaction, crawler, crawl.id, crawl.task, error)


def block_urls(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, task: str, error: str
) -> None:
    """Record that URLs could not be crawled: their task blocks the crawler, unless another does."""
    with dependencies.tasks.transaction() as transaction:
        blocked = find_crawler(dependencies.store, crawler.id).blocked
        end_task(transaction.connection, task, "cancelled" if blocked else "blocked")
        if not blocked:
            change_crawler(
                transaction.connection, crawler.number, blocking_task=task, blocking_error=error
            )


def publish(dependencies: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl) -> None:
    """Replace the live indices by the staged ones, unless a safety check fails."""
    error = find_config_error(dependencies, crawl.config) or find_safety_error(
        dependencies, crawler, crawl
    )
    if error:
        block(dependencies, crawler, crawl, error)
        return
    with dependencies.tasks.transaction() as transaction:
        if not is_running(transaction.connection, crawl.id):
            return
        number = 0
        for new_task in _moves(dependencies, crawler, crawl.config):
            number = transaction.queue(new_task)
        if find_task(dependencies.store, crawler, crawl.task).kind == "part":
            inherit_urls(transaction.connection, crawl)
        set_warning(transaction.connection, crawl.id, find_warning(dependencies, crawler, crawl))
        move_crawl(transaction.connection, crawl.id, "over")
        drop_others(transaction.connection, crawler.number, crawl.id)
        end_task(transaction.connection, crawl.task, "done", number)
        change_crawler(transaction.connection, crawler.number, ended=stamp_now())


def find_safety_error(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl
) -> str:
    """Return which of the configuration's `safetyChecks` a crawl fails; empty if none."""
    configuration = read_config(crawl.config)
    first = True
    for index in indices_of(crawl.config):
        before, after = (
            _count(dependencies, index),
            _count(dependencies, temporary_index_name(index, crawler)),
        )
        first = first and not before
        if error := _loss_error(index, before, after, configuration.max_lost_percentage):
            return error
    most, counts = configuration.max_failed_urls, count_outcomes(dependencies, crawl)
    if most is not None and counts.failed > most:
        return (
            f"{counts.failed} URLs failed, and `maxFailedUrls` is {most}: nothing was published; "
            "see the reasons in the statistics, then cancel this task or reindex"
        )
    if most is None and first and counts.failed_percent >= MAX_FIRST_FAILED_PERCENT:
        return (
            f"SafeReindexingError: this first crawl failed: {counts.describe_failures()}; nothing "
            "was published; fix the cause and reindex, or set `maxFailedUrls` in "
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


def count_outcomes(dependencies: CrawlerDependencies, crawl: Crawl) -> CrawlCounts:
    """Count the URLs of a crawl by outcome, without skipped ones; frequent reasons first."""
    rows = dependencies.store.read(
        "SELECT status, reason, count(*) FROM crawl_urls WHERE crawl = ? "
        "AND (status = 'FAILED' OR (status = 'DONE' AND kind = 'page')) "
        "GROUP BY status, reason ORDER BY count(*) DESC, reason",
        crawl.id,
    )
    done = sum(count for status, _, count in rows if status == "DONE")
    return CrawlCounts(
        done, {reason: count for status, reason, count in rows if status == "FAILED"}
    )


def find_warning(dependencies: CrawlerDependencies, crawler: StoredCrawler, crawl: Crawl) -> str:
    """Return the warning of a published crawl: an empty index, or many failures."""
    empty = [
        index
        for index in indices_of(crawl.config)
        if not _count(dependencies, temporary_index_name(index, crawler))
    ]
    counts = count_outcomes(dependencies, crawl)
    problems = [f"the last crawl published no record in {', '.join(empty)}"] if empty else []
    if counts.failed_percent > WARN_FAILED_PERCENT:
        problems.append(f"in the last crawl, {counts.describe_failures()}")
    return "; ".join(problems) and f"{'; '.join(problems)}: see the outcomes of its URLs"


def _loss_error(index: str, before: int, after: int, percent: float) -> str:
    if after >= before * (1 - percent / 100):
        return ""
    return (
        f"SafeReindexingError: {index} would go from {before} records to {after}, and "
        f"`maxLostRecordsPercentage` is {percent:g}: nothing was published; if that is right, "
        "raise it in `safetyChecks.beforeIndexPublishing` and reindex; else cancel this task"
    )


def _count(dependencies: CrawlerDependencies, index: str) -> int:
    published = dependencies.catalog.get(index)
    return count_bodies(dependencies.store, published.records_id) if published else 0


def _block(
    transaction: TaskTransaction, crawler: StoredCrawler, crawl: int, task: str, error: str
) -> None:
    end_blocking(transaction.connection, crawler)
    move_crawl(transaction.connection, crawl, "blocked")
    end_task(transaction.connection, task, "blocked")
    change_crawler(
        transaction.connection,
        crawler.number,
        blocking_task=task,
        blocking_error=error,
        ended=stamp_now(),
    )


def _preparations(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, config: Config
) -> Iterable[NewTask]:
    """Return the tasks that create the temporary indices, with live or initial settings."""
    initial = read_config(config).initial_settings
    for index in indices_of(config):
        if dependencies.catalog.get(index):
            yield _new_task(
                index, "copy", destination=temporary_index_name(index, crawler), scope=SCOPE
            )
        else:
            settings = initial.get(index, {})
            yield _new_task(
                temporary_index_name(index, crawler), "settings", settings=settings, forward=False
            )


def _moves(
    dependencies: CrawlerDependencies, crawler: StoredCrawler, config: Config
) -> Iterable[NewTask]:
    """Return the tasks that move the temporary indices onto the live ones; live settings stay."""
    for index in indices_of(config):
        if dependencies.catalog.get(index):
            if read_config(config).save_backup:
                yield _new_task(index, "copy", destination=f"{index}_backup", scope=None)
            yield _new_task(
                index, "copy", destination=temporary_index_name(index, crawler), scope=SCOPE
            )
        yield _new_task(temporary_index_name(index, crawler), "move", destination=index)


def _new_task(index: str, kind: str, **order: Any) -> NewTask:
    return NewTask(index, kind, msgspec.json.encode(order))
