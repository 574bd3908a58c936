"""Load rows from any source into an index, and export an index to files.

A load plans everything before it sends the first row, and its records are published at its end.
"""

from __future__ import annotations

from svc_notebook.data.loading.dask.read import read_dask
from svc_notebook.data.loading.dispatch import load, plan, push
from svc_notebook.data.loading.exports.export import Export, Include, as_stored, export
from svc_notebook.data.loading.history.journal import LoadEntry, LoadJournal, user_name
from svc_notebook.data.loading.history.undo import find_load, undo_load, why_not_undoable
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.proposals import accept_proposals
from svc_notebook.data.loading.load_plan.row_errors import ERROR_COLUMNS
from svc_notebook.data.loading.options import (
    DEFAULT_DISTINCT,
    DEFAULT_UNDO_ROWS,
    Accept,
    CompareWith,
    IfExists,
    LoadSettings,
    RowOptions,
    check_min_share,
)
from svc_notebook.data.loading.sending.checkpoint import Checkpoint, open_checkpoint_of
from svc_notebook.data.loading.sending.comparison import Missing, compare
from svc_notebook.data.loading.sending.existing_index import default_share
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.python_records import AsyncRows, Rows, awaited
from svc_notebook.data.loading.sources.source import Source

__all__ = [
    "DEFAULT_DISTINCT",
    "DEFAULT_UNDO_ROWS",
    "ERROR_COLUMNS",
    "Accept",
    "AsyncRows",
    "Checkpoint",
    "CompareWith",
    "Export",
    "IfExists",
    "Include",
    "LoadEntry",
    "LoadJournal",
    "LoadPlan",
    "LoadResult",
    "LoadSettings",
    "Missing",
    "RowOptions",
    "Rows",
    "Source",
    "accept_proposals",
    "as_stored",
    "awaited",
    "check_min_share",
    "compare",
    "default_share",
    "export",
    "find_load",
    "load",
    "open_checkpoint_of",
    "plan",
    "push",
    "read_dask",
    "undo_load",
    "user_name",
    "why_not_undoable",
]
