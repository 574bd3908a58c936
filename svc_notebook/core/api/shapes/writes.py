"""Shapes of the responses to writes, and basic types that all shapes share."""

from __future__ import annotations

from typing import Any, TypedDict

from svc_notebook.core.api.integers import Integer, Natural

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
