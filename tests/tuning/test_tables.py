"""Tables of judgments and runs: accepted, corrected or refused with the row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from svc_notebook.errors import BadInput, BadRecord
from svc_notebook.tuning.tables.files import READ_KINDS, write_table
from svc_notebook.tuning.tables.schema import JUDGMENTS, QUERIES, RUNS
from svc_notebook.tuning.tables.tables import check_judgments, check_queries, check_runs
from tests.conftest import examples

CHECKS: dict[Callable[[Any], DataFrame], Any] = {
    check_judgments: JUDGMENTS, check_queries: QUERIES, check_runs: RUNS,
}  # fmt: skip
# A CSV file has no place for the character 0.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
HIT = {"run": "a", "query": "lamp", "objectID": "1"}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_empty_table_has_the_documented_columns(check: Callable[[Any], DataFrame]) -> None:
    empty: list[Any] = [[], DataFrame({name: [] for name in CHECKS[check]})]
    for nothing in empty:
        frame = check(nothing)

        assert {n: str(t) for n, t in frame.dtypes.items()} == {
            name: str(pd.Series(dtype=column.dtype).dtype) for name, column in CHECKS[check].items()
        }


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_was_checked_is_taken_as_it_is(check: Callable[[Any], DataFrame]) -> None:
    once = check([{**HIT, "mine": 7}])

    assert_frame_equal(check(once), once)
    assert once.attrs == {}


@given(rows=st.lists(st.tuples(texts, texts, st.floats(0, 9)), min_size=1, max_size=5))
@settings(max_examples=examples(15), deadline=None)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_gives_back_what_was_written(
    suffix: str, rows: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"judged{suffix}"
    frame = check_judgments(
        [{"query": query, "objectID": f"{number}", "rating": rating, "note": note}
         for number, (query, note, rating) in enumerate(rows)]
    )  # fmt: skip

    write_table(frame, path)

    assert_frame_equal(check_judgments(path), frame)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_runs_and_queries_keep_their_objects_in_files(tmp_path: Path, suffix: str) -> None:
    runs = check_runs([{**HIT, "sorted": {"size": {"width": 9}}}, {"query": "none", "run": "a",
                       "nbHits": 0, "objectID": None}])  # fmt: skip
    queries = check_queries(
        [{"query": "lamp", "params": {"optionalWords": ["a"]}, "tags": ["x", "y"]}, {"query": "b"}]
    )

    write_table(runs, tmp_path / f"runs{suffix}")
    write_table(queries, f"{tmp_path}/queries{suffix}")

    assert_frame_equal(check_runs(tmp_path / f"runs{suffix}"), runs)
    assert_frame_equal(check_queries(f"{tmp_path}/queries{suffix}"), queries)


def test_a_written_file_takes_the_place_of_the_old_one_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    write_table(check_runs([HIT]), path)

    with pytest.raises(BadInput, match="cannot be written"):
        write_table(check_runs([HIT, {**HIT, "objectID": "2"}]), tmp_path / "no" / "runs.csv")

    assert len(check_runs(path)) == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("no.csv", None, "cannot be read: No such file"),
        ("runs.xls", b"", "unsupported format `.xls`; use .csv, .parquet, .tsv, .xlsx"),
        ("bad.parquet", b"nothing", "cannot be read as a table"),
        ("empty.csv", b"", "cannot be read as a table"),
        ("bytes.csv", b"query\n\xff\n", "cannot be read as a table"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(BadInput, match=words):
        check_runs(tmp_path / name)


def test_texts_are_queries_and_equal_rows_are_one() -> None:
    assert check_queries("lamp")["query"].tolist() == ["lamp"]
    assert check_queries(["lamp", "Lamp", "lamp"])["query"].tolist() == ["lamp", "Lamp"]
    assert check_queries(pd.Series(["lamp", "lamp"]))["weight"].tolist() == [1.0]


def test_judgments_and_runs_are_accepted_as_queries() -> None:
    judged = check_judgments([{"query": "lamp", "objectID": i, "rating": 1} for i in range(3)])
    filtered = judged.assign(filters="price < 9")

    assert check_queries(judged)["query"].tolist() == ["lamp"]
    assert check_queries(pd.concat([judged, filtered]))["filters"].tolist() == ["", "price < 9"]
    assert "objectID" not in check_queries(judged)


def test_a_query_with_two_different_rows_is_refused() -> None:
    with pytest.raises(BadRecord, match="'lamp' occurs twice with different values"):
        check_queries([{"query": "lamp", "weight": 2}, {"query": "lamp"}])


def test_ranks_follow_scores_and_else_the_order_given() -> None:
    hits = [{**HIT, "objectID": one} for one in "abc"]

    by_place = check_runs(hits)
    by_score = check_runs([{**hit, "score": s} for hit, s in zip(hits, [1, 3, 1], strict=True)])

    assert by_place["rank"].tolist() == [1, 2, 3]
    assert by_place["score"].tolist() == [-1, -2, -3]
    assert by_score["rank"].tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("check", "rows", "words"),
    [
        (check_runs, [HIT, {**HIT, "query": "q", "rank": 0}], "row 1, `rank`: expected a rank"),
        (check_runs, [{**HIT, "rank": 1.5}], "row 0, `rank`: expected a whole number"),
        (check_runs, [HIT, HIT], "has the hit '1' twice, in rows 0 and 1; keep one of them"),
        (check_runs, [{**HIT, "rank": 1}, {**HIT, "rank": 1, "objectID": "2"}], "two hits of rank"),
        (check_runs, [{**HIT, "rank": 1}, {**HIT, "objectID": "2"}], "the hit in row 1 has no"),
        (check_runs, [{"query": "lamp"}], None),
        (check_runs, [{**HIT, "promoted": "yes"}], "expected true or false"),
        (check_runs, [{**HIT, "sorted": "{"}], "expected JSON"),
        (check_runs, [{**HIT, "score": np.inf}], "finite"),
        (check_queries, [{"query": None}], "row 0, `query`: the value is missing"),
        (check_queries, [{"query": "a", "stratum": "neck"}], "not one of head, torso, tail, zero"),
        (check_queries, [{"query": "a", "split": "test"}], "not one of tune, holdout"),
        (check_queries, [{"query": "a", "weight": -1}], "0 or more"),
        (check_queries, [{"query": "a", "tags": "x"}], "expected JSON"),
        (check_queries, [{"query": "a", "tags": [1]}], "a list of texts"),
        (check_queries, [{"query": "a", "params": [1]}], "expected an object"),
        (check_queries, 3, "queries are a DataFrame"),
        (check_judgments, [{**HIT, "rating": "good"}], "expected a number"),
        (check_judgments, [{**HIT, "rating": 10**400}], "finite"),
        (check_judgments, [{**HIT, "query": "\ud800"}], "valid Unicode"),
        (check_runs, [{**HIT, "nbHits": 2**70}], "a whole number"),
        (check_judgments, {"Query": ["a"]}, "judgments are a DataFrame"),
    ],
)  # fmt: skip
def test_what_does_not_belong_is_refused_with_its_place(
    check: Callable[[Any], DataFrame], rows: Any, words: str | None
) -> None:
    if words is None:
        assert check([*rows, {"query": "x", "objectID": None}])["objectID"].isna().all()
        return
    with pytest.raises(BadInput, match=words):
        check(rows)


def test_two_columns_of_one_name_are_refused() -> None:
    frame = DataFrame([["lamp", "table", "1"]], columns=["query", "query", "objectID"])

    with pytest.raises(BadRecord, match="two columns `query`"):
        check_judgments(frame)


def test_tables_of_other_dtypes_are_read() -> None:
    frame = DataFrame({"query": ["lamp"], "objectID": [7], "rating": [2]})

    for backend in ("numpy_nullable", "pyarrow"):
        judged = check_judgments(frame.convert_dtypes(dtype_backend=backend))
        assert judged["objectID"].tolist() == ["7"]
        assert judged["rating"].tolist() == [2.0]
    assert check_judgments(frame.astype(object))["rating"].dtype == "float64"


def test_a_large_table_is_checked_by_columns() -> None:
    count = 200_000
    numbers = np.arange(count)
    frame = DataFrame({"query": numbers % 1000, "objectID": numbers, "rating": numbers % 4})
    frame = frame.astype({"query": "str", "objectID": "str"})

    assert len(check_judgments(frame)) == count


SHEETS = {
    "semicolons": "\ufeffquery;objectID;rating\r\nlamp;007;2,5\r\n;;\r\nlamp;8;1\r\n".encode(),
    "tabs": "query\tobjectID\trating\nlamp\t007\t2.5\nlamp\t8\t1\n".encode("utf-16"),
    "quotes": b'"query","objectID","rating"\n"lamp","007",2.5\n,,\n"lamp","8",1\n',
    "an empty last cell": b"query,objectID,rating\nlamp,007,2.5,\nlamp,8,1,\n",
}


@pytest.mark.parametrize("content", SHEETS.values(), ids=SHEETS)
def test_what_a_spreadsheet_saves_is_read(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "judged.csv").write_bytes(content)

    frame = check_judgments(tmp_path / "judged.csv")

    assert frame[["query", "objectID", "rating"]].to_numpy().tolist() == [
        ["lamp", "007", 2.5], ["lamp", "8", 1.0],
    ]  # fmt: skip


def test_rows_with_more_cells_than_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "judged.csv").write_text("query,objectID,rating\nlamp,big,1,3\nlamp,big,2,3\n")

    with pytest.raises(BadInput, match="more cells than its first line"):
        check_judgments(tmp_path / "judged.csv")


@pytest.mark.parametrize(
    ("column", "cells", "row"),
    [("rating", ["3", "1.5", "-1"], 2), ("rating", ["3", "", "good"], 2),
     ("rating", ["3", "nan", "1"], 1), ("rating", ["inf", "1", "1"], 0),
     ("unrateable", ["true", "FALSE", "x"], 2)],
)  # fmt: skip
def test_the_row_that_is_wrong_in_a_file_is_named(
    column: str, cells: list[str], row: int, tmp_path: Path
) -> None:
    lines = [f"lamp,{number},{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "judged.csv").write_text("\n".join([f"query,objectID,{column}", *lines]))

    with pytest.raises(BadRecord, match=f"row {row}, `{column}`"):
        check_judgments(tmp_path / "judged.csv")


def test_columns_with_other_names_are_reported() -> None:
    with pytest.raises(BadInput, match="column `query`; the columns are `a`, `b`: rename"):
        check_judgments([{"a": 1, "b": 2}])


def test_a_score_that_is_missing_does_not_silently_undo_the_order() -> None:
    run = DataFrame({"query": "lamp", "objectID": ["a", "b", "c"], "score": [1.0, None, 3.0]})

    with pytest.raises(
        BadRecord, match=r"the hit in row 1 has no `score`.*give every hit a score"
    ) as told:
        check_runs(run)

    assert (told.value.row, told.value.column) == (1, "score")
    assert check_runs(run.assign(rank=[3, 2, 1]))["rank"].tolist() == [3, 2, 1]
    assert check_runs(run.drop(columns="score"))["rank"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["grade", "Relevance", "label", "rel"])
def test_ratings_of_another_name_are_not_taken_as_missing(name: str) -> None:
    rows = [{"query": "lamp", "objectID": "1", name: 2}]

    with pytest.raises(BadInput, match="need a column `rating`") as caught:
        check_judgments(rows)

    assert f"rename(columns={{'{name}': 'rating'}})" in str(caught.value)
    assert check_judgments([{**rows[0], "rating": 1}])["rating"].tolist() == [1.0]
    assert check_judgments([{"query": "lamp", "objectID": "1"}])["rating"].isna().all()


def test_ids_of_judgments_are_those_of_records() -> None:
    # Ids of a table that was merged are floats where a row had none.
    given = [1, 1.0, np.int64(1), "1", UUID(int=1)]
    judgments = [{"query": str(n), "objectID": value, "rating": 1} for n, value in enumerate(given)]

    checked = check_judgments(judgments)

    assert [*checked["objectID"]] == ["1", "1", "1", "1", str(UUID(int=1))]
    for wrong in (1.5, True, b"1", ""):
        with pytest.raises(BadRecord, match="row 0, `objectID`"):
            check_judgments([{**judgments[0], "objectID": wrong}])


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the format that the suffix of a path names."""
    frame, kind = DataFrame(rows), path.suffix.lower()
    if kind == ".xlsx":
        frame.to_excel(path, index=False)
    elif kind == ".parquet":
        frame.to_parquet(path, index=False)
    elif kind == ".json":
        frame.to_json(path, orient="records")
    elif kind in (".jsonl", ".ndjson"):
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    return path


@pytest.mark.parametrize("kind", READ_KINDS)
def test_judgments_are_the_same_from_every_format(kind: str, tmp_path: Path) -> None:
    rows = [
        {"query": "lamp", "objectID": "007", "rating": 2.5, "note": "NA"},
        {"query": "2024", "objectID": "8", "rating": 0.0, "note": ""},
    ]

    judged = check_judgments(write_rows(tmp_path / f"judgments{kind.upper()}", rows))

    assert_frame_equal(judged, check_judgments(rows))


def test_tables_of_other_libraries_are_read() -> None:
    rows = [{"query": "lamp", "objectID": "1", "rating": 2.0}]

    tables: list[Any] = [pl.DataFrame(rows), pa.Table.from_pylist(rows)]
    for table in tables:
        assert_frame_equal(check_judgments(table), check_judgments(rows))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"[{", "is not valid JSON"),
        ("a.ndjson", b'{"query": "a"}\nx\n', "is not valid JSON"),
        ("a.json", b"[1]", "a list of rows as dicts"),
        ("a.xlsx", b"PK", "cannot be read as a table"),
    ],
)
def test_a_damaged_file_is_named(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadInput, match=words):
        check_judgments(tmp_path / name)
