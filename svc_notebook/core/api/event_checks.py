"""Validate events beyond their declared types (api.md, Event and Events)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from svc_notebook.core.api.shapes.events import Event
from svc_notebook.core.api.validation import (
    MemberCheck,
    Part,
    check_members,
    check_value,
    hints,
    place,
)
from svc_notebook.errors import BadInput

# Maximum events of one request (api.md, Limits).
MAX_EVENTS_PER_CALL = 1000

# The type of events that are not about users: a library for web pages reports its own use.
USAGE_EVENT_TYPE = "instantsearch"


class TextFormat(NamedTuple):
    """A text format: its pattern and its description. If `encoded`, text may be percent-encoded."""

    pattern: re.Pattern[str]
    words: str
    encoded: bool = False

    def fits(self, text: str) -> bool:
        """Return whether a text has this format."""
        readings = (text, unquote(text)) if self.encoded else (text,)
        return any(self.pattern.fullmatch(reading) for reading in readings)


TOKEN = TextFormat(re.compile(r"[A-Za-z0-9_=+/-]{1,129}"), "1 to 129 letters, digits or _ = + / -")
QUERY_ID = TextFormat(re.compile(r"[0-9a-f]{32}"), "32 lowercase hexadecimal digits")
NAME = TextFormat(re.compile(r"[\x20-\x7e]{1,64}"), "1 to 64 printable ASCII characters")
CURRENCY = TextFormat(re.compile(r"[A-Z]{3}"), "a code of three capital letters, such as EUR")
AMOUNT = TextFormat(re.compile(r"(?=.{1,16}\Z)-?\d+(\.\d+)?"), "a number of at most 16 characters")
# Numeric filters use comparison operators, and clients report filters unchanged. The vendor's
# library for web pages percent-encodes the whole filter, including the colon.
FILTER = TextFormat(
    re.compile(r"(?s)[^:<>=!]+(:|[<>!]?=|[<>]).+"),
    "an attribute, a colon and a value, such as brand:Acme",
    encoded=True,
)
NON_EMPTY = TextFormat(re.compile(r"(?s).+"), "a non-empty text")
FORMATS: dict[str, TextFormat] = {
    "eventName": NAME,
    "index": NON_EMPTY,
    "userToken": TOKEN,
    "authenticatedUserToken": TOKEN,
    "queryID": QUERY_ID,
    "objectIDs": NON_EMPTY,
    "filters": FILTER,
    "currency": CURRENCY,
    "value": AMOUNT,
    "price": AMOUNT,
    "discount": AMOUNT,
}


def _lengths_differ(event: Part, member: str) -> bool:
    return member in event and len(event[member]) != len(event.get("objectIDs", ()))


def _is_search_click(event: Part) -> bool:
    return event["eventType"] == "click" and {"queryID", "objectIDs"} <= event.keys()


def _is_conversion(event: Part) -> bool:
    return bool(event["eventType"] == "conversion")


def _names_amounts(event: Part) -> bool:
    return "value" in event or any("price" in item for item in event.get("objectData", ()))


CHECKS = (
    MemberCheck(
        "", lambda e: not {"objectIDs", "filters"} & e.keys(), "needs objectIDs or filters"
    ),
    MemberCheck(
        "filters",
        lambda e: {"objectIDs", "filters"} <= e.keys(),
        "is not allowed with objectIDs; send two events",
    ),
    MemberCheck(
        "eventSubtype",
        lambda e: "eventSubtype" in e and not _is_conversion(e),
        "is allowed only with the eventType `conversion`",
    ),
    MemberCheck(
        "eventSubtype",
        lambda e: "eventSubtype" in e and "filters" in e,
        "is allowed with objectIDs, not with filters",
    ),
    MemberCheck(
        "positions",
        lambda e: "positions" in e and e["eventType"] != "click",
        "is allowed only with the eventType `click`",
    ),
    MemberCheck(
        "positions",
        lambda e: "positions" in e and "queryID" not in e,
        "needs a queryID: a position is that of a hit in a search",
    ),
    MemberCheck(
        "positions",
        lambda e: _is_search_click(e) and "positions" not in e,
        "is missing; a click with a queryID needs the position of each object",
    ),
    MemberCheck(
        "positions",
        lambda e: _lengths_differ(e, "positions"),
        "must have one position for each of the objectIDs",
    ),
    MemberCheck(
        "objectData",
        lambda e: _lengths_differ(e, "objectData"),
        "must have one entry for each of the objectIDs",
    ),
    *(
        MemberCheck(
            member,
            lambda e, member=member: member in e and not _is_conversion(e),  # type: ignore[misc]
            "is allowed only with the eventType `conversion`",
        )
        for member in ("objectData", "value", "currency")
    ),
    MemberCheck(
        "currency",
        lambda e: "currency" not in e and _names_amounts(e),
        "is missing; it is required with a price or value",
    ),
)  # fmt: skip


def check_event(event: Any, at: str = "") -> None:
    """Raise `BadInput` for an invalid event; `at` is the prefix of the position in messages."""
    check_value(event, dict, at)
    check_members(event, Event, at)
    check_parts(event, at)


def check_parts(event: Part, at: str = "") -> None:
    """Raise `BadInput` if texts of an event are malformed or its members are inconsistent."""
    for where, form, text in _texts(event):
        if not form.fits(text):
            raise BadInput(f"`{place(at, where)}` must be {form.words}")
    for member, is_wrong, text in CHECKS:
        if is_wrong(event):
            wrong = place(at, member) if member else at
            raise BadInput(f"`{wrong}` {text}" if wrong else f"the event {text}")


def check_token(token: str, name: str) -> str:
    """Return a user token; raises `BadInput` if it is invalid."""
    if not TOKEN.fits(token):
        raise BadInput(f"`{name}` must be {TOKEN.words}")
    return token


def check_events_in_order(body: Any) -> Any:
    """Check the events of a body in order, so that the error names the first invalid one.

    Events with which a library for web pages reports its own use are removed, and so are members
    named `...Source`, which say what created an event.
    """
    events = body.get("events") if isinstance(body, dict) else None
    if not isinstance(events, list) or len(events) > MAX_EVENTS_PER_CALL:
        return body
    if not events:
        raise BadInput("`events` must be a list of at least 1 entries")
    decoded = {number: _read_event(event) for number, event in enumerate(events)}
    decoded = {number: event for number, event in decoded.items() if not _reports_usage(event)}
    for number, event in decoded.items():
        check_event(event, f"events[{number}]")
    return {**body, "events": [*decoded.values()]}


def _reports_usage(event: Any) -> bool:
    return isinstance(event, dict) and event.get("eventType") == USAGE_EVENT_TYPE


def _read_event(event: Any) -> Any:
    """Return an event without its source, and with its members in their own spelling.

    The Python clients up to release 3 send `objectIds` and `queryId`.
    """
    if not isinstance(event, dict):
        return event
    fields = hints(Event)
    spellings = {name.lower(): name for name in fields}
    members = {name: value for name, value in event.items() if not name.endswith("Source")}
    renamed = {name: spellings.get(name.lower(), name) for name in members.keys() - fields.keys()}
    return {renamed.get(name, name): value for name, value in members.items()}


def _texts(part: Part, at: str = "") -> Iterator[tuple[str, TextFormat, str]]:
    """Yield every text of an event that has a format, with its position."""
    for name, value in part.items():
        where = place(at, name)
        if name == "objectData":
            for number, item in enumerate(value):
                yield from _texts(item, f"{where}[{number}]")
        elif name in FORMATS:
            yield from _format_texts(where, FORMATS[name], value)


def _format_texts(
    where: str, form: TextFormat, value: Any
) -> Iterator[tuple[str, TextFormat, str]]:
    if isinstance(value, str):
        yield where, form, value
    elif isinstance(value, list):
        yield from ((f"{where}[{number}]", form, text) for number, text in enumerate(value))
