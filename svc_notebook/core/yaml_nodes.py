"""YAML as nodes with positions: cell bodies and files, their values read by expected types.

Scalars follow the core schema of YAML 1.2 as far as JSON has the same: `true`, `false`, `null`,
whole numbers and decimals. Everything else is text: `no`, `2024-05-01`, `0123`, `1_000`, `12:30`.
A comment needs whitespace on both sides of its `#`; anchors, aliases and tags are rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args, get_origin

from svc_notebook.core.api.validation import alternatives, check_value, hints, is_shape
from svc_notebook.errors import BadInput, BadOption

MAX_NUMBER_CHARACTERS = 300  # longer numbers stay text
MAX_DEPTH = 100  # of lists and objects inside each other; the time of the scanner is quadratic
WORDS = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_HIDDEN = re.compile(r"[ \t]*#(\S)")


class Entry(NamedTuple):
    """One member of a body: its name, its text, its line, and its YAML node."""

    name: str
    text: str
    line: int
    node: Any = None


def read_groups(body: str) -> list[list[Entry]] | None:
    """Parse the members of each object of a body; None if it is not YAML, or has no objects.

    Raises `BadOption` for YAML that would lose data: a duplicate member, or the rest of a line
    behind a `#` that is probably not a comment.
    """
    nodes = _compose(body)
    if nodes is None:
        return None
    if len(nodes) == 1 and nodes[0].id == "sequence":
        nodes = nodes[0].value
    if not all(node.id == "mapping" for node in nodes):
        return None
    for node in nodes:
        _check_node(node, body)
    return [list(_entries(node, body)) for node in nodes]


def build_value(node: Any, expected: Any, body: str) -> Any:
    """Build the value of a node, in the expected type if possible."""
    if node.id == "scalar":
        return _build_scalar(node, expected, body)
    kinds = alternatives(expected)
    if takes_text_alone(expected):
        return slice_of(node, body)
    if node.id == "sequence":
        item = _argument_of(kinds, list, 0)
        return [build_value(item_node, item, body) for item_node in node.value]
    members = next((hints(kind) for kind in kinds if is_shape(kind)), {})
    other = _argument_of(kinds, dict, 1)
    return {
        name.value: build_value(value, members.get(name.value, other), body)
        for name, value in node.value
    }


def _argument_of(kinds: Iterable[Any], container: type, position: int) -> Any:
    """Return the type of the members of the first such container; Any without one."""
    held = (get_args(kind)[position] for kind in kinds if get_origin(kind) is container)
    return next(held, Any)


def takes_text_alone(expected: Any) -> bool:
    """Return whether a type accepts text and nothing that has parts."""
    kinds = alternatives(expected)
    parted = any(get_origin(kind) in (list, dict) or is_shape(kind) for kind in kinds)
    return str in kinds and not parted and Any not in kinds


def slice_of(node: Any, body: str) -> str:
    """Return the text of a node as typed, without surrounding whitespace."""
    lines = body[node.start_mark.index : node.end_mark.index].split("\n")
    return "\n".join(line.strip() for line in lines).strip()


def read_document(text: str, name: str) -> Any:
    """Parse a file with one document; return its node, None if it has only comments.

    Raises `BadInput` with name and line for what is not YAML, or would lose data: anchors, tags, a
    duplicate member, the rest of a line behind a `#` that is probably not a comment.
    """
    try:
        import yaml
    except ImportError:
        raise BadInput(f"{name} needs PyYAML: pip install 'svc-notebook[config]'") from None
    try:
        if event := next(_references(yaml, text), None):
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise BadInput(f"{name}, line {line}: anchors, aliases and tags are not supported")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _check_node(node, text)
    except BadOption as error:
        raise BadInput(f"{name}, {error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line_text = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error) or "too deeply nested"
        raise BadInput(f"{name}{line_text} is not YAML: {problem}") from None
    return node


def _compose(body: str) -> list[Any] | None:
    try:
        import yaml
    except ImportError:  # installed with the extra `lab`; without it, bodies are lines
        return None
    try:
        if next(_references(yaml, body), None):
            return None
        return [node for node in yaml.compose_all(body, Loader=yaml.SafeLoader) if node]
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def _events(yaml: Any, text: str) -> Iterator[Any]:
    """Yield the events of a text; raises an error of YAML at the line that is nested too deeply."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(
                problem=f"more than {MAX_DEPTH} lists and objects inside each other",
                problem_mark=event.start_mark,
            )
        yield event


def _references(yaml: Any, text: str) -> Iterator[Any]:
    """Yield the events of aliases, and of values after an anchor or a tag."""
    for event in _events(yaml, text):
        is_marked = getattr(event, "anchor", None) or getattr(event, "tag", None)
        if is_marked or isinstance(event, yaml.AliasEvent):
            yield event


def _check_node(node: Any, body: str) -> None:
    if node.id == "scalar" or node.flow_style:
        _reject_comment(node, body)
    if node.id == "scalar":
        return
    if node.id == "sequence":
        for item in node.value:
            _check_node(item, body)
    else:
        seen: set[str] = set()
        for name, value in node.value:
            line = name.start_mark.line + 1
            if name.id != "scalar":
                raise BadOption(f"line {line}: a name must be text, not a list or an object")
            if name.value in seen:
                raise BadOption(f"line {line}: `{name.value}` is given twice")
            seen.add(name.value)
            _check_node(value, body)


def _reject_comment(node: Any, body: str) -> None:
    """Reject `colour: red #2`, which YAML reads as `red`."""
    rest = body[node.end_mark.index :].partition("\n")[0]
    before = body[: node.end_mark.index][-1:]
    if _HIDDEN.match(rest) and (rest[0] in " \t" or before in ("", ":", " ")):
        raise BadOption(
            f"line {node.end_mark.line + 1}: `{rest.strip()[:40]}` begins a comment in YAML; quote "
            "the value to keep it, or put a space after the `#`"
        )


def _entries(node: Any, body: str) -> Iterator[Entry]:
    for name, value in node.value:
        yield Entry(name.value, slice_of(value, body), name.start_mark.line + 1, value)


def _build_scalar(node: Any, expected: Any, body: str) -> Any:
    if node.style == '"':
        return _read_quoted(node, body)
    if node.style:
        return node.value
    value = read_word(node.value)
    return value if _fits(value, expected) or not _fits(node.value, expected) else node.value


def _read_quoted(node: Any, body: str) -> str:
    """Read a quoted text as JSON if it is JSON: YAML reads a surrogate pair as two characters."""
    try:
        text = json.loads(body[node.start_mark.index : node.end_mark.index])
    except ValueError:
        text = node.value
    return str(text)


def read_word(text: str) -> Any:
    """Read an unquoted word."""
    if text in WORDS:
        return WORDS[text]
    match = _NUMBER.fullmatch(text)
    if not match or len(text) > MAX_NUMBER_CHARACTERS:
        return text
    if not any(match.groups()):
        return int(text)
    number = float(text)
    return text if number in (float("inf"), float("-inf")) else number


def _fits(value: Any, expected: Any) -> bool:
    try:
        check_value(value, expected, "")
    except BadInput:
        return False
    return True
