"""Map users to clusters."""

from __future__ import annotations

import time
from collections import Counter

from svc_notebook.api import SearchApi
from svc_notebook.api.shapes import (
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
from svc_notebook.service.effects import stamp_now
from svc_notebook.service.entries import take_page
from svc_notebook.service.handlers.registry import Call, serves
from svc_notebook.service.lookup import find_entries
from svc_notebook.service.mapping import tell_user

TOP = 10


@serves(SearchApi.assign_user)
def assign_user(call: Call, user_id: str, cluster: str) -> CreatedAt:
    """Put a user on a cluster, or move it there."""
    call.service.mapping.assign(user_id, cluster)
    return {"createdAt": stamp_now()}


@serves(SearchApi.assign_users)
def assign_users(call: Call, cluster: str, users: list[str]) -> CreatedAt:
    """Put many new users on a cluster."""
    call.service.mapping.assign_new(users, cluster)
    return {"createdAt": stamp_now()}


@serves(SearchApi.top_users)
def top_users(call: Call) -> TopUsers:
    """List the first users of each cluster that has any."""
    users = [tell_user(entry) for entry in call.service.mapping.all()]
    by_cluster = {
        cluster: [user for user in users if user["clusterName"] == cluster][:TOP]
        for cluster in call.service.mapping.clusters
    }
    return {"topUsers": [{name: found} for name, found in by_cluster.items() if found]}


@serves(SearchApi.get_user)
def get_user(call: Call, user_id: str) -> UserMapping:
    """Read a user's cluster."""
    return call.service.mapping.one(user_id)


@serves(SearchApi.list_clusters)
def list_clusters(call: Call) -> ClusterList:
    """List the clusters; the first one holds all records."""
    users = Counter(entry["clusterName"] for entry in call.service.mapping.all())
    names = call.service.mapping.clusters
    clusters: list[Cluster] = [
        {"clusterName": name, "nbRecords": 0, "nbUserIDs": users[name], "dataSize": 0}
        for name in names
    ]
    sizes = [call.service.catalog.measure(shelf) for shelf in call.service.catalog.all()]
    clusters[0]["nbRecords"] = sum(count for count, _ in sizes)
    clusters[0]["dataSize"] = sum(size for _, size in sizes)
    return {"clusters": clusters, "topUsers": names}


@serves(SearchApi.list_users)
def list_users(call: Call, *, page: int = 0, hitsPerPage: int = 1000) -> UserList:
    """List the users, a page at a time."""
    found = call.service.mapping.all()[page * hitsPerPage : (page + 1) * hitsPerPage]
    return {"userIDs": [tell_user(entry) for entry in found]}


@serves(SearchApi.remove_user)
def remove_user(call: Call, user_id: str) -> DeletedAt:
    """Take a user off its cluster."""
    call.service.mapping.remove(user_id)
    return {"deletedAt": stamp_now()}


@serves(SearchApi.search_users)
def search_users(
    call: Call,
    query: str = "",
    cluster: str | None = None,
    page: int = 0,
    hitsPerPage: int = 20,
    clusterName: str | None = None,
) -> UserHits:
    """Find users by the beginnings of their names' words; what was just assigned is found too."""
    wanted = cluster or clusterName
    if wanted:
        call.service.mapping.check_cluster(wanted)
    users = [u for u in call.service.mapping.all() if wanted in (None, "", u["clusterName"])]
    named = [{"objectID": user["objectID"]} for user in users]
    clusters = {user["objectID"]: user for user in users}
    found = [
        {
            **tell_user(clusters[hit["objectID"]]),
            "objectID": hit["objectID"],
            "_highlightResult": {"userID": hit["_highlightResult"]["objectID"]},
        }
        for hit in find_entries(named, query)
    ]
    shown = take_page(found, page, hitsPerPage)
    return {
        "hits": shown["hits"],
        "nbHits": len(found),
        "page": page,
        "hitsPerPage": hitsPerPage,
        "updatedAt": int(time.time()),
    }


@serves(SearchApi.pending_mappings)
def pending_mappings(call: Call, *, getClusters: bool = False) -> Pending:
    """Nobody is ever on the move here."""
    if not getClusters:
        return {"pending": False}
    return {"pending": False, "clusters": {name: [] for name in call.service.mapping.clusters}}
