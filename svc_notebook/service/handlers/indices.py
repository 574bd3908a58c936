"""Handlers that list, copy, move and delete indices, read and change their settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, cast

import msgspec

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.messages import INDEX_MISSING
from svc_notebook.core.api.parameters import ReadSettings, Settings, default_of
from svc_notebook.core.api.shapes import Deleted, IndexEntry, IndexList, Updated
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.filters.filters import parse_reranked
from svc_notebook.service.engine.index.schema import check_entries
from svc_notebook.service.engine.query.searched_attributes import check_weights
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import PublishedIndex, check_index_name, stamp_now
from svc_notebook.service.indices.replica_group import INHERITED
from svc_notebook.service.indices.replica_setting import ReplicaEntry, check_links, read_links
from svc_notebook.service.service import RequestContext
from svc_notebook.service.tasks.appliers import merge_settings
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations

# Settings that are returned even if they are not set (api-notes, section 2).
ALWAYS_RETURNED = (
    "minWordSizefor1Typo", "minWordSizefor2Typos", "hitsPerPage", "maxValuesPerFacet",
    "paginationLimitedTo", "exactOnSingleWordQuery", "ranking", "separatorsToIndex",
    "removeWordsIfNoResults", "queryType", "highlightPreTag", "highlightPostTag",
    "alternativesAsExact",
)  # fmt: skip
MAX_USER_DATA_BYTES = 32 * 1024
INDICES_PER_PAGE = 100


class _Relations(TypedDict, total=False):
    """The primary or the replicas of an index."""

    primary: str
    replicas: list[str]
    virtual: bool


@serves(SearchApi.delete_index)
def delete_index(call: RequestContext, index: str) -> Deleted:
    """Queue the deletion of an index."""
    task = call.service.accept(index, "steps", encode_operations([BatchOperation("delete")]))
    return {"taskID": task, "deletedAt": stamp_now()}


@serves(SearchApi.operate_index)
def operate_index(
    call: RequestContext,
    index: str,
    operation: str,
    destination: str,
    scope: list[CopyScope] | None = None,
) -> Updated:
    """Queue a copy or a move."""
    check_index_name(destination)
    if destination == index:
        raise BadInput(f"`destination`: {index} is the source itself")
    if scope is not None and operation == "move":
        raise BadInput("`scope` is for copies only; a move takes the whole index")
    _check_destination(call, operation, destination, scope)
    order = {"destination": destination, "scope": scope}
    return {"taskID": call.service.accept(index, operation, order), "updatedAt": stamp_now()}


@serves(SearchApi.list_indices)
def list_indices(
    call: RequestContext, *, page: int | None = None, hitsPerPage: int | None = None
) -> IndexList:
    """List the indices that the caller's keys reach."""
    published_indices = [
        published for published in call.service.catalog.all() if _is_listed(call, published)
    ]
    size = hitsPerPage or INDICES_PER_PAGE
    shown = (
        published_indices if page is None else published_indices[page * size : (page + 1) * size]
    )
    waiting = call.service.tasks.pending()
    pages = 1 if page is None else -(-len(published_indices) // size)
    return {
        "items": [_entry(call, published, waiting.get(published.name, 0)) for published in shown],
        "nbPages": pages,
    }


def _check_destination(
    call: RequestContext, operation: str, destination: str, scope: list[CopyScope] | None
) -> None:
    """Refuse a copy of a whole index onto a primary, and any whole index onto a replica."""
    if scope is not None:
        return
    call.service.refuse_replica(destination)
    target = call.service.catalog.get(destination)
    if operation == "copy" and target and len(call.service.catalog.replica_group(target)) > 1:
        raise BadInput(
            f"`destination`: {destination} has replicas; move an index there, which keeps them, "
            "or copy parts of an index with `scope`"
        )


def _is_listed(call: RequestContext, published: PublishedIndex) -> bool:
    return call.caller.may("listIndexes", published.name)


def _entry(call: RequestContext, published: PublishedIndex, waiting: int) -> IndexEntry:
    count, size = call.service.catalog.measure(published)
    return {
        "name": published.name,
        "createdAt": published.created if count else "",
        "updatedAt": published.updated,
        "entries": count,
        "dataSize": size,
        "fileSize": 0 if published.primary_id else size,
        "lastBuildTimeS": 0,
        "numberOfPendingTask": waiting,
        "numberOfPendingTasks": waiting,
        "pendingTask": waiting > 0,
        **_relations(call, published),
    }


def _relations(call: RequestContext, published: PublishedIndex) -> _Relations:
    """Return the primary or the replicas of an index; empty if it has neither."""
    primary, *replicas = call.service.catalog.replica_group(published)
    if published.primary_id:
        return {"primary": primary.name, **({"virtual": True} if published.virtual else {})}
    return {"replicas": [replica.name for replica in replicas]} if replicas else {}


@serves(SearchApi.get_settings)
def get_settings(call: RequestContext, index: str, *, getVersion: int = 1) -> ReadSettings:
    """Return the settings, the defaults that are always returned, and a replica's primary."""
    published = call.service.catalog.get(index)
    if published is None:
        raise NotFound(INDEX_MISSING, status=404)
    result = {name: default_of(name) for name in ALWAYS_RETURNED} | published.settings
    if published.primary_id:
        result["primary"] = call.service.catalog.replica_group(published)[0].name
    return cast("ReadSettings", result)


@serves(SearchApi.set_settings)
def set_settings(
    call: RequestContext,
    index: str,
    settings: Settings,
    *,
    forwardToReplicas: bool = False,
    forwardToSlaves: bool = False,
) -> Updated:
    """Queue a change of settings; invalid settings are refused now."""
    published = call.service.catalog.get(index)
    check_entries(settings)
    parse_reranked(settings.get("reRankingApplyFilter"))
    merged = merge_settings(published.settings if published else {}, settings)
    Index(merged)
    check_weights(settings, merged)
    if len(msgspec.json.encode(settings.get("userData"))) > MAX_USER_DATA_BYTES:
        raise BadInput(f"`userData` is larger than {MAX_USER_DATA_BYTES // 1024} kB")
    if published and published.virtual:
        _check_inherited(call, published, settings)
    links = read_links(settings.get("replicas") or ())
    for link in links:
        check_index_name(link.name)
    if "replicas" in settings:
        _require_replicas(call, published, links)
    check_links(call.service.catalog, index, links)
    order = {"settings": settings, "forward": forwardToReplicas or forwardToSlaves}
    return {"taskID": call.service.accept(index, "settings", order), "updatedAt": stamp_now()}


def _require_replicas(
    call: RequestContext, published: PublishedIndex | None, links: Iterable[ReplicaEntry]
) -> None:
    """Require the right to change the replicas; those that are unlinked change too."""
    names = {replica.name for replica in call.service.catalog.replicas_of(published)}
    call.caller.require("editSettings", sorted(names.union(link.name for link in links)))


def _check_inherited(call: RequestContext, published: PublishedIndex, settings: Settings) -> None:
    """Refuse to change settings that a virtual replica inherits from its primary."""
    for name, value in settings.items():
        if name in INHERITED and value != published.settings.get(name):
            primary = call.service.catalog.replica_group(published)[0].name
            raise BadInput(
                f"`{name}`: {published.name} is a virtual replica and inherits it from {primary}; "
                "set it there, or make the replica a standard replica"
            )
