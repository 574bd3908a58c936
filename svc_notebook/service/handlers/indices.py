"""List, copy, move and delete indices."""

from __future__ import annotations

from svc_notebook.api import SearchApi
from svc_notebook.api.indices import Scope
from svc_notebook.api.shapes import Deleted, IndexEntry, IndexList, Updated
from svc_notebook.errors import BadInput
from svc_notebook.service.catalog import Shelf
from svc_notebook.service.effects import stamp_now
from svc_notebook.service.handlers.registry import Call, serves
from svc_notebook.service.service import check_index_name
from svc_notebook.service.steps import Step, pack_steps

PAGE = 100


@serves(SearchApi.delete_index)
def delete_index(call: Call, index: str) -> Deleted:
    """Queue the end of an index."""
    task = call.service.accept(index, "steps", pack_steps([Step("delete")]))
    return {"taskID": task, "deletedAt": stamp_now()}


@serves(SearchApi.operate_index)
def operate_index(
    call: Call, index: str, operation: str, destination: str, scope: list[Scope] | None = None
) -> Updated:
    """Queue a copy or a move."""
    check_index_name(destination)
    if destination == index:
        raise BadInput(f"`destination`: {index} would be put onto itself")
    if scope is not None and operation == "move":
        raise BadInput("`scope` is for copies only; a move takes everything along")
    order = {"destination": destination, "scope": scope}
    return {"taskID": call.service.accept(index, operation, order), "updatedAt": stamp_now()}


@serves(SearchApi.list_indices)
def list_indices(
    call: Call, *, page: int | None = None, hitsPerPage: int | None = None
) -> IndexList:
    """List the indices the caller's keys reach."""
    shelves = [shelf for shelf in call.service.catalog.all() if _shown(call, shelf)]
    size = hitsPerPage or PAGE
    shown = shelves if page is None else shelves[page * size : (page + 1) * size]
    waiting = call.service.tasks.pending()
    pages = 1 if page is None else -(-len(shelves) // size)
    return {
        "items": [_entry(call, shelf, waiting.get(shelf.name, 0)) for shelf in shown],
        "nbPages": pages,
    }


def _shown(call: Call, shelf: Shelf) -> bool:
    return call.caller.sees(shelf.name)


def _entry(call: Call, shelf: Shelf, waiting: int) -> IndexEntry:
    count, size = call.service.catalog.measure(shelf)
    return {
        "name": shelf.name,
        "createdAt": shelf.created if count else "",
        "updatedAt": shelf.updated,
        "entries": count,
        "dataSize": size,
        "fileSize": size,
        "lastBuildTimeS": 0,
        "numberOfPendingTask": waiting,
        "numberOfPendingTasks": waiting,
        "pendingTask": waiting > 0,
    }
