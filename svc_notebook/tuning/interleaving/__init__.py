"""Interleaving of two variants on live traffic: lists of both, credits, and the outcome."""

from __future__ import annotations

from svc_notebook.tuning.interleaving.experiment import interleave

__all__ = [
    "interleave",
]
