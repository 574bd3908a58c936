"""Limits of the service: sizes in bytes, counts and nesting depth."""

from __future__ import annotations

MAX_BODY_BYTES = 10 * 2**20
"""Bytes of one request's body, unpacked."""

MAX_EVENTS_BODY_BYTES = 2 * 2**20
"""Bytes of a body for the events interface, unpacked (api.md, Limits)."""

MAX_DELETIONS_PER_MINUTE = 100
"""Calls a minute that delete a user's events."""

MAX_HELD_BYTES = 256 * 2**20
"""Bytes of all bodies that are held at one time."""

MAX_DRAINED_BYTES = 100 * 2**20
"""Bytes of a refused body that are still read, so that its sender gets to see the refusal."""

MAX_RECORD_BYTES = 100_000
"""Bytes of one record as compact JSON."""

MAX_JSON_DEPTH = 100
"""Levels of arrays and objects in a body."""

INTEGERS = range(-(2**63), 2**64)
"""Integers that fit in 64 bits."""

MAX_INDEX_NAME_CHARACTERS = 255
"""Characters of an index name."""

MAX_OBJECT_ID_BYTES = 512
"""Bytes of an objectID."""

MAX_QUERY_BYTES = 512
"""Bytes of a query, and of one URL parameter's name."""

MAX_QUERIES = 500
"""Searches of one call."""

MAX_ANSWER_BYTES = 64 * 2**20
"""Bytes of the hits of all searches of one call."""

MAX_LIST_ITEMS = 1_000
"""Items of one list of a search; filters and areas have limits of their own."""

MAX_APPLIED_RULES = 1_000
"""Rules that change one search; of more, those that take precedence."""

MAX_BROWSED_RECORDS = 1000
"""Records of one browse answer."""

MAX_LOGGED_BYTES = 4000
"""Bytes of a body that are kept for the logs, which show a thousand characters."""

MIN_COMPRESSED_BYTES = 64 * 2**10
"""Bytes from which an answer is worth packing."""
