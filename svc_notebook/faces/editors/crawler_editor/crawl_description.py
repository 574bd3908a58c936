"""What a crawl of a configuration does, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from svc_notebook.core.display import format_count

MAX_NAMED_PAGES = 3
# Properties that limit a crawl, each with a sentence of its value.
LIMITS = {
    "maxUrls": "It visits at most {:,} URLs.",
    "maxDepth": "It follows links up to a depth of {:,}.",
    "rateLimit": "It fetches at most {:,} pages at the same time.",
}


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
