"""Endpoints that write, read and search records."""

from __future__ import annotations

from typing import Literal, Unpack

from svc_notebook.core.api.body_forms import read_object_requests, read_operations, read_requests
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.shapes import (
    Added,
    Batched,
    BatchedMany,
    BatchManyRequest,
    BatchRequest,
    Deleted,
    DeletedBy,
    FacetAnswer,
    ManyAnswers,
    ManyObjects,
    ObjectRequest,
    Record,
    Saved,
    SearchAnswer,
    SearchRequest,
    Updated,
)
from svc_notebook.core.api.validation import read_params


class ObjectEndpoints(Api, interface="search"):
    """Endpoints for records, one by one and in batches."""

    @endpoint("POST", "/1/indexes/{index}", acl="addObject", status=201, repeatable=False)
    async def add_object(self, index: str, record: Body[Record]) -> Added:
        """Add or replace a record by its `objectID`; a missing `objectID` is generated."""
        ...

    @endpoint("PUT", "/1/indexes/{index}/{object_id}", acl="addObject", status=201)
    async def put_object(self, index: str, object_id: str, record: Body[Record]) -> Saved:
        """Add the record with this `objectID`, or replace it."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/{object_id}", acl="deleteObject")
    async def delete_object(self, index: str, object_id: str) -> Deleted:
        """Delete one record."""
        ...

    @endpoint("POST", "/1/indexes/{index}/deleteByQuery", acl="deleteIndex", accepts=(read_params,))
    async def delete_by(self, index: str, **params: Unpack[SearchParams]) -> DeletedBy:
        """Delete all records that match numeric, facet, tag or geo filters."""
        ...

    @endpoint("POST", "/1/indexes/{index}/clear", acl="deleteIndex")
    async def clear_objects(self, index: str) -> Updated:
        """Delete all records of an index; its settings and keys remain."""
        ...

    @endpoint("POST", "/1/indexes/{index}/{object_id}/partial", acl="addObject")
    async def partial_update_object(
        self,
        index: str,
        object_id: str,
        attributes: Body[Record],
        *,
        createIfNotExists: bool = True,
    ) -> Saved:
        """Set attributes, or apply operations such as `{"_operation": "Increment", "value": 1}`."""
        ...

    @endpoint("POST", "/1/indexes/{index}/batch", acl="actions", accepts=(read_operations,))
    async def batch(self, index: str, requests: list[BatchRequest]) -> Batched:
        """Apply many write operations in order, as one task."""
        ...

    @endpoint("POST", "/1/indexes/*/batch", acl="actions", accepts=(read_operations,))
    async def batch_many(self, requests: list[BatchManyRequest]) -> BatchedMany:
        """Apply write operations to several indices in order, with one task per index."""
        ...

    @endpoint(
        "POST",
        "/1/indexes/*/objects",
        acl="search",
        reads=True,
        accepts=(read_object_requests,),
    )
    async def get_objects(self, requests: list[ObjectRequest]) -> ManyObjects:
        """Read records from one or several indices."""
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


class SearchEndpoints(Api, interface="search"):
    """Endpoints that find records."""

    @endpoint("POST", "/1/indexes/{index}/query", acl="search", reads=True, accepts=(read_params,))
    async def search(
        self, index: str, query: str = "", **params: Unpack[SearchOptions]
    ) -> SearchAnswer:
        """Search the records of one index."""
        ...

    @endpoint("GET", "/1/indexes/{index}", acl="search")
    async def get_search(
        self, index: str, query: str = "", **params: Unpack[SearchOptions]
    ) -> SearchAnswer:
        """Search one index with all parameters in the URL; prefer `search`, which caches."""
        ...

    @endpoint("POST", "/1/indexes/*/queries", acl="search", reads=True, accepts=(read_requests,))
    async def search_many(
        self,
        requests: list[SearchRequest],
        strategy: Literal["none", "stopIfEnoughMatches"] = "none",
    ) -> ManyAnswers:
        """Run several searches in order."""
        ...

    @endpoint(
        "POST",
        "/1/indexes/{index}/facets/{facet}/query",
        acl="search",
        reads=True,
        accepts=(read_params,),
    )
    async def search_facet(
        self,
        index: str,
        facet: str,
        facetQuery: str = "",
        **params: Unpack[SearchParams],
    ) -> FacetAnswer:
        """Search the values of one facet; the search parameters select the records that count."""
        ...

    @endpoint("POST", "/1/indexes/{index}/browse", acl="browse", reads=True, accepts=(read_params,))
    async def browse(
        self, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> SearchAnswer:
        """Read the next page of a whole index; the response's `cursor` requests the page after."""
        ...

    @endpoint("GET", "/1/indexes/{index}/browse", acl="browse", accepts=(read_params,))
    async def get_browse(
        self, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> SearchAnswer:
        """Read the next page of a whole index with all parameters in the URL."""
        ...
