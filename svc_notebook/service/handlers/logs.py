"""Handlers that return the request logs, the state of tasks and that of the service."""

from __future__ import annotations

import os
from functools import partial

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import LocalStatus, Logs, Task
from svc_notebook.errors import NotFound
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.search.visible_attributes import may_read_content
from svc_notebook.service.service import RequestContext


@serves(SearchApi.get_logs)
def get_logs(
    call: RequestContext,
    *,
    offset: int = 0,
    length: int = 10,
    indexName: str | None = None,
    type: str = "all",
) -> Logs:
    """Return the last requests, newest first, without this one."""
    may_see = partial(call.caller.may, "logs")
    may_read = partial(may_read_content, call.caller, call.service.catalog)
    return {"logs": call.service.logs.read(offset, length, indexName, type, may_see, may_read)}


@serves(SearchApi.get_task)
def get_task(call: RequestContext, index: str, task_id: int) -> Task:
    """Return the state of a task by its number alone: its index may be moved or deleted."""
    return get_app_task(call, task_id)


@serves(SearchApi.get_app_task)
def get_app_task(call: RequestContext, task_id: int) -> Task:
    """Return the state of any task."""
    tasks = call.service.tasks
    if not 0 < task_id <= tasks.last:
        raise NotFound(f"task {task_id} does not exist", status=404)
    done = task_id <= tasks.published
    return {"status": "published" if done else "notPublished", "pendingTask": not done}


@serves(SearchApi.get_status)
def get_status(call: RequestContext) -> LocalStatus:
    """Return the state of the service's processes."""
    counts = call.service.worker_counts
    return {
        "pid": os.getpid(),
        "searchWorkers": {
            "processes": counts.processes,
            "answered": counts.answered,
            "declined": dict(counts.declined),
        },
    }
