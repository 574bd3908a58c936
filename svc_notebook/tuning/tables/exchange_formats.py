"""Files that other tools exchange: those of TREC, and those of Quepid.

TREC has judgments as qrels, and runs: a line for each record, with ids of queries. Quepid has the
ratings of a case, as CSV or JSON.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.core.files import expand_path, replace_file
from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput, unreadable, unwritable
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments, check_runs

QueryIds = DataFrame | Mapping[str, str] | str | os.PathLike[str]
QRELS_FIELDS, RUN_FIELDS = 4, 6


def read_qrels(path: str | os.PathLike[str], queries: QueryIds | None = None) -> DataFrame:
    """Read judgments from qrels of TREC: `query-id 0 objectID rating`.

    Negative ratings, which mark records that could not be judged, become `unrateable`.

    Parameters
    ----------
    path : path
        File to read.
    queries : dict, DataFrame or path, default None
        Text of each query by its id: a dict, a DataFrame with the columns `query_id` and
        `query`, or a file of lines with an id, a tab and a text. None takes the ids as texts.

    Returns
    -------
    DataFrame
        One row per judgment, with the columns of `check_judgments`; `source` is `import`.

    Raises
    ------
    BadInput
        If the file cannot be read, a line is not valid, or an id has no text.

    Examples
    --------
    >>> ids = svc.tuning.write_qrels("judgments.csv", "judged.qrels")
    >>> len(svc.tuning.read_qrels("judged.qrels", ids)) == len(pd.read_csv("judgments.csv"))
    True
    """
    texts = _read_ids(queries)
    rows = []
    for number, fields in _read_lines(path, QRELS_FIELDS):
        rating = _number(path, number, fields[3])
        question = _question(path, number, fields[0], texts)
        rows.append({
            **question, "objectID": fields[2], "rating": None if rating < 0 else rating,
            "unrateable": rating < 0, "source": "import",
        })  # fmt: skip
    return check_judgments(rows)


def write_qrels(
    judgments: Table, path: str | os.PathLike[str], queries: QueryIds | None = None
) -> DataFrame:
    """Write judgments as qrels of TREC.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with whole ratings; the ratings of several raters must be equal. Unrateable
        ones are left out.
    path : path
        File to write.
    queries : dict, DataFrame or path, default None
        Text of each query by its id, as `read_qrels` takes it; None numbers the queries.

    Returns
    -------
    DataFrame
        One row per query: `query_id`, `query` and `filters` (str), for `read_qrels` and
        `write_trec_run`.

    Raises
    ------
    BadInput
        If a rating is not whole, an objectID contains a space, or a query has no id.
    BadRecord
        If a judgment is not valid.

    Examples
    --------
    >>> ids = svc.tuning.write_qrels("judgments.csv", "judged.qrels")
    >>> ids[["query_id", "query"]].head(1)
    """
    judged = check_judgments(judgments)
    judged = judged[judged["rating"].notna()]
    ids = _ids_of(judged, queries)
    grades = judged.groupby([*QUESTION, "objectID"], sort=False)["rating"].agg(["min", "max"])
    lines = []
    for (query, filters, object_id), (low, high) in zip(
        grades.index, grades.to_numpy().tolist(), strict=True
    ):
        if low != high or low != round(low):
            raise BadInput(
                f"the rating of {object_id!r} for {query!r} is not one whole number; qrels have "
                "whole ratings: round them, or keep one rater"
            )
        lines.append(f"{ids[query, filters]} 0 {_field(object_id)} {round(low)}")
    _write(path, lines)
    return _id_table(ids)


@described(like=read_qrels.__doc__)
def read_trec_run(path: str | os.PathLike[str], queries: QueryIds | None = None) -> DataFrame:
    """Read a run of TREC: `query-id Q0 objectID rank score name`.

    As in trec_eval, hits are ranked by their scores; hits with equal scores keep the order of
    their ranks.

    Parameters
    ----------
    queries : dict, DataFrame or path, default None
        Text of each query by its id, as `read_qrels` takes it; None takes the ids as texts.

    Returns
    -------
    DataFrame
        One row per hit, with the columns of `run`. Queries without hits are not in such files.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"])
    >>> ids = svc.tuning.write_trec_run(hits, "products.run")
    >>> svc.tuning.read_trec_run("products.run", ids)[["run", "query", "rank"]].head(1)
            run query  rank
    0  products   mug     1
    """
    texts = _read_ids(queries)
    rows = [
        {
            **_question(path, number, fields[0], texts), "objectID": fields[2],
            "given": _number(path, number, fields[3]),
            "score": _number(path, number, fields[4]), "run": fields[5],
        }
        for number, fields in _read_lines(path, RUN_FIELDS)
    ]  # fmt: skip
    if not rows:
        raise BadInput(f"{path} has no hit")
    frame = DataFrame(rows).sort_values(["score", "given"], ascending=[False, True], kind="stable")
    frame["rank"] = frame.groupby(["run", *QUESTION], sort=False).cumcount() + 1
    ordered = frame.sort_values(["run", *QUESTION, "rank"], kind="stable").drop(columns="given")
    return check_runs(ordered)


@described(like=write_qrels.__doc__)
def write_trec_run(
    run: Table, path: str | os.PathLike[str], queries: QueryIds | None = None
) -> DataFrame:
    """Write runs in the format of TREC; queries without hits cannot be written.

    The score is the negative rank, so that trec_eval keeps the order.

    Parameters
    ----------
    run : DataFrame, list of dict or path
        Runs, as `run` returns them.

    Returns
    -------
    DataFrame
        One row per query: `query_id`, `query` and `filters` (str).

    Raises
    ------
    BadInput
        If an objectID contains a space, or a query has no id.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> svc.tuning.write_trec_run(hits, "products.run")
      query_id query filters
    0        1   mug
    """
    checked = check_runs(run)
    ids = _ids_of(checked, queries)
    lines = [
        f"{ids[row['query'], row['filters']]} Q0 {_field(row['objectID'])} {row['rank']} "
        f"{-row['rank']} {'_'.join(str(row['run']).split()) or 'run'}"
        for row in checked[checked["objectID"].notna()].to_dict("records")
    ]
    _write(path, lines)
    return _id_table(ids)


def _read_lines(path: Any, count: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != count:
            raise BadInput(f"{path}, line {number}: {len(fields)} fields instead of {count}")
        yield number, fields


def _read_text(path: Any) -> str:
    source = expand_path(path)
    try:
        return source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(source, error) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error}") from None


def _number(path: Any, number: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{path}, line {number}: {text!r} is not a number") from None


def _question(
    path: Any, number: int, query_id: str, texts: Mapping[str, tuple[str, str]] | None
) -> dict[str, str]:
    if texts is None:
        return {"query": query_id, "filters": ""}
    if query_id not in texts:
        raise BadInput(f"{path}, line {number}: the query {query_id!r} has no text in `queries`")
    query, filters = texts[query_id]
    return {"query": query, "filters": filters}


def _read_ids(queries: QueryIds | None) -> dict[str, tuple[str, str]] | None:
    """Return the text and filters of each query by its id."""
    if queries is None:
        return None
    if isinstance(queries, DataFrame):
        return _read_id_table(queries)
    if isinstance(queries, Mapping):
        return {str(query_id): (str(query), "") for query_id, query in queries.items()}
    return _read_id_file(queries)


def _read_id_table(queries: DataFrame) -> dict[str, tuple[str, str]]:
    for name in ("query_id", "query"):
        if name not in queries:
            raise BadInput(f"`queries` need the columns `query_id` and `query`; no `{name}`")
    filters = queries["filters"] if "filters" in queries else [""] * len(queries)
    questions = zip(map(str, queries["query"]), map(str, filters), strict=True)
    return dict(zip(map(str, queries["query_id"]), questions, strict=True))


def _read_id_file(queries: Any) -> dict[str, tuple[str, str]]:
    ids = {}
    for number, line in enumerate(_read_text(queries).splitlines(), 1):
        query_id, tab, query = line.partition("\t")
        if line.strip() and not tab:
            raise BadInput(f"{queries}, line {number}: expected an id, a tab and a text")
        if tab:
            ids[query_id.strip()] = (query.strip(), "")
    return ids


def _ids_of(frame: DataFrame, queries: QueryIds | None) -> dict[tuple[str, str], str]:
    """Return the id of each query of a table."""
    questions = [(str(q), str(f)) for q, f in frame[QUESTION].drop_duplicates().to_numpy().tolist()]
    texts = _read_ids(queries)
    if texts is None:
        return {question: str(number) for number, question in enumerate(questions, 1)}
    ids = {question: query_id for query_id, question in texts.items()}
    for question in questions:
        if question not in ids:
            raise BadInput(f"the query {question[0]!r} has no id in `queries`")
    return {question: _field(ids[question]) for question in questions}


def _id_table(ids: Mapping[tuple[str, str], str]) -> DataFrame:
    rows = [(query_id, query, filters) for (query, filters), query_id in ids.items()]
    return DataFrame(rows, columns=["query_id", *QUESTION]).astype("str")


def _field(text: Any) -> str:
    if len(str(text).split()) != 1 or pd.isna(text):
        raise BadInput(f"{text!r} contains a space, which the format of TREC cannot have")
    return str(text)


def _write(path: Any, lines: list[str]) -> None:
    target = expand_path(path)
    try:
        with replace_file(target) as draft:
            Path(draft).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise unwritable(target, error) from error


# The basic export, and the one with a line for each hit of a snapshot.
QUEPID_COLUMNS = (("query", "docid", "rating"), ("Query Text", "Doc ID", "Rating"))
QUEPID_SUFFIXES = (".csv", ".json")


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
    source = expand_path(path)
    _check_suffix(source)
    text = _read_text(path)
    rows = _read_json(path, text) if source.suffix.lower() == ".json" else _read_csv(path, text)
    rated = [
        {"query": query, "objectID": object_id, "rating": _read_rating(path, rating),
         "source": "import"}
        for query, object_id, rating in rows
        if object_id and rating not in (None, "")
    ]  # fmt: skip
    return check_judgments(DataFrame(rated).drop_duplicates() if rated else rated)


@described()
def write_quepid(judgments: Table, path: str | os.PathLike[str]) -> None:
    """Write judgments as Quepid imports them, as CSV or JSON.

    The ratings of several raters are averaged. Filters and unrateable records are left out.

    Parameters
    ----------
    path : path
        File to write; its suffix is `.csv` or `.json`.

    Raises
    ------
    BadInput
        If the suffix is not supported, the file cannot be written, or a query has several
        filters.
    BadRecord

    Examples
    --------
    >>> svc.tuning.write_quepid("judgments.csv", "case.csv")
    >>> pd.read_csv("case.csv").columns.tolist()
    ['query', 'docid', 'rating']
    """
    target = expand_path(path)
    _check_suffix(target)
    judged = check_judgments(judgments)
    judged = judged[judged["rating"].notna()]
    several = judged.groupby("query")["filters"].nunique()
    if (several > 1).any():
        raise BadInput(f"{several.idxmax()!r} has several filters, which Quepid does not have")
    means = judged.groupby(["query", "objectID"], sort=False)["rating"].mean()
    pairs = means.reset_index().to_numpy().tolist()
    rows = [(query, object_id, _shorten(value)) for query, object_id, value in pairs]
    try:
        with (
            replace_file(target) as draft,
            Path(draft).open("w", encoding="utf-8", newline="") as f,
        ):
            if target.suffix.lower() == ".csv":
                csv.writer(f).writerows([QUEPID_COLUMNS[0], *rows])
            else:
                json.dump(_make_case(rows), f, ensure_ascii=False, indent=1)
    except OSError as error:
        raise unwritable(target, error) from error


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in QUEPID_SUFFIXES:
        raise BadInput(f"unsupported format `{path.suffix}`; use {' or '.join(QUEPID_SUFFIXES)}")


def _shorten(value: float) -> float | int:
    return int(value) if value == round(value) else float(value)


def _make_case(rows: list[tuple[Any, Any, float]]) -> dict[str, Any]:
    ratings: dict[str, dict[str, float]] = {}
    for query, object_id, rating in rows:
        ratings.setdefault(query, {})[object_id] = rating
    return {"queries": [{"query": query, "ratings": grades} for query, grades in ratings.items()]}


def _read_csv(path: Any, text: str) -> list[tuple[str, str, Any]]:
    lines = [line for line in csv.reader(text.splitlines(keepends=True)) if line]
    head = [name.strip() for name in lines[0]] if lines else []
    for names in QUEPID_COLUMNS:
        if set(names) <= set(head):
            places = [head.index(name) for name in names]
            rows = [[*line, *[""] * (len(head) - len(line))] for line in lines[1:]]
            return [(row[places[0]], row[places[1]], row[places[2]].strip()) for row in rows]
    named = ", ".join(QUEPID_COLUMNS[0])
    raise BadInput(f"{path} is not a CSV export of ratings: it needs the columns {named}")


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


def _read_rating(path: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{path}: the rating {value!r} is not a number") from None
