"""Endpoints that configure query suggestions."""

from __future__ import annotations

from typing import Unpack

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.shapes import Received
from svc_notebook.core.api.shapes.suggestions import (
    SuggestionConfig,
    SuggestionFields,
    SuggestionLog,
    SuggestionStatus,
)


class SuggestionsApi(Api, interface="suggestions"):
    """The interface of query suggestions."""

    @endpoint("POST", "/1/configs", acl="editSettings", repeatable=False)
    async def create_suggestions_config(
        self, indexName: str, **fields: Unpack[SuggestionFields]
    ) -> Received:
        """Create an index of suggestions, which is built from the searches of other indices."""
        ...

    @endpoint("GET", "/1/configs", acl="settings")
    async def list_suggestions_configs(self) -> list[SuggestionConfig]:
        """List the configurations of suggestions."""
        ...

    @endpoint("GET", "/1/configs/{index}", acl="settings")
    async def get_suggestions_config(self, index: str) -> SuggestionConfig:
        """Read a configuration of suggestions."""
        ...

    @endpoint("PUT", "/1/configs/{index}", acl="editSettings")
    async def update_suggestions_config(
        self, index: str, **fields: Unpack[SuggestionFields]
    ) -> Received:
        """Replace a configuration of suggestions, and build their index again."""
        ...

    @endpoint("DELETE", "/1/configs/{index}", acl="editSettings")
    async def delete_suggestions_config(self, index: str) -> Received:
        """Delete a configuration of suggestions; their index stays as it is."""
        ...

    @endpoint("GET", "/1/configs/{index}/status", acl="settings")
    async def get_suggestions_status(self, index: str) -> SuggestionStatus:
        """Return when suggestions were built, and whether they are being built."""
        ...

    @endpoint("GET", "/1/logs/{index}", acl="settings")
    async def get_suggestions_log(self, index: str) -> SuggestionLog:
        """Return the outcome of the last build of suggestions."""
        ...
