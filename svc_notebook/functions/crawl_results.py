"""Read the states of crawlers, the outcomes of their URLs, and the domains they may visit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.shapes import UrlStatus
from svc_notebook.api.texts import OneOrMany
from svc_notebook.declarations.declaration import public, verb
from svc_notebook.errors import BadInput
from svc_notebook.frames.columns import Backend
from svc_notebook.session.connection import AnyClient, asynchronous


@public(verb("crawlers", "crawlers"), endpoints=("list_crawlers", "get_crawler"))
async def read_crawlers(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the crawlers and their states.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per crawler: `id` and `name` (str), `createdAt` and `updatedAt` (datetime64[us,
        UTC]), `running`, `reindexing` and `blocked` (bool), `lastReindexStartedAt` and
        `lastReindexEndedAt` (datetime64[us, UTC], missing before the first crawl),
        `blockingTaskId` and `blockingError` (str, empty unless blocked) and `warnings` (str,
        separated by semicolons).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

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
    accessors=("df.svc.crawler_urls",),
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
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per crawler and outcome: `crawler`, `category`, `status`, `reason` and
        `readable` (str, the reason as a sentence) and `count` (int64).

    Raises
    ------
    BadInput
        If the crawler does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_crawler_urls("shop")[["status", "count"]]
      status  count
    0   DONE      2
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
    accessors=("df.svc.crawled_urls",),
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
    crawlers : str or list of str
        Names or ids of the crawlers.
    status : {'DONE', 'SKIPPED', 'FAILED'}, default None
        Outcome of the URLs to return; None returns all.
    reason : str, default None
        Reason of the outcome, as counted by `read_crawler_urls`; None returns all.
    limit : int, default None
        Maximum number of URLs of each crawler; None returns all.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

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
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_crawled_urls("shop", status="DONE")["depth"].tolist()
    [0, 1]
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
    raise BadInput(f"`status` is DONE, SKIPPED or FAILED, not {written!r}")


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
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per domain: `appId` and `domain` (str) and `verified` (bool).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_domains()
    """
    return await frames.read_domains(
        asynchronous(client), app_id=app_id, dtype_backend=dtype_backend
    )
