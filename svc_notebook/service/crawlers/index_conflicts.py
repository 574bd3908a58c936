"""Find crawlers that write to the same index; each whole crawl replaces the other's records."""

from __future__ import annotations

import msgspec

from svc_notebook.service.crawlers.crawl import indices_of
from svc_notebook.service.crawlers.crawler import Config
from svc_notebook.service.store import Store

# Compares the full names of indices in the current configurations.
SHARED = """
    SELECT DISTINCT one.number, one.name,
        coalesce(json_extract(CAST(kept.config AS TEXT), '$.indexPrefix'), '')
        || json_extract(action.value, '$.indexName') AS target
    FROM crawlers AS one
    JOIN crawler_versions AS kept ON kept.crawler = one.number AND kept.version = one.version
    JOIN json_each(CAST(kept.config AS TEXT), '$.actions') AS action
    WHERE one.id <> ? AND target IN (SELECT value FROM json_each(?))
    ORDER BY one.number
"""


def find_rivals(store: Store, id: str, config: Config) -> list[str]:
    """Return a warning for each index of a configuration that another crawler also writes to."""
    indices = msgspec.json.encode(indices_of(config)).decode()
    return [
        f"the crawler {name} writes to {index}, too: each whole crawl replaces what the other "
        "brought; give one of them an `indexPrefix` or another `indexName`"
        for _, name, index in store.read(SHARED, id, indices)
    ]
