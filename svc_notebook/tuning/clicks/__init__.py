"""Click models: impressions and clicks become judgments.

    events, searches = svc.read_events("products"), svc.read_searches("products")
    judged = svc.tuning.clicks.judgments(events, searches, model="coec", minimum=20)

Clicks can be interpreted only together with the impressions that were not clicked. Impressions come
from searches made with `clickAnalytics`, joined to events by their queryID (`impressions`), or from
your own table: `query, objectID, position, clicked`, with `session` if a model needs to know which
hits were shown together, or aggregated: `clicks` and `impressions` in place of `clicked`.
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
