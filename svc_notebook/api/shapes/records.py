"""Searches, records, indices, tasks and logs."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Required, TypedDict

from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes.writes import Record


class SearchAnswer(TypedDict, total=False):
    """What a search found."""

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
    """One value of a facet."""

    value: str
    highlighted: str
    count: int


class FacetAnswer(TypedDict):
    """The values a search inside a facet found."""

    facetHits: list[FacetHit]
    exhaustiveFacetsCount: bool
    processingTimeMS: int


class ManyAnswers(TypedDict):
    """The answers of several searches, in their order."""

    results: list[SearchAnswer | FacetAnswer]


class SearchRequest(SearchParams, total=False):
    """One search among several; its parameters as text in `params`, or as members."""

    indexName: Required[str]
    params: str
    type: Literal["default", "facet"]
    facet: str
    facetQuery: str
    extensions: dict[str, Any]


class ObjectRequest(TypedDict, total=False):
    """Where to find one record."""

    indexName: str
    index_name: str
    objectID: Required[str]
    attributesToRetrieve: list[str] | None


class ManyObjects(TypedDict):
    """The records asked for, in their order; null where there is none."""

    results: list[Record | None]
    message: NotRequired[str]


BatchAction = Literal[
    "addObject", "updateObject", "partialUpdateObject", "partialUpdateObjectNoCreate",
    "deleteObject", "delete", "clear",
]  # fmt: skip


class BatchRequest(TypedDict):
    """One step of a batch."""

    action: BatchAction
    body: NotRequired[Record]


class BatchManyRequest(BatchRequest):
    """One step of a batch over several indices."""

    indexName: str


class IndexEntry(TypedDict, total=False):
    """One index as the listing shows it."""

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
    """The indices."""

    items: list[IndexEntry]
    nbPages: int


class Task(TypedDict):
    """How far a task is."""

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
    """Logged requests, the newest first."""

    logs: list[LogEntry]
