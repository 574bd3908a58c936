"""The source of the modules that are generated from declarations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import svc_notebook
from svc_notebook.commands.derivation import derive_verb
from svc_notebook.commands.stubs import (
    NOTE,
    blocking_stub,
    coroutine_stub,
    declarations,
    homes,
)
from svc_notebook.commands.verb import FORMAT, PARAMS, PROFILE, Option, Verb

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
    found = [derive_verb(each, spec) for each in declarations() for spec in each.verbs]
    table = _Source()
    rows = [table.verb(row) for row in sorted(found, key=_rank)]
    return "\n".join(
        [
            '"""The table of verbs of `%svc`, `%%svc` and the `svc` command."""\n',
            f"{NOTE}\n\nfrom __future__ import annotations\n",
            *sorted(table.lines, key=lambda line: (line.startswith("from"), line)),
            "\nVERBS: tuple[Verb, ...] = (",
            *rows,
            ")  # fmt: skip\n",
        ]
    )


def _rank(row: Verb) -> tuple[int, bool]:
    """Return the place of a verb: families in their order, in each the verb of one word first."""
    known = [*FIRST_VERBS, OTHERS, *LAST_VERBS]
    family = row.family if row.family in known else OTHERS
    return known.index(family), row.name != row.family


class _Source:
    """Verbs as Python source, with the imports that it needs."""

    def __init__(self) -> None:
        self.lines = {
            "import typing",
            "from svc_notebook.commands.verb import FORMAT, PARAMS, PROFILE, Option, Verb",
        }

    def verb(self, row: Verb) -> str:
        """Write one verb."""
        parts = [f"        {row.name!r}, {row.summary!r},", f"        {row.does!r},"]
        plain = Verb(row.name, row.summary, row.does)
        for name in Verb.__dataclass_fields__:
            value = getattr(row, name)
            if value != getattr(plain, name):
                parts.append(f"        {name}={self.value(value)},")
        return "\n".join(["    Verb(", *parts, "    ),"])

    def value(self, value: Any) -> str:
        """Write the value of a member."""
        if isinstance(value, Option):
            return self.option(value)
        if isinstance(value, tuple):
            inner = ", ".join(map(self.value, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if hasattr(value, "shape"):
            self.lines.add("from svc_notebook.declarations.declaration import BodyDocument")
            many = "" if value.many else ", many=False"
            return f"BodyDocument({value.argument!r}, {self.kind(value.shape)}{many})"
        return self.kind(value) if not isinstance(value, str | bool) else repr(value)

    def option(self, option: Option) -> str:
        """Write an option; those that all verbs share are constants."""
        for name, shared in (("PROFILE", PROFILE), ("FORMAT", FORMAT), ("PARAMS", PARAMS)):
            if option == shared:
                return name
        parts = [repr(option.name), repr(option.help)]
        plain = Option(option.name, option.help)
        for name in Option.__dataclass_fields__:
            value = getattr(option, name)
            if value != getattr(plain, name):
                text = self.kind(value) if name == "type" else repr(value)
                parts.append(f"{name}={text}")
        return f"\n            Option({', '.join(parts)})"

    def kind(self, kind: Any) -> str:
        """Write a type."""
        if not isinstance(kind, type) or hasattr(kind, "__origin__"):
            return repr(kind)
        if kind.__module__ != "builtins":
            self.lines.add(f"from {kind.__module__} import {kind.__name__}")
        return kind.__name__


FILES: dict[str, Callable[[], str]] = {
    "functions/homes.py": lambda: homes("svc"),
    "functions/aio.pyi": lambda: coroutine_stub("svc"),
    "functions/blocking.pyi": lambda: blocking_stub("svc"),
    "tuning/homes.py": lambda: homes("tuning"),
    "tuning/aio.pyi": lambda: coroutine_stub("tuning"),
    "tuning/blocking.pyi": lambda: blocking_stub("tuning"),
    "commands/verb_table.py": verb_table,
}
