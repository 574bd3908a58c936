"""Report what users did, and read what was reported."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.api.endpoint import Api, endpoint
from svc_notebook.api.event_checks import MAX_EVENTS_PER_CALL, read_in_turn
from svc_notebook.api.shapes import Event, EventPage, EventType, Received, ShownPage

PageLength = Annotated[int, Meta(ge=1, le=10_000)]
# What a database can hold: milliseconds, and numbers of rows.
Long = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Events = Annotated[list[Event], Meta(min_length=1, max_length=MAX_EVENTS_PER_CALL)]


class EventsApi(Api, interface="events"):
    """The event-collection interface; what lies below `/local` is the local service's own."""

    @endpoint("POST", "/1/events", acl="search", repeatable=False, accepts=(read_in_turn,))
    async def push_events(self, events: Events) -> Received:
        """Report up to 1,000 events; all are taken, or none."""
        ...

    @endpoint("DELETE", "/1/usertokens/{user_token}", acl="deleteObject", status=204)
    async def delete_user_token(self, user_token: str) -> None:
        """Delete a user's events from metrics and analytics."""
        ...

    @endpoint("GET", "/local/1/events", acl="analytics")
    async def list_events(
        self,
        *,
        index: str | None = None,
        userToken: str | None = None,
        eventType: EventType | None = None,
        since: Long | None = None,
        until: Long | None = None,
        after: Long = 0,
        length: PageLength = 1000,
    ) -> EventPage:
        """Read stored events, the first to come first; the local service alone answers it.

        `since` and `until` are milliseconds, the latter left out; `after` is a page's cursor.
        """
        ...

    @endpoint("GET", "/local/1/searches", acl="analytics")
    async def list_searches(
        self,
        *,
        index: str | None = None,
        userToken: str | None = None,
        since: Long | None = None,
        until: Long | None = None,
        after: Long = 0,
        length: PageLength = 1000,
    ) -> ShownPage:
        """Read searches that had a queryID and what they showed; the local service alone answers.

        `since`, `until` and `after` as in `list_events`.
        """
        ...
