"""Handlers that store, delete and list user events."""

from __future__ import annotations

from svc_notebook.core.api import EventsApi
from svc_notebook.core.api.event_checks import check_token
from svc_notebook.core.api.shapes import Event, EventPage, EventType, ImpressionPage, Received
from svc_notebook.errors import BadInput
from svc_notebook.service.events import RowSelection, check_time, queries_of
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import check_index_name
from svc_notebook.service.service import RequestContext
from svc_notebook.service.store import current_milliseconds


@serves(EventsApi.push_events)
def push_events(call: RequestContext, events: list[Event]) -> Received:
    """Store events after all of them are validated."""
    received = current_milliseconds()
    call.caller.require("search", {event["index"] for event in events})
    searched = call.service.impressions.times(
        query for event in events for query in queries_of(event)
    )
    for number, event in enumerate(events):
        _check_index(event, f"events[{number}].index")
        check_time(event, f"events[{number}]", received, searched)
    call.service.events.store(events, received)
    return {"status": 200, "message": "OK"}


def _check_index(event: Event, at: str) -> None:
    try:
        check_index_name(event["index"])
    except BadInput as error:
        raise BadInput(f"`{at}`: {error}") from None


@serves(EventsApi.delete_user_token)
def delete_user_token(call: RequestContext, user_token: str) -> None:
    """Accept a request to delete a user's events; they are deleted in the background."""
    check_token(user_token, "userToken")
    call.service.deletion_limit.count(call.headers)
    # So that the user's searches are stored, and lose the token or are deleted.
    call.service.impressions.flush()
    call.service.search_counts.flush()
    call.service.events.request_deletion(user_token)


@serves(EventsApi.list_events)
def list_events(
    call: RequestContext,
    *,
    index: str | None = None,
    userToken: str | None = None,
    eventType: EventType | None = None,
    since: int | None = None,
    until: int | None = None,
    after: int = 0,
    length: int = 1000,
) -> EventPage:
    """Return events of the indices that the key has the right `analytics` on."""
    choice = RowSelection(index, userToken, eventType, since, until, after)
    rows = call.service.events.read(choice, length)
    page: EventPage = {
        "events": [event for _, event in rows if call.caller.may("analytics", event["index"])]
    }
    return {**page, "cursor": rows[-1][0]} if len(rows) == length else page


@serves(EventsApi.list_searches)
def list_searches(
    call: RequestContext,
    *,
    index: str | None = None,
    userToken: str | None = None,
    since: int | None = None,
    until: int | None = None,
    after: int = 0,
    length: int = 1000,
) -> ImpressionPage:
    """Return searches and their hits, of indices that the key has the right `analytics` on."""
    choice = RowSelection(index, userToken, None, since, until, after)
    rows = call.service.impressions.read(choice, length)
    page: ImpressionPage = {
        "searches": [search for _, search in rows if call.caller.may("analytics", search["index"])]
    }
    return {**page, "cursor": rows[-1][0]} if len(rows) == length else page
