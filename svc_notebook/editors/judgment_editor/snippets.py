"""The judgment editor as code that continues with the editor's judgments."""

from __future__ import annotations

import pprint
from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.tuning.tables.queries import Question

LINE_WIDTH = 88
FILE = "judgments.csv"
DEFAULT_DEPTH = 10


def write_python(
    index: str,
    questions: Sequence[Question],
    *,
    file: str | None,
    variants: Any,
    depth: int,
    rater: str,
) -> str:
    """Write the call that opens the same editor on the judgments of a file."""
    options: Mapping[str, Any] = {
        "file": file or FILE,
        "variants": variants,
        "depth": None if depth == DEFAULT_DEPTH else depth,
        "rater": rater or None,
    }
    arguments = [
        f"{name}={_literal(value)}" for name, value in options.items() if value is not None
    ]
    queries = _literal([_to_argument(question) for question in questions])
    lines = ",\n    ".join([repr(index), queries, *arguments])
    note = "" if file else f"# {FILE} contains the text under CSV.\n"
    return f"import svc_notebook as svc\n\n{note}svc.edit.judgments(\n    {lines},\n)"


def _to_argument(question: Question) -> str | dict[str, Any]:
    """Return a query as an argument: its text alone if it has no filters and parameters."""
    more = {"filters": question.filters, "params": dict(question.params)}
    members = {name: value for name, value in more.items() if value}
    return {"query": question.query, **members} if members else question.query


def _literal(value: Any) -> str:
    text = pprint.pformat(value, width=LINE_WIDTH - 8, sort_dicts=False)
    return text.replace("\n", "\n    ")
