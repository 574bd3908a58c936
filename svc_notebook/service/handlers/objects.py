"""Handlers that write and read records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

import msgspec

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.messages import OBJECT_MISSING
from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.shapes import (
    Added,
    Batched,
    BatchedMany,
    BatchManyRequest,
    BatchRequest,
    Deleted,
    DeletedBy,
    ManyObjects,
    ObjectRequest,
    Record,
    Saved,
    Updated,
)
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.filters.filters import parse_filters
from svc_notebook.service.engine.filters.geo_search import Centre, read_geo_parameters
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import (
    PublishedIndex,
    check_attribute_count,
    check_index_name,
    stamp_now,
)
from svc_notebook.service.indices.records import read_bodies
from svc_notebook.service.limits import read_object_id
from svc_notebook.service.search.search_response import MAX_ATTEMPTS, check_list
from svc_notebook.service.search.visible_attributes import (
    apply_lists,
    select_attributes,
)
from svc_notebook.service.service import RequestContext
from svc_notebook.service.tasks.batch_operations import (
    BatchOperation,
    check_operation,
    check_operations,
    encode_operations,
)
from svc_notebook.service.tasks.queue import NewTask

# The parameters that deleteByQuery accepts (api.md, Objects).
DELETE_PARAMETERS = {
    "filters", "facetFilters", "numericFilters", "tagFilters", "aroundLatLng", "aroundRadius",
    "insideBoundingBox", "insidePolygon",
}  # fmt: skip


@serves(SearchApi.add_object)
def add_object(call: RequestContext, index: str, record: Record) -> Added:
    """Queue a record under its own objectID or a new one."""
    operation = check_operation("addObject", record, "")
    _check_attributes(call, index, [record])
    task, now = _accept(call, index, [operation]), stamp_now()
    return {"taskID": task, "objectID": operation.id, "createdAt": now, "updatedAt": now}


@serves(SearchApi.put_object)
def put_object(call: RequestContext, index: str, object_id: str, record: Record) -> Saved:
    """Queue a record under the objectID of the path."""
    operation = check_operation("updateObject", {**record, "objectID": object_id}, "")
    _check_attributes(call, index, [record])
    return _saved(call, index, operation)


@serves(SearchApi.delete_object)
def delete_object(call: RequestContext, index: str, object_id: str) -> Deleted:
    """Queue the deletion of a record."""
    operation = BatchOperation("deleteObject", read_object_id(object_id, "objectID"))
    return {"taskID": _accept(call, index, [operation]), "deletedAt": stamp_now()}


@serves(SearchApi.delete_by)
def delete_by(call: RequestContext, index: str, **params: Unpack[SearchParams]) -> DeletedBy:
    """Queue a deletion by query; the records are selected when the task is applied."""
    given = {name: value for name, value in params.items() if value not in (None, "", [])}
    for name in sorted(given.keys() - DELETE_PARAMETERS):
        raise BadInput(
            f"`{name}` is not a parameter of deleteByQuery, which takes filters and geo parameters"
        )
    _check_restricted(given)
    bound = call.caller.restrict(given, index)
    given = {name: value for name, value in bound.items() if name in DELETE_PARAMETERS}
    if published := call.service.catalog.get(index):
        # An invalid filter is refused now, while the caller gets the error.
        published.engine.get().matching(given)
    task, now = call.service.accept(index, "deleteBy", given), stamp_now()
    return {"taskID": task, "deletedAt": now, "updatedAt": now}


@serves(SearchApi.clear_objects)
def clear_objects(call: RequestContext, index: str) -> Updated:
    """Queue the deletion of all records of an index."""
    return {"taskID": _accept(call, index, [BatchOperation("clear")]), "updatedAt": stamp_now()}


@serves(SearchApi.partial_update_object)
def partial_update_object(
    call: RequestContext,
    index: str,
    object_id: str,
    attributes: Record,
    *,
    createIfNotExists: bool = True,
) -> Saved:
    """Queue a change of some attributes."""
    action = "partialUpdateObject" if createIfNotExists else "partialUpdateObjectNoCreate"
    operation = check_operation(action, {**attributes, "objectID": object_id}, "")
    _check_attributes(call, index, [attributes])
    return _saved(call, index, operation)


@serves(SearchApi.batch)
def batch(call: RequestContext, index: str, requests: list[BatchRequest]) -> Batched:
    """Queue many operations as one task."""
    operations = check_operations(requests)
    _check_attributes(call, index, map(_body_of, requests))
    return {
        "taskID": _accept(call, index, operations),
        "objectIDs": [operation.id for operation in operations],
    }


@serves(SearchApi.batch_many)
def batch_many(call: RequestContext, requests: list[BatchManyRequest]) -> BatchedMany:
    """Queue many operations as one task per index, all of them or none."""
    operations = check_operations(requests)
    by_index: dict[str, list[BatchOperation]] = {}
    bodies: dict[str, list[Mapping[str, Any]]] = {}
    for request, operation in zip(requests, operations, strict=True):
        index = check_index_name(request["indexName"])
        by_index.setdefault(index, []).append(operation)
        bodies.setdefault(index, []).append(_body_of(request))
    for index in by_index:
        call.service.refuse_replica(index)
        _check_attributes(call, index, bodies[index])
    drafts = [
        NewTask(index, "steps", encode_operations(of_index)) for index, of_index in by_index.items()
    ]
    numbers = call.service.tasks.submit(*drafts) if drafts else []
    return {
        "taskID": dict(zip(by_index, numbers, strict=True)),
        "objectIDs": [operation.id for operation in operations],
    }


@serves(SearchApi.get_objects)
def get_objects(call: RequestContext, requests: list[ObjectRequest]) -> ManyObjects:
    """Read records of several indices, in the order of the requests."""
    named = [_index_of(request, number) for number, request in enumerate(requests)]
    by_index: dict[str, list[str]] = {}
    for index, request in zip(named, requests, strict=True):
        by_index.setdefault(index, []).append(request["objectID"])
    published_indices = {index: call.service.catalog.find(index) for index in by_index}
    bodies = {
        index: _read_permitted(call, published_indices[index], ids)
        for index, ids in by_index.items()
    }
    return {
        "results": [
            _select(call, published_indices[index], body, request.get("attributesToRetrieve"))
            if (body := bodies[index].get(request["objectID"]))
            else None
            for index, request in zip(named, requests, strict=True)
        ]
    }


@serves(SearchApi.get_object)
def get_object(
    call: RequestContext,
    index: str,
    object_id: str,
    *,
    attributesToRetrieve: list[str] | None = None,
    attributes: list[str] | None = None,
) -> Record:
    """Read one record."""
    requested = attributesToRetrieve if attributesToRetrieve is not None else attributes
    published = call.service.catalog.find(index)
    body = _read_permitted(call, published, [object_id]).get(object_id)
    if body is None:
        raise NotFound(OBJECT_MISSING, status=404)
    return _select(call, published, body, requested)


def _check_restricted(params: Mapping[str, Any]) -> None:
    """Refuse filters that would delete everything, or all within an unspecified radius."""
    where = read_geo_parameters(params)
    if where is None and not parse_filters(params):
        raise BadInput(
            "deleteByQuery needs a filter or a geo parameter; use clear to delete all records"
        )
    if isinstance(where, Centre) and where.radius is None:
        raise BadInput('deleteByQuery with `aroundLatLng` needs `aroundRadius`, in metres or "all"')


def _check_attributes(
    call: RequestContext, index: str, records: Iterable[Mapping[str, Any]]
) -> None:
    check_attribute_count(index, call.service.catalog.get(index), records)


def _body_of(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", request.get("body") or {})


def _accept(call: RequestContext, index: str, operations: Iterable[BatchOperation]) -> int:
    return call.service.accept(index, "steps", encode_operations(operations))


def _saved(call: RequestContext, index: str, operation: BatchOperation) -> Saved:
    task = _accept(call, index, [operation])
    return {"taskID": task, "objectID": operation.id, "updatedAt": stamp_now()}


def _index_of(request: ObjectRequest, number: int) -> str:
    index = request.get("indexName") or request.get("index_name")
    if not index:
        raise BadInput(f"`requests[{number}].indexName` is missing")
    return index


def _read_permitted(
    call: RequestContext, published: PublishedIndex, ids: Sequence[str]
) -> dict[str, bytes]:
    """Read records by id that match the filters that the caller's key embeds, as in a search."""
    store, changes = call.service.store, call.service.catalog.in_flight_writes
    embedded = call.caller.restrict({}, published.name)
    within = {name: value for name, value in embedded.items() if name in DELETE_PARAMETERS}
    if not within:
        return read_bodies(store, published.records_id, ids)
    for left in reversed(range(MAX_ATTEMPTS)):
        since = changes.last_visible()
        passing = published.engine.get().passing(ids, within)
        bodies = read_bodies(store, published.records_id, sorted(passing))
        if not (left and changes.may_have_changed(since, published.records_id, ids)):
            break
        changes.wait()
    return bodies


def _select(
    call: RequestContext, published: PublishedIndex, body: bytes, requested: list[str] | None
) -> Record:
    check_time()
    check_list("attributesToRetrieve", requested)
    hidden = call.caller.hidden_attributes(published.name, published.settings)
    lists = call.caller.retrievable_lists(published.name)
    if requested is None and not hidden and not lists:
        return cast("Record", msgspec.Raw(body))
    return apply_lists(select_attributes(msgspec.json.decode(body), requested, hidden), lists)
