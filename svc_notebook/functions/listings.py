"""Coroutine functions that list indices, settings, keys, logs and other content of a service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack, cast, get_args

from pandas import DataFrame

from svc_notebook import frames
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.api.shapes import DictionaryName, UrlStatus
from svc_notebook.api.texts import OneOrMany
from svc_notebook.client.tasks import Tasks
from svc_notebook.declarations.declaration import public, verb, verb_only
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.frames.columns import Backend
from svc_notebook.frames.records import LogOptions
from svc_notebook.session.connection import AnyClient, asynchronous


@public(verb("indices", "indices", lists=True), endpoints=("list_indices",))
async def read_indices(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """List the indices.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per index: `name` (str), `entries` (int64), `dataSize` and `fileSize` (int64,
        bytes), `createdAt` and `updatedAt` (datetime64[us, UTC]), `lastBuildTimeS` (int64,
        seconds), `numberOfPendingTasks` (int64), `pendingTask` (bool), `primary` (str, empty
        for an index that is not a replica) and `replicas` (object, a list or None).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> indices = svc.read_indices()
    >>> indices.loc[indices["name"] == "products", "entries"].item()
    240
    """
    return await frames.read_indices(asynchronous(client), dtype_backend=dtype_backend)


@public(verb("settings show", "settings show products"), endpoints=("get_settings",))
async def read_settings(index: str, *, client: AnyClient | None = None) -> DataFrame:
    """Read the settings of an index.

    Parameters
    ----------
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per setting that the service returns, sorted by name: `setting` (str) and
        `value` (object).

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_settings("products").set_index("setting")["value"]["searchableAttributes"]
    ['name', 'description']
    """
    return await frames.read_settings(asynchronous(client), index)


@public(
    verb(
        "logs",
        "logs",
        "logs --index products --type error --length 100",
        names={"indexName": "index"},
    ),
    endpoints=("get_logs",),
    accessors=("df.svc.logs",),
)
async def read_logs(
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> DataFrame:
    """Read logged requests, newest first.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per request: `timestamp` (datetime64[us, UTC]), `method` and `url` (str),
        `answer_code` (int64), `processing_time_ms` (int64, milliseconds), `ip`, `index` and
        `query_params` (str), `query_nb_hits` (int64), `query_body`, `answer` and
        `query_headers` (str), `nb_api_calls` (int64) and `sha1` (str).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> logs = svc.read_logs(length=20, type="query")
    >>> logs[["timestamp", "index", "processing_time_ms"]]
    """
    return await frames.read_logs(asynchronous(client), dtype_backend=dtype_backend, **options)


@public(
    verb("synonyms", "synonyms products", "synonyms products lamp --type synonym,onewaysynonym"),
    endpoints=("search_synonyms",),
)
async def read_synonyms(
    index: str,
    query: str = "",
    *,
    type: str = "",  # noqa: A002
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the synonyms of an index, or those that match a query.

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        Words or word prefixes that a synonym contains; "" matches every synonym.
    type : str, default ""
        Type of synonym, or several separated by commas: `synonym`, `onewaysynonym`,
        `altcorrection1`, `altcorrection2`, `placeholder`; "" selects every type.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per synonym: `objectID` and `type` (str), `synonyms` (object, a list or None),
        `input` and `word` (str), `corrections` (object, a list or None), `placeholder` (str)
        and `replacements` (object, a list or None). The type determines which columns have a
        value.

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_synonyms("products")[["objectID", "type", "synonyms"]]
      objectID     type    synonyms
    0     cups  synonym  [mug, cup]
    """
    return await frames.read_synonyms(
        asynchronous(client), index, query, type=type, dtype_backend=dtype_backend
    )


@public(
    verb("rules", "rules products", "rules products sale --enabled"), endpoints=("search_rules",)
)
async def read_rules(
    index: str,
    query: str = "",
    *,
    context: str | None = None,
    enabled: bool | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the rules of an index, or those that match a query.

    Parameters
    ----------
    index : str
        Name of the index.
    query : str, default ""
        Words or word prefixes that a rule contains; "" matches every rule.
    context : str, default None
        Context that a rule must name; None does not restrict contexts.
    enabled : bool, default None
        Return only enabled (True) or only disabled (False) rules; None returns both.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per rule: `objectID` and `description` (str), `enabled` (bool), `conditions`,
        `consequence`, `validity` and `tags` (object, the JSON value or None) and `scope` (str).

    Raises
    ------
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_rules("products")[["objectID", "enabled"]]
            objectID  enabled
    0  lamps-on-sale     True
    """
    return await frames.read_rules(
        asynchronous(client), index, query,
        context=context, enabled=enabled, dtype_backend=dtype_backend,
    )  # fmt: skip


@public(
    verb("keys", "keys", "keys products", "keys --reveal"),
    endpoints=("list_keys", "list_index_keys", "list_all_index_keys"),
)
async def read_keys(
    index: str | None = None,
    *,
    reveal: bool = False,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the API keys of the application or of an index.

    Parameters
    ----------
    index : str, default None
        Name of the index whose keys are read; `*` reads the keys of every index, None those
        of the application.
    reveal : bool, default False
        Return whole keys; by default, keys are masked to their first four characters.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per key: `value` and `description` (str), `acl` (object, a list), `index` (str,
        empty for a key of the application), `indexes` (object, a list or None), `createdAt`
        (datetime64[us, UTC]), `validity` (int64, seconds left, 0 for unlimited),
        `maxHitsPerQuery` and `maxQueriesPerIPPerHour` (int64, 0 for unlimited),
        `queryParameters` (str) and `referers` (object, a list or None).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_keys()[["value", "acl", "validity"]]
    """
    return await frames.read_keys(
        asynchronous(client), index, reveal=reveal, dtype_backend=dtype_backend
    )


@public(
    verb("clusters", "clusters", lists=True),
    endpoints=("list_clusters",),
    accessors=("df.svc.clusters",),
)
async def read_clusters(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the clusters and the number of records and users on each.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per cluster: `clusterName` (str), `nbRecords` and `nbUserIDs` (int64) and
        `dataSize` (int64, bytes).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_clusters()["clusterName"].tolist()
    ['local-1', 'local-2']
    """
    return await frames.read_clusters(asynchronous(client), dtype_backend=dtype_backend)


@public(endpoints=("list_users", "search_users"))
async def read_users(
    query: str = "",
    *,
    cluster: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the users of a multi-cluster application and their clusters.

    Parameters
    ----------
    query : str, default ""
        Text to search for in user ids; "" matches every user.
    cluster : str, default None
        Name of the cluster whose users are read; None reads the users of every cluster.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per user: `userID` and `clusterName` (str), `nbRecords` (int64) and `dataSize`
        (int64, bytes).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_users(cluster="local-1")
    """
    return await frames.read_users(
        asynchronous(client), query, cluster=cluster, dtype_backend=dtype_backend
    )


@public(verb("users top", "users top", lists=True), endpoints=("top_users",))
async def read_top_users(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the users with the most records of each cluster.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per user: `clusterName` (str), `rank` (int64, from 1 in each cluster), `userID`
        (str), `nbRecords` (int64) and `dataSize` (int64, bytes).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_top_users()
    """
    return await frames.read_top_users(asynchronous(client), dtype_backend=dtype_backend)


@verb_only(
    verb("users", "users", "users smith --cluster c1-eu", "users --top"),
    endpoints=("list_users", "search_users", "top_users"),
)
async def users_or_top(
    query: str = "",
    *,
    cluster: str | None = None,
    top: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """Read the users, or with `top` those with the most records.

    Parameters
    ----------
    query : str, default ""
        Text to search for in user ids; "" matches every user.
    cluster : str, default None
        Name of the cluster whose users are read; None reads the users of every cluster.
    top : bool, default False
        Read the users with the most records of each cluster.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The result of `read_users`, or with `top` of `read_top_users`.

    Raises
    ------
    BadOption
        If `top` is given together with `query` or `cluster`.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
    if not top:
        return await read_users(query, cluster=cluster, client=client)
    if query or cluster:
        raise BadOption("`--top` is of all users of every cluster; leave the rest out")
    return await read_top_users(client=client)


@public(verb("sources", "sources"), endpoints=("list_sources",))
async def read_sources(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the networks from which requests are allowed.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per network: `source` (str, an address or a network in CIDR notation) and
        `description` (str). An empty DataFrame allows every network.

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_sources()
    """
    return await frames.read_sources(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb("dictionaries", "dictionaries stopwords --language en", "dictionaries plurals horse"),
    endpoints=("search_dictionary",),
    replaces={"get_dictionary_entries": "read_dictionary"},
)
async def read_dictionary(
    dictionary: DictionaryName,
    query: str = "",
    *,
    language: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the entries of a dictionary, standard entries included.

    Parameters
    ----------
    dictionary : {'stopwords', 'plurals', 'compounds'}
        Name of the dictionary.
    query : str, default ""
        Words or word prefixes that an entry contains; "" matches every entry.
    language : str, default None
        Language code, such as `en`; None reads every language.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per entry: `objectID` and `language` (str), `word` (str, of stop words and
        compounds), `words` (object, the list of a plural or None), `decomposition` (object, the
        list of a compound or None), `state` (str, enabled or disabled) and `type` (str, custom
        or standard).

    Raises
    ------
    BadInput
        If the dictionary does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_dictionary("stopwords", "the", language="en")[["word", "type"]]
    """
    return await frames.read_dictionary(
        asynchronous(client), dictionary, query, language=language, dtype_backend=dtype_backend
    )


@public(verb("languages", "languages", lists=True), endpoints=("list_languages",))
async def read_languages(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the number of custom entries that each language has in each dictionary.

    Parameters
    ----------
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per language: `language` (str) and `stopwords`, `plurals` and `compounds`
        (Int64, missing if the language has no such dictionary).

    Raises
    ------
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.read_languages().set_index("language").loc["de"]
    """
    return await frames.read_languages(asynchronous(client), dtype_backend=dtype_backend)


@public(
    verb(
        "tasks show",
        "tasks show 17 18 --index products",
        types={"tasks": list[int]},
        rest="tasks",
        variable="tasks",
    ),
    endpoints=("get_task", "get_app_task"),
)
async def read_tasks(
    tasks: Tasks,
    *,
    index: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the status of tasks.

    Parameters
    ----------
    tasks : int, dict or list of these
        Task numbers or responses of writes, as for `wait`.
    index : str, default None
        Name of the index of tasks that do not name theirs; None for tasks of the
        application.
    client : Client or AsyncClient, default the current client
        Client to use.
    dtype_backend : {'numpy_nullable', 'pyarrow'}, default None
        Dtypes of the result, as in pandas; None selects the dtypes listed below.

    Returns
    -------
    DataFrame
        One row per task: `taskID` (int64), `index` (str, empty for a task of the application)
        and `status` (str, `published` or `notPublished`).

    Raises
    ------
    BadInput
        If a task is not a number or a response of a write.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> response = svc.call("clear_objects", {"index": "products"})
    >>> svc.read_tasks(response, index="products")[["index", "status"]]
    """
    return await frames.read_tasks(
        asynchronous(client), tasks, index=index, dtype_backend=dtype_backend
    )


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


@public(endpoints=("search", "browse"), accessors=("df.svc.next_page",))
async def next_page(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read the page after the DataFrame of a search or a browse.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, or of `read_browse` with `chunksize`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The next page, with the columns of the first; empty after the last page.

    Raises
    ------
    BadInput
        If the DataFrame is not the result of a search or a browse, or comes from another
        application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", hitsPerPage=2)
    >>> svc.next_page(hits)["rank"].tolist()
    [3, 4]
    """
    return await frames.next_page(asynchronous(client), frame)


@public(endpoints=("search", "browse"), accessors=("df.svc.refresh",))
async def refresh(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Repeat the request that returned a DataFrame and return the new result.

    Parameters
    ----------
    frame : DataFrame
        Result of any function that reads from the service.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        The new result, with the same columns; columns of attributes depend on the records.

    Raises
    ------
    BadInput
        If the DataFrame was not read from the service, or comes from another application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp")
    >>> hits = svc.refresh(hits)
    """
    return await frames.refresh(asynchronous(client), frame)


@public(endpoints=("browse",), accessors=("df.svc.browse",))
async def browse_all(frame: DataFrame, *, client: AnyClient | None = None) -> DataFrame:
    """Read every record that matches the search of a DataFrame, beyond the pagination limit.

    Parameters
    ----------
    frame : DataFrame
        Result of `search`, `read_browse` or `read_records`.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per record: `objectID` (str), then the attributes, without `rank`.

    Raises
    ------
    BadInput
        If the DataFrame was not read from one index, or comes from another application.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.search("products", "lamp", hitsPerPage=2)
    >>> len(svc.browse_all(hits))
    40
    """
    return await frames.browse_all(asynchronous(client), frame)


@public(endpoints=("search_many",), accessors=("series.svc.facet",))
async def count_values(
    index: str,
    facet: str,
    values: Iterable[Any],
    *,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Count the records that have each of the given values of a facet.

    The count is exact for every value, also for rare ones.

    Parameters
    ----------
    index : str
        Name of the index.
    facet : str
        Name of the facet.
    values : list or Series
        Values to count; each distinct value is counted once.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    DataFrame
        One row per distinct value, in the given order: `value` (str) and `count` (int64).

    Raises
    ------
    BadInput
        If a value is missing or is not a scalar.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> svc.count_values("products", "brand", ["Norrvik", "Casavela"])
          value  count
    0   Norrvik     30
    1  Casavela     30
    """
    return await frames.count_values(asynchronous(client), index, facet, values, **params)
