"""Start, follow and cancel crawls."""

from __future__ import annotations

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client.crawlers import OnCount, count_ends, crawler_id, wait_crawled
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput
from svc_notebook.functions.crawlers import describe_task
from svc_notebook.functions.curated_lists import Done
from svc_notebook.session.connection import AnyClient, asynchronous

MAX_URLS_PER_CALL = 50  # URLs that one call takes


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
    timeout: float | None = None,  # noqa: ASYNC109 - what is left is told when it passes
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> Done:
    """Start or restart a complete crawl.

    Parameters
    ----------
    crawler : str
        Name or id of the crawler.
    wait : bool, default False
        Wait until the records of the crawl are published.
    timeout : float, default None
        Maximum wait in seconds; None waits without limit.
    client : Client or AsyncClient, default the current client
        Client to use.
    on_progress : callable, default None
        Function that is called with the number of URLs whose outcome is known.

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
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.reindex_crawler("shop", wait=True)["done"]
    2
    """
    own = asynchronous(client)
    named = await crawler_id(own, crawler)
    done = describe_task(crawler, await own.reindex_crawler(named))
    if not wait:
        return done
    await wait_crawled(own, named, [done["taskId"]], timeout=timeout, on_count=on_progress)
    ends = await count_ends(own, named)
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
    accessors=("series.svc.crawl",),
    bar="URLs",
    label="crawler",
)
async def crawl_urls(
    crawler: str,
    urls: OneOrMany,
    *,
    save: bool | None = None,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109 - what is left is told when it passes
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> Done:
    """Crawl URLs now.

    Parameters
    ----------
    crawler : str
        Name or id of the crawler.
    urls : str, list of str, Series or DataFrame with a column `url`
        URLs to crawl.
    save : bool, default None
        Add the URLs to the start URLs, so that later crawls visit them too; None leaves the
        decision to the service.
    wait : bool, default False
        Wait until the URLs are crawled.
    timeout : float, default None
        Maximum wait in seconds; None waits without limit.
    client : Client or AsyncClient, default the current client
        Client to use.
    on_progress : callable, default None
        Function that is called with the number of URLs whose outcome is known.

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
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> pages = svc.read_crawled_urls("shop", status="DONE")
    >>> svc.crawl_urls("shop", pages["url"], wait=True)["urls"]
    2
    """
    listed = list_texts(urls, "urls", column="url")
    if not listed:
        raise BadInput("name the URLs that are to be crawled")
    own = asynchronous(client)
    named = await crawler_id(own, crawler)
    tasks = [
        (await own.crawl_urls(named, listed[start : start + MAX_URLS_PER_CALL], save))["taskId"]
        for start in range(0, len(listed), MAX_URLS_PER_CALL)
    ]
    if wait:
        await wait_crawled(own, named, tasks, timeout=timeout, on_count=on_progress)
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
    timeout: float | None = 600,  # noqa: ASYNC109 - what is left is told when it passes
    client: AnyClient | None = None,
    on_progress: OnCount | None = None,
) -> Done:
    """Return whether a task of a crawler is pending, or wait until it is done.

    Parameters
    ----------
    crawler : str
        Name or id of the crawler.
    task : str
        Id of the task.
    wait : bool, default False
        Wait until the task is done.
    timeout : float, default 600
        Maximum wait in seconds; None waits without limit.
    client : Client or AsyncClient, default the current client
        Client to use.
    on_progress : callable, default None
        Function that is called with the number of URLs whose outcome is known.

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
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> task = svc.run_crawler("shop")["taskId"]
    >>> svc.crawler_task("shop", task, wait=True)["pending"]
    False
    """
    own = asynchronous(client)
    named = await crawler_id(own, crawler)
    if wait:
        await wait_crawled(own, named, [task], timeout=timeout, on_count=on_progress)
    pending = not wait and bool((await own.get_crawler_task(named, task))["pending"])
    return {"crawler": crawler, "taskId": task, "pending": pending}


@public(verb("crawlers cancel", "crawlers cancel docs"), endpoints=("cancel_crawler_task",))
async def cancel_crawler_task(
    crawler: str, task: str | None = None, *, client: AnyClient | None = None
) -> Done:
    """Cancel a task that blocks a crawler.

    Parameters
    ----------
    crawler : str
        Name or id of the crawler.
    task : str, default None
        Id of the task; None selects the task that blocks the crawler.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `crawler`, `taskId` and `cancelled` (True).

    Raises
    ------
    BadInput
        If the crawler does not exist, or no task blocks it.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> crawler = svc.get_crawler("shop")
    >>> if crawler["blocked"]:
    ...     svc.cancel_crawler_task("shop")
    """
    own = asynchronous(client)
    named = await crawler_id(own, crawler)
    if task is None:
        task = (await own.get_crawler(named)).get("blockingTaskId")
    if not task:
        raise BadInput(f"no task blocks {crawler}")
    await own.cancel_crawler_task(named, task)
    return {"crawler": crawler, "taskId": task, "cancelled": True}
