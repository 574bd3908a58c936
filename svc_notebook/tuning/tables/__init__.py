"""The tables of tuning: judgments, queries, runs; their files and samples."""

from __future__ import annotations

from svc_notebook.tuning.tables.files import KINDS, write_table
from svc_notebook.tuning.tables.queries import Params, Question, read_questions
from svc_notebook.tuning.tables.sampling import no_results
from svc_notebook.tuning.tables.schema import JUDGMENTS, is_missing, now
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_runs

__all__ = [
    "JUDGMENTS",
    "KINDS",
    "Params",
    "Queries",
    "Question",
    "Table",
    "check_judgments",
    "check_runs",
    "is_missing",
    "no_results",
    "now",
    "read_questions",
    "write_table",
]
