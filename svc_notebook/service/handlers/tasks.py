"""Handlers that return the state of a task."""

from __future__ import annotations

from svc_notebook.api import SearchApi
from svc_notebook.api.shapes import Task
from svc_notebook.errors import NotFound
from svc_notebook.service.http.handlers import RequestContext, serves


@serves(SearchApi.get_task)
def get_task(call: RequestContext, index: str, task_id: int) -> Task:
    """Return the state of a task by its number alone: its index may be moved or deleted."""
    return get_app_task(call, task_id)


@serves(SearchApi.get_app_task)
def get_app_task(call: RequestContext, task_id: int) -> Task:
    """Return the state of any task."""
    tasks = call.service.tasks
    if not 0 < task_id <= tasks.last:
        raise NotFound(f"there is no task {task_id}", status=404)
    done = task_id <= tasks.published
    return {"status": "published" if done else "notPublished", "pendingTask": not done}
