"""The search engine: records, settings and queries, no HTTP and no SQLite."""

from __future__ import annotations
