"""What each endpoint does: a function with the endpoint's own signature."""

from __future__ import annotations

from svc_notebook.service.handlers import (
    browse,
    indices,
    keys,
    logs,
    objects,
    searches,
    settings,
    sources,
    tasks,
)
from svc_notebook.service.handlers.registry import HANDLERS, Call

FAMILIES = (browse, indices, keys, logs, objects, searches, settings, sources, tasks)

__all__ = ["FAMILIES", "HANDLERS", "Call"]
