"""Report what users did, read it back, and forget it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series, Timedelta, Timestamp
from pandas.api.types import is_datetime64_any_dtype

from svc_notebook import frames
from svc_notebook.api.event_checks import MAX_EVENTS_PER_CALL, check_parts, check_token
from svc_notebook.api.shapes import Event, EventType
from svc_notebook.api.validation import hints
from svc_notebook.api.warning import warn_user
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.frames.columns import Backend
from svc_notebook.frames.provenance import added_to, hits_of
from svc_notebook.functions.curated_lists import Done
from svc_notebook.functions.documents import Documents, read_file, take_documents
from svc_notebook.session.connection import AnyClient, asynchronous

# Members of events by whose names records often have attributes.
OF_RECORDS = {"filters", "index", "objectData", "positions", "value", "currency"}
Moment = str | datetime  # a pandas Timestamp is one, too


async def send_events(
    events: Documents, *, index: str | None = None, client: AnyClient | None = None
) -> Done:
    """Report events: one, several, a DataFrame's rows or a file's; `index` is for those without.

    A thousand travel together: all of them are taken, or none. If a later thousand is refused,
    the error says how many were taken before.
    """
    if isinstance(events, DataFrame) and added_to(events):
        raise BadInput(
            "these are hits, not events; an event of each of them: "
            'hits.svc.events(eventType="click", eventName="Product opened")'
        )
    if isinstance(events, str | os.PathLike):
        events = read_file(Path(events), Event)
    given = take_documents(events, dict, "events")
    if index is not None:
        given = [{"index": index, **event} for event in given]
    checked: list[Any] = take_documents(given, Event, "events")
    if not checked:
        raise BadInput("there are no events to send")
    for number, event in enumerate(checked):
        check_parts(event, f"events[{number}]")
    own = asynchronous(client)
    for start in range(0, len(checked), MAX_EVENTS_PER_CALL):
        try:
            await own.push_events(checked[start : start + MAX_EVENTS_PER_CALL])
        except CallFailed as error:
            if start:
                error.add_note(f"the first {start} of {len(checked)} events were taken")
            raise
    return {"sent": len(checked)}


def events_of_rows(frame: DataFrame, shared: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Make an event of each row: its columns that are members of events, and what all share.

    `objectID` and `rank`, as a search gives them, become `objectIDs`, and with a queryID the
    `positions` of a click; a time becomes milliseconds. Raises `BadInput` for one without a zone.
    Index, queryID and user token are the search's, where nothing else is said. What a record of a
    search has by the name of such a member is its own: filters, say.
    """
    frame = hits_of(frame)
    added = added_to(frame)
    members = hints(Event).keys() - (OF_RECORDS if added else set())
    chosen = frame[[name for name in frame.columns if name in members]].copy()
    if "queryID" in added:
        chosen["queryID"] = frame[added["queryID"]]
    if "objectID" in frame and not {"objectIDs", "filters"} & {*chosen.columns, *shared}:
        chosen["objectIDs"] = [[str(one)] for one in frame["objectID"]]
    if "timestamp" in chosen and is_datetime64_any_dtype(chosen["timestamp"]):
        chosen["timestamp"] = _milliseconds(chosen["timestamp"])
    rows = take_documents(chosen, dict, "events")
    events = [{**_known_of(frame), **event, **shared} for event in rows]
    if not all("index" in event for event in events):
        raise BadInput(
            "these rows do not say of which index they are, as joined ones never do: add "
            "index='products'"
        )
    ranks = added.get("rank", "rank")
    if ranks in frame and "positions" not in {*frame.columns, *shared}:
        lost = _place_clicks(events, frame[ranks])
        if lost and added:
            warn_user(
                "these clicks belong to no search, and say nothing about its hits: search with "
                "clickAnalytics=True"
            )
    return events


def _known_of(frame: DataFrame) -> dict[str, Any]:
    """What a search says that its events want to know, too."""
    told = frame.attrs.get("svc", {})
    facts = {**told.get("params", {}), **told}
    return {name: facts[name] for name in ("index", "queryID", "userToken") if name in facts}


def _place_clicks(events: Sequence[dict[str, Any]], ranks: Iterable[Any]) -> int:
    """Say where what was clicked stood in its search; return how many clicks belong to none."""
    clicks = [
        (event, rank)
        for event, rank in zip(events, ranks, strict=True)
        if event.get("eventType") == "click"
    ]
    placed = [(event, rank) for event, rank in clicks if "queryID" in event]
    for event, rank in placed:
        event["positions"] = [int(rank)]
    return len(clicks) - len(placed)


def _milliseconds(times: Series[Any]) -> Series[Any]:
    if times.dt.tz is None:
        raise BadInput("`timestamp` has no zone; say which: df['timestamp'].dt.tz_localize('UTC')")
    return ((times - Timestamp(0, tz="UTC")) // Timedelta("1ms")).astype("Int64")


async def read_events(
    index: str | None = None,
    *,
    user: str | None = None,
    type: EventType | None = None,  # noqa: A002 - as in the other readers
    since: Moment | None = None,
    until: Moment | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the events that a local service holds, the first to come first.

    `since` and `until`, the latter left out, are times, UTC unless they say so, or ages: `"2h"`.
    """
    return await frames.read_events(
        asynchronous(client), index,
        user=user, type=type, since=read_moment(since, "since"), until=read_moment(until, "until"),
        dtype_backend=dtype_backend,
    )  # fmt: skip


async def read_searches(
    index: str | None = None,
    *,
    user: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the searches with `clickAnalytics` that a local service answered, and what they showed.

    `since` and `until` are as in `read_events`.
    """
    return await frames.read_searches(
        asynchronous(client), index,
        user=user, since=read_moment(since, "since"), until=read_moment(until, "until"),
        dtype_backend=dtype_backend,
    )  # fmt: skip


def read_moment(given: Moment | None, name: str) -> int | None:
    """Return a time, or an age such as `2h`, as milliseconds since 1970; raises `BadInput`."""
    if given is None:
        return None
    try:
        if isinstance(given, str) and AGE.fullmatch(given):
            moment = Timestamp.now(tz="UTC") - Timedelta(given.replace("d", "D"))
        else:
            moment = Timestamp(given)
        moment = moment.tz_localize("UTC") if moment.tz is None else moment
        return int(moment.timestamp() * 1000)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput(
            f"`{name}` should be a time such as 2026-01-31 or 2026-01-31T08:00+01:00, or an age "
            f"such as 30min, 2h or 7d, not {given!r}"
        ) from error


AGE = re.compile(r"\d+(s|min|h|d)")


async def delete_user_events(user: str, *, client: AnyClient | None = None) -> Done:
    """Delete a user token's events from metrics and analytics; it takes a while."""
    await asynchronous(client).delete_user_token(check_token(user, "user"))
    return {"user": user, "asked": True}
