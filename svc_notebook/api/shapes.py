"""The JSON that travels: answers, records and what is written, as TypedDicts.

Field names are those of api.md; members beyond the ones named here pass through an answer
untouched. `api-notes` section 14 decided where an answer carries more than api.md lists.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from svc_notebook.api.parameters import SearchOptions, SearchParams

Record = dict[str, Any]
Number = int | float
TaskID = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Natural = Annotated[int, Meta(ge=0)]


class Updated(TypedDict):
    """A write, accepted."""

    taskID: int
    updatedAt: str


class Deleted(TypedDict):
    """A deletion, accepted."""

    taskID: int
    deletedAt: str


class Saved(TypedDict):
    """A record or rule, accepted."""

    taskID: int
    updatedAt: str
    objectID: str


class Added(Saved):
    """A new record, accepted."""

    createdAt: str


class DeletedBy(Deleted):
    """A deletion by query, accepted; other clients read `updatedAt`."""

    updatedAt: str


class SavedSynonym(Updated):
    """A synonym, accepted."""

    id: str


class Batched(TypedDict):
    """A batch, accepted."""

    taskID: int
    objectIDs: list[str]


class BatchedMany(TypedDict):
    """A batch over several indices, accepted: one task for each."""

    taskID: dict[str, int]
    objectIDs: list[str]


class CreatedAt(TypedDict):
    """Something was created."""

    createdAt: str


class UpdatedAt(TypedDict):
    """Something was updated."""

    updatedAt: str


class DeletedAt(TypedDict):
    """Something was deleted."""

    deletedAt: str


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


class Synonym(TypedDict, total=False):
    """Words that stand for each other."""

    objectID: Required[str]
    type: Required[
        Literal[
            "synonym",
            "onewaysynonym",
            "oneWaySynonym",
            "altcorrection1",
            "altCorrection1",
            "altcorrection2",
            "altCorrection2",
            "placeholder",
        ]
    ]
    synonyms: list[str]
    input: str
    word: str
    corrections: list[str]
    placeholder: str
    replacements: list[str]
    _highlightResult: dict[str, Any]  # fmt: skip


class SynonymHits(TypedDict):
    """The synonyms found."""

    hits: list[Synonym]
    nbHits: int


class Condition(TypedDict, total=False):
    """When a rule applies."""

    pattern: str
    anchoring: Literal["is", "startsWith", "endsWith", "contains"]
    alternatives: bool
    context: str
    filters: str


class RuleEdit(TypedDict, total=False):
    """One change to the query's words."""

    type: Required[Literal["remove", "replace"]]
    delete: Required[str]
    insert: str


class RuleQuery(TypedDict, total=False):
    """Changes to the query's words."""

    remove: list[str]
    edits: list[RuleEdit]


class AutomaticFilter(TypedDict, total=False):
    """A filter made of what a pattern's placeholder found."""

    facet: Required[str]
    score: int
    disjunctive: bool
    negative: bool


class RuleParams(SearchOptions, total=False):
    """Search parameters a rule sets; `query` may be text or edits."""

    query: str | RuleQuery | None
    automaticFacetFilters: list[str | AutomaticFilter]
    automaticOptionalFacetFilters: list[str | AutomaticFilter]


class Promoted(TypedDict, total=False):
    """Records put at a position."""

    objectID: str
    objectIDs: Annotated[list[str], Meta(max_length=100)]
    position: Required[Natural]


class Hidden(TypedDict):
    """A record taken out."""

    objectID: str


class Redirect(TypedDict):
    """Search another index instead."""

    indexName: str


class Consequence(TypedDict, total=False):
    """What a rule does."""

    params: RuleParams
    promote: Annotated[list[Promoted], Meta(max_length=300)]
    filterPromotes: bool
    hide: Annotated[list[Hidden], Meta(max_length=50)]
    redirect: Redirect
    userData: Any


TimeRange = TypedDict("TimeRange", {"from": int, "until": int})
TimeRange.__doc__ = "When a rule is valid, in Unix seconds."


class Rule(TypedDict, total=False):
    """What happens to which searches."""

    objectID: Required[str]
    conditions: Annotated[list[Condition], Meta(max_length=25)]
    condition: Condition
    consequence: Required[Consequence]
    description: str
    enabled: bool
    validity: list[TimeRange]
    tags: list[str]
    scope: str
    _highlightResult: dict[str, Any]
    _metadata: dict[str, Any]


class RuleHits(TypedDict):
    """The rules found."""

    hits: list[Rule]
    nbHits: int
    page: int
    nbPages: int


class KeyFields(TypedDict, total=False):
    """What a key may do; a field left out is at its default."""

    acl: list[str]
    description: str
    indexes: list[str]
    maxHitsPerQuery: Natural
    maxQueriesPerIPPerHour: Natural
    queryParameters: str
    referers: list[str]
    validity: Natural


class Key(KeyFields, total=False):
    """A key as it is listed."""

    value: Required[str]
    createdAt: Required[int]
    index: str


class KeyList(TypedDict):
    """Keys."""

    keys: list[Key]


class KeyAdded(TypedDict):
    """A key was made or restored."""

    key: str
    createdAt: str


class KeyUpdated(TypedDict):
    """A key was changed."""

    key: str
    updatedAt: str


DictionaryName = Literal["stopwords", "plurals", "compounds"]


class DictionaryEntry(TypedDict, total=False):
    """A stop word, a plural or a compound."""

    objectID: Required[str]
    language: str
    word: str
    words: list[str]
    decomposition: list[str]
    state: Literal["enabled", "disabled"]
    type: Literal["custom", "standard"]


class DictionaryRequest(TypedDict):
    """One step of a dictionary batch."""

    action: Literal["addEntry", "deleteEntry"]
    body: DictionaryEntry


class DictionaryHits(TypedDict):
    """The entries found."""

    hits: list[DictionaryEntry]
    nbHits: int
    page: int
    nbPages: int


class StandardEntries(TypedDict, total=False):
    """Per language, whether the standard entries are switched off."""

    stopwords: dict[str, bool] | None
    plurals: dict[str, bool] | None
    compounds: dict[str, bool] | None


class DictionarySettings(TypedDict):
    """What is switched off."""

    disableStandardEntries: StandardEntries


Languages = dict[str, dict[str, dict[str, int] | None]]


class UserMapping(TypedDict):
    """A user and the cluster that holds its data."""

    userID: str
    clusterName: str
    nbRecords: int
    dataSize: int


class Cluster(TypedDict):
    """A cluster and what it holds."""

    clusterName: str
    nbRecords: int
    nbUserIDs: int
    dataSize: int


class ClusterList(TypedDict):
    """The clusters; other clients read their names from `topUsers`."""

    clusters: list[Cluster]
    topUsers: list[str]


class TopUsers(TypedDict):
    """The users with the most records, by cluster."""

    topUsers: list[dict[str, list[UserMapping]]]


class UserList(TypedDict):
    """Users and their clusters."""

    userIDs: list[UserMapping]


class UserHits(TypedDict):
    """The users found."""

    hits: list[dict[str, Any]]
    nbHits: int
    page: int
    hitsPerPage: int
    updatedAt: int


class Pending(TypedDict):
    """Whether users are on the move."""

    pending: bool
    clusters: NotRequired[dict[str, list[str]]]


class Source(TypedDict):
    """A network that may call."""

    source: str
    description: NotRequired[str]


class CrawlerCreated(TypedDict):
    """A crawler was made."""

    id: str


class CrawlerTask(TypedDict):
    """A crawler took a task."""

    taskId: str


class CrawlerPage(TypedDict):
    """One page of crawlers."""

    items: list[dict[str, str]]
    itemsPerPage: int
    page: int
    total: int


class Crawler(TypedDict, total=False):
    """A crawler and how it stands."""

    id: Required[str]
    name: Required[str]
    createdAt: Required[str]
    updatedAt: Required[str]
    running: Required[bool]
    reindexing: Required[bool]
    blocked: Required[bool]
    lastReindexStartedAt: str | None
    lastReindexStartAt: str | None
    lastReindexEndedAt: str | None
    blockingTaskId: str
    blockingError: str
    config: dict[str, Any]


class UrlStatistic(TypedDict):
    """How many URLs ended in one way."""

    reason: str
    status: Literal["DONE", "SKIPPED", "FAILED"]
    category: str
    readable: str
    count: int


class UrlStatistics(TypedDict):
    """How the URLs of the last crawl ended."""

    count: int
    data: list[UrlStatistic]


class CrawlTest(TypedDict, total=False):
    """What trying one URL brought."""

    startDate: Required[str]
    endDate: Required[str]
    logs: list[Any]
    records: list[Any]
    links: list[str]
    externalData: dict[str, Any]
    error: dict[str, Any] | None


class CrawlerTaskState(TypedDict):
    """Whether a crawler's task is still to do."""

    pending: bool


class Domain(TypedDict):
    """A registered domain."""

    appId: str
    domain: str
    verified: bool
    validated: NotRequired[bool]


class DomainPage(TypedDict):
    """One page of domains."""

    items: list[Domain]
    itemsPerPage: int
    page: int
    total: int


class ObjectData(TypedDict, total=False):
    """One item of a purchase or cart."""

    queryID: str
    price: Number | str
    quantity: Number
    discount: Number | str


class Event(TypedDict, total=False):
    """What a user did."""

    eventType: Required[Literal["click", "conversion", "view"]]
    eventSubtype: Literal["addToCart", "purchase"]
    eventName: Required[str]
    index: Required[str]
    userToken: Required[str]
    authenticatedUserToken: str
    timestamp: int
    queryID: str
    objectIDs: list[str]
    objectData: list[ObjectData]
    filters: list[str]
    positions: list[int]
    value: Number | str
    currency: str


class Received(TypedDict):
    """Events were taken."""

    status: int
    message: str
