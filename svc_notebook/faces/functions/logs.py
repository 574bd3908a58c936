"""Read the logged requests of a service, and the state of its processes."""

from __future__ import annotations

from typing import Unpack

from pandas import DataFrame

from svc_notebook.core.api.shapes import LocalStatus
from svc_notebook.data import frames
from svc_notebook.data.declarations import accessor, public, verb
from svc_notebook.data.frames import Backend, LogOptions
from svc_notebook.data.session import AnyClient, asynchronous


@public(
    verb(
        "logs",
        "logs",
        "logs 50 --index products --type error",
        names={"indexName": "index"},
    ),
    endpoints=("get_logs",),
    accessors=(accessor("df.svc.logs", index="indexName"),),
    renamed={"length": "limit"},
)
async def read_logs(
    limit: int = 100,
    *,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
    **options: Unpack[LogOptions],
) -> DataFrame:
    """Read logged requests, newest first.

    Parameters
    ----------
    limit : int, default 100
        Maximum number of requests, up to 1,000.

    Returns
    -------
    DataFrame
        One row per request: `timestamp` (datetime64[us, UTC]), `method` and `url` (str),
        `answer_code` (int64), `processing_time_ms` (int64, milliseconds), `ip`, `index` and
        `query_params` (str), `query_nb_hits` (int64), `query_body`, `answer` and
        `query_headers` (str), `nb_api_calls` (int64) and `sha1` (str).

    Examples
    --------
    >>> logs = svc.read_logs(20, type="query")
    >>> logs[["timestamp", "index", "processing_time_ms"]]
    >>> hits = svc.search("products", "desk lamp")
    >>> len(hits.svc.logs(1))
    1
    """
    return await frames.read_logs(
        asynchronous(client), limit, dtype_backend=dtype_backend, **options
    )


@public(verb("status", "status"), endpoints=("get_status",))
async def read_status(*, client: AnyClient | None = None) -> LocalStatus:
    """Read the state of the processes of a local service.

    Returns
    -------
    dict
        `pid`, the id of the service's process, and `searchWorkers`: the number of `processes`, the
        calls that they `answered`, and those that the service ran itself (`declined`), by reason.

    Raises
    ------
    NotFound
        If the service is not a local one.

    Examples
    --------
    >>> svc.read_status()["searchWorkers"]["answered"]
    0
    """
    return await asynchronous(client).get_status()
