"""Endpoints that read the request logs, the state of tasks and that of the local service."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.shapes import LocalStatus, Logs, Natural, Task, TaskID

LogLength = Annotated[int, Meta(ge=0, le=1000)]


class LogEndpoints(Api, interface="search"):
    """Endpoints for logs and tasks; only the local service has the one below `/local`."""

    @endpoint("GET", "/1/logs", acl="logs")
    async def get_logs(
        self,
        *,
        offset: Natural = 0,
        length: LogLength = 10,
        indexName: str | None = None,
        type: Literal["all", "query", "build", "error"] = "all",
    ) -> Logs:
        """Read logged requests, newest first."""
        ...

    @endpoint("GET", "/1/indexes/{index}/task/{task_id}", acl="addObject")
    async def get_task(self, index: str, task_id: TaskID) -> Task:
        """Return whether a task is published."""
        ...

    @endpoint("GET", "/1/task/{task_id}", acl="editSettings")
    async def get_app_task(self, task_id: TaskID) -> Task:
        """Return whether a task of the application (such as a dictionary write) is published."""
        ...

    @endpoint("GET", "/local/1/status", acl="admin")
    async def get_status(self) -> LocalStatus:
        """Read the state of the service's processes; only the local service has this endpoint.

        `declined` counts, by reason, the searches that the service ran itself instead of a worker.
        """
        ...
