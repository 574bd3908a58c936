"""Pinned queries, before and after a draft: by parameters where those will do, else on a copy."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import SvcError
from svc_notebook.faces.editors.error_display import Explanation, explain
from svc_notebook.faces.editors.query_editor.comparison import SideBySide, compare

By = Literal["", "parameters", "copy"]


class Preview(TypedDict):
    """One pinned query."""

    query: str
    comparison: NotRequired[SideBySide]
    error: NotRequired[Explanation]


async def preview(
    client: AsyncClient,
    index: str,
    queries: Sequence[str],
    after: tuple[str, Mapping[str, Any]],
    searchable: Sequence[str] = (),
) -> list[Preview]:
    """Search for each query both ways; `searchable` are the attributes of headlines."""
    work = (_preview_one(client, index, query, after, searchable) for query in queries)
    return list(await asyncio.gather(*work))


async def _preview_one(
    client: AsyncClient,
    index: str,
    query: str,
    after: tuple[str, Mapping[str, Any]],
    searchable: Sequence[str],
) -> Preview:
    other, params = after
    quiet = {"query": query, "analytics": False}
    try:
        sides = [(index, quiet), (other, {**quiet, **params})]
        comparison = await compare(client, sides, searchable)
    except SvcError as error:
        return {"query": query, "error": explain(error)}
    return {"query": query, "comparison": comparison}
