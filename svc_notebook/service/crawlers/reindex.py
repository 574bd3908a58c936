"""A whole crawl from its beginning to the moment its records are live.

Records gather in indices aside, which take the place of the live ones by moves: settings, synonyms
and rules of the live ones are kept, as they are at the very end.
"""

from __future__ import annotations

from collections.abc import Iterable
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
)
from svc_notebook.service.crawlers.crawler import (
    Config,
    Crawler,
    change_crawler,
    find_crawler,
    present_config,
)
from svc_notebook.service.crawlers.parts import Parts
from svc_notebook.service.crawlers.permits import find_fault, read_config
from svc_notebook.service.crawlers.task import Kind, end_blocking, end_task, find_task, insert_task
from svc_notebook.service.crawlers.times import next_due
from svc_notebook.service.records import count_bodies
from svc_notebook.service.shelf import stamp_now
from svc_notebook.service.steps import Step, pack_steps
from svc_notebook.service.tasks import Beside, Draft

SCOPE = ["settings", "synonyms", "rules"]


def begin_reindex(parts: Parts, crawler: Crawler, part: Config | None = None) -> str:
    """Begin a crawl, in place of one that is under way or blocked; returns the task's id.

    A `part` is the configuration with some of its actions: the other indices stay as they are.
    """
    present = present_config(parts.store, crawler)
    config = part or present
    fault = find_fault(parts, config)
    now = parts.clock()
    with parts.tasks.beside() as beside:
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


def unblock(beside: Beside, crawler: Crawler) -> None:
    """Give up the task that blocks a crawler, and with a blocked crawl all that it gathered."""
    if last_crawl(beside.connection, crawler.number, ("blocked",)):
        give_up(beside, crawler)
    else:
        _let_go(beside, crawler)


def _let_go(beside: Beside, crawler: Crawler) -> None:
    change_crawler(beside.connection, crawler.number, blocking_task=None, blocking_error=None)
    end_blocking(beside.connection, crawler)


def give_up(beside: Beside, crawler: Crawler) -> None:
    """Throw away what a crawl gathered that is under way or blocked, if there is one."""
    _let_go(beside, crawler)
    crawl = last_crawl(beside.connection, crawler.number, ("running", "blocked"))
    if crawl is None:
        return
    move_crawl(beside.connection, crawl.id, "dropped")
    for index in indices_of(crawl.config):
        beside.queue(Draft(aside(index, crawler), "steps", pack_steps([Step("delete")])))
    end_task(beside.connection, crawl.task, "cancelled")


def block(parts: Parts, crawler: Crawler, crawl: Crawl, error: str) -> None:
    """Stop a crawl that cannot be published; its task blocks the crawler until it is cancelled."""
    with parts.tasks.beside() as beside:
        if is_running(beside.connection, crawl.id):
            _block(beside, crawler, crawl.id, crawl.task, error)


def block_urls(parts: Parts, crawler: Crawler, task: str, error: str) -> None:
    """Say that URLs could not be crawled: their task blocks the crawler, unless another does."""
    with parts.tasks.beside() as beside:
        blocked = find_crawler(parts.store, crawler.id).blocked
        end_task(beside.connection, task, "cancelled" if blocked else "blocked")
        if not blocked:
            change_crawler(
                beside.connection, crawler.number, blocking_task=task, blocking_error=error
            )


def publish(parts: Parts, crawler: Crawler, crawl: Crawl) -> None:
    """Let what a crawl gathered take the place of what was live, unless a check forbids it."""
    fault = find_fault(parts, crawl.config) or find_loss(parts, crawler, crawl)
    if fault:
        block(parts, crawler, crawl, fault)
        return
    with parts.tasks.beside() as beside:
        if not is_running(beside.connection, crawl.id):
            return
        number = 0
        for draft in _moves(parts, crawler, crawl.config):
            number = beside.queue(draft)
        if find_task(parts.store, crawler, crawl.task).kind == "part":
            inherit_urls(beside.connection, crawl)
        move_crawl(beside.connection, crawl.id, "over")
        drop_others(beside.connection, crawler.number, crawl.id)
        end_task(beside.connection, crawl.task, "done", number)
        change_crawler(beside.connection, crawler.number, ended=stamp_now())


def find_loss(parts: Parts, crawler: Crawler, crawl: Crawl) -> str:
    """Say which of the configuration's `safetyChecks` a crawl fails; nothing, if none."""
    configuration = read_config(crawl.config)
    for index in indices_of(crawl.config):
        before, after = _count(parts, index), _count(parts, aside(index, crawler))
        if fault := _loss(index, before, after, configuration.max_lost_percentage):
            return fault
    most, failed = configuration.max_failed_urls, _failed(parts, crawl)
    if most is not None and failed > most:
        return (
            f"{failed} URLs failed, and `maxFailedUrls` is {most}: nothing was published; see the "
            "statistics for why, then cancel this task or reindex"
        )
    return ""


def _loss(index: str, before: int, after: int, percent: float) -> str:
    if after >= before * (1 - percent / 100):
        return ""
    return (
        f"SafeReindexingError: {index} would go from {before} records to {after}, and "
        f"`maxLostRecordsPercentage` is {percent:g}: nothing was published; if that is right, "
        "raise it in `safetyChecks.beforeIndexPublishing` and reindex; else cancel this task"
    )


def _count(parts: Parts, index: str) -> int:
    shelf = parts.catalog.get(index)
    return count_bodies(parts.store, shelf.home) if shelf else 0


def _failed(parts: Parts, crawl: Crawl) -> int:
    [[failed]] = parts.store.read(
        "SELECT count(*) FROM crawl_urls WHERE crawl = ? AND status = 'FAILED'", crawl.id
    )
    return int(failed)


def _block(beside: Beside, crawler: Crawler, crawl: int, task: str, error: str) -> None:
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


def _preparations(parts: Parts, crawler: Crawler, config: Config) -> Iterable[Draft]:
    """Make the indices aside: as the live ones are set, or as the first crawl has it."""
    initial = read_config(config).initial_settings
    for index in indices_of(config):
        if parts.catalog.get(index):
            yield _draft(index, "copy", destination=aside(index, crawler), scope=SCOPE)
        else:
            settings = initial.get(index, {})
            yield _draft(aside(index, crawler), "settings", settings=settings, forward=False)


def _moves(parts: Parts, crawler: Crawler, config: Config) -> Iterable[Draft]:
    """Move the indices aside onto the live ones, with what those are set to by now."""
    for index in indices_of(config):
        if parts.catalog.get(index):
            if read_config(config).save_backup:
                yield _draft(index, "copy", destination=f"{index}_backup", scope=None)
            yield _draft(index, "copy", destination=aside(index, crawler), scope=SCOPE)
        yield _draft(aside(index, crawler), "move", destination=index)


def _draft(index: str, kind: str, **order: Any) -> Draft:
    return Draft(index, kind, msgspec.json.encode(order))
