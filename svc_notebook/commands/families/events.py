"""Verbs for events, as rows of the verb table."""

from __future__ import annotations

from svc_notebook.api.shapes import Event, EventType
from svc_notebook.commands.verb import BodyDocument, Option, Verb, operand

_HOME = "svc_notebook.functions.blocking"
_INDEX = operand("index", "only those of this index", completes="index", required=False)
_CHOICE = (
    Option("user", "only those of this user token"),
    Option("since", "only from this time on: 2026-01-31, or an age such as 2h or 7d"),
    Option("until", "only those before this time"),
)

COLLECTING: tuple[Verb, ...] = (
    Verb(
        "events", "List the events that a local service holds",
        f"{_HOME}.read_events",
        operands=(_INDEX,),
        options=(Option("type", "only of this type", EventType), *_CHOICE),
        examples=("events products", "events products --type click --since 2h"),
    ),
    Verb(
        "events searches", "List the searches that events may name, and what they showed",
        f"{_HOME}.read_searches",
        operands=(_INDEX,),
        options=_CHOICE,
        examples=("events searches products --since 7d",),
    ),
    Verb(
        "events send", "Report what users did",
        f"{_HOME}.send_events",
        operands=(
            operand("file", "a CSV, JSON or NDJSON file; or say --from, or give a body",
                    completes="path", argument="events"),
        ),
        options=(
            Option("from", "a variable holding them: an event, a list of them, a DataFrame",
                   completes="variable", argument="events", faces=("magic",)),
            Option("index", "index of those that name none", completes="index"),
        ),
        body="events", document=BodyDocument("events", Event),
        examples=("events send clicks.csv --index products",),
    ),
    Verb(
        "events delete", "Delete a user token's events",
        f"{_HOME}.delete_user_events",
        operands=(operand("user", "the user token"),),
        destructive="delete all events of the user token {user}",
        examples=("events delete user-42 --yes",),
    ),
)  # fmt: skip
