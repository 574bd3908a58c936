"""Handlers that list, copy, move and delete indices."""

from __future__ import annotations

from typing import TypedDict

from svc_notebook.api import SearchApi
from svc_notebook.api.indices import CopyScope
from svc_notebook.api.shapes import Deleted, IndexEntry, IndexList, Updated
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
        raise BadInput(f"`destination`: {index} would be put onto itself")
    if scope is not None and operation == "move":
        raise BadInput("`scope` is for copies only; a move takes everything along")
    _check_destination(call, operation, destination, scope)
    order = {"destination": destination, "scope": scope}
    return {"taskID": call.service.accept(index, operation, order), "updatedAt": stamp_now()}


@serves(SearchApi.list_indices)
def list_indices(
    call: RequestContext, *, page: int | None = None, hitsPerPage: int | None = None
) -> IndexList:
    """List the indices that the caller's keys reach."""
    shelves = [shelf for shelf in call.service.catalog.all() if _is_listed(call, shelf)]
    size = hitsPerPage or INDICES_PER_PAGE
    shown = shelves if page is None else shelves[page * size : (page + 1) * size]
    waiting = call.service.tasks.pending()
    pages = 1 if page is None else -(-len(shelves) // size)
    return {
        "items": [_entry(call, shelf, waiting.get(shelf.name, 0)) for shelf in shown],
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
    if operation == "copy" and target and len(call.service.catalog.family(target)) > 1:
        raise BadInput(
            f"`destination`: {destination} has replicas; move an index there, which they follow, "
            "or copy parts of one, given a `scope`"
        )


def _is_listed(call: RequestContext, shelf: PublishedIndex) -> bool:
    return call.caller.may("listIndexes", shelf.name)


def _entry(call: RequestContext, shelf: PublishedIndex, waiting: int) -> IndexEntry:
    count, size = call.service.catalog.measure(shelf)
    return {
        "name": shelf.name,
        "createdAt": shelf.created if count else "",
        "updatedAt": shelf.updated,
        "entries": count,
        "dataSize": size,
        "fileSize": 0 if shelf.leader else size,
        "lastBuildTimeS": 0,
        "numberOfPendingTask": waiting,
        "numberOfPendingTasks": waiting,
        "pendingTask": waiting > 0,
        **_relations(call, shelf),
    }


def _relations(call: RequestContext, shelf: PublishedIndex) -> Relations:
    """Return the primary or the replicas of an index; empty if it has neither."""
    primary, *replicas = call.service.catalog.family(shelf)
    if shelf.leader:
        return {"primary": primary.name, **({"virtual": True} if shelf.virtual else {})}
    return {"replicas": [replica.name for replica in replicas]} if replicas else {}
