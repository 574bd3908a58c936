"""The handlers of all endpoints: functions with the signatures of the endpoints."""

from __future__ import annotations

from svc_notebook.service.handlers import (
    ab_tests,
    analytics,
    analytics_lists,
    browse,
    clusters,
    crawler,
    dictionaries,
    events,
    indices,
    keys,
    logs,
    objects,
    rules,
    searches,
    settings,
    sources,
    suggestions,
    synonyms,
)
from svc_notebook.service.handlers.registry import HANDLERS

FAMILIES = (
    ab_tests, analytics, analytics_lists, browse, clusters, crawler, dictionaries, events, indices,
    keys, logs, objects, rules, searches, settings, sources, suggestions, synonyms,
)  # fmt: skip

__all__ = ["FAMILIES", "HANDLERS"]
