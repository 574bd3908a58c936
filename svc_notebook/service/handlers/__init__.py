"""What each endpoint does: a function with the endpoint's own signature."""

from __future__ import annotations

from svc_notebook.service.handlers import browse, indices, objects, searches, settings, tasks
from svc_notebook.service.handlers.registry import HANDLERS, Call

__all__ = ["HANDLERS", "Call", "browse", "indices", "objects", "searches", "settings", "tasks"]
