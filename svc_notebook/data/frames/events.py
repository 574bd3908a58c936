"""User events and logged searches with their impressions, as DataFrames of fixed schemas.

The API has no endpoint that returns these; a local service has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.core.api.shapes import EventType
from svc_notebook.data.client.operations import Seen
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.provenance import remembered
from svc_notebook.data.frames.schemas import DEFAULTS, EVENTS, SEARCHES
from svc_notebook.errors import (
    UNKNOWN_ENDPOINT_STATUSES,
    CursorRepeated,
    NotFound,
    Refused,
    UnexpectedAnswer,
)

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

EVENTS_PER_PAGE = 10_000  # maximum of one call


@remembered
async def read_events(
    client: AsyncClient,
    index: str | None = None,
    *,
    user: str | None = None,
    type: EventType | None = None,  # noqa: A002 - as in the other readers
    since: int | None = None,
    until: int | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the events that a local service stores, oldest received first; times in milliseconds."""
    rows = await _every(
        "events",
        lambda after: client.list_events(
            index=index, userToken=user, eventType=type, since=since, until=until,
            after=after, length=EVENTS_PER_PAGE,
        ),
    )  # fmt: skip
    frame = typed(map(_event_row, rows), EVENTS, DEFAULTS)
    return finished(frame, {"index": index, "user": user, "type": type}, dtype_backend)


def _event_row(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        **event,
        "timestamp": _time(event["timestamp"]),
        "value": _amount(event),
    }


def _amount(event: Mapping[str, Any]) -> float:
    """Read an amount, which can have been sent as text."""
    try:
        return float(event.get("value", "nan"))
    except ValueError:
        raise UnexpectedAnswer(
            f"list_events: an event has the value {str(event['value'])[:60]!r}, not a number",
            endpoint="list_events",
        ) from None


@remembered
async def read_searches(
    client: AsyncClient,
    index: str | None = None,
    *,
    user: str | None = None,
    since: int | None = None,
    until: int | None = None,
    dtype_backend: Backend | None = None,
) -> pd.DataFrame:
    """Read the searches with `clickAnalytics` that a local service answered, and their hits."""
    rows = await _every(
        "searches",
        lambda after: client.list_searches(
            index=index,
            userToken=user,
            since=since,
            until=until,
            after=after,
            length=EVENTS_PER_PAGE,
        ),
    )
    times = ({**row, "timestamp": _time(row["timestamp"])} for row in rows)
    facts = {"index": index, "user": user}
    return finished(typed(times, SEARCHES, DEFAULTS), facts, dtype_backend)


def _time(milliseconds: int) -> str:
    """Convert a time; one outside the calendar is missing."""
    try:
        return str(pd.Timestamp(milliseconds, unit="ms", tz="UTC").isoformat())
    except (OverflowError, ValueError):
        return ""


async def _every(
    member: str, fetch: Callable[[int], Awaitable[Mapping[str, Any]]]
) -> list[Mapping[str, Any]]:
    """Read page after page; raise `NotFound` if the service stores none."""
    rows: list[Mapping[str, Any]] = []
    after: int | None = 0
    seen = Seen()
    while after is not None:
        if not seen.note(after):
            raise CursorRepeated(
                f"list_{member}: the service returned the cursor {after} a second time, after "
                f"{len(rows):,} entries, so the list would not end; check the service",
                endpoint=f"list_{member}", cursor=str(after), records=len(rows),
            )  # fmt: skip
        try:
            page = await fetch(after)
        except Refused as error:
            if error.status in UNKNOWN_ENDPOINT_STATUSES:
                raise NotFound(UNSUPPORTED, status=error.status, endpoint=error.endpoint) from error
            raise
        rows += page[member]
        after = page.get("cursor")
    return rows


UNSUPPORTED = (
    "this service does not list events, because the API has no endpoint for that; a local service "
    "lists them: svc.connect('local')"
)
