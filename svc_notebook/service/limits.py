"""Limits of the service (bytes, counts, nesting depth), and checks of index names and objectIDs."""

from __future__ import annotations

from typing import Any

from svc_notebook.errors import BadInput

# Maximum bytes of a request body, decompressed.
MAX_BODY_BYTES = 10 * 2**20

# Maximum bytes of a request body on the events interface, decompressed (api.md, Limits).
MAX_EVENTS_BODY_BYTES = 2 * 2**20

# Maximum calls per minute that delete a user's events.
MAX_DELETIONS_PER_MINUTE = 100

# Maximum bytes of a body that is read because it may contain the key of its sender.
MAX_ANONYMOUS_BODY_BYTES = 64 * 2**10

# Maximum bytes of all request bodies in memory at one time.
MAX_HELD_BYTES = 256 * 2**20

# Maximum bytes of a refused body that are still read, so that its sender receives the refusal.
MAX_DRAINED_BYTES = 100 * 2**20

# Maximum bytes of one record as compact JSON.
MAX_RECORD_BYTES = 100_000

# Maximum attributes of an index, those of objects inside attributes included.
MAX_INDEX_ATTRIBUTES = 10_000

# Maximum nesting depth of arrays and objects in a body.
MAX_JSON_DEPTH = 100

# Maximum characters of an index name.
MAX_INDEX_NAME_CHARACTERS = 255

# Maximum bytes of an objectID.
MAX_OBJECT_ID_BYTES = 512

# Maximum bytes of a query, and of a URL parameter's name.
MAX_QUERY_BYTES = 512

# Maximum searches of one call.
MAX_QUERIES = 500

# Maximum items of a list parameter of a search; filters and areas have separate limits.
MAX_LIST_ITEMS = 1_000

# Maximum rules applied to one search; beyond it, those with the highest precedence.
MAX_APPLIED_RULES = 1_000

# Maximum records of one browse page.
MAX_BROWSED_RECORDS = 1000

# Maximum bytes of a body stored for the logs, which show 1,000 characters.
MAX_LOGGED_BYTES = 4000

# Minimum bytes of a response that is compressed.
MIN_COMPRESSED_BYTES = 64 * 2**10


def read_object_id(value: Any, at: str) -> str:
    """Return an objectID, a string or an integer, as a string; raises `BadInput`."""
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or not value:
        raise BadInput(f"`{at}` must be a non-empty string")
    if "\x00" in value:
        raise BadInput(f"`{at}` contains a null character")
    if len(value.encode()) > MAX_OBJECT_ID_BYTES:
        raise BadInput(f"`{at}` is longer than {MAX_OBJECT_ID_BYTES} bytes")
    return value
