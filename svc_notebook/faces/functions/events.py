"""Send, read and delete user events."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Real
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series, Timedelta, Timestamp
from pandas.api.types import is_datetime64_any_dtype

from svc_notebook.core.api.event_checks import MAX_EVENTS_PER_CALL, check_parts, check_token
from svc_notebook.core.api.shapes import Event, EventType
from svc_notebook.core.api.validation import hints
from svc_notebook.core.api.values import SECONDS, parse_duration
from svc_notebook.core.terminal import warn_user
from svc_notebook.data import frames
from svc_notebook.data.declarations import BodyDocument, accessor, accessor_only, public, verb
from svc_notebook.data.frames import Backend, added_to, hits_of
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.documents import Documents, read_file, take_documents

# Members of events by whose names records often have attributes.
OF_RECORDS = {"filters", "index", "objectData", "positions", "value", "currency"}
Moment = str | datetime  # a pandas Timestamp is one, too


@public(
    verb(
        "events send",
        "events send clicks.csv --index products",
        variable="events",
        document=BodyDocument("events", Event),
    ),
    endpoints=("push_events",),
)
async def send_events(
    events: Documents, *, index: str | None = None, client: AnyClient | None = None
) -> WriteSummary:
    """Send user events.

    Up to 1,000 events are sent in one request, which is accepted or refused as a whole. If a
    later request is refused, the error says how many events were accepted before.

    Parameters
    ----------
    events : dict, list of dict, DataFrame or path
        Events: one, several, the rows of a table, or a CSV, JSON or NDJSON file.
    index : str, default None
        Name of the index of events that do not name one.

    Returns
    -------
    dict
        `sent` (number of events).

    Raises
    ------
    BadInput
        If the events are empty, or one has a wrong, missing or unknown member.

    Examples
    --------
    >>> event = {"eventType": "click", "eventName": "Product opened", "userToken": "anna"}
    >>> svc.send_events({**event, "objectIDs": ["LMP-001"]}, index="products")
    {'sent': 1}
    """
    checked = _take_events(events, index)
    aio = asynchronous(client)
    for start in range(0, len(checked), MAX_EVENTS_PER_CALL):
        try:
            await aio.push_events(checked[start : start + MAX_EVENTS_PER_CALL])
        except CallFailed as error:
            if start:
                error.add_note(f"the first {start} of {len(checked)} events were accepted")
            raise
    return {"sent": len(checked)}


def _take_events(events: Documents, index: str | None) -> list[Any]:
    """Return valid events; `index` is that of events that do not name one."""
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
        raise BadInput("no events to send; pass at least one")
    for number, event in enumerate(checked):
        check_parts(event, f"events[{number}]")
    return checked


@accessor_only(accessor("df.svc.events", "frame"), endpoints=("push_events",))
async def send_row_events(
    frame: DataFrame, *, client: AnyClient | None = None, **shared: Any
) -> WriteSummary:
    """Send one event for each row.

    Columns named as members of events, such as `userToken`, provide members of each event.
    The hits of a search provide index, objectIDs and user token, and with `clickAnalytics`
    queryID and positions.

    Parameters
    ----------
    frame : DataFrame
        Hits, or a row for each event.
    **shared
        Members that all events have, such as `eventType` and `eventName`.

    Returns
    -------
    dict
        `sent` (number of events).

    Raises
    ------
    BadInput
        If an event has a wrong, missing or unknown member.

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", clickAnalytics=True, userToken="anna")
    >>> hits.head(1).svc.events(eventType="click", eventName="Product opened")
    {'sent': 1}
    """
    return await send_events(events_of_rows(frame, shared), client=client)


def events_of_rows(frame: DataFrame, shared: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Build one event per row from its columns that are members of events, and shared members.

    The columns `objectID` and `rank` of a search become `objectIDs` and, with a queryID, the
    `positions` of a click. A time becomes milliseconds; `BadInput` is raised for a time without a
    zone. Index, queryID and user token default to those of the search. Attributes of records that
    have the name of such a member, such as `filters`, are ignored.
    """
    frame = hits_of(frame)
    added = added_to(frame)
    rows = take_documents(_member_columns(frame, added, shared), dict, "events")
    events = [{**_search_members(frame), **event, **shared} for event in rows]
    if not all("index" in event for event in events):
        raise BadInput(
            "these rows have no index attached (pandas drops it in a merge); pass index='products'"
        )
    ranks = added.get("rank", "rank")
    if ranks in frame and "positions" not in {*frame.columns, *shared}:
        lost = _add_positions(events, frame[ranks])
        if lost and added:
            warn_user(
                "these clicks have no queryID and are not attributed to a search; search with "
                "clickAnalytics=True"
            )
    return events


def _member_columns(
    frame: DataFrame, added: Mapping[str, str], shared: Mapping[str, Any]
) -> DataFrame:
    """Return the columns of rows that are members of events."""
    members = hints(Event).keys() - (OF_RECORDS if added else set())
    chosen = frame[[name for name in frame.columns if name in members]].copy()
    if "queryID" in added:
        chosen["queryID"] = frame[added["queryID"]]
    if "objectID" in frame and not {"objectIDs", "filters"} & {*chosen.columns, *shared}:
        chosen["objectIDs"] = [[str(object_id)] for object_id in frame["objectID"]]
    if "timestamp" in chosen and is_datetime64_any_dtype(chosen["timestamp"]):
        chosen["timestamp"] = _milliseconds(chosen["timestamp"])
    return chosen


def _search_members(frame: DataFrame) -> dict[str, Any]:
    """Return the index, the queryID and the user token of a search."""
    origin = frame.attrs.get("svc", {})
    facts = {**origin.get("params", {}), **origin}
    return {name: facts[name] for name in ("index", "queryID", "userToken") if name in facts}


def _add_positions(events: Sequence[dict[str, Any]], ranks: Iterable[Any]) -> int:
    """Add the position of each click in its search; return the number of clicks without one."""
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
        raise BadInput(
            "`timestamp` has no time zone; add one: df['timestamp'].dt.tz_localize('UTC')"
        )
    return ((times - Timestamp(0, tz="UTC")) // Timedelta("1ms")).astype("Int64")


@public(
    verb("events", "events products", "events products --type click --since 2h"),
    endpoints=("list_events",),
)
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
    """Read the user events that a local service stores, in order of arrival.

    Parameters
    ----------
    index : str, default None
        Name of the index whose events are read; None reads those of all.
    user : str, default None
        User token whose events are read; None reads those of all.
    type : {'click', 'conversion', 'view'}, default None
        Type of the events to read; None reads all.
    since : str or datetime, default None
        Earliest time, in UTC unless it has a zone, or age such as `30min`, `2h` or `7d`;
        None does not restrict it.
    until : str or datetime, default None
        End of the time range (exclusive), in UTC unless it has a zone, or age; None does not
        restrict it.

    Returns
    -------
    DataFrame
        One row per event: `timestamp` (datetime64[us, UTC]), `eventType`, `eventSubtype`,
        `eventName`, `index`, `userToken`, `authenticatedUserToken` and `queryID` (str),
        `objectIDs`, `positions`, `filters` and `objectData` (object, a list or None), `value`
        (float64, missing unless sent) and `currency` (str).

    Raises
    ------
    BadInput
        If a time is not valid.
    NotFound
        If the service is not a local service.

    Examples
    --------
    >>> svc.read_events("products", type="click", since="7d")[["timestamp", "objectIDs"]]
    """
    return await frames.read_events(
        asynchronous(client), index,
        user=user, type=type, since=read_moment(since, "since"), until=read_moment(until, "until"),
        dtype_backend=dtype_backend,
    )  # fmt: skip


@public(
    verb("events searches", "events searches products --since 7d", lists=True),
    endpoints=("list_searches",),
    like=read_events.__doc__,
)
async def read_searches(
    index: str | None = None,
    *,
    user: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the searches with `clickAnalytics` that a local service answered, and their hits.

    Parameters
    ----------
    index : str, default None
        Name of the index whose searches are read; None reads those of all.
    user : str, default None
        User token whose searches are read; None reads those of all.

    Returns
    -------
    DataFrame
        One row per search: `timestamp` (datetime64[us, UTC]), `queryID`, `index`, `query`,
        `params` and `userToken` (str), `nbHits` (int64), `first` (int64, position of the first
        hit, from 1) and `objectIDs` (object, the list of the hits).

    Examples
    --------
    >>> hits = svc.search("products", "desk lamp", clickAnalytics=True)
    >>> svc.read_searches("products", since="1h")["query"].iloc[-1]
    'desk lamp'
    """
    return await frames.read_searches(
        asynchronous(client), index,
        user=user, since=read_moment(since, "since"), until=read_moment(until, "until"),
        dtype_backend=dtype_backend,
    )  # fmt: skip


def read_moment(given: Any, name: str) -> int | None:
    """Return a time, or an age such as `2h`, as milliseconds since 1970; raises `BadInput`.

    A number is refused, for it can count seconds or milliseconds, and so is a text that does not
    begin with a year: pandas reads `1M` as a time of the year 1.
    """
    if given is None:
        return None
    try:
        moment = _parse_moment(given) if isinstance(given, str) else Timestamp(given)
        if isinstance(given, Real):
            raise ValueError("a number has no unit")
        moment = moment.tz_localize("UTC") if moment.tz is None else moment
        return int(moment.timestamp() * 1000)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput(
            f"`{name}` must be a time such as 2026-01-31 or 2026-01-31T08:00+01:00, or an age "
            f"such as 30min, 2h or 7d, not {given!r}"
        ) from error


def _parse_moment(text: str) -> Timestamp:
    """Read a text as a time or an age; raises `ValueError` for any other."""
    now = Timestamp.now(tz="UTC")
    if text == "now":
        return now
    if text in DAYS_AGO:
        return now.normalize() - Timedelta(days=DAYS_AGO[text])
    if AGE.fullmatch(text):
        return now - Timedelta(seconds=parse_duration(text, "age"))
    if not BEGINS_WITH_YEAR.match(text):
        raise ValueError("neither a time nor an age")
    return Timestamp(text)


AGE = re.compile(rf"\d+({'|'.join(SECONDS)})", re.ASCII)
BEGINS_WITH_YEAR = re.compile(r"\d{4}(-\d|$)")
# Days, from midnight in UTC, that a text names.
DAYS_AGO = {"today": 0, "yesterday": 1}


@public(
    verb(
        "events delete",
        "events delete user-42 --yes",
        destructive="delete all events of the user token {user}",
    ),
    endpoints=("delete_user_token",),
)
async def delete_user_events(user: str, *, client: AnyClient | None = None) -> WriteSummary:
    """Request the deletion of all events of a user token.

    The service deletes them from metrics and analytics some time after it accepted the request.

    Parameters
    ----------
    user : str
        User token.

    Returns
    -------
    dict
        `user` and `asked` (True).

    Raises
    ------
    BadInput
        If the user token is not valid.

    Examples
    --------
    >>> svc.delete_user_events("anna")["user"]
    'anna'
    """
    await asynchronous(client).delete_user_token(check_token(user, "user"))
    return {"user": user, "asked": True}
