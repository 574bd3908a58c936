"""Diagnosis: what fails for judged queries, and what to change first."""

from __future__ import annotations

from svc_notebook.tuning.diagnosis.diagnosis import diagnose

__all__ = [
    "diagnose",
]
