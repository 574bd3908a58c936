"""Answers to DataFrames of a documented schema."""

from __future__ import annotations

from svc_notebook.frames.listing import (
    read_clusters,
    read_dictionary,
    read_keys,
    read_languages,
    read_rules,
    read_sources,
    read_synonyms,
    read_top_users,
    read_users,
)
from svc_notebook.frames.reading import (
    browse_chunks,
    read_browse,
    read_indices,
    read_logs,
    read_records,
    read_settings,
)
from svc_notebook.frames.searching import read_facet_values, read_facets, search, search_many

__all__ = [
    "browse_chunks",
    "read_browse",
    "read_clusters",
    "read_dictionary",
    "read_facet_values",
    "read_facets",
    "read_indices",
    "read_keys",
    "read_languages",
    "read_logs",
    "read_records",
    "read_rules",
    "read_settings",
    "read_sources",
    "read_synonyms",
    "read_top_users",
    "read_users",
    "search",
    "search_many",
]
