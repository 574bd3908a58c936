"""Suggestions from judgments and clicks: synonyms, rules and custom rankings, each measured."""

from __future__ import annotations

from svc_notebook.tuning.suggestions.synonyms import suggest_synonyms

__all__ = [
    "suggest_synonyms",
]
