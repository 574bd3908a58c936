"""A temporary copy of an index with another configuration, and searches before and after it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from svc_notebook.core.api.validation import same
from svc_notebook.data.client import AsyncClient, ResourceKind, TemporaryIndex, write_all
from svc_notebook.errors import SvcError
from svc_notebook.faces.editors.error_display import Explanation, explain
from svc_notebook.faces.editors.query_editor.comparison import SideBySide, compare
from svc_notebook.faces.editors.settings_editor.changes import changes_of

By = Literal["", "parameters", "copy"]


class Copy:
    """A copy of an index on which changes are tried; the caller that creates it drops it."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client = client
        self._temporary = TemporaryIndex(client, index, "preview")
        self._settings: Mapping[str, Any] = {}
        self._lists: dict[str, Sequence[Any]] = {}
        self.name = self._temporary.name

    async def make(
        self, settings: Mapping[str, Any], lists: Mapping[str, Sequence[Any]] = {}
    ) -> None:
        """Copy records, settings, synonyms and rules, which have these settings.

        `lists` are the copied synonyms and rules, as far as they are known.
        """
        await self._temporary.open()
        self._settings, self._lists = settings, dict(lists)

    async def configure(self, settings: Mapping[str, Any]) -> None:
        """Give the copy other settings, replicas aside."""
        changes: Any = changes_of(self._settings, settings)
        changes.pop("replicas", None)
        if changes:
            changed = await self._client.set_settings(self.name, changes)
            await self._client.wait(changed, index=self.name)
        self._settings = settings

    async def replace(self, kind: ResourceKind, documents: Sequence[Any]) -> None:
        """Give the copy other synonyms, or rules; without a request if it has them."""
        if kind.name in self._lists and same(self._lists[kind.name], documents):
            return
        self._lists.pop(kind.name, None)  # unknown if the request fails
        written = await write_all(self._client, kind, self.name, list(documents))
        await self._client.wait(written, index=self.name)
        self._lists[kind.name] = documents

    async def drop(self) -> None:
        """Delete the copy; warn if that fails, as the preview itself is done."""
        await self._temporary.discard()


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
