"""The search engine: records, settings and queries, without HTTP or SQLite."""

from __future__ import annotations

from svc_notebook.service.engine.index.schema import Schema
from svc_notebook.service.engine.index.segment_store import SegmentStore
from svc_notebook.service.engine.query.options import VIRTUAL
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.response.hits import Fetch
from svc_notebook.service.engine.response.search import FacetFound, SearchResult
from svc_notebook.service.engine.search_index import Index

__all__ = [
    "VIRTUAL",
    "FacetFound",
    "Fetch",
    "Index",
    "Order",
    "Schema",
    "SearchResult",
    "SegmentStore",
]
