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
    said = [f"{name}={_literal(value)}" for name, value in options.items() if value is not None]
    asked = _literal([_plain(question) for question in questions])
    lines = ",\n    ".join([repr(index), asked, *said])
    note = "" if file else f"# {FILE} is to hold what is under CSV.\n"
    return f"import svc_notebook as svc\n\n{note}svc.edit.judgments(\n    {lines},\n)"


def _plain(question: Question) -> str | dict[str, Any]:
    """Write a query as it is given: its words alone where there is nothing else to say."""
    more = {"filters": question.filters, "params": dict(question.params)}
    told = {name: value for name, value in more.items() if value}
    return {"query": question.query, **told} if told else question.query


def _literal(value: Any) -> str:
    text = pprint.pformat(value, width=LINE_WIDTH - 8, sort_dicts=False)
    return text.replace("\n", "\n    ")
