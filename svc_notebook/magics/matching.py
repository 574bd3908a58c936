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
_NOTHING = Suggestions("", [])


def make_matcher(shell: Any) -> Matcher:
    """Make the matcher of one shell."""
    names = LiveNames(shell.user_ns)

    def match_svc(context: Any) -> Any:
        found = suggest(context.full_text, context.cursor_line, context.cursor_position, names)
        return {
            "completions": [
                completer.SimpleCompletion(text=text, type="svc") for text in found.texts
            ],
            "matched_fragment": found.fragment,
            "suppress": True,
            "ordered": True,
        }

    matcher: Matcher = completer.context_matcher(identifier=MATCHER)(match_svc)
    return matcher


def suggest(code: str, line: int, column: int, names: Names) -> Suggestions:
    """Suggest what could stand at one place of a cell."""
    lines = code.split("\n")
    typed = lines[line][:column]
    if cell := _CELL.fullmatch(lines[0] if line else typed):
        if line == 0:
            return complete_line(cell[1], "magic", names)
        return complete_body(cell[1], "\n".join([*lines[1:line], typed]), names)
    if found := _LINE.fullmatch(typed):
        return complete_line(found[1], "magic", names)
    return _NOTHING
