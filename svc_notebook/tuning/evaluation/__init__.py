"""Runs, metrics, comparisons and statistics over judged queries."""

from __future__ import annotations

from svc_notebook.tuning.evaluation.comparison import Comparison
from svc_notebook.tuning.evaluation.criteria import (
    PROMOTED,
    TEXT,
    TIE,
    Criterion,
    compares,
    criteria_in_order,
    describe_order,
    describe_reason,
    describe_value,
    difference,
    name_criterion,
    ranking_of,
    value_at,
)
from svc_notebook.tuning.evaluation.measurement import find_changed, measure
from svc_notebook.tuning.evaluation.metrics import deepest
from svc_notebook.tuning.evaluation.ranked_lists import known_gains
from svc_notebook.tuning.evaluation.record_texts import (
    RECORD_HASH,
    digest_record,
    find_records,
    read_records,
)
from svc_notebook.tuning.evaluation.requirements import RelevanceVerdict, read_bound
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, score_runs, summary

__all__ = [
    "METRICS",
    "PROMOTED",
    "RECORD_HASH",
    "TEXT",
    "TIE",
    "Comparison",
    "Criterion",
    "RelevanceVerdict",
    "Unjudged",
    "compares",
    "criteria_in_order",
    "deepest",
    "describe_order",
    "describe_reason",
    "describe_value",
    "difference",
    "digest_record",
    "find_changed",
    "find_records",
    "known_gains",
    "measure",
    "name_criterion",
    "ranking_of",
    "read_bound",
    "read_records",
    "run",
    "score_runs",
    "summary",
    "value_at",
]
