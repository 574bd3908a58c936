"""The result of trying one page, as the crawler editor shows it, limited in size."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pandas import DataFrame

# Limits of the trial that a view shows and a notebook saves; `CrawlerEditor.trial` has all.
MAX_RECORDS = 20  # of each action
MAX_LINES = 200  # of links and of logs
MAX_RECORD_CHARACTERS = 4_000

# As the service writes them: the path of the member, what is wrong, and the line of the code.
_PLACE = re.compile(
    r"`?actions\[(?P<action>\d+)\](?:\.(?P<member>\w+))?[\w.\[\]]*`?:? "
    r"(?P<problem>[\s\S]*?)(?: \(line (?P<line>\d+), column \d+\))?"
)


def draw_trial(url: str, result: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the result of testing a configuration that a view shows."""
    links, lines = result.get("links") or [], _lines(result.get("logs"))
    return {
        "url": url,
        "seconds": _seconds(result),
        "error": _error(result.get("error"), config),
        "actions": [_action(action) for action in result.get("records") or []],
        "links": [str(link) for link in links[:MAX_LINES]],
        "linkCount": len(links),
        "lines": lines[:MAX_LINES],
        "lineCount": len(lines),
        "external": _write_limited(result["externalData"]) if result.get("externalData") else "",
    }


def to_frame(result: Mapping[str, Any]) -> DataFrame:
    """Return the records of a test as a DataFrame, `index` first, then `objectID`."""
    rows = [
        {"index": action.get("indexName", ""), **record}
        for action in result.get("records") or []
        for record in action.get("records") or []
    ]
    return DataFrame(rows, columns=None if rows else ["index", "objectID"])


def _action(action: Mapping[str, Any]) -> dict[str, Any]:
    records: Sequence[Any] = action.get("records") or []
    return {
        "index": str(action.get("indexName", "")),
        "count": len(records),
        "records": [_record(record) for record in records[:MAX_RECORDS]],
    }


def _record(record: Any) -> dict[str, str]:
    members = record if isinstance(record, Mapping) else {}
    return {"id": str(members.get("objectID", "")), "text": _write_limited(record)}


def _write_limited(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return (
        text
        if len(text) <= MAX_RECORD_CHARACTERS
        else f"{text[:MAX_RECORD_CHARACTERS]}\n… {len(text):,} characters in total"
    )


def _error(error: Any, config: Mapping[str, Any]) -> dict[str, Any] | None:
    if not error:
        return None
    members = error if isinstance(error, Mapping) else {"message": error}
    message = str(members.get("message", ""))
    if fault := find_action_error(message, config):
        return fault._asdict()
    return {"code": str(members.get("code", "")), "message": message}


def _lines(logs: Any) -> list[str]:
    """Return log lines as texts; a line can be a list of its parts."""
    return [
        " ".join(map(str, line)) if isinstance(line, list) else str(line) for line in logs or []
    ]


def _seconds(result: Mapping[str, Any]) -> float | None:
    try:
        began, ended = (
            datetime.fromisoformat(str(result[name])) for name in ("startDate", "endDate")
        )
    except (KeyError, ValueError):
        return None
    return round((ended - began).total_seconds(), 3)


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
