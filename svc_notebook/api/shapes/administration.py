"""Keys, users and their clusters, and the networks that may call."""

from __future__ import annotations

from typing import Any, NotRequired, Required, TypedDict

from svc_notebook.api.parameters import Natural


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
    updatedAt: int | str  # Unix time here, text elsewhere


class Pending(TypedDict):
    """Whether users are on the move."""

    pending: bool
    clusters: NotRequired[dict[str, list[str]]]


class Source(TypedDict):
    """A network that may call."""

    source: str
    description: NotRequired[str]
