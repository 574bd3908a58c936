"""Completion of `%svc` lines and bodies, as IPython asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from IPython.core import completer

from svc_notebook.verbs.completion import Names, Suggestions, complete_body, complete_line
from svc_notebook.verbs.names import LiveNames

Matcher = Callable[[Any], Any]
MATCHER = "svc_notebook"
_LINE = re.compile(r"\s*(?:[^=%]+=\s*)?%svc\s+(.*)", re.S)
_CELL = re.compile(r"\s*%%svc\s+(.*)", re.S)


class Alone(list[Any]):
    """What IPython takes for something even if it is empty.

    It lets nobody else suggest, Python's names and files, only where its matches seem not none.
    """

    def __len__(self) -> int:
        return super().__len__() or 1


def make_matcher(shell: Any) -> Matcher:
    """Make the matcher of one shell."""
    names = LiveNames(shell.user_ns, shell.user_ns_hidden)

    def match_svc(context: Any) -> Any:
        found = suggest(context.full_text, context.cursor_line, context.cursor_position, names)
        if found is None:
            return {"completions": []}
        return {
            "completions": Alone(
                completer.SimpleCompletion(text=text, type="svc") for text in found.texts
            ),
            "matched_fragment": found.fragment,
            "suppress": True,
            "ordered": True,
        }

    matcher: Matcher = completer.context_matcher(identifier=MATCHER)(match_svc)
    return matcher


def suggest(code: str, line: int, column: int, names: Names) -> Suggestions | None:
    """Suggest what could stand at one place of a cell; None where it is not ours to say."""
    lines = code.split("\n")
    typed = lines[line][:column]
    if cell := _CELL.fullmatch(lines[0] if line else typed):
        if line == 0:
            return complete_line(cell[1], "magic", names)
        return complete_body(cell[1], "\n".join([*lines[1:line], typed]), names)
    if found := _LINE.fullmatch(typed):
        return complete_line(found[1], "magic", names)
    return None
