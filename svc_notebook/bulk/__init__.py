"""Rows to records: from any source to an index, planned first and published last."""

from __future__ import annotations

from svc_notebook.bulk.loading import load, plan, push
from svc_notebook.bulk.options import RowOptions
from svc_notebook.bulk.plan import Plan
from svc_notebook.bulk.result import LoadResult

__all__ = ["LoadResult", "Plan", "RowOptions", "load", "plan", "push"]
