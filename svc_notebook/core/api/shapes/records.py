"""Basic types of all shapes; shapes of writes, searches, records, indices, tasks and logs."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypedDict

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.values import Integer, Natural

Record = dict[str, Any]
Number = Integer | float
TaskID = Natural


class Updated(TypedDict):
    """Response to an accepted write."""

    taskID: int
    updatedAt: str


class Deleted(TypedDict):
    """Response to an accepted deletion."""

    taskID: int
    deletedAt: str


class Saved(TypedDict):
    """Response to an accepted record or rule."""

    taskID: int
    updatedAt: str
    objectID: str


class Added(Saved):
    """Response to an accepted new record."""

    createdAt: str


class DeletedBy(Deleted):
    """Response to an accepted deletion by query; other clients read `updatedAt`."""

    updatedAt: str


class SavedSynonym(Updated):
    """Response to an accepted synonym."""

    id: str


class Batched(TypedDict):
    """Response to an accepted batch."""

    taskID: int
    objectIDs: list[str]


class BatchedMany(TypedDict):
    """Response to an accepted batch over several indices, with one task per index."""

    taskID: dict[str, int]
    objectIDs: list[str]


class CreatedAt(TypedDict):
    """Response to a creation."""

    createdAt: str


class UpdatedAt(TypedDict):
    """Response to an update."""

    updatedAt: str


class DeletedAt(TypedDict):
    """Response to a deletion."""

    deletedAt: str


class SearchAnswer(TypedDict, total=False):
    """The response to a search."""

    hits: Required[list[Record]]
    nbHits: Required[int]
    page: int
    nbPages: int
    hitsPerPage: int
    offset: int
    length: int
    processingTimeMS: Required[int]
    query: Required[str]
    params: Required[str]
    parsedQuery: str
    cursor: str
    index: str
    indexUsed: str
    serverUsed: str
    processed: bool
    exhaustiveNbHits: bool
    exhaustiveTypo: bool
    exhaustiveFacetsCount: bool
    exhaustive: dict[str, bool]
    facets: dict[str, dict[str, int]]
    facets_stats: dict[str, dict[str, float]]
    queryID: str
    abTestID: int
    abTestVariantID: int
    queryAfterRemoval: str
    renderingContent: dict[str, Any]
    userData: Any
    appliedRules: list[dict[str, Any]]
    aroundLatLng: str
    automaticRadius: str
    nbSortedHits: int
    appliedRelevancyStrictness: int
    message: str
    serverTimeMS: int
    processingTimingsMS: dict[str, Any]
    timeoutCounts: bool
    timeoutHits: bool


class FacetHit(TypedDict):
    """One facet value."""

    value: str
    highlighted: str
    count: int


class FacetAnswer(TypedDict):
    """The response to a search of facet values."""

    facetHits: list[FacetHit]
    exhaustiveFacetsCount: bool
    processingTimeMS: int


class ManyAnswers(TypedDict):
    """The responses to several searches, in their order."""

    results: list[SearchAnswer | FacetAnswer]


class SearchRequest(SearchParams, total=False):
    """One of several searches; its parameters are text in `params`, or members."""

    indexName: Required[str]
    params: str
    type: Literal["default", "facet"]
    facet: str
    facetQuery: str


class ObjectRequest(TypedDict, total=False):
    """The index and objectID of one record to read."""

    indexName: str
    index_name: str
    objectID: Required[str]
    attributesToRetrieve: list[str] | None


class ManyObjects(TypedDict):
    """The requested records in their order; null for a missing record."""

    results: list[Record | None]
    message: NotRequired[str]


BatchAction = Literal[
    "addObject", "updateObject", "partialUpdateObject", "partialUpdateObjectNoCreate",
    "deleteObject", "delete", "clear",
]  # fmt: skip


class BatchRequest(TypedDict):
    """One operation of a batch."""

    action: BatchAction
    body: NotRequired[Record]


class BatchManyRequest(BatchRequest):
    """One operation of a batch over several indices."""

    indexName: str


class IndexEntry(TypedDict, total=False):
    """One index in the list of indices."""

    name: Required[str]
    createdAt: Required[str]
    updatedAt: Required[str]
    entries: Required[int]
    dataSize: Required[int]
    fileSize: Required[int]
    lastBuildTimeS: Required[int]
    numberOfPendingTask: Required[int]
    numberOfPendingTasks: Required[int]
    pendingTask: Required[bool]
    primary: str
    replicas: list[str]
    virtual: bool


class IndexList(TypedDict):
    """The list of indices."""

    items: list[IndexEntry]
    nbPages: int


class Task(TypedDict):
    """The state of a task."""

    status: Literal["published", "notPublished"]
    pendingTask: bool


class LogEntry(TypedDict, total=False):
    """One logged request."""

    timestamp: Required[str]
    method: Required[str]
    answer_code: Required[str]
    query_body: Required[str]
    answer: Required[str]
    url: Required[str]
    ip: Required[str]
    query_headers: Required[str]
    sha1: Required[str]
    processing_time_ms: Required[str]
    nb_api_calls: str
    index: str
    query_params: str
    query_nb_hits: str
    inner_queries: list[dict[str, Any]]


class Logs(TypedDict):
    """Logged requests, newest first."""

    logs: list[LogEntry]
