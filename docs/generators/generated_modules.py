"""The source of the modules that are generated from declarations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import svc_notebook
from generators.derivation import derive_verb
from generators.stubs import (
    blocking_stub,
    coroutine_stub,
    declarations,
    homes,
)
from svc_notebook.faces.commands.registry import SHARED, TYPES
from svc_notebook.faces.commands.verb import Option, Verb

PACKAGE = Path(svc_notebook.__file__).parent
# The order of verbs in help: these first, all others after them.
FIRST_VERBS = (
    "connect", "use", "profiles", "serve", "stop", "load", "push", "search", "show", "explain",
    "multi-search", "browse", "export", "get", "settings", "indices", "edit", "evaluate", "compare",
    "snapshot", "diff", "restore", "history", "undo", "scratches", "logs", "facets", "synonyms",
    "rules", "dictionaries", "languages", "keys", "clusters", "users", "sources", "pin", "unpin",
    "hide", "unhide", "delete", "clear", "copy", "move", "drop", "replace",
)  # fmt: skip
OTHERS = ""
LAST_VERBS = ("tasks", "call", "wait", "whoami", "help")


def verb_table() -> str:
    """Write the table of verbs."""
    rows = (derive_verb(each, spec) for each in declarations() for spec in each.verbs)
    texts = [_json(_write(row)) for row in sorted(rows, key=_rank)]
    return "[\n" + ",\n".join(texts) + "\n]\n"


def _rank(row: Verb) -> tuple[int, bool]:
    """Return the place of a verb: families in their order, in each the verb of one word first."""
    known = [*FIRST_VERBS, OTHERS, *LAST_VERBS]
    family = row.family if row.family in known else OTHERS
    return known.index(family), row.name != row.family


def _write(row: Verb | Option) -> dict[str, Any] | str:
    """Return a verb or an option as JSON, without what is the default."""
    for name, shared in SHARED.items():
        if row == shared:
            return name
    plain = Verb("", "", "", common=()) if isinstance(row, Verb) else Option("", "")
    members = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {
        name: _write_member(name, value)
        for name, value in members.items()
        if value != getattr(plain, name) and name != "positional"
    }


def _write_member(name: str, value: Any) -> Any:
    if name == "type":
        return _write_type(value)
    if name in ("operands", "options", "common"):
        return [*map(_write, value)]
    if name == "document":
        return {
            "argument": value.argument, "shape": _path(value.shape), "many": value.many,
            **({"script": True} if value.script else {}),
        }  # fmt: skip
    return _path(value) if name == "spread" else value


def _write_type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) is list and get_origin(get_args(kind)[0]) is Literal:
        return [get_args(get_args(kind)[0])]
    return next(name for name, named in TYPES.items() if named == kind)


def _path(shape: Any) -> str:
    return f"{shape.__module__}.{shape.__name__}"


def _json(row: Any) -> str:
    """Write a verb with one line for each member and option."""
    lines = []
    for name, value in row.items():
        items = value if name in ("operands", "options") else None
        text = _lines(items) if items else json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _lines(items: Any) -> str:
    return "[\n    " + ",\n    ".join(json.dumps(i, ensure_ascii=False) for i in items) + "\n  ]"


FILES: dict[str, Callable[[], str]] = {
    "faces/functions/homes.py": lambda: homes("svc"),
    "faces/functions/aio.pyi": lambda: coroutine_stub("svc"),
    "faces/functions/blocking.pyi": lambda: blocking_stub("svc"),
    "tuning/homes.py": lambda: homes("tuning"),
    "tuning/aio.pyi": lambda: coroutine_stub("tuning"),
    "tuning/blocking.pyi": lambda: blocking_stub("tuning"),
    "faces/commands/verbs.json": verb_table,
}
