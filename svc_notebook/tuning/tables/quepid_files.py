"""Files of Quepid: the ratings of a case, as CSV or JSON."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

from pandas import DataFrame

from svc_notebook.core.files import replace_file
from svc_notebook.errors import BadInput, unreadable, unwritable
from svc_notebook.tuning.tables.tables import Table, check_judgments

# The basic export, and the one with a line for each hit of a snapshot.
COLUMNS = (("query", "docid", "rating"), ("Query Text", "Doc ID", "Rating"))
SUFFIXES = (".csv", ".json")


def read_quepid(path: str | os.PathLike[str]) -> DataFrame:
    """Read the ratings of a case that Quepid has exported, as CSV or JSON.

    Queries and hits without a rating are left out.

    Parameters
    ----------
    path : path
        File to read: CSV with the columns `query`, `docid` and `rating`, or `Query Text`,
        `Doc ID` and `Rating`; or JSON with `queries`, each with `query` and `ratings`.

    Returns
    -------
    DataFrame
        One row per rating, with the columns of `check_judgments`; `source` is `import`.

    Raises
    ------
    BadInput
        If the file cannot be read or is not such an export.
    BadRecord
        If a rating is not valid.

    Examples
    --------
    >>> svc.tuning.write_quepid("judgments.csv", "case.json")
    >>> svc.tuning.read_quepid("case.json")[["query", "objectID", "rating"]].head(1)
    """
    source = Path(path).expanduser()
    _check_suffix(source)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(source, error) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error}") from None
    rows = _read_json(path, text) if source.suffix.lower() == ".json" else _read_csv(path, text)
    rated = [
        {"query": query, "objectID": object_id, "rating": _rating(path, rating),
         "source": "import"}
        for query, object_id, rating in rows
        if object_id and rating not in (None, "")
    ]  # fmt: skip
    return check_judgments(DataFrame(rated).drop_duplicates() if rated else rated)


def write_quepid(judgments: Table, path: str | os.PathLike[str]) -> None:
    """Write judgments as Quepid imports them, as CSV or JSON.

    The ratings of several raters are averaged. Filters and unrateable records are left out.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    path : path
        File to write; its suffix is `.csv` or `.json`.

    Raises
    ------
    BadInput
        If the suffix is not supported, the file cannot be written, or a query has several
        filters.
    BadRecord
        If a judgment is not valid.

    Examples
    --------
    >>> svc.tuning.write_quepid("judgments.csv", "case.csv")
    >>> pd.read_csv("case.csv").columns.tolist()
    ['query', 'docid', 'rating']
    """
    target = Path(path).expanduser()
    _check_suffix(target)
    judged = check_judgments(judgments)
    judged = judged[judged["rating"].notna()]
    several = judged.groupby("query")["filters"].nunique()
    if (several > 1).any():
        raise BadInput(f"{several.idxmax()!r} has several filters, which Quepid does not have")
    means = judged.groupby(["query", "objectID"], sort=False)["rating"].mean()
    pairs = means.reset_index().to_numpy().tolist()
    rows = [(query, object_id, _plain(value)) for query, object_id, value in pairs]
    try:
        with (
            replace_file(target) as draft,
            Path(draft).open("w", encoding="utf-8", newline="") as f,
        ):
            if target.suffix.lower() == ".csv":
                csv.writer(f).writerows([COLUMNS[0], *rows])
            else:
                json.dump(_as_case(rows), f, ensure_ascii=False, indent=1)
    except OSError as error:
        raise unwritable(target, error) from error


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(f"unsupported format `{path.suffix}`; use {' or '.join(SUFFIXES)}")


def _plain(value: float) -> float | int:
    return int(value) if value == round(value) else float(value)


def _as_case(rows: list[tuple[Any, Any, float]]) -> dict[str, Any]:
    ratings: dict[str, dict[str, float]] = {}
    for query, object_id, rating in rows:
        ratings.setdefault(query, {})[object_id] = rating
    return {"queries": [{"query": query, "ratings": grades} for query, grades in ratings.items()]}


def _read_csv(path: Any, text: str) -> list[tuple[str, str, Any]]:
    lines = [line for line in csv.reader(text.splitlines(keepends=True)) if line]
    head = [name.strip() for name in lines[0]] if lines else []
    for names in COLUMNS:
        if set(names) <= set(head):
            places = [head.index(name) for name in names]
            rows = [[*line, *[""] * (len(head) - len(line))] for line in lines[1:]]
            return [(row[places[0]], row[places[1]], row[places[2]].strip()) for row in rows]
    raise BadInput(
        f"{path} is not a CSV export of ratings: it needs the columns {', '.join(COLUMNS[0])}"
    )


def _read_json(path: Any, text: str) -> list[tuple[str, str, Any]]:
    try:
        queries = json.loads(text)["queries"]
        return [
            (entry["query"], object_id, rating)
            for entry in queries
            for object_id, rating in (entry.get("ratings") or {}).items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is not a JSON export of ratings: {error!r}") from None


def _rating(path: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{path}: the rating {value!r} is not a number") from None
