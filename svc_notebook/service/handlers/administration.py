"""Handlers for keys, allowed networks, clusters, request logs and tasks."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial
from typing import Unpack, cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import (
    Cluster,
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
    Pending,
    Source,
    Task,
    TopUsers,
    UpdatedAt,
    UserHits,
    UserList,
    UserMapping,
)
from svc_notebook.errors import KeyRefused, NotFound
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.resources.entries import Entry, find_entries, take_page
from svc_notebook.service.search.visible_attributes import may_read_content
from svc_notebook.service.service import RequestContext
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations

TOP_USERS = 10


@serves(SearchApi.add_key)
def add_key(call: RequestContext, **fields: Unpack[KeyFields]) -> KeyAdded:
    """Create a key of the application."""
    return {"key": call.service.keyring.add(fields), "createdAt": stamp_now()}


@serves(SearchApi.update_key)
def update_key(call: RequestContext, key: str, **fields: Unpack[KeyFields]) -> KeyUpdated:
    """Replace the fields of a key."""
    call.service.keyring.get(key)
    call.service.keyring.update(key, fields)
    return {"key": key, "updatedAt": stamp_now()}


@serves(SearchApi.list_keys)
def list_keys(call: RequestContext) -> KeyList:
    """List the keys of the application."""
    return {"keys": [cast("Key", key.to_api()) for key in call.service.keyring.all()]}


@serves(SearchApi.get_key)
def get_key(call: RequestContext, key: str) -> Key:
    """Read a key; without the admin key, only the calling key."""
    held = [k for k in call.caller.keys if k.value == key]
    if held:
        return cast("Key", held[0].to_api(hide_description=True))
    if not call.caller.admin:
        raise KeyRefused("a key can read only itself; other keys need the admin key", status=403)
    keyring = call.service.keyring
    stored = keyring.admin() if key == keyring.facts["adminKey"] else keyring.get(key)
    return cast("Key", stored.to_api())


@serves(SearchApi.delete_key)
def delete_key(call: RequestContext, key: str) -> DeletedAt:
    """Delete a key."""
    call.service.keyring.get(key)
    call.service.keyring.delete(key)
    return {"deletedAt": stamp_now()}


@serves(SearchApi.restore_key)
def restore_key(call: RequestContext, key: str) -> KeyAdded:
    """Restore a deleted key."""
    call.service.keyring.restore(key)
    return {"key": key, "createdAt": stamp_now()}


@serves(SearchApi.add_index_key)
def add_index_key(call: RequestContext, index: str, **fields: Unpack[KeyFields]) -> KeyAdded:
    """Create a key of one index."""
    return {"key": call.service.keyring.add(fields, index), "createdAt": stamp_now()}


@serves(SearchApi.update_index_key)
def update_index_key(
    call: RequestContext, index: str, key: str, **fields: Unpack[KeyFields]
) -> KeyUpdated:
    """Replace the fields of an index's key; a missing key is ignored."""
    call.service.keyring.update(key, fields, index)
    return {"key": key, "updatedAt": stamp_now()}


@serves(SearchApi.list_index_keys)
def list_index_keys(call: RequestContext, index: str) -> KeyList:
    """List one index's keys."""
    call.service.catalog.find(index)
    return {"keys": [cast("Key", key.to_api()) for key in call.service.keyring.all(index)]}


@serves(SearchApi.list_all_index_keys)
def list_all_index_keys(call: RequestContext) -> KeyList:
    """List the keys of all indices, each with its index."""
    keys = call.service.keyring.all_of_indices()
    return {"keys": [cast("Key", {**key.to_api(), "index": key.index}) for key in keys]}


@serves(SearchApi.get_index_key)
def get_index_key(call: RequestContext, index: str, key: str) -> Key:
    """Read an index's key."""
    return cast("Key", call.service.keyring.get(key, index).to_api())


@serves(SearchApi.delete_index_key)
def delete_index_key(call: RequestContext, index: str, key: str) -> DeletedAt:
    """Delete an index's key."""
    call.service.keyring.get(key, index)
    call.service.keyring.delete(key, index)
    return {"deletedAt": stamp_now()}


@serves(SearchApi.list_sources)
def list_sources(call: RequestContext) -> list[Source]:
    """List the networks on the allowlist."""
    return call.service.sources.all()


@serves(SearchApi.replace_sources)
def replace_sources(call: RequestContext, sources: list[Source]) -> UpdatedAt:
    """Replace the allowlist at once."""
    call.service.sources.replace(sources)
    return {"updatedAt": stamp_now()}


@serves(SearchApi.append_source)
def append_source(call: RequestContext, source: Source) -> CreatedAt:
    """Add a network to the allowlist."""
    call.service.sources.append(source)
    return {"createdAt": stamp_now()}


@serves(SearchApi.delete_source)
def delete_source(call: RequestContext, source: str) -> DeletedAt:
    """Remove a network from the allowlist."""
    call.service.sources.delete(source)
    return {"deletedAt": stamp_now()}


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
    usage = _Usage(call)
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
    return _Usage(call).describe(call.service.users.get(user_id))


@serves(SearchApi.list_clusters)
def list_clusters(call: RequestContext) -> ClusterList:
    """List the clusters; indices without a user count for the first one."""
    users = {entry["objectID"]: entry["clusterName"] for entry in call.service.users.all()}
    names = call.service.users.clusters
    counted = Counter(users.values())
    held: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for owner, (records, size) in _Usage(call).by_user.items():
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
    usage = _Usage(call)
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
    usage = _Usage(call)
    matching = [
        {
            **usage.describe(clusters[hit["objectID"]]),
            "objectID": hit["objectID"],
            "_highlightResult": {
                "userID": hit["_highlightResult"]["objectID"],
                # Only names of users are searched; the official client requires both members.
                "clusterName": {
                    "value": clusters[hit["objectID"]]["clusterName"],
                    "matchLevel": "none",
                    "matchedWords": [],
                },
            },
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


class _Usage:
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


@serves(SearchApi.get_logs)
def get_logs(
    call: RequestContext,
    *,
    offset: int = 0,
    length: int = 10,
    indexName: str | None = None,
    type: str = "all",
) -> Logs:
    """Return the last requests, newest first, without this one."""
    may_see = partial(call.caller.may, "logs")
    may_read = partial(may_read_content, call.caller, call.service.catalog)
    return {"logs": call.service.logs.read(offset, length, indexName, type, may_see, may_read)}


@serves(SearchApi.get_task)
def get_task(call: RequestContext, index: str, task_id: int) -> Task:
    """Return the state of a task by its number alone: its index may be moved or deleted."""
    return get_app_task(call, task_id)


@serves(SearchApi.get_app_task)
def get_app_task(call: RequestContext, task_id: int) -> Task:
    """Return the state of any task."""
    tasks = call.service.tasks
    if not 0 < task_id <= tasks.last:
        raise NotFound(f"task {task_id} does not exist", status=404)
    done = task_id <= tasks.published
    if not done:
        call.service.writer.check()
    return {"status": "published" if done else "notPublished", "pendingTask": not done}


@serves(SearchApi.get_status)
def get_status(call: RequestContext) -> LocalStatus:
    """Return the state of the service's processes."""
    counts = call.service.worker_counts
    return {
        "pid": os.getpid(),
        "searchWorkers": {
            "processes": counts.processes,
            "answered": counts.answered,
            "declined": dict(counts.declined),
        },
    }
