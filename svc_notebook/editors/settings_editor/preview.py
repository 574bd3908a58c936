"""Pinned queries, before and after a draft: by parameters where those will do, else on a copy."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from svc_notebook.client import AsyncClient
from svc_notebook.client.temporary_index import TemporaryIndex
from svc_notebook.editors.error_display import Explanation, explain
from svc_notebook.editors.query_editor.comparison import SideBySide, compare
from svc_notebook.editors.settings_editor.changes import changes_of

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
        found = await compare(client, sides, searchable)
    except Exception as error:
        return {"query": query, "error": explain(error)}
    return {"query": query, "comparison": found}


class Copy:
    """A copy of an index on which settings are tried; whoever makes one drops it."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client = client
        self._temporary = TemporaryIndex(client, index, "preview")
        self._settings: Mapping[str, Any] = {}
        self.name = self._temporary.name

    async def make(self, settings: Mapping[str, Any]) -> None:
        """Copy records, settings, synonyms and rules, which have these settings."""
        await self._temporary.open()
        self._settings = settings

    async def configure(self, settings: Mapping[str, Any]) -> None:
        """Give the copy other settings, replicas aside."""
        changes: Any = changes_of(self._settings, settings)
        changes.pop("replicas", None)
        if changes:
            changed = await self._client.set_settings(self.name, changes)
            await self._client.wait(changed, index=self.name)
        self._settings = settings

    async def drop(self) -> None:
        """Delete the copy; warn if that fails, as the preview itself is done."""
        await self._temporary.discard()
