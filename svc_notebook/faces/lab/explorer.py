"""What the explorer shows: the connection, the indices, the content of an index, the crawlers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from svc_notebook.core.display import shorten
from svc_notebook.data import session
from svc_notebook.data.client import is_preview
from svc_notebook.data.session import trust_folder
from svc_notebook.errors import BadInput, NotConnected, NotTrusted, SvcError
from svc_notebook.faces.commands.binding import BoundCall, bind_words
from svc_notebook.faces.commands.execution import describe_action
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import quote_word
from svc_notebook.faces.editors.rpc import call, plain
from svc_notebook.faces.functions import aio, connection

Style = Literal["python", "magic"]
CHANGES = ("clear", "copy", "drop", "move")
NEW_CRAWLER = "{svc}.edit.crawler({value}, value={start})"
# The code of each action, in Python and as a line magic.
CODE: dict[str, tuple[str, str]] = {
    "load": ('{svc}.load("FILE", {value})', "%svc load FILE {word}"),
    "search": ('{svc}.search({value}, "")', "%svc search {word}"),
    "browse": ("{svc}.read_browse({value})", "%svc browse {word}"),
    "edit": ("{svc}.edit({value})", "%svc edit {word}"),
    **{
        f"edit {name}": (f"{{svc}}.edit.{name}({{value}})", f"%svc edit {name} {{word}}")
        for name in ("query", "settings", "synonyms", "rules", "judgments", "analytics", "crawler")
    },
    # A magic has no option for the value, so both styles call the function.
    "new crawler": (NEW_CRAWLER, NEW_CRAWLER),
}

SAMPLE_RECORDS = 20
FACET_VALUES = 5  # of each facet, the most frequent first
MAX_EXAMPLE_CHARACTERS = 80
KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}


class ExplorerCalls:
    """Calls that read; they use the current client of the kernel."""

    @call
    def read_connection(self) -> dict[str, Any]:
        """Return the current connection, or the profiles to connect to; nothing is sent."""
        try:
            client = session.current()
        except NotConnected:
            return {"connected": False, "profiles": self.read_profiles()}
        return {
            "connected": True,
            "id": str(id(client)),
            "profile": session.profile_of(client),
            "application": client.connection.app_id,
            "address": client.connection.address,
        }

    @call
    def read_profiles(self) -> list[str]:
        """Return the names of the profiles, as `svc.profiles()` does."""
        return [*connection.profiles()]

    @call
    async def connect(self, profile: str, trust: str | None = None) -> dict[str, Any]:
        """Connect the kernel to a profile, as `svc.connect(profile)` does.

        `trust` is the folder that the user has decided to trust. If a folder must be trusted
        first, the answer has its `folder`, the `profile` and the `address`, and nothing changes.
        """
        if trust is not None:
            await asyncio.to_thread(trust_folder, Path(trust))
        try:
            await asyncio.to_thread(session.connect, profile)
        except NotTrusted as error:
            question = {"folder": f"{error.folder}", "profile": profile, "address": error.address}
            return {"connected": False, "untrusted": question}
        return self.read_connection()

    @call
    async def read_rights(self) -> dict[str, Any]:
        """Return what the key may do, as `svc.whoami()` does."""
        rights = await aio.whoami()
        return {"rights": rights.get("rights"), "restrictions": rights.get("restrictions")}

    @call
    async def read_indices(self) -> list[dict[str, Any]]:
        """Return the indices: name, records, size in bytes, pending tasks, primary."""
        answer = await session.current().aio.list_indices()
        return [
            {
                "name": entry["name"],
                "records": entry["entries"],
                "bytes": entry["dataSize"],
                "pending": entry["numberOfPendingTasks"],
                "primary": entry.get("primary", ""),
            }
            for entry in answer["items"]
            if not is_preview(entry["name"])
        ]

    @call
    async def read_index(self, index: str) -> dict[str, Any]:
        """Return the content of an index; a part that the key may not read is its error."""
        client = session.current().aio
        parts: dict[str, Awaitable[Any]] = {
            "attributes": _attributes(index),
            "settings": _changed_settings(index),
            "synonyms": client.search_synonyms(index, hitsPerPage=1),
            "rules": client.search_rules(index, hitsPerPage=1),
        }
        contents = dict(zip(parts, await asyncio.gather(*map(_try, parts.values())), strict=True))
        for name in ("synonyms", "rules"):
            contents[name] = {
                **contents[name],
                "value": contents[name].get("value", {}).get("nbHits"),
            }
        sample = contents.pop("attributes")
        if "error" in sample:
            return {**contents, "attributes": sample, "facets": sample}
        attributes, facets = sample["value"]
        return {**contents, "attributes": {"value": attributes}, "facets": {"value": facets}}

    @call
    async def read_crawlers(self) -> list[dict[str, Any]]:
        """Return the crawlers, their state and the time of their last run."""
        frame = await aio.read_crawlers()
        return [
            {
                "name": row["name"],
                "id": row["id"],
                "state": _state(row),
                "lastRun": _text_of_time(row["lastReindexEndedAt"]),
            }
            for row in frame.to_dict("records")
        ]


async def _try(work: Awaitable[Any]) -> dict[str, Any]:
    try:
        return {"value": await work}
    except SvcError as error:
        return {"error": str(error)}


async def _attributes(index: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the attributes of some records, and the facets with their most frequent values."""
    answer = await session.current().aio.search(
        index, query="", hitsPerPage=SAMPLE_RECORDS, attributesToHighlight=[],
        facets=["*"], maxValuesPerFacet=FACET_VALUES, analytics=False,
    )  # fmt: skip
    attributes: dict[str, Any] = {}
    for hit in answer["hits"]:
        for name, value in hit.items():
            if name not in ("_highlightResult", "_snippetResult") and attributes.get(name) is None:
                attributes[name] = value
    facets = answer.get("facets", {})
    return (
        [{"name": name, **describe_value(value)} for name, value in attributes.items()],
        [{"name": name, "values": [*counts.items()]} for name, counts in facets.items()],
    )


def describe_value(value: Any) -> dict[str, str]:
    """Return the kind of a value, and the value as text."""
    if value is None:
        return {"kind": "null", "example": ""}
    text = value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()
    example = shorten(text, MAX_EXAMPLE_CHARACTERS)
    return {"kind": KINDS.get(type(value), type(value).__name__), "example": example}


async def _changed_settings(index: str) -> list[dict[str, str]]:
    frame = await aio.diff_settings(index)
    return [
        {"name": row["setting"], "value": msgspec.json.encode(plain(row[index])).decode()}
        for row in frame.to_dict("records")
    ]


def _state(crawler: Mapping[Any, Any]) -> str:
    states = {"blocked": "blocked", "reindexing": "reindexing", "running": "active"}
    state = next((word for name, word in states.items() if crawler[name]), "paused")
    is_new = state == "paused" and not _text_of_time(crawler["lastReindexStartedAt"])
    return "not run yet" if is_new else state


def _text_of_time(value: Any) -> str:
    text = str(value)
    return "" if text in ("NaT", "None", "nan", "<NA>") else text[:16]


class ChangeCalls:
    """Calls that write code, and calls that change an index."""

    @call
    def write_code(self, action: str, name: str, style: Style = "python", value: str = "") -> str:
        """Return code that does an action, with the import or the extension that it needs.

        A new crawler starts at the address `value`.
        """
        if action not in CODE:
            raise BadInput(f"there is no code for `{action}`")
        shell = shell_of_kernel()
        python, magic = CODE[action]
        if style == "magic" and magic != python:
            loaded = shell is None or "svc" in shell.magics_manager.magics["line"]
            start = "" if loaded else "%load_ext svc_notebook\n"
            return start + magic.format(word=quote_word(name))
        bound = _package_name({} if shell is None else shell.user_ns)
        start = "" if bound else "import svc_notebook as svc\n"
        names = {"svc": bound or "svc", "value": _quoted(name), "start": _quoted(value)}
        return start + python.format(**names)

    @call
    def describe_change(self, verb: str, index: str, destination: str = "") -> str:
        """Return the question that the verb asks before it changes anything."""
        bound = _bind(verb, index, destination)
        text, _ = describe_action(bound, session.current())
        return f"{text[0].upper()}{text[1:]}?"

    @call
    async def change_index(self, verb: str, index: str, destination: str = "") -> dict[str, Any]:
        """Clear, copy, drop or move an index; the user has confirmed it."""
        bound = _bind(verb, index, destination)
        function = getattr(aio, bound.verb.function.__name__)
        result: dict[str, Any] = await function(**bound.arguments)
        return result


def _bind(verb: str, index: str, destination: str) -> BoundCall:
    if verb not in CHANGES:
        raise BadInput(f"`{verb}` is not one of {', '.join(CHANGES)}")
    row, _ = pick_verb([verb], "magic")
    return bind_words(row, ["--", index, *([destination] if destination else [])], "magic")


def _quoted(name: str) -> str:
    """Write a text as a Python literal in double quotes, as the documentation does."""
    return f'"{name}"' if name.isprintable() and not {*'"\\'} & {*name} else repr(name)


def _package_name(variables: Mapping[str, Any]) -> str:
    """Return the name under which the user has imported the package, or an empty text."""
    package = sys.modules["svc_notebook"]
    return next(
        (name for name, value in variables.items() if value is package and name[:1] != "_"), ""
    )


def shell_of_kernel() -> Any:
    """Return the shell of this kernel; calls run in a thread of the package."""
    from IPython.core.interactiveshell import InteractiveShell

    return InteractiveShell.instance() if InteractiveShell.initialized() else None
