"""Tell the last requests."""

from __future__ import annotations

from functools import partial

from svc_notebook.api import SearchApi
from svc_notebook.api.shapes import Logs
from svc_notebook.service.handlers.registry import Call, serves


@serves(SearchApi.get_logs)
def get_logs(
    call: Call,
    *,
    offset: int = 0,
    length: int = 10,
    indexName: str | None = None,
    type: str = "all",
) -> Logs:
    """Tell the last requests, the newest first; this one is not among them."""
    told = call.service.logs.read(offset, length, indexName, type, partial(call.caller.may, "logs"))
    return {"logs": told}
