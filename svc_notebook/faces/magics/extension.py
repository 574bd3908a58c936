"""The `%svc` magic: line and cell execution, completion, registration in a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core import completer
from IPython.core.magic import no_var_expand

from svc_notebook.core.imports import import_accessors
from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import BadOption, SvcError
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.call_completion import CallSuggestions, complete_call
from svc_notebook.faces.commands.completion import (
    CompletionMatches,
    NameSource,
    complete_body,
    complete_line,
)
from svc_notebook.faces.commands.execution import perform
from svc_notebook.faces.commands.help import help as help_on
from svc_notebook.faces.commands.interpolation import literal_variable, variable_meant
from svc_notebook.faces.commands.name_completion import LiveNames
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import split_line
from svc_notebook.faces.magics.shell_hooks import MATCHER, Matcher

_LINE = re.compile(r"\s*(?:[^=%]+=\s*)?%svc\s+(.*)", re.S)
# A line that is not Python: its quotes and brackets are ignored.
_MAGIC = re.compile(r"\s*[%!].*")
_CELL = re.compile(r"\s*%%svc\s+(.*)", re.S)


class NonEmptyList(list[Any]):
    """A list that is never falsy, even if it is empty.

    IPython suppresses other matchers, such as Python names and files, only if the list of matches
    is not falsy.
    """

    def __len__(self) -> int:
        return super().__len__() or 1


def make_matcher(shell: Any) -> Matcher:
    """Return the matcher of one shell."""
    names = LiveNames(shell.user_ns, shell.user_ns_hidden)

    def match_svc(context: Any) -> Any:
        position = (context.full_text, context.cursor_line, context.cursor_position)
        if (suggested := suggest(*position, names)) is not None:
            return _matches(suggested, alone=True)
        if (call := suggest_in_call(*position, shell.user_ns, names)) is not None:
            return _matches(call.suggestions, alone=call.alone)
        return {"completions": []}

    matcher: Matcher = completer.context_matcher(identifier=MATCHER)(match_svc)
    return matcher


def _matches(matches: CompletionMatches, *, alone: bool) -> dict[str, Any]:
    """Return suggestions in the form of IPython; `alone` suppresses those of other matchers."""
    made = (completer.SimpleCompletion(text=text, type="svc") for text in matches.texts)
    return {
        "completions": NonEmptyList(made) if alone else list(made),
        "matched_fragment": matches.fragment,
        "suppress": alone,
        "ordered": True,
    }


def suggest_in_call(
    code: str, line: int, column: int, variables: Mapping[str, object], names: NameSource
) -> CallSuggestions | None:
    """Return suggestions inside a call of a function of this package."""
    lines = code.split("\n")
    before = [_MAGIC.sub("", line_text) for line_text in lines[:line]]
    return complete_call("\n".join([*before, lines[line][:column]]), variables, names)


def suggest(code: str, line: int, column: int, names: NameSource) -> CompletionMatches | None:
    """Return suggestions at a position of a cell; None outside of `%svc` and `%%svc`."""
    lines = code.split("\n")
    typed = lines[line][:column]
    if cell := _CELL.fullmatch(lines[0] if line else typed):
        if line == 0:
            return complete_line(cell[1], "magic", names)
        return complete_body(cell[1], "\n".join([*lines[1:line], typed]), names)
    if match := _LINE.fullmatch(typed):
        return complete_line(match[1], "magic", names)
    return None


Magic = Callable[..., Any]


def make_magic(shell: Any) -> Magic:
    """Return the function of `%svc` and `%%svc` for one shell."""

    @no_var_expand
    def svc(line: str, cell: str | None = None) -> Any:
        return run(line, cell, shell.user_ns)

    svc.__doc__ = help_on()
    return svc


def run(line: str, cell: str | None, variables: dict[str, Any]) -> Any:
    """Run a line; with `-o NAME` the value is assigned to a variable instead of returned."""
    if cell is not None and not line.strip():
        raise BadOption("the verb is missing; write it after `%%svc`, or list verbs by `%svc help`")
    verb, words = pick_verb([word.text for word in split_line(line)] or ["help"], "magic")
    if advice := literal_variable(verb, words, variables):
        warn_user(advice)
    try:
        call = bind_words(verb, words, "magic", variables, cell)
        import_accessors()  # the next cell can import pandas and use `df.svc` at once
        value = perform(call, "magic")
    except SvcError as error:
        if advice := variable_meant(verb, words, variables, error):
            error.add_note(advice)
        raise
    if call.output is None:
        return value
    variables[call.output] = value
    return None


_NAME = "svc"


def load(shell: Any) -> None:
    """Register `%svc` and `%%svc`; a second call has no effect."""
    unload(shell)
    shell.register_magic_function(make_magic(shell), magic_kind="line_cell", magic_name=_NAME)
    if hasattr(completer, "context_matcher"):  # IPython 8.6 or later
        shell.Completer.custom_matchers.append(make_matcher(shell))


def unload(shell: Any) -> None:
    """Restore the shell to its state before `load`."""
    manager = shell.magics_manager
    for kind in ("line", "cell"):
        manager.magics[kind].pop(_NAME, None)
    vars(manager.user_magics).pop(_NAME, None)
    matchers = getattr(shell.Completer, "custom_matchers", [])
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", None) != MATCHER]
