"""The plot of tasks, updated until they are published."""

from __future__ import annotations

import io
import time
from importlib import import_module
from typing import Any

from pandas import DataFrame, Series, Timestamp

from svc_notebook.data import plots
from svc_notebook.data.client import Tasks, in_notebook, sort_tasks
from svc_notebook.data.declarations import public
from svc_notebook.data.plots import check_columns
from svc_notebook.data.session import AnyClient
from svc_notebook.faces.functions import blocking

POLL_SECONDS = 0.25
PNG_DOTS_PER_INCH = 100


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
