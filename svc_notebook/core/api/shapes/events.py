"""Shapes of user events and of the searches that they refer to."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from svc_notebook.core.api.shapes.records import Number
from svc_notebook.core.api.values import Integer, Positive

EventType = Literal["click", "conversion", "view"]
# api.md, Limits.
MAX_EVENT_OBJECTS, MAX_EVENT_FILTERS = 20, 10


class ObjectData(TypedDict, total=False):
    """One item of a purchase or cart."""

    queryID: str
    price: Number | str
    quantity: Number
    discount: Number | str


class Event(TypedDict, total=False):
    """A user event; `event_checks` defines which members belong together."""

    eventType: Required[EventType]
    eventSubtype: Literal["addToCart", "purchase"]
    eventName: Required[str]
    index: Required[str]
    userToken: Required[str]
    authenticatedUserToken: str
    timestamp: Integer
    queryID: str
    objectIDs: Annotated[list[str], Meta(min_length=1, max_length=MAX_EVENT_OBJECTS)]
    objectData: Annotated[list[ObjectData], Meta(min_length=1, max_length=MAX_EVENT_OBJECTS)]
    filters: Annotated[list[str], Meta(min_length=1, max_length=MAX_EVENT_FILTERS)]
    positions: Annotated[list[Positive], Meta(min_length=1, max_length=MAX_EVENT_OBJECTS)]
    value: Number | str
    currency: str


class Received(TypedDict):
    """Response to accepted events."""

    status: int
    message: str


class EventPage(TypedDict):
    """Stored events in order of arrival; `cursor` is present while there are more."""

    events: list[Event]
    cursor: NotRequired[int]


class SearchImpression(TypedDict):
    """A search with a queryID and the objectIDs that it returned, from position `first` on."""

    queryID: str
    timestamp: int
    index: str
    query: str
    params: str
    userToken: str
    nbHits: int
    first: int
    objectIDs: list[str]


class ImpressionPage(TypedDict):
    """Searches with a queryID in order of time; `cursor` is present while there are more."""

    searches: list[SearchImpression]
    cursor: NotRequired[int]
