"""Report what users did."""

from __future__ import annotations

from svc_notebook.api.endpoint import Api, endpoint
from svc_notebook.api.shapes import Event, Received


class EventsApi(Api, interface="events"):
    """The event-collection interface."""

    @endpoint("POST", "/1/events", acl="search", repeatable=False)
    async def push_events(self, events: list[Event]) -> Received:
        """Report up to 1,000 events; all are taken, or none."""
        ...

    @endpoint("DELETE", "/1/usertokens/{user_token}", acl="deleteObject", status=204)
    async def delete_user_token(self, user_token: str) -> None:
        """Delete a user's events from metrics and analytics."""
        ...
