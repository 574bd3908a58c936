"""Handlers that list, copy, move and delete indices."""

from __future__ import annotations

from typing import TypedDict

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.shapes import Deleted, IndexEntry, IndexList, Updated
from svc_notebook.errors import BadInput
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import PublishedIndex, stamp_now
from svc_notebook.service.limits import check_index_name
from svc_notebook.service.service import RequestContext
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations

INDICES_PER_PAGE = 100


class Relations(TypedDict, total=False):
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


def _relations(call: RequestContext, published: PublishedIndex) -> Relations:
    """Return the primary or the replicas of an index; empty if it has neither."""
    primary, *replicas = call.service.catalog.replica_group(published)
    if published.primary_id:
        return {"primary": primary.name, **({"virtual": True} if published.virtual else {})}
    return {"replicas": [replica.name for replica in replicas]} if replicas else {}
