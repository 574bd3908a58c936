"""A temporary copy of an index on which settings are tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.client import AsyncClient
from svc_notebook.client.temporary_index import TemporaryIndex
from svc_notebook.editors.settings_editor.changes import changes_of


class Copy:
    """A copy of an index on which settings are tried; the caller that creates it drops it."""

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
