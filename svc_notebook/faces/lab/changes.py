"""What the actions of the explorer do: code for a cell, and changes after a confirmation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Literal

from svc_notebook.data import session
from svc_notebook.errors import BadInput
from svc_notebook.faces.commands.binding import BoundCall, bind_words
from svc_notebook.faces.commands.execution import describe_action
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import quote_word
from svc_notebook.faces.editors.rpc import call
from svc_notebook.faces.functions import aio

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
