"""Load rows from any source into an index, and export an index to files.

A load plans everything before it sends the first row, and its records are published at its end.
"""

from __future__ import annotations

from svc_notebook.loading.dask.read import read_dask
from svc_notebook.loading.dispatch import load, plan, push
from svc_notebook.loading.exports.export import Export, export
from svc_notebook.loading.load_plan.plan import LoadPlan
from svc_notebook.loading.options import RowOptions
from svc_notebook.loading.sending.comparison import compare
from svc_notebook.loading.sending.result import LoadResult

__all__ = [
    "Export",
    "LoadPlan",
    "LoadResult",
    "RowOptions",
    "compare",
    "export",
    "load",
    "plan",
    "push",
    "read_dask",
]
