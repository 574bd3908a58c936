"""Map users to clusters."""

from __future__ import annotations

from typing import Annotated

from svc_notebook.api.endpoint import Api, Heading, endpoint
from svc_notebook.api.shapes import (
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

UserID = Annotated[str, Heading("User-ID")]


class ClusterRows(Api, interface="search"):
    """Users and the clusters that hold their data."""

    @endpoint("POST", "/1/clusters/mapping", acl="admin")
    async def assign_user(self, user_id: UserID, cluster: str) -> CreatedAt:
        """Put a user on a cluster, or move it there."""
        ...

    @endpoint("POST", "/1/clusters/mapping/batch", acl="admin")
    async def assign_users(self, cluster: str, users: list[str]) -> CreatedAt:
        """Put many new users on a cluster."""
        ...

    @endpoint("GET", "/1/clusters/mapping/top", acl="admin")
    async def top_users(self) -> TopUsers:
        """List the ten users with the most records of each cluster."""
        ...

    @endpoint("GET", "/1/clusters/mapping/{user_id}", acl="admin")
    async def get_user(self, user_id: str) -> UserMapping:
        """Read a user's cluster and size."""
        ...

    @endpoint("GET", "/1/clusters", acl="admin")
    async def list_clusters(self) -> ClusterList:
        """List the clusters and what they hold."""
        ...

    @endpoint("GET", "/1/clusters/mapping", acl="admin")
    async def list_users(self, *, page: Natural = 0, hitsPerPage: Natural = 1000) -> UserList:
        """List the users, a page at a time."""
        ...

    @endpoint("DELETE", "/1/clusters/mapping/{user_id}", acl="admin")
    async def remove_user(self, user_id: str) -> DeletedAt:
        """Remove a user with its data."""
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
        """Find users; other clients name the cluster `clusterName`."""
        ...

    @endpoint("GET", "/1/clusters/mapping/pending", acl="admin")
    async def pending_mappings(self, *, getClusters: bool = False) -> Pending:
        """Say whether users are on the move."""
        ...
