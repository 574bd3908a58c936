"""Rows to records: from any source to an index, planned first and published last; and back."""

from __future__ import annotations

from svc_notebook.bulk.comparing import compare
from svc_notebook.bulk.exporting import Export, export
from svc_notebook.bulk.gathering import read_dask
from svc_notebook.bulk.loading import load, plan, push
from svc_notebook.bulk.options import RowOptions
from svc_notebook.bulk.plan import Plan
from svc_notebook.bulk.result import LoadResult

__all__ = [
    "Export",
    "LoadResult",
    "Plan",
    "RowOptions",
    "compare",
    "export",
    "load",
    "plan",
    "push",
    "read_dask",
]
