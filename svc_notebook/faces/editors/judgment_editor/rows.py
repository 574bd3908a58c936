"""Judgments as rows, which an editor changes one by one, and the file that stores them.

One row is one rating of one hit of one query. A rating of 0, an unrateable hit and a hit without a
rating are different. `svc_notebook.tuning` validates the rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pandas import DataFrame

from svc_notebook.errors import BadOption
from svc_notebook.tuning.tables import JUDGMENTS, KINDS, check_judgments, is_missing, write_table
from svc_notebook.tuning.tables import now as now

Row = dict[str, Any]
Key = tuple[str, str, str, str]


def read_judgments(given: Any) -> list[Row]:
    """Validate judgments, given as a DataFrame or as rows; additional columns stay."""
    frame = check_judgments(given)
    records = frame.astype(object).to_dict("records")
    return [
        {
            str(name): _to_json(value)
            for name, value in row.items()
            if name in JUDGMENTS or not is_missing(value)
        }
        for row in records
    ]


def to_frame(rows: Iterable[Row]) -> DataFrame:
    """Return rows as a DataFrame of judgments, additional columns last."""
    return check_judgments(list(rows))


def check_file(file: str | os.PathLike[str]) -> Path:
    """Return the path of a file of judgments; raise `BadOption` for an invalid one."""
    path = Path(file)
    if path.suffix not in KINDS:
        raise BadOption(f"unsupported format `{path.suffix}`; use {' or '.join(KINDS)}")
    if not path.parent.is_dir():
        raise BadOption(f"the folder {path.parent} of {path.name} does not exist")
    return path


def read_file(path: Path) -> DataFrame:
    """Read a file of judgments."""
    return check_judgments(path)


def write_file(path: Path, frame: DataFrame) -> None:
    """Replace a file of judgments atomically."""
    write_table(frame, path)


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the query, filters, objectID and rater of a judgment."""
    return row["query"], row["filters"], row["objectID"], row["rater"]


def is_worth_storing(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a rating, a note or is unrateable."""
    return row["rating"] is not None or row["unrateable"] or bool(row["note"])


def is_judged(row: Mapping[str, Any] | None) -> bool:
    """Return whether a hit is rated or unrateable."""
    return row is not None and (row["rating"] is not None or row["unrateable"])


def _to_json(value: Any) -> Any:
    """Return a JSON value: None for a missing value, text for a time."""
    if is_missing(value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value
