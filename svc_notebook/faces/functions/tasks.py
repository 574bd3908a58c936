"""Wait for tasks, and list those of a client's writes."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame, Series, to_datetime

from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient, OnProgress, Tasks, Write
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import CallFailed


@public(
    verb(
        "tasks wait",
        "tasks wait 17 18 --index products",
        types={"tasks": list[int]},
        rest="tasks",
        variable="tasks",
    ),
    verb(
        "wait",
        "wait 17 18 --index products",
        summary="Wait until tasks are published",
        types={"tasks": list[int]},
        rest="tasks",
        variable="tasks",
    ),
    endpoints=("get_task", "get_app_task"),
    bar="tasks",
    label="published",
)
async def wait(
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,  # noqa: ASYNC109 - the error names the tasks that are left
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> int:
    """Wait until tasks are published.

    Parameters
    ----------
    tasks : int, dict or list of these
        Task numbers or responses of writes.
    index : str, default None
        Name of the index of tasks that do not name theirs; None for tasks of the
        application.
    timeout : float, default 600
        Maximum wait in seconds; None waits without limit.

    Returns
    -------
    int
        The number of tasks.

    Raises
    ------
    BadInput
        If a task is not a number or a response of a write.
    TaskFailed
        If tasks are not published at the timeout; its `tasks` are the remaining ones.

    Examples
    --------
    >>> response = svc.call("clear_synonyms", {"index": "products"})
    >>> svc.wait(response, index="products")
    1
    """
    return await asynchronous(client).wait(
        tasks, index=index, timeout=timeout, on_progress=on_progress
    )


@public(
    verb("tasks", "tasks", "tasks products --status", faces=("magic",)),
    endpoints=("get_task", "get_app_task"),
    renamed={"length": "limit"},
)
async def read_writes(
    index: str | None = None,
    *,
    limit: int = 20,
    status: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """Read the newest tasks of the writes of this client, newest first.

    Parameters
    ----------
    index : str, default None
        Name of the index whose tasks are read; None reads the tasks of all.
    limit : int, default 20
        Maximum number of tasks.
    status : bool, default False
        Read the status of each task from the service.

    Returns
    -------
    DataFrame
        One row per task: `at` (datetime64[ns, UTC], time of the response), `call` (str, name of
        the endpoint), `index` (str, empty for a task of the application), `taskID` (int64) and,
        with `status`, `status` (str, `published`, `notPublished` or `unknown`).

    Examples
    --------
    >>> svc.clear_synonyms("products")
    >>> svc.read_writes("products", limit=1, status=True)[["call", "index", "status"]]
                 call     index     status
    0  clear_synonyms  products  published
    """
    aio = asynchronous(client)
    writes = [write for write in aio.written if index in (None, write.index)]
    kept = writes[::-1][:limit]
    frame = DataFrame(
        {
            "at": to_datetime(Series([w.at for w in kept], dtype="float64"), unit="s", utc=True),
            "call": Series([write.call for write in kept], dtype="str"),
            "index": Series([write.index or "" for write in kept], dtype="str"),
            "taskID": Series([write.task for write in kept], dtype="int64"),
        }
    )
    if status:
        frame["status"] = Series([await _status(aio, write) for write in kept], dtype="str")
    return frame


async def _status(client: AsyncClient, write: Write) -> str:
    """Return the status of one task, `unknown` if the service does not report it."""
    try:
        answer: Any = (
            await client.get_app_task(write.task)
            if write.index is None
            else await client.get_task(write.index, write.task)
        )
    except CallFailed:
        return "unknown"
    return str(answer["status"])


@public(
    verb(
        "tasks show",
        "tasks show 17 18 --index products",
        types={"tasks": list[int]},
        rest="tasks",
        variable="tasks",
    ),
    endpoints=("get_task", "get_app_task"),
    like=wait.__doc__,
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

    Returns
    -------
    DataFrame
        One row per task: `taskID` (int64), `index` (str, empty for a task of the application)
        and `status` (str, `published` or `notPublished`).

    Raises
    ------
    BadInput
        If a task is not a number or a response of a write.

    Examples
    --------
    >>> response = svc.call("clear_objects", {"index": "products"})
    >>> svc.read_tasks(response, index="products")[["index", "status"]]
    """
    return await frames.read_tasks(
        asynchronous(client), tasks, index=index, dtype_backend=dtype_backend
    )
