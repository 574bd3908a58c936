"""Configurations of query suggestions as a DataFrame of a fixed schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import DEFAULTS, SUGGESTIONS
from svc_notebook.errors import NotFound

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient


@remembered
async def read_suggestions_configs(
    client: AsyncClient, *, dtype_backend: Backend | None = None
) -> pd.DataFrame:
    """Read the configurations of query suggestions, with the outcome of their last builds."""
    rows: list[dict[str, Any]] = []
    for config in await client.list_suggestions_configs():
        name = config["indexName"]
        status: Any = await client.get_suggestions_status(name)
        try:
            message = (await client.get_suggestions_log(name))["message"]
        except NotFound:  # it was not built yet
            message = ""
        sources = {"index": name, "sources": config["sourceIndices"], "message": message}
        rows.append({**config, **status, **sources})
    return finished(typed(rows, SUGGESTIONS, DEFAULTS), {}, dtype_backend)
