"""The handlers of all endpoints: functions with the signatures of the endpoints."""

from __future__ import annotations

from svc_notebook.service.handlers import (
    ab_tests,
    administration,
    analytics,
    analytics_lists,
    crawler,
    curation,
    events,
    indices,
    objects,
    searches,
    suggestions,
)
from svc_notebook.service.handlers.registry import HANDLERS

FAMILIES = (
    ab_tests, administration, analytics, analytics_lists, crawler, curation, events, indices,
    objects, searches, suggestions,
)  # fmt: skip

__all__ = ["FAMILIES", "HANDLERS"]
