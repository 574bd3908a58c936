"""Changes of settings, synonyms and rules: journal, undo, snapshots, scratch copies.

Names are imported lazily, on first use: a load or a write needs the journal, not the measurements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_notebook.data.declarations import lazy_attribute

if TYPE_CHECKING:
    from svc_notebook.tuning.changes import journalled_write as journalled_write
    from svc_notebook.tuning.changes.change_impact import find_deltas as find_deltas
    from svc_notebook.tuning.changes.change_impact import impact as impact
    from svc_notebook.tuning.changes.change_reversal import End as End
    from svc_notebook.tuning.changes.change_reversal import describe_change as describe_change
    from svc_notebook.tuning.changes.change_reversal import end_interrupted as end_interrupted
    from svc_notebook.tuning.changes.change_reversal import find_reversal as find_reversal
    from svc_notebook.tuning.changes.change_reversal import history as history
    from svc_notebook.tuning.changes.change_reversal import undo as undo
    from svc_notebook.tuning.changes.change_spec import Proposal as Proposal
    from svc_notebook.tuning.changes.change_spec import apply as apply
    from svc_notebook.tuning.changes.change_spec import read_proposal as read_proposal
    from svc_notebook.tuning.changes.diff import Differences as Differences
    from svc_notebook.tuning.changes.diff import tabulate as tabulate
    from svc_notebook.tuning.changes.interruptions import read_interruptions as read_interruptions
    from svc_notebook.tuning.changes.journal import Change as Change
    from svc_notebook.tuning.changes.journal import Journal as Journal
    from svc_notebook.tuning.changes.journalled_write import noting as noting
    from svc_notebook.tuning.changes.journalled_write import warn_not_recorded as warn_not_recorded
    from svc_notebook.tuning.changes.parameter_overrides import as_parameters as as_parameters
    from svc_notebook.tuning.changes.snapshots import snapshot as snapshot
    from svc_notebook.tuning.changes.state import SCOPES as SCOPES
    from svc_notebook.tuning.changes.state import by_id as by_id
    from svc_notebook.tuning.changes.state import holds as holds
    from svc_notebook.tuning.changes.state import read_part as read_part

# The module of each name.
HOMES = {
    "Change": "journal",
    "Differences": "diff",
    "End": "change_reversal",
    "Journal": "journal",
    "Proposal": "change_spec",
    "SCOPES": "state",
    "apply": "change_spec",
    "as_parameters": "parameter_overrides",
    "by_id": "state",
    "describe_change": "change_reversal",
    "end_interrupted": "change_reversal",
    "find_deltas": "change_impact",
    "find_reversal": "change_reversal",
    "history": "change_reversal",
    "holds": "state",
    "impact": "change_impact",
    "noting": "journalled_write",
    "read_interruptions": "interruptions",
    "read_part": "state",
    "read_proposal": "change_spec",
    "snapshot": "snapshots",
    "tabulate": "diff",
    "undo": "change_reversal",
    "warn_not_recorded": "journalled_write",
}

__all__ = sorted(HOMES)

_PATHS = {name: f"{__name__}.{module}.{name}" for name, module in HOMES.items()}
__getattr__ = lazy_attribute(__name__, _PATHS, lambda value: value)
