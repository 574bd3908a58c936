"""Report what users did, and forget it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame, Series, Timedelta, Timestamp
from pandas.api.types import is_datetime64_any_dtype

from svc_notebook.api.checking import hints
from svc_notebook.api.shapes import Event
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.frames.origin import added_to
from svc_notebook.verbs.clients import AnyClient, asynchronous
from svc_notebook.verbs.curation import Done
from svc_notebook.verbs.documents import Documents, take_documents

AT_ONCE = 1000  # events that one call takes


async def send_events(
    events: Documents, *, index: str | None = None, client: AnyClient | None = None
) -> Done:
    """Report events: one, several, a DataFrame's rows or a file's; `index` is for those without.

    A thousand travel together: all of them are taken, or none. If a later thousand is refused,
    the error says how many were taken before.
    """
    given = [dict(event) for event in take_documents(events, dict, "events")]
    if index is not None:
        given = [{"index": index, **event} for event in given]
    checked: list[Any] = take_documents(given, Event, "events")
    if not checked:
        raise BadInput("there are no events to send")
    own = asynchronous(client)
    for start in range(0, len(checked), AT_ONCE):
        try:
            await own.push_events(checked[start : start + AT_ONCE])
        except CallFailed as error:
            if start:
                error.add_note(f"the first {start} of {len(checked)} events were taken")
            raise
    return {"sent": len(checked)}


def events_of_rows(frame: DataFrame, shared: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Make an event of each row: its columns that are members of events, and what all share.

    `objectID` and `rank`, as a search gives them, become `objectIDs`, and with a queryID the
    `positions` of a click; a time becomes milliseconds. Raises `BadInput` for one without a zone.
    """
    members = hints(Event)
    chosen = frame[[name for name in frame.columns if name in members]].copy()
    if "objectID" in frame and not {"objectIDs", "filters"} & {*frame.columns, *shared}:
        chosen["objectIDs"] = [[str(one)] for one in frame["objectID"]]
    if "timestamp" in chosen and is_datetime64_any_dtype(chosen["timestamp"]):
        chosen["timestamp"] = _milliseconds(chosen["timestamp"])
    told = frame.attrs.get("svc", {})
    known = {name: told[name] for name in ("index", "queryID") if name in told}
    events = [{**known, **event, **shared} for event in take_documents(chosen, dict, "events")]
    ranks = added_to(frame).get("rank", "rank")
    if ranks in frame and "positions" not in {*frame.columns, *shared}:
        for event, rank in zip(events, frame[ranks], strict=True):
            if event.get("eventType") == "click" and "queryID" in event:
                event["positions"] = [int(rank)]
    return events


def _milliseconds(times: Series[Any]) -> Series[Any]:
    if times.dt.tz is None:
        raise BadInput("`timestamp` has no zone; say which: df['timestamp'].dt.tz_localize('UTC')")
    return ((times - Timestamp(0, tz="UTC")) // Timedelta("1ms")).astype("Int64")


async def delete_user_events(user: str, *, client: AnyClient | None = None) -> Done:
    """Delete a user token's events from metrics and analytics; it takes a while."""
    await asynchronous(client).delete_user_token(user)
    return {"user": user, "asked": True}
