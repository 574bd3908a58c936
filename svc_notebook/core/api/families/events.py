"""Endpoints that send user events and read stored events and searches."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.event_checks import MAX_EVENTS_PER_CALL, check_events_in_order
from svc_notebook.core.api.shapes import Event, EventPage, EventType, ImpressionPage, Received
from svc_notebook.core.api.values import Natural

PageLength = Annotated[int, Meta(ge=1, le=10_000)]
Events = Annotated[list[Event], Meta(max_length=MAX_EVENTS_PER_CALL)]


class EventsApi(Api, interface="events"):
    """The events interface; only the local service has the endpoints below `/local`."""

    @endpoint("POST", "/1/events", acl="search", repeatable=False, accepts=(check_events_in_order,))
    async def push_events(self, events: Events) -> Received:
        """Send up to 1,000 events; all are accepted or none."""
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
        since: Natural | None = None,
        until: Natural | None = None,
        after: Natural = 0,
        length: PageLength = 1000,
    ) -> EventPage:
        """Read stored events in order of arrival; only the local service has this endpoint.

        `since` (inclusive) and `until` (exclusive) are Unix times in milliseconds; `after` is the
        cursor of the previous page.
        """
        ...

    @endpoint("GET", "/local/1/searches", acl="analytics")
    async def list_searches(
        self,
        *,
        index: str | None = None,
        userToken: str | None = None,
        since: Natural | None = None,
        until: Natural | None = None,
        after: Natural = 0,
        length: PageLength = 1000,
    ) -> ImpressionPage:
        """Read searches with a queryID and their hits; only the local service has this endpoint.

        `since`, `until` and `after` are as in `list_events`.
        """
        ...
