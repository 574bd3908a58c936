"""Shapes of API keys, users, clusters and allowed sources."""

from __future__ import annotations

from typing import Any, NotRequired, Required, TypedDict

from svc_notebook.core.api.values import Natural

# The description that a service shows of a key to that key itself.
REDACTED = "<redacted>"


class KeyFields(TypedDict, total=False):
    """The fields of an API key; an omitted field has its default."""

    acl: list[str]
    description: str
    indexes: list[str]
    maxHitsPerQuery: Natural
    maxQueriesPerIPPerHour: Natural
    queryParameters: str
    referers: list[str]
    validity: Natural


class Key(KeyFields, total=False):
    """An API key as listed."""

    value: Required[str]
    createdAt: Required[int]
    index: str


class KeyList(TypedDict):
    """A list of API keys."""

    keys: list[Key]


class KeyAdded(TypedDict):
    """Response to the creation or restoration of a key."""

    key: str
    createdAt: str


class KeyUpdated(TypedDict):
    """Response to the change of a key."""

    key: str
    updatedAt: str


class UserMapping(TypedDict):
    """A user and the cluster that contains the user's data."""

    userID: str
    clusterName: str
    nbRecords: int
    dataSize: int


class Cluster(TypedDict):
    """A cluster with its numbers of records and users and its data size."""

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
    """Users that match a query."""

    hits: list[dict[str, Any]]
    nbHits: int
    page: int
    hitsPerPage: int
    updatedAt: int | str  # Unix time in seconds here; text in other services


class Pending(TypedDict):
    """Whether users are being migrated."""

    pending: bool
    clusters: NotRequired[dict[str, list[str]]]


class Source(TypedDict):
    """A network on the allowlist."""

    source: str
    description: NotRequired[str]


class WorkerStatus(TypedDict):
    """The search workers of a local service, and the calls that they answered or declined."""

    processes: int
    answered: int
    declined: dict[str, int]


class LocalStatus(TypedDict):
    """The state of a local service."""

    pid: int
    searchWorkers: WorkerStatus
