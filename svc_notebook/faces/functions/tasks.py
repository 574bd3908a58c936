"""Wait for tasks, list those of a client's writes, and draw them until they are published."""

from __future__ import annotations

import io
import time
from importlib import import_module
from typing import Any

from pandas import DataFrame, Series, Timestamp, to_datetime

from svc_notebook.data import frames, plots
from svc_notebook.data.client import AsyncClient, OnProgress, Tasks, Write, in_notebook, sort_tasks
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.plots import check_columns
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import CallFailed
from svc_notebook.faces.functions import blocking

POLL_SECONDS = 0.25
PNG_DOTS_PER_INCH = 100


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


@public()
def plot_tasks(
    tasks: Tasks | DataFrame,
    *,
    index: str | None = None,
    timeout: float = 600,
    axes: Any = None,
    client: AnyClient | None = None,
) -> plots.Plot:
    """Plot a bar for each task until all are published; a notebook updates the plot while it waits.

    Parameters
    ----------
    tasks : int, dict or list of these, or DataFrame
        Task numbers or responses of writes, as for `wait`, or a result of `read_writes`, whose
        bars begin at the times of its writes.
    index : str, default None
        Name of the index of tasks that do not name theirs; None for tasks of the
        application.
    timeout : float, default 600
        Maximum wait in seconds; tasks that are not published then are drawn as running.
    axes : Axes or sequence of Axes, default None
        Axes to draw into at the end; None creates a figure.

    Returns
    -------
    Plot
        The plot, which has the methods of its axes.

    Raises
    ------
    BadInput
        If a task is not a number or a response of a write.

    Examples
    --------
    >>> response = svc.call("clear_synonyms", {"index": "products"})
    >>> axes = svc.plot_tasks(response, index="products")
    """
    watched = _list_tasks(tasks, index)
    deadline = time.monotonic() + timeout
    live = _LiveFigure() if axes is None and in_notebook() else None
    while True:
        _update(watched, client)
        if not watched["running"].any() or time.monotonic() >= deadline:
            break
        if live:
            live.show(plots.plot_tasks(watched))
        time.sleep(min(POLL_SECONDS, max(deadline - time.monotonic(), 0)))
    drawn = plots.plot_tasks(watched, axes=axes)
    if live and live.is_shown:
        live.show(drawn)
    return drawn


def _list_tasks(tasks: Tasks | DataFrame, index: str | None) -> DataFrame:
    """Return a row for each task, which begins at its write, or now."""
    if isinstance(tasks, DataFrame):
        check_columns(tasks, ("at", "call", "index", "taskID"), "read_writes")
        began = (tasks["at"] - Timestamp(0, tz="UTC")).dt.total_seconds()
        listed = tasks[["taskID", "index", "call"]].assign(began=began)
    else:
        pairs = [(number, name or "") for name, numbers in sort_tasks(tasks, index).items()
                 for number in numbers]  # fmt: skip
        listed = DataFrame(pairs, columns=["taskID", "index"]).assign(call="", began=time.time())
    return listed.assign(ended=listed["began"], running=True).reset_index(drop=True)


def _update(watched: DataFrame, client: AnyClient | None) -> None:
    """Read the status of the running tasks, and set their ends."""
    running = watched[watched["running"]]
    for name, rows in running.groupby("index"):
        numbers = rows["taskID"].tolist()
        read = blocking.read_tasks(numbers, index=str(name) or None, client=client)
        status = Series(read["status"].tolist(), index=read["taskID"])
        watched.loc[rows.index, "running"] = (status.loc[numbers] != "published").tolist()
    watched.loc[running.index, "ended"] = time.time()


class _LiveFigure:
    """An output of a cell, whose picture is replaced."""

    def __init__(self) -> None:
        self._handle: Any = None

    @property
    def is_shown(self) -> bool:
        """Whether there is an output."""
        return self._handle is not None

    def show(self, axes: plots.Plot) -> None:
        """Show the figure of axes in place of the previous one; the cell does not show it again."""
        from matplotlib import pyplot

        notebook: Any = import_module("IPython.display")
        figure: Any = axes.get_figure(root=True)
        written = io.BytesIO()
        figure.savefig(written, format="png", dpi=PNG_DOTS_PER_INCH)
        pyplot.close(figure)
        image = notebook.Image(data=written.getvalue())
        if self._handle is None:
            self._handle = notebook.display(image, display_id=True)
        else:
            self._handle.update(image)
