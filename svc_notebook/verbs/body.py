"""The body of a `%%svc` cell: a JSON object, or lines of `name: value`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from svc_notebook.api.checking import check_members, check_value, hints, place, read_text
from svc_notebook.errors import BadInput, BadOption, did_you_mean

_ENTRY = re.compile(r"(\w+)\s*:(?:\s+(.*)|$)", re.S)
_COMMA = re.compile(r"\s*,\s*")


class Entry(NamedTuple):
    """One `name: value` of a body; indented lines below it belong to its value."""

    name: str
    text: str
    line: int


def read_body(body: str, shape: Any) -> dict[str, Any]:
    """Read a body as members of a TypedDict; a refusal names the line."""
    if body.lstrip().startswith("{"):
        return check_members(_read_json(body), shape, "")
    members: dict[str, Any] = {}
    for entry in _entries(body):
        if entry.name in members:
            raise BadOption(f"line {entry.line}: `{entry.name}` is given twice")
        members[entry.name] = _read_entry(entry, hints(shape))
    return members


def read_word(text: str, wanted: Any, name: str) -> Any:
    """Read one word by its declared type; blanks around the commas of a list do not count."""
    if not text.startswith(("[", "{")) and not _takes_text(wanted):
        text = _COMMA.sub(",", text)
    return read_text(text, wanted, name)


def _read_json(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadOption(
            f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise BadOption("the body is nested too deeply") from None
    if not isinstance(value, dict):
        raise BadOption(f"the body should be a JSON object, not {type(value).__name__}")
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise BadOption(f"JSON has no {word}")


def _entries(body: str) -> Iterator[Entry]:
    open_entry: Entry | None = None
    for number, line in enumerate(body.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() and open_entry:
            open_entry = open_entry._replace(text=f"{open_entry.text}\n{line.strip()}")
            continue
        if open_entry:
            yield open_entry
        open_entry = _open_entry(line.strip(), number)
    if open_entry:
        yield open_entry


def _open_entry(line: str, number: int) -> Entry:
    found = _ENTRY.fullmatch(line)
    if not found:
        raise BadOption(f"line {number}: `{line[:40]}` is not `name: value`")
    return Entry(found[1], found[2] or "", number)


def _read_entry(entry: Entry, kinds: dict[str, Any]) -> Any:
    if entry.name not in kinds:
        advice = did_you_mean(entry.name, kinds)
        raise BadOption(f"line {entry.line}: `{entry.name}` is not known{advice}")
    try:
        return _read_value(entry.text.strip(), kinds[entry.name], entry.name)
    except BadInput as error:
        raise BadOption(f"line {entry.line}: {error}") from None


def _read_value(text: str, wanted: Any, name: str) -> Any:
    """Take the value as JSON where that fits; else as text, so that `query: 1984` is words."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return read_word(text, wanted, name)
    try:
        return check_value(value, wanted, name)
    except BadInput:
        if isinstance(value, (dict, list)):
            raise
        return read_word(text, wanted, name)


def _takes_text(wanted: Any) -> bool:
    try:
        check_value("a b", wanted, place("", ""))
    except BadInput:
        return False
    return True
