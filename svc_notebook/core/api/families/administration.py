"""Endpoints for keys, allowed networks, clusters, request logs and tasks."""

from __future__ import annotations

from typing import Annotated, Literal, Unpack

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body, Header
from svc_notebook.core.api.shapes import (
    ClusterList,
    CreatedAt,
    DeletedAt,
    Key,
    KeyAdded,
    KeyFields,
    KeyList,
    KeyUpdated,
    LocalStatus,
    Logs,
    Natural,
    Pending,
    Source,
    Task,
    TaskID,
    TopUsers,
    UpdatedAt,
    UserHits,
    UserList,
    UserMapping,
)


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


Sources = Annotated[list[Source], Meta(max_length=1000)]


class SourceEndpoints(Api, interface="search"):
    """Endpoints for the allowlist."""

    @endpoint("GET", "/1/security/sources", acl="admin")
    async def list_sources(self) -> list[Source]:
        """List the networks on the allowlist."""
        ...

    @endpoint("PUT", "/1/security/sources", acl="admin")
    async def replace_sources(self, sources: Body[Sources]) -> UpdatedAt:
        """Replace the allowlist; from then on only these networks may call."""
        ...

    @endpoint("POST", "/1/security/sources/append", acl="admin")
    async def append_source(self, source: Body[Source]) -> CreatedAt:
        """Add a network to the allowlist."""
        ...

    @endpoint("DELETE", "/1/security/sources/{source}", acl="admin")
    async def delete_source(self, source: str) -> DeletedAt:
        """Remove a network from the allowlist."""
        ...


UserID = Annotated[str, Header("User-ID")]


class ClusterEndpoints(Api, interface="search"):
    """Endpoints for users and the clusters that contain their data."""

    @endpoint("POST", "/1/clusters/mapping", acl="admin")
    async def assign_user(self, user_id: UserID, cluster: str) -> CreatedAt:
        """Assign a user to a cluster, or move the user to it."""
        ...

    @endpoint("POST", "/1/clusters/mapping/batch", acl="admin")
    async def assign_users(self, cluster: str, users: list[str]) -> CreatedAt:
        """Assign many new users to a cluster."""
        ...

    @endpoint("GET", "/1/clusters/mapping/top", acl="admin")
    async def top_users(self) -> TopUsers:
        """List the ten users with the most records on each cluster."""
        ...

    @endpoint("GET", "/1/clusters/mapping/{user_id}", acl="admin")
    async def get_user(self, user_id: str) -> UserMapping:
        """Read a user's cluster and data size."""
        ...

    @endpoint("GET", "/1/clusters", acl="admin")
    async def list_clusters(self) -> ClusterList:
        """List the clusters with their numbers of records and users and their data size."""
        ...

    @endpoint("GET", "/1/clusters/mapping", acl="admin", former_paths=("/1/clusters/mapping/",))
    async def list_users(self, *, page: Natural = 0, hitsPerPage: Natural = 1000) -> UserList:
        """List the users, one page at a time."""
        ...

    @endpoint(
        "DELETE",
        "/1/clusters/mapping/{user_id}",
        acl="admin",
        former_paths=("/1/clusters/mapping",),
    )
    async def remove_user(self, user_id: str) -> DeletedAt:
        """Remove a user and the user's data."""
        ...

    @endpoint("POST", "/1/clusters/mapping/search", acl="admin", reads=True)
    async def search_users(
        self,
        query: str = "",
        cluster: str | None = None,
        page: Natural = 0,
        hitsPerPage: Natural = 20,
        clusterName: str | None = None,
    ) -> UserHits:
        """Search users; `clusterName` is an alias of `cluster` that other clients send."""
        ...

    @endpoint("GET", "/1/clusters/mapping/pending", acl="admin")
    async def pending_mappings(self, *, getClusters: bool = False) -> Pending:
        """Return whether users are being migrated."""
        ...


LogLength = Annotated[int, Meta(ge=0, le=1000)]


class LogEndpoints(Api, interface="search"):
    """Endpoints for logs and tasks; only the local service has the one below `/local`."""

    @endpoint("GET", "/1/logs", acl="logs")
    async def get_logs(
        self,
        *,
        offset: Natural = 0,
        length: LogLength = 10,
        indexName: str | None = None,
        type: Literal["all", "query", "build", "error"] = "all",
    ) -> Logs:
        """Read logged requests, newest first."""
        ...

    @endpoint("GET", "/1/indexes/{index}/task/{task_id}", acl="addObject")
    async def get_task(self, index: str, task_id: TaskID) -> Task:
        """Return whether a task is published."""
        ...

    @endpoint("GET", "/1/task/{task_id}", acl="editSettings")
    async def get_app_task(self, task_id: TaskID) -> Task:
        """Return whether a task of the application (such as a dictionary write) is published."""
        ...

    @endpoint("GET", "/local/1/status", acl="admin")
    async def get_status(self) -> LocalStatus:
        """Read the state of the service's processes; only the local service has this endpoint.

        `declined` counts, by reason, the searches that the service ran itself instead of a worker.
        """
        ...
