"""The search engine: records, settings and queries, no HTTP and no SQLite."""

from __future__ import annotations

from svc_notebook.service.engine.hits import Fetch
from svc_notebook.service.engine.index import Index
from svc_notebook.service.engine.ranking import Order
from svc_notebook.service.engine.search import FacetFound, Found

__all__ = ["FacetFound", "Fetch", "Found", "Index", "Order"]
