"""Errors of the grammar of `%svc` and `%%svc` in a cell; nothing is run or sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from svc_notebook.commands.binding import bind_words
from svc_notebook.commands.registry import pick_verb
from svc_notebook.commands.tokenizer import split_line
from svc_notebook.editors.rpc import call
from svc_notebook.errors import SvcError
from svc_notebook.lab.changes import shell_of_kernel

_CELL = re.compile(r"\s*%%svc[ \t]+(.*)")
_LINE = re.compile(r"\s*(?:[^=%#'\"]+=\s*)?%svc[ \t]+(.*)")
_IN_BODY = re.compile(r"line (\d+): ")


class CellError(NamedTuple):
    """An error, and the line of the cell that it is in, counted from 0."""

    line: int
    message: str


class CellCalls:
    """The call that checks a cell."""

    @call(latest=True)
    def check_cell(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of a cell: `line`, `message`."""
        shell = shell_of_kernel()
        variables = {} if shell is None else shell.user_ns
        return [error._asdict() for error in find_errors(text, variables)]


def find_errors(text: str, variables: Mapping[str, object]) -> Iterator[CellError]:
    """Yield the errors of a cell's magic lines and of its body."""
    first, _, body = text.partition("\n")
    if cell := _CELL.fullmatch(first):
        if error := _error_of(cell[1], body, variables):
            yield error
        return
    for number, line in enumerate(text.split("\n")):
        if (match := _LINE.fullmatch(line)) and (error := _error_of(match[1], None, variables)):
            yield error._replace(line=number)


def _error_of(line: str, body: str | None, variables: Mapping[str, object]) -> CellError | None:
    try:
        verb, words = pick_verb([word.text for word in split_line(line)] or ["help"], "magic")
        bind_words(verb, words, "magic", variables, body, evaluates=False)
    except SvcError as error:
        message = str(error)
        position = _IN_BODY.match(message) if body is not None else None
        return CellError(
            int(position[1]) if position else 0, message[position.end() if position else 0 :]
        )
    return None
