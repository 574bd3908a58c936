"""Endpoints that list, copy, move and delete indices, read and change their settings."""

from __future__ import annotations

from typing import Literal

from svc_notebook.core.api.body_forms import drop_advanced, read_aliases
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.parameters import ReadSettings, Settings
from svc_notebook.core.api.shapes import Deleted, IndexList, Natural, Updated
from svc_notebook.core.api.values import Positive

CopyScope = Literal["settings", "synonyms", "rules"]


class IndexEndpoints(Api, interface="search"):
    """Endpoints for whole indices."""

    @endpoint("DELETE", "/1/indexes/{index}", acl="deleteIndex")
    async def delete_index(self, index: str) -> Deleted:
        """Delete an index with its records and settings."""
        ...

    @endpoint("POST", "/1/indexes/{index}/operation", acl="addObject")
    async def operate_index(
        self,
        index: str,
        operation: Literal["move", "copy"],
        destination: str,
        scope: list[CopyScope] | None = None,
    ) -> Updated:
        """Copy or move an index; with `scope`, copy only those parts."""
        ...

    @endpoint("GET", "/1/indexes", acl="listIndexes")
    async def list_indices(
        self, *, page: Natural | None = None, hitsPerPage: Natural | None = None
    ) -> IndexList:
        """List all indices or, if `page` is given, pages of 100."""
        ...


class SettingsEndpoints(Api, interface="search"):
    """Endpoints for the settings of an index."""

    @endpoint("GET", "/1/indexes/{index}/settings", acl="settings", accepts=(drop_advanced,))
    async def get_settings(self, index: str, *, getVersion: Positive = 1) -> ReadSettings:
        """Read the settings that are not null."""
        ...

    @endpoint("PUT", "/1/indexes/{index}/settings", acl="editSettings", accepts=(read_aliases,))
    async def set_settings(
        self,
        index: str,
        settings: Body[Settings],
        *,
        forwardToReplicas: bool = False,
        forwardToSlaves: bool = False,
    ) -> Updated:
        """Change the given settings only; null resets a setting to its default."""
        ...
