"""The search engine: records, settings and queries, no HTTP and no SQLite."""

from __future__ import annotations

from svc_notebook.service.engine.hits import Fetch
from svc_notebook.service.engine.index import Index
from svc_notebook.service.engine.options import VIRTUAL
from svc_notebook.service.engine.ranking import Order
from svc_notebook.service.engine.search import FacetFound, Found
from svc_notebook.service.engine.shape import Shape
from svc_notebook.service.engine.stock import Stock

__all__ = ["VIRTUAL", "FacetFound", "Fetch", "Found", "Index", "Order", "Shape", "Stock"]
