"""The magic itself: a line is bound to a verb, its function called, its value returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.magic import no_var_expand

from svc_notebook.api.warning import warn_user
from svc_notebook.errors import BadOption, SvcError
from svc_notebook.verbs.binding import bind_words
from svc_notebook.verbs.helping import help as help_on
from svc_notebook.verbs.line import split_line
from svc_notebook.verbs.performing import perform
from svc_notebook.verbs.table import pick_verb
from svc_notebook.verbs.variables import literal_variable, variable_meant

Magic = Callable[..., Any]


def make_magic(shell: Any) -> Magic:
    """Make the function behind `%svc` and `%%svc` of one shell."""

    @no_var_expand
    def svc(line: str, cell: str | None = None) -> Any:
        return run(line, cell, shell.user_ns)

    svc.__doc__ = help_on()
    return svc


def run(line: str, cell: str | None, variables: dict[str, Any]) -> Any:
    """Do what a line says; with `-o NAME` the value is kept in place of being returned."""
    if cell is not None and not line.strip():
        raise BadOption("write the verb after `%%svc`, on its line: `%svc help` lists them")
    verb, words = pick_verb([word.text for word in split_line(line)] or ["help"], "magic")
    if advice := literal_variable(verb, words, variables):
        warn_user(advice)
    try:
        call = bind_words(verb, words, "magic", variables, cell)
        value = perform(call, "magic")
    except SvcError as error:
        if advice := variable_meant(verb, words, variables, error):
            error.add_note(advice)
        raise
    if call.output is None:
        return value
    variables[call.output] = value
    return None
