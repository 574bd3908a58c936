"""Write and read single records, and many in one batch."""

from __future__ import annotations

from typing import Unpack

from svc_notebook.api.body_forms import read_params
from svc_notebook.api.endpoint import Api, Whole, endpoint
from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import (
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


class ObjectRows(Api, interface="search"):
    """Records one by one and in batches."""

    @endpoint("POST", "/1/indexes/{index}", acl="addObject", status=201, repeatable=False)
    async def add_object(self, index: str, record: Whole[Record]) -> Added:
        """Add a record; one with the same `objectID` is replaced, a missing `objectID` is made."""
        ...

    @endpoint("PUT", "/1/indexes/{index}/{object_id}", acl="addObject", status=201)
    async def put_object(self, index: str, object_id: str, record: Whole[Record]) -> Saved:
        """Put a record in place of the one with this `objectID`."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/{object_id}", acl="deleteObject")
    async def delete_object(self, index: str, object_id: str) -> Deleted:
        """Delete one record."""
        ...

    @endpoint("POST", "/1/indexes/{index}/deleteByQuery", acl="deleteIndex", accepts=(read_params,))
    async def delete_by(self, index: str, **params: Unpack[SearchParams]) -> DeletedBy:
        """Delete all records that pass filters; filters by number, facet, tag and place only."""
        ...

    @endpoint("POST", "/1/indexes/{index}/clear", acl="deleteIndex")
    async def clear_objects(self, index: str) -> Updated:
        """Delete all records; settings and keys stay."""
        ...

    @endpoint("POST", "/1/indexes/{index}/{object_id}/partial", acl="addObject")
    async def partial_update_object(
        self,
        index: str,
        object_id: str,
        attributes: Whole[Record],
        *,
        createIfNotExists: bool = True,
    ) -> Saved:
        """Set attributes, or change them by `{"_operation": "Increment", "value": 1}`."""
        ...

    @endpoint("POST", "/1/indexes/{index}/batch", acl="actions")
    async def batch(self, index: str, requests: list[BatchRequest]) -> Batched:
        """Write many records in order, as one task."""
        ...

    @endpoint("POST", "/1/indexes/*/batch", acl="actions")
    async def batch_many(self, requests: list[BatchManyRequest]) -> BatchedMany:
        """Write records of several indices in order, one task an index."""
        ...

    @endpoint("POST", "/1/indexes/*/objects", acl="search", reads=True)
    async def get_objects(self, requests: list[ObjectRequest]) -> ManyObjects:
        """Read records of one or several indices."""
        ...

    @endpoint("GET", "/1/indexes/{index}/{object_id}", acl="search")
    async def get_object(
        self,
        index: str,
        object_id: str,
        *,
        attributesToRetrieve: list[str] | None = None,
        attributes: list[str] | None = None,
    ) -> Record:
        """Read one record; `attributes` is the former name of `attributesToRetrieve`."""
        ...
