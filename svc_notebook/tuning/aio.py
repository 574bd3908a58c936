"""The functions of tuning that call the service, as coroutine functions."""

from __future__ import annotations

from svc_notebook.tuning.changes.change_spec import apply
from svc_notebook.tuning.changes.impact import impact
from svc_notebook.tuning.changes.scratch import async_scratch as scratch
from svc_notebook.tuning.changes.scratch import drop_scratches, scratches
from svc_notebook.tuning.changes.snapshots import diff, restore, snapshot
from svc_notebook.tuning.changes.undo import history, undo
from svc_notebook.tuning.evaluation.measurement import measure, missing
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.suggestions import suggest_synonyms
from svc_notebook.tuning.variants.search import search

__all__ = [
    "apply", "diff", "drop_scratches", "history", "impact", "measure", "missing", "restore",
    "run", "scratch", "scratches", "search", "snapshot", "suggest_synonyms", "undo",
]  # fmt: skip
