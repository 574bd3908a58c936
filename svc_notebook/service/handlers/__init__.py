"""The handlers of all endpoints: functions with the signatures of the endpoints."""

from __future__ import annotations

from svc_notebook.service.handlers import (
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
    synonyms,
    tasks,
)
from svc_notebook.service.http.handlers import HANDLERS, RequestContext

FAMILIES = (
    browse, clusters, crawler, dictionaries, events, indices, keys, logs, objects, rules, searches,
    settings, sources, synonyms, tasks,
)  # fmt: skip

__all__ = ["FAMILIES", "HANDLERS", "RequestContext"]
