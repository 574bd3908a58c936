"""Endpoints that create, change and read API keys."""

from __future__ import annotations

from typing import Unpack

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.shapes import DeletedAt, Key, KeyAdded, KeyFields, KeyList, KeyUpdated


class KeyEndpoints(Api, interface="search"):
    """Endpoints for API keys of the application and of single indices."""

    @endpoint("POST", "/1/keys", acl="admin", repeatable=False)
    async def add_key(self, **fields: Unpack[KeyFields]) -> KeyAdded:
        """Create an API key."""
        ...

    @endpoint("PUT", "/1/keys/{key}", acl="admin")
    async def update_key(self, key: str, **fields: Unpack[KeyFields]) -> KeyUpdated:
        """Replace the fields of an API key; omitted fields are reset to their defaults."""
        ...

    @endpoint("GET", "/1/keys", acl="admin")
    async def list_keys(self) -> KeyList:
        """List the API keys."""
        ...

    @endpoint("GET", "/1/keys/{key}", acl="any")
    async def get_key(self, key: str) -> Key:
        """Read an API key; a key other than the admin key can read only itself."""
        ...

    @endpoint("DELETE", "/1/keys/{key}", acl="admin")
    async def delete_key(self, key: str) -> DeletedAt:
        """Delete an API key."""
        ...

    @endpoint("POST", "/1/keys/{key}/restore", acl="admin")
    async def restore_key(self, key: str) -> KeyAdded:
        """Restore a deleted API key."""
        ...

    @endpoint("POST", "/1/indexes/{index}/keys", acl="admin", repeatable=False)
    async def add_index_key(self, index: str, **fields: Unpack[KeyFields]) -> KeyAdded:
        """Create an API key for one index."""
        ...

    @endpoint("PUT", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def update_index_key(
        self, index: str, key: str, **fields: Unpack[KeyFields]
    ) -> KeyUpdated:
        """Replace the fields of an index's key; succeeds even if the key does not exist."""
        ...

    @endpoint("GET", "/1/indexes/{index}/keys", acl="admin")
    async def list_index_keys(self, index: str) -> KeyList:
        """List the keys of one index."""
        ...

    @endpoint("GET", "/1/indexes/*/keys", acl="admin")
    async def list_all_index_keys(self) -> KeyList:
        """List the keys of all indices."""
        ...

    @endpoint("GET", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def get_index_key(self, index: str, key: str) -> Key:
        """Read a key of an index."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def delete_index_key(self, index: str, key: str) -> DeletedAt:
        """Delete a key of an index."""
        ...
