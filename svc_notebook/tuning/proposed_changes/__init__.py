"""Changes that are proposed: their documents, and the impact of each on searches."""

from __future__ import annotations

from svc_notebook.tuning.proposed_changes.change_impact import find_deltas, impact
from svc_notebook.tuning.proposed_changes.change_spec import Proposal, apply, read_proposal

__all__ = ["Proposal", "apply", "find_deltas", "impact", "read_proposal"]
