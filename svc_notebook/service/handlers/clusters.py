"""Handlers that assign users to clusters."""

from __future__ import annotations

import time
from collections import Counter

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import (
    Cluster,
    ClusterList,
    CreatedAt,
    DeletedAt,
    Pending,
    TopUsers,
    UserHits,
    UserList,
    UserMapping,
)
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.resources.entries import Entry, find_entries, take_page
from svc_notebook.service.service import RequestContext
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations

TOP_USERS = 10


@serves(SearchApi.assign_user)
def assign_user(call: RequestContext, user_id: str, cluster: str) -> CreatedAt:
    """Assign a user to a cluster, or move the user to it."""
    call.service.users.assign(user_id, cluster)
    return {"createdAt": stamp_now()}


@serves(SearchApi.assign_users)
def assign_users(call: RequestContext, cluster: str, users: list[str]) -> CreatedAt:
    """Assign many new users to a cluster."""
    call.service.users.assign_new(users, cluster)
    return {"createdAt": stamp_now()}


@serves(SearchApi.top_users)
def top_users(call: RequestContext) -> TopUsers:
    """List the users with the most records on each cluster that has users."""
    usage = Usage(call)
    users = [usage.describe(entry) for entry in call.service.users.all()]
    users.sort(key=lambda user: (-user["nbRecords"], -user["dataSize"], user["userID"]))
    by_cluster = {
        cluster: [user for user in users if user["clusterName"] == cluster][:TOP_USERS]
        for cluster in call.service.users.clusters
    }
    return {"topUsers": [{name: listed} for name, listed in by_cluster.items() if listed]}


@serves(SearchApi.get_user)
def get_user(call: RequestContext, user_id: str) -> UserMapping:
    """Read a user's cluster."""
    return Usage(call).describe(call.service.users.get(user_id))


@serves(SearchApi.list_clusters)
def list_clusters(call: RequestContext) -> ClusterList:
    """List the clusters; indices without a user count for the first one."""
    users = {entry["objectID"]: entry["clusterName"] for entry in call.service.users.all()}
    names = call.service.users.clusters
    counted = Counter(users.values())
    held: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for owner, (records, size) in Usage(call).by_user.items():
        held[users.get(owner, names[0])] += records
        sizes[users.get(owner, names[0])] += size
    clusters: list[Cluster] = [
        {
            "clusterName": name,
            "nbRecords": held[name],
            "nbUserIDs": counted[name],
            "dataSize": sizes[name],
        }
        for name in names
    ]
    return {"clusters": clusters, "topUsers": names}


@serves(SearchApi.list_users)
def list_users(call: RequestContext, *, page: int = 0, hitsPerPage: int = 1000) -> UserList:
    """List the users, one page at a time."""
    entries = call.service.users.all()[page * hitsPerPage : (page + 1) * hitsPerPage]
    usage = Usage(call)
    return {"userIDs": [usage.describe(entry) for entry in entries]}


@serves(SearchApi.remove_user)
def remove_user(call: RequestContext, user_id: str) -> DeletedAt:
    """Remove a user from its cluster, and queue the deletion of the user's indices."""
    mapping = call.service.users
    cluster = mapping.get(user_id)["clusterName"]
    for index in mapping.owners.indices(user_id):
        task = call.service.accept(index, "steps", encode_operations([BatchOperation("delete")]))
        mapping.removed[user_id] = (cluster, task)
        mapping.owners.set_owner([index], "")
    mapping.remove(user_id)
    return {"deletedAt": stamp_now()}


@serves(SearchApi.search_users)
def search_users(
    call: RequestContext,
    query: str = "",
    cluster: str | None = None,
    page: int = 0,
    hitsPerPage: int = 20,
    clusterName: str | None = None,
) -> UserHits:
    """Search users by word prefixes of their names; new assignments are found at once."""
    chosen = cluster or clusterName
    if chosen:
        call.service.users.check_cluster(chosen)
    users = [u for u in call.service.users.all() if chosen in (None, "", u["clusterName"])]
    named = [{"objectID": user["objectID"]} for user in users]
    clusters = {user["objectID"]: user for user in users}
    usage = Usage(call)
    matching = [
        {
            **usage.describe(clusters[hit["objectID"]]),
            "objectID": hit["objectID"],
            "_highlightResult": {"userID": hit["_highlightResult"]["objectID"]},
        }
        for hit in find_entries(named, query)
    ]
    shown = take_page(matching, page, hitsPerPage)
    return {
        "hits": shown["hits"],
        "nbHits": len(matching),
        "page": page,
        "hitsPerPage": hitsPerPage,
        "updatedAt": int(time.time()),
    }


@serves(SearchApi.pending_mappings)
def pending_mappings(call: RequestContext, *, getClusters: bool = False) -> Pending:
    """Return whether users are pending, which they are while their data is being deleted."""
    removed = call.service.users.removed
    published = call.service.tasks.published
    pending = {user: name for user, (name, task) in removed.items() if task > published}
    if not getClusters:
        return {"pending": bool(pending)}
    names = call.service.users.clusters
    by_cluster = {
        name: sorted(u for u, assigned in pending.items() if assigned == name) for name in names
    }
    return {"pending": bool(pending), "clusters": by_cluster}


class Usage:
    """The numbers of records and bytes of each user; `''` is for indices without a user."""

    def __init__(self, call: RequestContext) -> None:
        self.by_user: dict[str, tuple[int, int]] = {}
        for published in call.service.catalog.all():
            owner = call.service.users.owners.owner_of(published.name)
            sizes = call.service.catalog.measure(published)
            records, size = self.by_user.get(owner, (0, 0))
            self.by_user[owner] = (records + sizes[0], size + sizes[1])

    def describe(self, entry: Entry) -> UserMapping:
        """Return a user in the shape of the API."""
        records, size = self.by_user.get(entry["objectID"], (0, 0))
        return {
            "userID": entry["objectID"],
            "clusterName": entry["clusterName"],
            "nbRecords": records,
            "dataSize": size,
        }
