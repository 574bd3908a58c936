"""Sources with unusual or hostile content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack

NEGATIVE_NAN = float(np.copysign(np.nan, -1))


def written(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def parquet(path: Path, values: list[float]) -> str:
    pq.write_table(pa.table({"id": range(len(values)), "f": pa.array(values)}), path)
    return str(path)


def test_a_nan_as_processors_make_it_is_a_missing_value(tmp_path: Path) -> None:
    result = pack(parquet(tmp_path / "a.parquet", [NEGATIVE_NAN, 1.0, 2.0]))

    assert ["f" in record for record in result.records] == [False, True, True]


def test_a_nan_beside_equal_values_of_a_parquet_file_is_a_missing_value(tmp_path: Path) -> None:
    result = pack(parquet(tmp_path / "a.parquet", [1.5, float("nan")]))

    assert ["f" in record for record in result.records] == [True, False]


def test_an_id_services_refuse_stays_behind_with_its_row() -> None:
    frame = pd.DataFrame({"id": ["a", "b" * 600, "c"]})

    result = pack(frame, id="id")

    assert [record["objectID"] for record in result.records] == ["a", "c"]
    assert list(result.plan.rejected["row"]) == [2]


def test_a_document_nested_too_deep_stays_behind_with_its_row(tmp_path: Path) -> None:
    deep = "[" * 300 + "]" * 300
    path = written(tmp_path / "a.ndjson", f'{{"id":1,"a":1}}\n{{"id":2,"a":{deep}}}\n')

    result = pack(path)

    assert [record["objectID"] for record in result.records] == ["1"]
    assert list(result.plan.rejected["row"]) == [2]


@pytest.mark.parametrize("names", [["a", "a.b"], ["a.b", "a"]], ids=" then ".join)
def test_a_column_that_is_both_value_and_object_is_refused(names: list[str]) -> None:
    frame = pd.DataFrame([["1", 2, 3]], columns=["id", *names])

    with pytest.raises(BadInput, match="a"):
        pack(frame, nest=True)


@pytest.mark.parametrize("limit", [0, -1])
def test_no_more_rows_are_sent_than_the_limit_allows(tmp_path: Path, limit: int) -> None:
    path = written(tmp_path / "a.csv", "id,a\n1,x\n2,y\n")

    try:
        sent = pack(path, limit=limit).records
    except BadInput:
        sent = []

    assert not sent


def test_a_limit_holds_for_a_file_of_mixed_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,a\r\n1,x\n2,y\r\n3,z\r4,w\n")

    result = pack(path, limit=2)

    assert [record["objectID"] for record in result.records] == ["1", "2"]


@pytest.mark.slow
def test_a_row_read_in_another_encoding_is_not_told_as_refused(tmp_path: Path) -> None:
    plain = b"".join(b"%d,plain\n" % n for n in range(120_000))
    path = written(tmp_path / "a.csv", b"id,name\n" + plain + b"x,caf\xe9\n")

    result = pack(path)

    assert result.records[-1]["name"] == "café"
    assert result.plan.rejected_rows == 0


def test_a_category_of_whole_numbers_may_lack_values() -> None:
    frame = pd.DataFrame({"id": [1, 2], "c": pd.Categorical([10, None])})

    result = pack(frame)

    assert [record.get("c") for record in result.records] == [10, None]


@pytest.mark.parametrize("name", ["objectID", "sku"])
def test_ids_in_a_frames_index_are_not_lost(name: str) -> None:
    frame = pd.DataFrame({"v": [1, 2]}, index=pd.Index(["a", "b"], name=name))

    result = pack(frame)

    assert [record["objectID"] for record in result.records] == ["a", "b"]


@pytest.mark.parametrize(
    "options", [{"separator": "||"}, {"quote": "ab"}], ids=["separator", "quote"]
)
def test_a_mark_of_several_characters_is_an_error_of_ours(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    path = written(tmp_path / "a.csv", "id,a\n1,x\n")

    with pytest.raises(BadInput, match="one character"):
        pack(path, **options)


def test_an_address_that_is_none_is_an_error_of_ours() -> None:
    with pytest.raises(BadInput, match="cannot be downloaded"):
        pack("http://[")


def test_a_packed_workbook_is_refused_by_name(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xlsx", b"PK\x03\x04" + bytes(100))

    with pytest.raises(BadInput, match=r"xlsx|ZIP|workbook"):
        pack(path)
