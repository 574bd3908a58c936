"""Endpoints that assign users to clusters."""

from __future__ import annotations

from typing import Annotated

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Header
from svc_notebook.core.api.shapes import (
    ClusterList,
    CreatedAt,
    DeletedAt,
    Natural,
    Pending,
    TopUsers,
    UserHits,
    UserList,
    UserMapping,
)

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
