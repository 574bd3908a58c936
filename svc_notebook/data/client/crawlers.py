"""Crawlers by name or id, their list, and the wait for their tasks."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from svc_notebook.data.client.operations import every_entry
from svc_notebook.errors import BadInput, TaskFailed, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

OnCount = Callable[[int], None]

CRAWLERS_PER_PAGE = 100  # maximum page size of the list of crawlers
# The time between two polls of a task: the first, the longest, and the factor of the increase.
FIRST_POLL_SECONDS, MAX_POLL_SECONDS, POLL_GROWTH = 0.1, 5.0, 1.5
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


async def crawler_id(client: EndpointClient, crawler: str) -> str:
    """Return the id of a crawler given by id or by name; raises `BadInput`."""
    if not isinstance(crawler, str) or not crawler:
        raise BadInput(
            "`crawler` must be the name or the id of a crawler; svc.read_crawlers() lists them"
        )
    if ID.fullmatch(crawler):
        return crawler
    crawlers = await list_all(client, crawler)
    ids = [entry["id"] for entry in crawlers if crawler in (entry["id"], entry["name"])]
    if len(ids) > 1:
        listed = ", ".join(ids)
        raise BadInput(f"{len(ids)} crawlers are named {crawler}; pass the id of one: {listed}")
    if not ids:
        names = [entry["name"] for entry in await list_all(client)]
        hint = did_you_mean(crawler, names) or "; svc.read_crawlers() lists them"
        raise BadInput(f"no crawler is named {crawler}{hint}")
    return ids[0]


async def list_all(client: EndpointClient, name: str | None = None) -> list[dict[str, str]]:
    """List the crawlers of all pages; `name` selects those whose name contains it."""
    return await every_entry(
        lambda page: client.list_crawlers(itemsPerPage=CRAWLERS_PER_PAGE, page=page, name=name),
        "items", total="total", first=1,
    )  # fmt: skip


async def wait_crawled(
    client: EndpointClient,
    crawler: str,
    tasks: Iterable[str],
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - the error at the timeout names the pending tasks
    on_count: OnCount | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Wait until tasks of a crawler are done; raises `TaskFailed` if they cannot finish.

    `timeout` is in seconds; default None for no limit. `on_count` is called with the number of URLs
    whose outcome is known.
    """
    left, began, delay = [*tasks], clock(), FIRST_POLL_SECONDS
    while left:
        if not (await client.get_crawler_task(crawler, left[0]))["pending"]:
            left.pop(0)
            continue
        await _check_not_blocked(client, crawler, left)
        if on_count:
            on_count((await client.crawler_url_stats(crawler))["count"])
        if timeout is not None and clock() - began >= timeout:
            raise TaskFailed(f"task {left[0]} of {crawler} is not done after {timeout:g} s")
        await sleep(delay)
        delay = min(delay * POLL_GROWTH, MAX_POLL_SECONDS)


async def count_ends(client: EndpointClient, crawler: str) -> dict[str, int]:
    """Count the URLs of the last crawl by status: done, skipped, failed."""
    counts = Counter({"done": 0, "skipped": 0, "failed": 0})
    for entry in (await client.crawler_url_stats(crawler))["data"]:
        counts[entry["status"].lower()] += entry["count"]
    return dict(counts)


async def _check_not_blocked(client: EndpointClient, crawler: str, tasks: list[str]) -> None:
    facts = await client.get_crawler(crawler)
    name = facts.get("name", crawler)
    if facts.get("blockingTaskId") in tasks:
        raise TaskFailed(f"the crawler {name} is blocked: {facts.get('blockingError', '')}")
    if facts.get("reindexing") and not facts.get("running", True):
        raise TaskFailed(
            f"the crawler {name} is paused; svc.run_crawler({name!r}) resumes the crawl"
        )
