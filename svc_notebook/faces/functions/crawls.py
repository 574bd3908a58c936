"""Start, follow and cancel crawls; read crawlers, the outcomes of URLs, and domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from pandas import DataFrame, Series

from svc_notebook.core.api.shapes import UrlStatus
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data import frames
from svc_notebook.data.client import OnCount, count_ends, crawler_id, wait_crawled
from svc_notebook.data.declarations import accessor, public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.crawlers import describe_task
from svc_notebook.faces.functions.curation import WriteSummary

MAX_URLS_PER_CALL = 50


@public(
    verb("crawlers reindex", "crawlers reindex docs", "crawlers reindex docs --wait"),
    endpoints=("reindex_crawler",),
    bar="URLs",
    label="crawler",
)
async def reindex_crawler(
    crawler: str,
    *,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109 - the error names what is left
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> WriteSummary:
    """Start or restart a complete crawl.

    Parameters
    ----------
    wait : bool, default False
        Wait until the records of the crawl are published.
    timeout : float, default None
        Maximum wait in seconds; None waits without limit.

    Returns
    -------
    dict
        `crawler` and `taskId`; after a wait also the number of URLs in `done`, `skipped` and
        `failed`.

    Raises
    ------
    BadInput
        If the crawler does not exist.
    TaskFailed
        If the crawl is not done at the timeout, or the crawler is blocked or paused during
        the wait.

    Examples
    --------
    >>> svc.reindex_crawler("shop", wait=True)["done"]
    2
    """
    aio = asynchronous(client)
    named = await crawler_id(aio, crawler)
    done = describe_task(crawler, await aio.reindex_crawler(named))
    if not wait:
        return done
    await wait_crawled(aio, named, [done["taskId"]], timeout=timeout, on_count=on_progress)
    ends = await count_ends(aio, named)
    if on_progress:
        on_progress(sum(ends.values()))
    return {**done, **ends}


@public(
    verb(
        "crawlers crawl",
        "crawlers crawl docs https://example.com/a https://example.com/b --wait",
        variable="urls",
    ),
    endpoints=("crawl_urls",),
    accessors=(accessor("series.svc.crawl", "urls", convert=Series.dropna),),
    bar="URLs",
    label="crawler",
    like=reindex_crawler.__doc__,
)
async def crawl_urls(
    crawler: str,
    urls: OneOrMany,
    *,
    save: bool | None = None,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109 - the error names what is left
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> WriteSummary:
    """Crawl URLs now.

    Parameters
    ----------
    urls : str, list of str, Series or DataFrame with a column `url`
        URLs to crawl.
    save : bool, default None
        Add the URLs to the start URLs, so that later crawls visit them too; None leaves the
        decision to the service.
    wait : bool, default False
        Wait until the URLs are crawled.

    Returns
    -------
    dict
        `crawler`, `urls` (their number) and `taskId` (a list with one id for each 50 URLs).

    Raises
    ------
    BadInput
        If the crawler does not exist, or no URL.
    TaskFailed
        If the URLs are not crawled at the timeout, or the crawler is blocked or paused
        during the wait.

    Examples
    --------
    >>> pages = svc.read_crawled_urls("shop", status="DONE")
    >>> pages["url"].svc.crawl("shop", wait=True)["urls"]
    2
    """
    listed = list_texts(urls, "urls", column="url")
    if not listed:
        raise BadInput("no URLs to crawl; pass at least one")
    aio = asynchronous(client)
    named = await crawler_id(aio, crawler)
    tasks = [
        (await aio.crawl_urls(named, listed[start : start + MAX_URLS_PER_CALL], save))["taskId"]
        for start in range(0, len(listed), MAX_URLS_PER_CALL)
    ]
    if wait:
        await wait_crawled(aio, named, tasks, timeout=timeout, on_count=on_progress)
    return {"crawler": crawler, "urls": len(listed), "taskId": tasks}


@public(
    verb("crawlers tasks", "crawlers tasks docs 98458796 --wait"),
    endpoints=("get_crawler_task",),
    bar="URLs",
    label="crawler",
)
async def crawler_task(
    crawler: str,
    task: str,
    *,
    wait: bool = False,
    timeout: float | None = 600,  # noqa: ASYNC109 - the error names what is left
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> WriteSummary:
    """Return whether a task of a crawler is pending, or wait until it is done.

    Parameters
    ----------
    task : str
        Id of the task.
    wait : bool, default False
        Wait until the task is done.
    timeout : float, default 600
        Maximum wait in seconds; None waits without limit.

    Returns
    -------
    dict
        `crawler`, `taskId` and `pending`.

    Raises
    ------
    BadInput
        If the crawler does not exist.
    TaskFailed
        If the task is not done at the timeout, or the crawler is blocked or paused during
        the wait.

    Examples
    --------
    >>> task = svc.run_crawler("shop")["taskId"]
    >>> svc.crawler_task("shop", task, wait=True)["pending"]
    False
    """
    aio = asynchronous(client)
    named = await crawler_id(aio, crawler)
    if wait:
        await wait_crawled(aio, named, [task], timeout=timeout, on_count=on_progress)
    pending = not wait and bool((await aio.get_crawler_task(named, task))["pending"])
    return {"crawler": crawler, "taskId": task, "pending": pending}


@public(verb("crawlers cancel", "crawlers cancel docs"), endpoints=("cancel_crawler_task",))
async def cancel_crawler_task(
    crawler: str, task: str | None = None, *, client: AnyClient | None = None
) -> WriteSummary:
    """Cancel a task that blocks a crawler.

    Parameters
    ----------
    task : str, default None
        Id of the task; None selects the task that blocks the crawler.

    Returns
    -------
    dict
        `crawler`, `taskId` and `cancelled` (True).

    Raises
    ------
    BadInput
        If the crawler does not exist, or no task blocks it.

    Examples
    --------
    >>> crawler = svc.get_crawler("shop")
    >>> if crawler["blocked"]:
    ...     svc.cancel_crawler_task("shop")
    """
    aio = asynchronous(client)
    named = await crawler_id(aio, crawler)
    if task is None:
        task = (await aio.get_crawler(named)).get("blockingTaskId")
    if not task:
        raise BadInput(f"no task blocks {crawler}")
    await aio.cancel_crawler_task(named, task)
    return {"crawler": crawler, "taskId": task, "cancelled": True}


@public(verb("crawlers", "crawlers"), endpoints=("list_crawlers", "get_crawler"))
async def read_crawlers(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the crawlers and their states.

    Returns
    -------
    DataFrame
        One row per crawler: `id` and `name` (str), `createdAt` and `updatedAt` (datetime64[us,
        UTC]), `running`, `reindexing` and `blocked` (bool), `lastReindexStartedAt` and
        `lastReindexEndedAt` (datetime64[us, UTC], missing before the first crawl),
        `blockingTaskId` and `blockingError` (str, empty unless blocked) and `warnings` (str,
        separated by semicolons).

    Examples
    --------
    >>> crawlers = svc.read_crawlers().set_index("name")
    >>> bool(crawlers.loc["shop", "blocked"])
    False
    """
    return await frames.read_crawlers(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb("crawlers stats", "crawlers stats docs"),
    endpoints=("crawler_url_stats",),
    accessors=(accessor("df.svc.crawler_urls", "crawlers", column="id"),),
)
async def read_crawler_urls(
    crawlers: OneOrMany,
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Count the URLs of the last crawl of one or several crawlers by outcome.

    Parameters
    ----------
    crawlers : str or list of str
        Names or ids of the crawlers.

    Returns
    -------
    DataFrame
        One row per crawler and outcome: `crawler`, `category`, `status`, `reason` and
        `readable` (str, the reason as a sentence) and `count` (int64).

    Raises
    ------
    BadInput
        If the crawler does not exist.

    Examples
    --------
    >>> svc.read_crawler_urls("shop")[["status", "count"]]
      status  count
    0   DONE      2
    >>> crawlers = svc.read_crawlers().query("name == 'shop'")
    >>> crawlers.svc.crawler_urls()["status"].tolist()
    ['DONE']
    """
    return await frames.read_crawler_urls(
        asynchronous(client), crawlers, dtype_backend=dtype_backend
    )


@public(
    verb(
        "crawlers urls",
        "crawlers urls docs --status FAILED",
        "crawlers urls docs --reason http_404",
    ),
    endpoints=("list_crawled_urls",),
    accessors=(accessor("df.svc.crawled_urls", "crawlers", column="id"),),
    like=read_crawler_urls.__doc__,
)
async def read_crawled_urls(
    crawlers: str | Sequence[str],
    *,
    status: str | None = None,
    reason: str | None = None,
    limit: int | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the outcome of each URL of the last crawl of one or several crawlers.

    Only a local service stores it.

    Parameters
    ----------
    status : {'DONE', 'SKIPPED', 'FAILED'}, default None
        Outcome of the URLs to return: `DONE`, `SKIPPED` or `FAILED`; None returns all.
    reason : str, default None
        Reason of the outcome, as counted by `read_crawler_urls`; None returns all.
    limit : int, default None
        Maximum number of URLs of each crawler; None returns all.

    Returns
    -------
    DataFrame
        One row per URL in order of discovery: `crawler`, `url`, `kind`, `status`, `category`,
        `reason` and `message` (str), `depth` (int64, links from a start URL), `time`
        (datetime64[us, UTC], end of the visit) and `referrer` (str, the URL that linked to it
        first).

    Raises
    ------
    BadInput
        If the crawler or the status does not exist.
    NotFound
        If the service does not store the outcome of each URL.

    Examples
    --------
    >>> svc.read_crawled_urls("shop", status="DONE")["depth"].tolist()
    [0, 1]
    >>> crawlers = svc.read_crawlers().query("name == 'shop'")
    >>> len(crawlers.svc.crawled_urls(status="DONE"))
    2
    """
    return await frames.read_crawled_urls(
        asynchronous(client),
        crawlers,
        status=_url_status(status),
        reason=reason,
        limit=limit,
        dtype_backend=dtype_backend,
    )


def _url_status(written: str | None) -> UrlStatus | None:
    for status in get_args(UrlStatus):
        if written and written.upper() == status:
            return cast(UrlStatus, status)
    if written is None:
        return None
    raise BadInput(f"`status` must be DONE, SKIPPED or FAILED, not {written!r}")


@public(verb("domains", "domains", lists=True), endpoints=("list_domains",))
async def read_domains(
    *,
    app_id: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the domains that crawlers may visit.

    Parameters
    ----------
    app_id : str, default None
        Id of the application whose domains are read; None reads those of all applications.

    Returns
    -------
    DataFrame
        One row per domain: `appId` and `domain` (str) and `verified` (bool).

    Examples
    --------
    >>> svc.read_domains()
    """
    return await frames.read_domains(
        asynchronous(client), app_id=app_id, dtype_backend=dtype_backend
    )
