"""Changes of settings, synonyms and rules: journal, undo, snapshots, scratch copies."""

from __future__ import annotations

from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.change_reversal import (
    End,
    describe_change,
    end_interrupted,
    find_reversal,
    history,
    undo,
)
from svc_notebook.tuning.changes.journal import Change, Journal, read_interruptions
from svc_notebook.tuning.changes.journalled_write import noting, warn_not_recorded
from svc_notebook.tuning.changes.snapshots import snapshot
from svc_notebook.tuning.changes.state import (
    SCOPES,
    Differences,
    as_parameters,
    by_id,
    holds,
    read_part,
    tabulate,
)

__all__ = [
    "SCOPES",
    "Change",
    "Differences",
    "End",
    "Journal",
    "as_parameters",
    "by_id",
    "describe_change",
    "end_interrupted",
    "find_reversal",
    "history",
    "holds",
    "journalled_write",
    "noting",
    "read_interruptions",
    "read_part",
    "snapshot",
    "tabulate",
    "undo",
    "warn_not_recorded",
]
