"""Rejected rows: reported, fixed and sent."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.source import open_source
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def index() -> str:
    return f"rejects-{uuid4().hex[:8]}"


def written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def rejected(source: Any, **options: Any) -> pd.DataFrame:
    return loading.plan(source, "films", **options).rejected


def test_rejected_rows_can_be_mended_and_sent_again(
    client: Client, index: str, tmp_path: Path
) -> None:
    source = written(
        tmp_path / "a.csv", "id,price,sold\n1,10,true\n,2.5,false\n3,3,true\n1,4,true\n"
    )
    result = svc.load(source, index, id="id", client=client)

    mended = result.rejected
    mended["id"] = [2, 4]
    again = mended.svc.push(index, id="id", client=client)

    stored = svc.read_browse(index, client=client).sort_values("objectID")
    assert again.complete
    assert stored.to_dict("list") == {
        "objectID": ["1", "2", "3", "4"],
        "id": [1, 2, 3, 4],
        "price": [10, 2.5, 3, 4],
        "sold": [True, False, True, True],
    }


def test_ragged_rows_can_be_mended_and_sent_again(
    client: Client, index: str, tmp_path: Path
) -> None:
    source = written(
        tmp_path / "a.csv", 'id,name,price\n1,lamp,10\n2,oak, table,20\n3,elm\n4,"a"b,5\n5,ash,6\n'
    )
    result = svc.load(source, index, id="id", strict=True, client=client)
    mended = result.rejected
    lines = mended["value"].tolist()
    extra = mended["row"] == 2
    mended.loc[extra, "name"] = mended["name"] + "," + mended["price"].astype(str)
    mended.loc[extra, "price"] = mended["column3"]
    mended.loc[mended["row"] == 3, "price"] = 30
    mended.loc[mended["row"] == 4, "name"] = "a b"

    again = mended.drop(columns="column3").svc.push(index, id="id", client=client)

    stored = svc.read_browse(index, client=client).sort_values("objectID")
    assert lines == ["2,oak, table,20", "3,elm", '4,"a"b,5']
    assert result.rejected_rows == 3
    assert again.complete
    assert stored["name"].tolist() == ["lamp", "oak, table", "elm", "a b", "ash"]
    assert [int(price) for price in stored["price"]] == [10, 20, 30, 5, 6]


def test_what_is_wrong_with_a_row_is_told_once_with_all_of_the_row() -> None:
    frame = pd.DataFrame(
        {
            "id": ["1", "2", "3"],
            "x": [1.5, math.inf, 2.0],
            "tags": pd.Series([["a"], {"b"}, None], dtype=object),
            "when": pd.to_datetime(["2024-01-01T10:00Z"] * 3),
        }
    )

    (row,) = rejected(frame, id="id").to_dict("records")

    assert {name: row[name] for name in ("row", "column", "id", "x", "when")} == {
        "row": 2, "column": "x", "id": "2", "x": "inf", "when": "2024-01-01T10:00:00Z",
    }  # fmt: skip
    assert "infinite" in row["reason"]
    assert "tags: is a set" in row["reason"]
    assert row["tags"] == {"b"}


@pytest.mark.parametrize("pack_up", [False, True], ids=["plain", "packed"])
def test_the_file_of_a_rejected_row_is_told_with_its_row_there(
    tmp_path: Path, pack_up: bool
) -> None:
    texts = ["id,n\na,1\nb,2\n", "id,n\nc,3\nbroken,0,0\n,4\nd,5\n", "id,n\na,6\n"]
    for number, text in enumerate(texts):
        name = f"{number}.csv"
        if pack_up:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            written(tmp_path / name, text)

    found = rejected(str(tmp_path / "*.csv*"), id="id", strict=True)

    names = [Path(file).name.removesuffix(".gz") for file in found["file"]]
    assert all(Path(file).is_relative_to(tmp_path) for file in found["file"])
    assert list(zip(names, found["row"], strict=True)) == [("1.csv", 2), ("1.csv", 3), ("2.csv", 1)]
    assert f"duplicate objectID (same as row 1 of {tmp_path}" in found["reason"].iloc[2]
    assert found["n"].tolist() == [0, 4, 6]


def test_the_file_of_a_row_of_parquet_is_told(tmp_path: Path) -> None:
    for number, values in enumerate([[1.0, 2.0], [math.inf, 4.0]]):
        pq.write_table(pa.table({"id": [f"{number}{v}" for v in values], "x": values}),
                       tmp_path / f"{number}.parquet")  # fmt: skip

    found = rejected(tmp_path, id="id")

    assert found["row"].tolist() == [1]
    assert found["file"].tolist() == [str(tmp_path / "1.parquet")]


def test_a_column_named_as_what_is_told_comes_back_under_its_name(
    client: Client, index: str
) -> None:
    frame = pd.DataFrame({"row": ["a", "b"], "value": [1.0, math.inf], "file": ["x", "y"]})
    result = svc.push(frame, index, id="row", client=client)

    mended = result.rejected.assign(value_=2)
    mended.svc.push(index, id="row", client=client)

    assert list(mended.columns) == ["row", "column", "value", "reason", "row_", "value_", "file_"]
    stored = svc.read_browse(index, client=client).sort_values("objectID")
    assert stored["value"].tolist() == [1, 2]
    assert set(stored.columns) == {"objectID", "row", "value", "file"}


def test_rejected_rows_that_were_not_mended_are_rejected_again() -> None:
    found = rejected(pd.DataFrame({"id": ["a", None], "n": [1, 2]}), id="id")

    again = pack(found, id="id")

    assert again.records == []
    assert again.rejected == [(1, "id", "has no id")]


def test_nothing_rejected_is_a_table_without_rows_of_the_same_columns() -> None:
    frame = pd.DataFrame({"id": ["a"], "n": [1]})

    assert list(rejected(frame).columns) == ["row", "column", "value", "reason", "id", "n"]


def test_a_text_that_is_not_the_json_it_should_be_is_rejected_alone(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", 'id,size\n1,"{""w"": 2}"\n2,wide\n3,\n')

    found = rejected(source, id="id", dtype={"size": "json"})

    assert found[["row", "column", "value", "size"]].to_numpy().tolist() == [
        [2, "size", "wide", "wide"]
    ]


def test_rows_are_counted_against_the_lines_of_a_file(tmp_path: Path) -> None:
    """Lines that a scan loses without an error are an error of the load."""
    for number, text in enumerate((
        "id,name\n1,a\n\n2,b\r\n\r\n3,c",
        'id,name\n1,"a\nb"\n2,b\n3,c\n',
        "id,name\n1,a\n2,b,\n3,c\n",
        "id,name\n1,a\nid,name\n2,b\n3,c\n",
    )):  # fmt: skip
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text.encode())
        with Database() as db:
            table = open_source(path, LoadSettings.of({}), db)

            table.check_lost_rows(100, 3, ())
            with pytest.raises(BadInput, match="has 3 rows, of which 1 could not be read"):
                table.check_lost_rows(100, 2, ())
