"""The tables of tuning: plain DataFrames, validated on entry.

Judgments contain how relevant a hit is for a query, queries contain what is searched, runs contain
what was found. Each can be a DataFrame, also of Polars, rows, or the path of a file of CSV, TSV,
Parquet, Excel or JSON. Your own columns are kept, after the known ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.core.files import expand_path
from svc_notebook.errors import BadInput, BadRecord, did_you_mean
from svc_notebook.tuning.tables.files import JSON_KINDS, is_table_file, read_rows, read_table
from svc_notebook.tuning.tables.schema import JUDGMENTS, QUERIES, RUNS, ColumnSchema, read_column

# A DataFrame, rows as dicts, or the path of a CSV or Parquet file.
Table = DataFrame | Sequence[Mapping[str, Any]] | str | os.PathLike[str]
# The same; a text that is not such a path is a query, and a list can contain texts.
Queries = Table | Sequence[str | Mapping[str, Any]] | Series
# The identity of a query: the same words with other filters are another query.
QUESTION = ["query", "filters"]
JUDGED = [*QUESTION, "objectID", "rater"]
ANSWER = ["run", *QUESTION]
MAX_LISTED_COLUMNS = 8  # columns listed in an error

# What other tools call ratings.
RATING_NAMES = ("grade", "relevance", "relevancy", "rel", "label", "judgment", "judgement")


def check_judgments(given: Table) -> DataFrame:
    """Check judgments: one for each query, filters, objectID and rater.

    Parameters
    ----------
    given : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.

    Returns
    -------
    DataFrame
        One row per judgment: `query` and `objectID` (str), `rating` (float64, 0 or more),
        `rater` (str), `unrateable` (bool), `note` (str), `source` (str, `human`, `click` or
        `import`), `judged_at` (datetime64[us, UTC]) and `filters` (str), then the other columns
        of the table.

    Raises
    ------
    BadInput
        If a column is missing, or the ratings are in a column of another name, such as `grade`.
    BadRecord
        If a judgment is not valid; it names row and column.

    Examples
    --------
    >>> judgments = [{"query": "mug", "objectID": "MUG-001", "rating": 3}]
    >>> svc.tuning.check_judgments(judgments)[["query", "objectID", "rating", "source"]]
      query objectID  rating source
    0   mug  MUG-001     3.0  human
    """
    table = _take(given, JUDGMENTS, "judgments")
    _refuse_renamed_ratings(table)
    frame = _check(table, JUDGMENTS, "judgments")
    both = frame["unrateable"] & frame["rating"].notna()
    _refuse_first(
        frame, both, "rating", "row {row} is unrateable but has a rating; remove one of them"
    )
    _refuse_twice(
        frame, JUDGED, "objectID",
        "rows {first} and {row} both judge {value!r} for {query!r}; "
        "remove one of them, or name the raters in the column `rater`",
    )  # fmt: skip
    return frame


def check_queries(given: Queries) -> DataFrame:
    """Check queries: one for each text and filters; equal rows are merged.

    Parameters
    ----------
    given : str, list, DataFrame or path
        Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file of
        it. The queries of judgments or of a run are used if one is given.

    Returns
    -------
    DataFrame
        One row per query: `query` and `filters` (str), `params` (object, dict of search
        parameters), `weight` (float64, 1 by default), `frequency` (Int64), `stratum` (str,
        `head`, `torso`, `tail`, `zero` or empty), `tags` (object, list) and `split` (str,
        `tune`, `holdout` or empty), then the other columns of the table.

    Raises
    ------
    BadInput
        If a column is missing.
    BadRecord
        If a query is not valid; it names row and column.

    Examples
    --------
    >>> svc.tuning.check_queries(["mug", "mug", "lamp"])[["query", "weight"]]
      query  weight
    0   mug     1.0
    1  lamp     1.0
    """
    frame = _check(_as_queries(given), QUERIES, "queries")
    keys = frame[[*QUERIES]].map(repr)
    frame = frame[~keys.duplicated()].reset_index(drop=True)
    _refuse_twice(
        frame, QUESTION, "query",
        "{value!r} occurs twice with different values in other columns; keep one of the rows",
    )  # fmt: skip
    return frame


def check_runs(given: Table) -> DataFrame:
    """Check runs: one row for each hit, and one without `objectID` for a query without hits.

    Without `rank`, hits are ranked by `score`, or, without scores, in the given order.

    Parameters
    ----------
    given : DataFrame, list of dict or path
        Runs with the columns `query` and `objectID`, or a CSV or Parquet file of them.

    Returns
    -------
    DataFrame
        One row per hit, with the columns of `run`, then the other columns of the table.

    Raises
    ------
    BadInput
        If a column is missing.
    BadRecord
        If a row is not valid; it names row and column.

    Examples
    --------
    >>> rows = [{"query": "mug", "objectID": "MUG-001"}, {"query": "mug", "objectID": "MUG-002"}]
    >>> svc.tuning.check_runs(rows)[["run", "query", "rank", "objectID"]]
       run query  rank objectID
    0  run   mug     1  MUG-001
    1  run   mug     2  MUG-002
    """
    frame = _check(given, RUNS, "runs")
    is_hit = frame["objectID"].notna()
    if is_hit.any() and frame.loc[is_hit, "rank"].isna().all():
        frame["rank"] = _rank(frame, is_hit)
    missing = is_hit & frame["rank"].isna()
    _refuse_first(
        frame, missing, "rank", "the hit in row {row} has no `rank`; give every hit a rank, or none"
    )
    frame["score"] = frame["score"].fillna(-frame["rank"].astype("float64"))
    hits = frame[is_hit]
    _refuse_twice(hits, [*ANSWER, "rank"], "rank", "{query!r} has two hits of rank {value}")
    _refuse_twice(
        hits, [*ANSWER, "objectID"], "objectID",
        "{query!r} has the hit {value!r} twice, in rows {first} and {row}; keep one of them",
    )  # fmt: skip
    return frame


def _rank(frame: DataFrame, is_hit: Series[bool]) -> Series[Any]:
    """Number the hits of each query by descending score, equal ones in the given order."""
    hits = frame[is_hit]
    scored = hits["score"].notna()
    if scored.any() and not scored.all():
        row = int(np.flatnonzero(is_hit & frame["score"].isna())[0])
        raise BadRecord(
            f"the hit in row {row} has no `score`; give every hit a score, or a `rank`",
            row=row, column="score", value=frame["score"][row],
        )  # fmt: skip
    if scored.all():
        hits = hits.sort_values("score", ascending=False, kind="stable")
    ranks = hits.groupby(ANSWER, sort=False).cumcount() + 1
    return ranks.reindex(frame.index).astype("Int64")


def _as_queries(given: Any) -> DataFrame:
    if isinstance(given, str) and not is_table_file(given):
        given = [given]
    if isinstance(given, Mapping):
        given = [given]
    if isinstance(given, Iterable) and not isinstance(given, (DataFrame, str, os.PathLike)):
        given = [{"query": query} if isinstance(query, str) else query for query in given]
    frame = _take(given, QUERIES, "queries")
    about_hits = "objectID" in frame
    return frame[[name for name in frame if name in QUERIES]] if about_hits else frame


def _check(given: Table, columns: Mapping[str, ColumnSchema], what: str) -> DataFrame:
    frame = _take(given, columns, what)
    for name, column in columns.items():
        if column.required and name not in frame:
            raise BadInput(f"{what} need a column `{name}`{_advise(name, [*map(str, frame)])}")
    try:
        checked = {name: read_column(frame, name, column) for name, column in columns.items()}
    except UnicodeEncodeError as error:
        raise BadInput(f"{what} contain text that is not valid Unicode: {error}") from None
    extra = [name for name in frame if name not in columns]
    return pd.concat([DataFrame(checked, index=frame.index), frame[extra]], axis=1)


def _refuse_renamed_ratings(table: DataFrame) -> None:
    """Reject judgments whose ratings are in a column of another name: they would all be missing."""
    other = next((name for name in table if f"{name}".lower() in RATING_NAMES), None)
    if "rating" not in table and other is not None:
        raise BadInput(
            f"judgments need a column `rating`, and `{other}` seems to hold the ratings: "
            f"judgments.rename(columns={{{other!r}: 'rating'}})"
        )


def _advise(missing: str, names: list[str]) -> str:
    suggestion = did_you_mean(missing, names)
    listed = ", ".join(f"`{name}`" for name in names[:MAX_LISTED_COLUMNS])
    return suggestion or (f"; the columns are {listed}: rename one of them" if listed else "")


def _take(given: Table, columns: Mapping[str, ColumnSchema], what: str) -> DataFrame:
    """Convert a table of any form to a DataFrame with rows numbered from 0."""
    if isinstance(given, (str, os.PathLike)):
        path = expand_path(given)
        if path.suffix.lower() in JSON_KINDS:
            return _from_rows(read_rows(path), columns, what)
        return read_table(path, columns)
    if callable(convert := getattr(given, "to_pandas", None)):  # of Polars or Arrow
        given = convert()
    if isinstance(given, DataFrame):
        frame = given.reset_index(drop=True)
        frame.attrs = {}
        return frame
    rows = list(given) if isinstance(given, Iterable) else [given]
    return _from_rows(rows, columns, what)


def _from_rows(rows: Sequence[Any], columns: Mapping[str, ColumnSchema], what: str) -> DataFrame:
    if not all(isinstance(row, Mapping) for row in rows):
        raise BadInput(f"{what} are a DataFrame, a list of rows as dicts, or a file's path")
    if not rows:
        return DataFrame({name: Series(dtype=columns[name].dtype) for name in columns})
    records = [{str(k): v for k, v in row.items()} for row in rows]
    try:
        return DataFrame.from_records(records)
    except OverflowError:  # pandas 2.2 requires a float for a missing whole number
        return DataFrame(records, dtype=object)
    except UnicodeEncodeError as error:
        raise BadInput(f"{what} contain text that is not valid Unicode: {error}") from None


def _refuse_first(frame: DataFrame, bad: Any, column: str, words: str) -> None:
    if bad.any():
        row = int(bad.idxmax())
        value = frame[column][row]
        raise BadRecord(words.format(row=row), row=row, column=column, value=value)


def _refuse_twice(frame: DataFrame, key: Sequence[str], column: str, words: str) -> None:
    again: Any = frame.duplicated([*key])
    if not again.any():
        return
    row = int(again.idxmax())
    same: Any = (frame[[*key]] == frame.loc[row, [*key]]).all(axis=1)
    value, query = frame[column][row], frame["query"][row]
    message = words.format(row=row, first=int(same.idxmax()), value=value, query=query)
    raise BadRecord(message, row=row, column=column, value=value)
