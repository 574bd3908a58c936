"""Completion of `%svc` lines and bodies, as IPython asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core import completer

from svc_notebook.magics.hook import MATCHER
from svc_notebook.verbs.call_completion import Found, complete_call
from svc_notebook.verbs.completion import Names, Suggestions, complete_body, complete_line
from svc_notebook.verbs.names import LiveNames

Matcher = Callable[[Any], Any]
_LINE = re.compile(r"\s*(?:[^=%]+=\s*)?%svc\s+(.*)", re.S)
# A line that is not Python, whose quotes and brackets open nothing.
_MAGIC = re.compile(r"\s*[%!].*")
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
        place = (context.full_text, context.cursor_line, context.cursor_position)
        if (found := suggest(*place, names)) is not None:
            return _matches(found, alone=True)
        if (call := suggest_in_call(*place, shell.user_ns, names)) is not None:
            return _matches(call.suggestions, alone=call.alone)
        return {"completions": []}

    matcher: Matcher = completer.context_matcher(identifier=MATCHER)(match_svc)
    return matcher


def _matches(found: Suggestions, *, alone: bool) -> dict[str, Any]:
    """Write suggestions as IPython takes them; those that stand alone leave no room for others."""
    made = (completer.SimpleCompletion(text=text, type="svc") for text in found.texts)
    return {
        "completions": Alone(made) if alone else list(made),
        "matched_fragment": found.fragment,
        "suppress": alone,
        "ordered": True,
    }


def suggest_in_call(
    code: str, line: int, column: int, variables: Mapping[str, object], names: Names
) -> Found | None:
    """Suggest what could stand inside a call of one of our functions."""
    lines = code.split("\n")
    before = [_MAGIC.sub("", each) for each in lines[:line]]
    return complete_call("\n".join([*before, lines[line][:column]]), variables, names)


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
