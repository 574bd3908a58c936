"""Displays of a crawler editor: the limited trial of a page, and tables in saved notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pandas import DataFrame

from svc_notebook.core.display import Html, format_count, text_of, write_table
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS, write_line

# Limits of the trial that a view shows and a notebook saves; `CrawlerEditor.trial` has all.
MAX_RECORDS = 20  # of each action
MAX_LINES = 200  # of links and of logs
MAX_RECORD_CHARACTERS = 4_000

# As the service writes them: the path of the member, what is wrong, and the line of the code.
_PLACE = re.compile(
    r"`?actions\[(?P<action>\d+)\](?:\.(?P<member>\w+))?[\w.\[\]]*`?:? "
    r"(?P<problem>[\s\S]*?)(?: \(line (?P<line>\d+), column \d+\))?"
)

MAX_CODE_CHARACTERS = 2_000  # of an extractor or a record

MAX_NAMED_PAGES = 3
# Properties that limit a crawl, each with a sentence of its value.
LIMITS = {
    "maxUrls": "It visits at most {:,} URLs.",
    "maxDepth": "It follows links up to a depth of {:,}.",
    "rateLimit": "It fetches at most {:,} pages at the same time.",
}


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


def write_configuration(config: Mapping[str, Any]) -> str:
    """Write the properties as a table, and the actions as another."""
    actions = config.get("actions")
    listed = actions if isinstance(actions, list) else []
    properties = [(name, member) for name, member in config.items() if name != "actions"]
    return "".join(
        [
            write_line(format_count(len(listed), "action")),
            write_table(("property", ""), properties[:SNAPSHOT_ROWS]),
            _write_actions(listed) if listed else "",
        ]
    )


def write_changes(changes: Sequence[Mapping[str, Any]]) -> str:
    """Write the changed properties before and after as a table; empty without changes."""
    rows = [
        (change["name"], *(_code(change.get(side)) for side in ("before", "after")))
        for change in changes
    ]
    head = write_line("Unsaved changes")
    return head + write_table(("property", "before", "after"), rows) if rows else ""


def write_trial(shown: Mapping[str, Any]) -> str:
    """Write the last test: its outcome, and the records as a table."""
    error = shown["error"]
    rows = [
        (action["index"], record["id"], _code(record["text"]))
        for action in shown["actions"]
        for record in action["records"]
    ]
    records = sum(action["count"] for action in shown["actions"])
    links = format_count(shown["linkCount"], "link")
    shortened = f", the first {len(rows)} shown" if len(rows) < records else ""
    return "".join(
        [
            write_line(f"{shown['url']}: {format_count(records, 'record')}, {links}{shortened}"),
            write_line(error["message"]) if error else "",
            write_table(("index", "objectID", "record"), rows) if rows else "",
        ]
    )


def _write_actions(actions: Sequence[Any]) -> str:
    rows = [
        (
            action.get("indexName"),
            "\n".join(map(str, action.get("pathsToMatch") or ())),
            _code(_source(action.get("recordExtractor"))),
        )
        for action in actions
        if isinstance(action, Mapping)
    ]
    return write_table(("index", "pages", "record extractor"), rows[:SNAPSHOT_ROWS])


def _source(extractor: Any) -> Any:
    return extractor.get("source") if isinstance(extractor, Mapping) else extractor


def _code(value: Any) -> Html:
    """Write code with its lines; JSON if the value is not a text."""
    text = text_of(value)
    if len(text) > MAX_CODE_CHARACTERS:
        text = f"{text[:MAX_CODE_CHARACTERS]}\n… {len(text):,} characters total"
    return Html(write_line(text, tag="pre"))


def list_targets(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the indices into which the actions store records."""
    prefix = config.get("indexPrefix") or ""
    actions = config.get("actions")
    listed = actions if isinstance(actions, list) else []
    names = (action.get("indexName") for action in listed if isinstance(action, Mapping))
    return list(dict.fromkeys(f"{prefix}{name}" for name in names if name))


def describe_crawl(config: Mapping[str, Any], records: Mapping[str, int]) -> Iterator[str]:
    """Yield what a crawl does; `records` are the records of existing indices."""
    pages = [
        str(page)
        for name in ("startUrls", "sitemaps", "extraUrls")
        if isinstance(config.get(name), list)
        for page in config[name]
    ]
    more = f" and {len(pages) - MAX_NAMED_PAGES:,} more" if len(pages) > MAX_NAMED_PAGES else ""
    first = ", ".join(pages[:MAX_NAMED_PAGES]) + more
    yield f"It starts at {first}." if pages else "It has no start URLs: add `startUrls` in JSON."
    for index in list_targets(config):
        if index in records:
            count = format_count(records[index], "record")
            yield f"When it ends, its records replace the content of {index}, which has {count}."
        else:
            yield f"Its records create the index {index}."
    for name, sentence in LIMITS.items():
        if isinstance(config.get(name), int):
            yield sentence.format(config[name])
