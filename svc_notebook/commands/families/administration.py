"""Verbs for keys, networks, users, tasks and whole indices, as rows of the verb table."""

from __future__ import annotations

import re
from typing import Any

from svc_notebook.api import ENDPOINTS
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.api.secured_keys import Restrictions
from svc_notebook.api.shapes import KeyFields, Source
from svc_notebook.commands.options import INDEX, PARAMS, ROWS
from svc_notebook.commands.verb import FORMAT, BodyDocument, Option, Verb, operand

_WRITING = frozenset(row.name for row in ENDPOINTS if not row.reads)
_NOT_HERE = ("action", "operations", "in-flight")  # options that only make sense with other records
_HOME = "svc_notebook.functions.blocking"
_OF_INDEX = Option("index", "a key of this index, not of the application", completes="index")
_REVEAL = Option("reveal", "show the key whole; it stays where the result is kept", bool)
_KEY = operand(
    "key", "the key: its first characters, as listed, or all of it; or say --from", completes="key"
)
_KEY_FROM = Option(
    "from", "a variable holding the key: a secret, or what made or deleted it",
    completes="variable", argument="key", faces=("magic",),
)  # fmt: skip
_USER = operand("user", "the user's id")
_CLUSTER = operand("cluster", "the cluster", completes="cluster")
QUERY = operand("query", "the words looked for", rest=True, required=False)

_ENV = Option("env", "the variable of the environment that holds the key")


def _whole_key(
    verb: str,
    summary: str,
    does: str,
    *,
    name: str = "key",
    options: tuple[Option, ...] = (),
    examples: tuple[str, ...],
    **more: Any,
) -> tuple[Verb, Verb]:
    """Return a verb that takes a whole key, for a cell and for a shell."""
    home = "svc_notebook.functions.secret_input"
    variable = Option(
        "from",
        "a variable holding the key: a secret, or what made or deleted it",
        completes="variable",
        argument=name,
        faces=("magic",),
    )
    return (
        Verb(
            verb,
            summary,
            f"{home}.{does}_in_cell",
            operands=(operand(name, "the whole key; asked for if left out", required=False),),
            options=(variable, *options),
            faces=("magic",),
            examples=tuple(f"{verb} {each}" for each in examples),
            **more,
        ),
        Verb(
            verb,
            summary,
            f"{home}.{does}_in_shell",
            operands=(
                operand(name, "`-`: standard input has it; asked for if left out", required=False),
            ),
            options=(_ENV, *options),
            faces=("command",),
            examples=tuple(f"{verb} {each}" for each in _in_shell(examples)),
            **more,
        ),
    )


def _in_shell(examples: tuple[str, ...]) -> list[str]:
    return [re.sub(r"--from \w+", "-", each) for each in examples]


LOOKING: tuple[Verb, ...] = (
    Verb(
        "show", "Search, and show the hits with their matches marked, facets and counts",
        f"{_HOME}.show_search",
        operands=(INDEX, QUERY), options=(PARAMS,),
        spread=SearchOptions, body="search parameters",
        examples=("show products blue lamp", "show products lamp --facets brand --hitsPerPage 5"),
    ),
    Verb(
        "explain", "Say for each hit why it stands before the next",
        f"{_HOME}.explain",
        operands=(INDEX, QUERY), options=(PARAMS,),
        spread=SearchOptions, body="search parameters",
        examples=("explain products blue lamp", "explain products lamp --hitsPerPage 50"),
    ),
)  # fmt: skip

MANAGING: tuple[Verb, ...] = (
    Verb(
        "replace", "Put a file's or a DataFrame's rows in place of all records of an index",
        f"{_HOME}.replace_records",
        operands=(
            INDEX,
            operand("file", "path, glob, URL or SQL; or say --from", completes="path",
                    argument="source"),
        ),
        options=(
            Option("from", "the variable that holds the DataFrame", completes="variable",
                   argument="source", faces=("magic",)),
            Option("least", "share of the old number of records that there must be, 0.5", float),
            Option("skip-rejected", "leave out rows that cannot be sent", bool),
            *(option for option in ROWS if option.name not in _NOT_HERE),
        ),
        destructive="replace all records of {index}",
        examples=(
            "replace products products.csv --id sku",
            "replace products products.parquet --least 0.9 --yes",
        ),
    ),
    Verb(
        "keys get", "Read what a key may do; the one in use without a name",
        f"{_HOME}.get_key",
        operands=(
            operand("key", "the key: its first characters, or all of it", completes="key",
                    required=False),
        ),
        options=(_KEY_FROM, _OF_INDEX),
        examples=("keys get", "keys get 1f3a"),
    ),
    Verb(
        "keys add", "Make a key; it is masked unless `--reveal` asks for it",
        f"{_HOME}.add_key",
        options=(_OF_INDEX, _REVEAL, PARAMS),
        spread=KeyFields, body="fields of a key",
        examples=(
            "keys add --acl search,browse --indexes prod_* --description 'the shop' --reveal",
            "keys add --acl search --maxHitsPerQuery 50 --validity 3600",
        ),
    ),
    Verb(
        "keys update",
        "Change what a key may do; what is not named stays as it is, a validity is what is left",
        f"{_HOME}.update_key",
        operands=(_KEY,), options=(_KEY_FROM, _OF_INDEX, PARAMS),
        spread=KeyFields, body="fields of a key",
        examples=("keys update 1f3a --acl search --description 'the shop, old'",),
    ),
    Verb(
        "keys delete", "Delete a key; what this gives, `keys restore --from` takes",
        f"{_HOME}.delete_key",
        operands=(_KEY,), options=(_KEY_FROM, _OF_INDEX, _REVEAL),
        destructive="delete the key {key}",
        faces=("magic",),
        examples=("keys delete 1f3a", "keys delete 1f3a --yes"),
    ),
    Verb(
        "keys delete", "Delete a key and show it whole, as `keys restore` needs it",
        "svc_notebook.functions.verb_variants.delete_key_and_show",
        operands=(_KEY,), options=(_OF_INDEX,),
        destructive="delete the key {key}",
        faces=("command",),
        examples=("keys delete 1f3a", "keys delete 1f3a --yes"),
    ),
    *_whole_key(
        "keys restore", "Bring a deleted key back", "restore_key",
        examples=("--from answer",),
    ),
    *_whole_key(
        "keys secure", "Make a secured key: one that can do less than its parent; nothing is sent",
        "secured_key",
        name="parent", options=(_REVEAL, PARAMS),
        spread=Restrictions, body="restrictions", common=(),
        examples=("--from answer --filters owner:42 --reveal", "--restrictIndices products"),
    ),
    *_whole_key(
        "keys explain", "Say what a secured key restricts, read off the key; nothing is sent",
        "explain_key",
        common=(FORMAT,),
        examples=("--from answer",),
    ),
    Verb(
        "sources add", "Let a network call; with the first one listed, all others no longer may",
        f"{_HOME}.add_source",
        operands=(operand("source", "the network, such as 192.0.2.0/24"),),
        options=(Option("description", "what it is"),),
        destructive="let {source} call, and of all others only those listed",
        examples=("sources add 192.0.2.0/24 --description office --yes",),
    ),
    Verb(
        "sources replace", "Put networks in place of all that may call",
        f"{_HOME}.replace_sources",
        operands=(
            operand("file", "a CSV, JSON or NDJSON file; or say --from, or give a body",
                    completes="path", argument="sources"),
        ),
        options=(
            Option("from", "a variable holding them", completes="variable", argument="sources",
                   faces=("magic",)),
        ),
        body="networks", document=BodyDocument("sources", Source),
        destructive="let only these networks call",
        examples=("sources replace networks.csv --yes",),
    ),
    Verb(
        "sources delete", "Take a network off the list",
        f"{_HOME}.delete_source",
        operands=(operand("source", "the network", completes="network"),),
        destructive="no longer let {source} call",
        examples=("sources delete 192.0.2.0/24",),
    ),
    Verb(
        "users top", "List the users with the most records of each cluster, ranked",
        f"{_HOME}.read_top_users",
        examples=("users top",),
    ),
    Verb(
        "users get", "Read which cluster holds a user, and how much",
        f"{_HOME}.get_user",
        operands=(_USER,),
        examples=("users get 42",),
    ),
    Verb(
        "users assign", "Put new users on a cluster",
        f"{_HOME}.assign_users",
        operands=(_CLUSTER, operand("users", "their ids", list[str], rest=True)),
        options=(
            Option("from", "a variable holding them, a column for one", completes="variable",
                   argument="users", faces=("magic",)),
        ),
        examples=("users assign c1-eu 42 43",),
    ),
    Verb(
        "users move", "Move a user with its data to another cluster",
        f"{_HOME}.move_user",
        operands=(_USER, _CLUSTER),
        destructive="move the user {user} to {cluster}",
        examples=("users move 42 c2-eu --yes",),
    ),
    Verb(
        "users remove", "Remove a user with its data",
        f"{_HOME}.remove_user",
        operands=(_USER,),
        destructive="remove the user {user} with its data",
        examples=("users remove 42",),
    ),
    Verb(
        "users pending", "Say whether users are on the move",
        f"{_HOME}.pending_users",
        examples=("users pending",),
    ),
    Verb(
        "tasks", "List the newest tasks that this session's writes have made",
        f"{_HOME}.read_writes",
        operands=(operand("index", "only of this index", completes="index", required=False),),
        options=(
            Option("length", "how many, 20 unless told otherwise", int),
            Option("status", "ask the service for each", bool),
        ),
        faces=("magic",),
        examples=("tasks", "tasks products --status"),
    ),
    Verb(
        "tasks show", "Say whether tasks are published",
        f"{_HOME}.read_tasks",
        operands=(operand("tasks", "task ids", list[int], rest=True),),
        options=(
            Option("index", "index of the tasks", completes="index"),
            Option("from", "a variable holding an answer or several", completes="variable",
                   argument="tasks", faces=("magic",)),
        ),
        examples=("tasks show 17 18 --index products",),
    ),
    Verb(
        "tasks wait", "Wait until tasks are published",
        f"{_HOME}.wait",
        operands=(operand("tasks", "task ids", list[int], rest=True),),
        options=(
            Option("index", "index of the tasks", completes="index"),
            Option("from", "a variable holding an answer or several", completes="variable",
                   argument="tasks", faces=("magic",)),
            Option("timeout", "seconds to wait at the most", float),
        ),
        examples=("tasks wait 17 18 --index products",),
    ),
    Verb(
        "call", "Call any endpoint of the API by its name; the answer comes as it is",
        f"{_HOME}.call",
        operands=(
            operand("endpoint", "its name, as in the table of endpoints", completes="endpoint"),
            operand("arguments", "name=value each", list[str], required=False, rest=True),
        ),
        options=(
            Option("from", "a variable holding more arguments, as a dict", completes="variable",
                   argument="body", faces=("magic",)),
        ),
        body="arguments", document=BodyDocument("body", dict, many=False),
        destructive="call {endpoint}", spares=lambda given: given.get("endpoint") not in _WRITING,
        examples=(
            "call get_object index=products object_id=17",
            "call search_users query=smith hitsPerPage=5",
        ),
    ),
)  # fmt: skip
