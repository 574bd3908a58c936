"""Endpoints that read and change the settings of an index."""

from __future__ import annotations

from svc_notebook.core.api.body_forms import drop_advanced, read_aliases
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.integers import Positive
from svc_notebook.core.api.parameters import ReadSettings, Settings
from svc_notebook.core.api.shapes import Updated


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
