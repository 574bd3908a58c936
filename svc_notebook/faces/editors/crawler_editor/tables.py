"""A crawler editor in a saved notebook: what its crawl does, its configuration, the last test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.core.display import Html, format_count, text_of, write_table
from svc_notebook.faces.editors.fallback import SNAPSHOT_ROWS, write_line

MAX_CODE_CHARACTERS = 2_000  # of an extractor or a record

MAX_NAMED_PAGES = 3
# Properties that limit a crawl, each with a sentence of its value.
LIMITS = {
    "maxUrls": "It visits at most {:,} URLs.",
    "maxDepth": "It follows links up to a depth of {:,}.",
    "rateLimit": "It fetches at most {:,} pages at the same time.",
}


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
