"""Make, change, run and try crawlers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.errors import BadInput, TaskFailed
from svc_notebook.verbs.clients import AnyClient, asynchronous
from svc_notebook.verbs.curation import Done
from svc_notebook.verbs.documents import take_documents

Config = Mapping[str, Any] | str | Path
AT_ONCE = 50  # URLs that one call takes
SHORTEST, LONGEST, GROWTH = 0.1, 5.0, 1.5  # seconds between two looks at a task


async def get_crawler(crawler: str, *, client: AnyClient | None = None) -> dict[str, Any]:
    """Read how a crawler stands, and its configuration."""
    return dict(await asynchronous(client).get_crawler(crawler, withConfig=True))


async def create_crawler(name: str, config: Config, *, client: AnyClient | None = None) -> Done:
    """Make a crawler of a configuration: a dict, or a JSON file."""
    made = await asynchronous(client).create_crawler(name, _config(config))
    return {"crawler": made["id"], "name": name}


async def configure_crawler(
    crawler: str, config: Config, *, whole: bool = False, client: AnyClient | None = None
) -> Done:
    """Change top-level properties of a configuration, or put another in its place."""
    own = asynchronous(client)
    if whole:
        done = await own.update_crawler(crawler, config=_config(config))
    else:
        done = await own.update_crawler_config(crawler, _config(config))
    return _task(crawler, done)


async def rename_crawler(crawler: str, name: str, *, client: AnyClient | None = None) -> Done:
    """Give a crawler another name."""
    return _task(crawler, await asynchronous(client).update_crawler(crawler, name))


async def run_crawler(crawler: str, *, client: AnyClient | None = None) -> Done:
    """Let a crawler go on, or wait for its next schedule."""
    return _task(crawler, await asynchronous(client).run_crawler(crawler))


async def pause_crawler(crawler: str, *, client: AnyClient | None = None) -> Done:
    """Ask a crawler to pause."""
    return _task(crawler, await asynchronous(client).pause_crawler(crawler))


async def reindex_crawler(crawler: str, *, client: AnyClient | None = None) -> Done:
    """Start a whole crawl, or start it again."""
    return _task(crawler, await asynchronous(client).reindex_crawler(crawler))


async def try_url(
    crawler: str, url: str, config: Config | None = None, *, client: AnyClient | None = None
) -> dict[str, Any]:
    """Try one URL, with a configuration of its own if given; nothing is kept."""
    held = None if config is None else _config(config)
    return dict(await asynchronous(client).test_crawler_url(crawler, url, held))


async def crawl_urls(
    crawler: str,
    urls: str | Iterable[str],
    *,
    save: bool | None = None,
    client: AnyClient | None = None,
) -> Done:
    """Crawl URLs now; `save` says whether later crawls visit them, too."""
    named = [urls] if isinstance(urls, str) else list(urls)
    if not named:
        raise BadInput("name the URLs that are to be crawled")
    own = asynchronous(client)
    tasks = [
        (await own.crawl_urls(crawler, named[start : start + AT_ONCE], save))["taskId"]
        for start in range(0, len(named), AT_ONCE)
    ]
    return {"crawler": crawler, "urls": len(named), "taskId": tasks}


async def crawler_task(
    crawler: str,
    task: str,
    *,
    wait: bool = False,
    timeout: float = 600,  # noqa: ASYNC109 - what is left is told when it passes
    client: AnyClient | None = None,
) -> Done:
    """Say whether a crawler's task is still to do; or wait until it is done."""
    own = asynchronous(client)
    pending = await _is_pending(own, crawler, task)
    deadline, delay = time.monotonic() + timeout, SHORTEST
    while wait and pending:
        if time.monotonic() >= deadline:
            raise TaskFailed(f"task {task} of {crawler} is not done after {timeout:g} s")
        await asyncio.sleep(delay)
        delay = min(delay * GROWTH, LONGEST)
        pending = await _is_pending(own, crawler, task)
    return {"crawler": crawler, "taskId": task, "pending": pending}


async def cancel_crawler_task(
    crawler: str, task: str | None = None, *, client: AnyClient | None = None
) -> Done:
    """Cancel the task that blocks a crawler, the one it names itself unless another is given."""
    own = asynchronous(client)
    if task is None:
        task = (await own.get_crawler(crawler)).get("blockingTaskId")
    if not task:
        raise BadInput(f"no task blocks {crawler}")
    await own.cancel_crawler_task(crawler, task)
    return {"crawler": crawler, "taskId": task, "cancelled": True}


async def _is_pending(client: AsyncClient, crawler: str, task: str) -> bool:
    return bool((await client.get_crawler_task(crawler, task))["pending"])


def _config(given: Config) -> dict[str, Any]:
    found = take_documents(given, dict, "config")
    if len(found) != 1:
        raise BadInput(f"a configuration is one object, not {len(found)}")
    return found[0]


def _task(crawler: str, answer: Mapping[str, Any]) -> Done:
    return {"crawler": crawler, "taskId": answer["taskId"]}
