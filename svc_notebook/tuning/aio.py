"""Every function of tuning that talks to the service, as a coroutine function."""

from __future__ import annotations

from svc_notebook.tuning.impacts import impact
from svc_notebook.tuning.leftovers import drop_scratches, scratches
from svc_notebook.tuning.measuring import measure, missing
from svc_notebook.tuning.proposing import apply
from svc_notebook.tuning.runs import run
from svc_notebook.tuning.scratching import async_scratch as scratch
from svc_notebook.tuning.searching import search
from svc_notebook.tuning.snapshots import diff, restore, snapshot
from svc_notebook.tuning.suggesting import suggest_synonyms
from svc_notebook.tuning.undoing import history, undo

__all__ = [
    "apply", "diff", "drop_scratches", "history", "impact", "measure", "missing", "restore",
    "run", "scratch", "scratches", "search", "snapshot", "suggest_synonyms", "undo",
]  # fmt: skip
