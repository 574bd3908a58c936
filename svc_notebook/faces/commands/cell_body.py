"""The body of a `%%svc` cell: JSON, YAML, or lines of `name: value`.

The value of a line is parsed by the type of its member, so that `query: 1984` is text and
`attributesToRetrieve: name, price` is a list. A value of several lines is YAML if possible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, is_typeddict

from svc_notebook.core.api.validation import check_members, check_value, hints
from svc_notebook.core.yaml_nodes import Entry, build_value, read_groups, takes_text_alone
from svc_notebook.errors import BadInput, BadOption, did_you_mean
from svc_notebook.faces.functions.text_values import is_json, is_valid, read_word

_ENTRY = re.compile(r"(\w+)\s*:(?:\s+(.*)|$)", re.S)
SEPARATOR = "---"
_DASHES = re.compile(r"\n(- .*(?:\n|$))+")


def read_body(body: str, shape: Any) -> dict[str, Any]:
    """Parse a body as members of a TypedDict; errors name the line."""
    if body.lstrip().startswith("{"):
        return check_members(_read_json(body), shape, "")
    groups = read_groups(body)
    if groups is not None and len(groups) > 1:
        raise BadOption(f"the body must contain one object, not {len(groups)}")
    entries = next(iter(groups), []) if groups is not None else list(_entries(body))
    return _read_entries(entries, shape, body)


def read_documents(body: str, shape: Any) -> list[dict[str, Any]]:
    """Parse a body as objects: JSON, or YAML, or `name: value` lines; `---` separates objects."""
    if body.lstrip().startswith(("{", "[")):
        content = _load_json(body)
        return content if isinstance(content, list) else [content]
    groups = read_groups(body)
    if groups is None:
        groups = _groups_of_lines(body)
    return [_read_entries(group, shape, body) for group in groups if group]


def _groups_of_lines(body: str) -> list[list[Entry]]:
    groups: list[list[Entry]] = [[]]
    for entry in _entries(body):
        groups[-1].append(entry)
        if entry.name == SEPARATOR:
            groups[-1].pop()
            groups.append([])
    return groups


def _read_entries(entries: list[Entry], shape: Any, body: str) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for entry in entries:
        if entry.name in members:
            raise BadOption(f"line {entry.line}: `{entry.name}` is given twice")
        members[entry.name] = _read_entry(entry, shape, body)
    return members


def _read_json(body: str) -> dict[str, Any]:
    value = _load_json(body)
    if not isinstance(value, dict):
        raise BadOption(f"the body must be a JSON object, not {type(value).__name__}")
    return value


def _load_json(body: str) -> Any:
    try:
        return json.loads(
            body, parse_constant=_reject_constant, object_pairs_hook=_reject_duplicates
        )
    except json.JSONDecodeError as error:
        raise BadOption(
            f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise BadOption("the body is nested too deeply") from None


def _reject_constant(word: str) -> NoReturn:
    raise BadOption(f"{word} is not valid JSON")


def _reject_duplicates(members: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(members)
    if len(unique) < len(members):
        names = [name for name, _ in members]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise BadOption(f"`{duplicate}` is given twice")
    return unique


def _entries(body: str) -> Iterator[Entry]:
    open_entry: Entry | None = None
    for number, line in enumerate(body.split("\n"), 1):
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
    if line == SEPARATOR:
        return Entry(SEPARATOR, "", number)
    match = _ENTRY.fullmatch(line)
    if not match:
        raise BadOption(f"line {number}: `{line[:40]}` is not `name: value`")
    return Entry(match[1], match[2] or "", number)


def _read_entry(entry: Entry, shape: Any, body: str) -> Any:
    kinds = hints(shape) if is_typeddict(shape) else {entry.name: Any}
    if entry.name not in kinds:
        advice = did_you_mean(entry.name, kinds)
        raise BadOption(f"line {entry.line}: unknown member `{entry.name}`{advice}")
    try:
        if entry.node is not None:
            return _read_node(entry, kinds[entry.name], body)
        if _DASHES.fullmatch(entry.text):
            return check_value(_read_items(entry.text), kinds[entry.name], entry.name)
        return _read_value(entry.text.strip(), kinds[entry.name], entry.name)
    except BadInput as error:
        raise BadOption(f"line {entry.line}: {error}".replace(" | null", "")) from None


def _read_node(entry: Entry, expected: Any, body: str) -> Any:
    """Parse a value of YAML; words, JSON and text-only values are parsed like a line."""
    node = entry.node
    is_word = node.id == "scalar" and not node.style
    if is_word or is_json(entry.text) or (node.id != "scalar" and takes_text_alone(expected)):
        return _read_value(entry.text, expected, entry.name)
    value = build_value(node, expected, body)
    if isinstance(value, str) and not is_valid(value, expected) and is_valid([value], expected):
        value = [value]  # quoted, where one item of a list is accepted
    return check_value(value, expected, entry.name)


def _read_items(text: str) -> list[Any]:
    """Parse lines that each begin with a dash."""
    return [_unquoted(line.removeprefix("- ").strip()) for line in text.strip().split("\n")]


def _unquoted(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (str, list, dict)) else text


def _read_value(text: str, expected: Any, name: str) -> Any:
    """Parse a value as JSON if the type fits; else as text, so that `query: 1984` is text."""
    try:
        value = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return read_word(text, expected, name)
    try:
        return check_value(value, expected, name)
    except BadInput:
        if isinstance(value, (dict, list)):
            raise
        if isinstance(value, str) and is_valid([value], expected):
            return [value]
        return read_word(text, expected, name)
