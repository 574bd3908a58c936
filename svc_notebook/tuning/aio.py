"""Every function of tuning that talks to the service, as a coroutine function."""

from __future__ import annotations

from svc_notebook.tuning.measuring import measure, missing
from svc_notebook.tuning.runs import run
from svc_notebook.tuning.snapshots import diff, restore, snapshot
from svc_notebook.tuning.undoing import history, undo

__all__ = ["diff", "history", "measure", "missing", "restore", "run", "snapshot", "undo"]
