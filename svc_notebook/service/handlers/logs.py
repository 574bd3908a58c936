"""Handler that returns the request logs."""

from __future__ import annotations

from functools import partial

from svc_notebook.api import SearchApi
from svc_notebook.api.shapes import Logs
from svc_notebook.service.http.handlers import RequestContext, serves
from svc_notebook.service.log_access import may_read_content


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
