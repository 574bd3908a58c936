"""A tuning report as one HTML file."""

from __future__ import annotations

from svc_notebook.tuning.html_report.traffic_preview import preview

__all__ = [
    "preview",
]
