"""Errors of a crawler's actions in the words of its form: extractor, action and line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# As the service writes them: the path of the member, what is wrong, and the line of the code.
_PLACE = re.compile(
    r"`?actions\[(?P<action>\d+)\](?:\.(?P<member>\w+))?[\w.\[\]]*`?:? "
    r"(?P<problem>[\s\S]*?)(?: \(line (?P<line>\d+), column \d+\))?"
)


class ActionError(NamedTuple):
    """An error of an action: a message, the place of the action, and the line of its extractor.

    `line` counts from 1; it is 0 if the error is not in the code of the extractor.
    """

    message: str
    action: int
    line: int


def find_action_error(message: str, config: Mapping[str, Any]) -> ActionError | None:
    """Return an error of an action in the words of the form; None if it is of something else."""
    match = _PLACE.fullmatch(message)
    if match is None:
        return None
    action, line = int(match["action"]), int(match["line"] or 0)
    name = f"action {action + 1}{_describe_index(config.get('actions'), action)}"
    problem, member = match["problem"], match["member"]
    if line:
        text = f"{problem} in line {line} of the extractor of {name}"
    elif member and member != "recordExtractor":
        text = f"`{member}` of {name} {problem}"
    else:
        text = f"The extractor of {name}: {problem}"
    return ActionError(text, action, line)


def _describe_index(actions: Any, position: int) -> str:
    listed = actions if isinstance(actions, Sequence) else ()
    action = listed[position] if position < len(listed) else None
    index = action.get("indexName") if isinstance(action, Mapping) else None
    return f" (index {index})" if index else ""
