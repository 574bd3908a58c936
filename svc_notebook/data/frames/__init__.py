"""DataFrames of documented schemas, built from responses."""

from __future__ import annotations

from svc_notebook.data.frames.analytics import (
    read_click_positions,
    read_conversions,
    read_no_clicks,
    read_no_results,
    read_revenue,
    read_search_counts,
    read_top_countries,
    read_top_filters,
    read_top_hits,
    read_top_searches,
    read_users_count,
)
from svc_notebook.data.frames.browse import BrowsePosition, browse_chunks, read_browse
from svc_notebook.data.frames.columns import Backend, finished, typed
from svc_notebook.data.frames.compact_table import write_html
from svc_notebook.data.frames.continuation import browse_all, next_page, refresh
from svc_notebook.data.frames.crawlers import (
    read_crawled_urls,
    read_crawler_urls,
    read_crawlers,
    read_domains,
)
from svc_notebook.data.frames.events import read_events, read_searches
from svc_notebook.data.frames.provenance import added_to, check_origin, hits_of
from svc_notebook.data.frames.records import (
    LogOptions,
    id_text,
    read_indices,
    read_logs,
    read_records,
    read_settings,
    read_tasks,
)
from svc_notebook.data.frames.resources import (
    read_ab_tests,
    read_clusters,
    read_dictionary,
    read_keys,
    read_languages,
    read_rules,
    read_sources,
    read_suggestions_configs,
    read_synonyms,
    read_top_users,
    read_users,
)
from svc_notebook.data.frames.schemas import DEFAULTS, PATHS, TIME
from svc_notebook.data.frames.searches import (
    count_values,
    first_rank,
    read_facet_values,
    read_facets,
    search,
    search_many,
)

__all__ = [
    "DEFAULTS",
    "PATHS",
    "TIME",
    "Backend",
    "BrowsePosition",
    "LogOptions",
    "added_to",
    "browse_all",
    "browse_chunks",
    "check_origin",
    "count_values",
    "finished",
    "first_rank",
    "hits_of",
    "id_text",
    "next_page",
    "read_ab_tests",
    "read_browse",
    "read_click_positions",
    "read_clusters",
    "read_conversions",
    "read_crawled_urls",
    "read_crawler_urls",
    "read_crawlers",
    "read_dictionary",
    "read_domains",
    "read_events",
    "read_facet_values",
    "read_facets",
    "read_indices",
    "read_keys",
    "read_languages",
    "read_logs",
    "read_no_clicks",
    "read_no_results",
    "read_records",
    "read_revenue",
    "read_rules",
    "read_search_counts",
    "read_searches",
    "read_settings",
    "read_sources",
    "read_suggestions_configs",
    "read_synonyms",
    "read_tasks",
    "read_top_countries",
    "read_top_filters",
    "read_top_hits",
    "read_top_searches",
    "read_top_users",
    "read_users",
    "read_users_count",
    "refresh",
    "search",
    "search_many",
    "typed",
    "write_html",
]
