"""What clicks say: impressions and clicks become judgments.

    events, searches = svc.read_events("products"), svc.read_searches("products")
    judged = svc.tuning.clicks.judgments(events, searches, model="coec", minimum=20)

A click says something only beside what was shown and not clicked. What was shown comes from
searches made with `clickAnalytics`, joined to events by their queryID (`impressions`), or from a
table of one's own: `query, objectID, position, clicked`, with `session` where a model needs to
know what was shown together, or added up: `clicks` and `impressions` in place of `clicked`.
"""

from __future__ import annotations

from svc_notebook.tuning.clicks.ctr import plot_positions, positions
from svc_notebook.tuning.clicks.impressions import check_impressions, impressions
from svc_notebook.tuning.clicks.judgments import judgments
from svc_notebook.tuning.clicks.models import MODELS, Model

__all__ = [
    "MODELS",
    "Model",
    "check_impressions",
    "impressions",
    "judgments",
    "plot_positions",
    "positions",
]
