"""What a write is answered with, and the plain types all shapes share."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from msgspec import Meta

Record = dict[str, Any]
Number = int | float
TaskID = Annotated[int, Meta(ge=0, le=2**63 - 1)]


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
