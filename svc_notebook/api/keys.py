"""Make, change and read API keys."""

from __future__ import annotations

from typing import Unpack

from svc_notebook.api.endpoint import Api, endpoint
from svc_notebook.api.shapes import DeletedAt, Key, KeyAdded, KeyFields, KeyList, KeyUpdated


class KeyRows(Api, interface="search"):
    """Keys of the application and of single indices."""

    @endpoint("POST", "/1/keys", acl="admin", repeatable=False)
    async def add_key(self, **fields: Unpack[KeyFields]) -> KeyAdded:
        """Make a key."""
        ...

    @endpoint("PUT", "/1/keys/{key}", acl="admin")
    async def update_key(self, key: str, **fields: Unpack[KeyFields]) -> KeyUpdated:
        """Change a key; a field left out goes back to its default."""
        ...

    @endpoint("GET", "/1/keys", acl="admin")
    async def list_keys(self) -> KeyList:
        """List the keys."""
        ...

    @endpoint("GET", "/1/keys/{key}", acl="any")
    async def get_key(self, key: str) -> Key:
        """Read a key; all but the admin key read only themselves."""
        ...

    @endpoint("DELETE", "/1/keys/{key}", acl="admin")
    async def delete_key(self, key: str) -> DeletedAt:
        """Delete a key."""
        ...

    @endpoint("POST", "/1/keys/{key}/restore", acl="admin")
    async def restore_key(self, key: str) -> KeyAdded:
        """Bring a deleted key back."""
        ...

    @endpoint("POST", "/1/indexes/{index}/keys", acl="admin", repeatable=False)
    async def add_index_key(self, index: str, **fields: Unpack[KeyFields]) -> KeyAdded:
        """Make a key for one index."""
        ...

    @endpoint("PUT", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def update_index_key(
        self, index: str, key: str, **fields: Unpack[KeyFields]
    ) -> KeyUpdated:
        """Change an index's key; succeeds even where there is none."""
        ...

    @endpoint("GET", "/1/indexes/{index}/keys", acl="admin")
    async def list_index_keys(self, index: str) -> KeyList:
        """List one index's keys."""
        ...

    @endpoint("GET", "/1/indexes/*/keys", acl="admin")
    async def list_all_index_keys(self) -> KeyList:
        """List every index's keys."""
        ...

    @endpoint("GET", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def get_index_key(self, index: str, key: str) -> Key:
        """Read an index's key."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/keys/{key}", acl="admin")
    async def delete_index_key(self, index: str, key: str) -> DeletedAt:
        """Delete an index's key."""
        ...
