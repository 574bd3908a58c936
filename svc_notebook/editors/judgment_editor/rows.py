"""Judgments as rows, which an editor changes one by one; `svc_notebook.tuning` validates them.

One row is one rating of one hit of one query. A rating of 0, a hit that cannot be rated and a hit
without a rating are different.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pandas import DataFrame

from svc_notebook.tuning.tables.schema import JUDGMENTS, is_missing
from svc_notebook.tuning.tables.schema import now as now
from svc_notebook.tuning.tables.tables import check_judgments

Row = dict[str, Any]
Key = tuple[str, str, str, str]


def read_judgments(given: Any) -> list[Row]:
    """Check judgments, given as a DataFrame or as rows; columns of your own stay."""
    frame = check_judgments(given)
    plain = frame.astype(object).to_dict("records")
    return [
        {
            str(name): _plain(value)
            for name, value in row.items()
            if name in JUDGMENTS or not is_missing(value)
        }
        for row in plain
    ]


def to_frame(rows: Iterable[Row]) -> DataFrame:
    """Make a DataFrame of judgments, your own columns last."""
    return check_judgments(list(rows))


def key_of(row: Mapping[str, Any]) -> Key:
    """What a judgment is about, and whose it is."""
    return row["query"], row["filters"], row["objectID"], row["rater"]


def says_something(row: Mapping[str, Any]) -> bool:
    """Whether a row is worth keeping."""
    return row["rating"] is not None or row["unrateable"] or bool(row["note"])


def is_judged(row: Mapping[str, Any] | None) -> bool:
    """Whether a hit has been dealt with: rated, or found impossible to rate."""
    return row is not None and (row["rating"] is not None or row["unrateable"])


def _plain(value: Any) -> Any:
    """As JSON has it: no value is None, a time its text."""
    if is_missing(value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value
