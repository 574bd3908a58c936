"""Parquet files whose schemas differ, and types that only Parquet or Arrow have."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_notebook.data.loading.sources.partitions import query_of
from svc_notebook.errors import BadInput, BadRecord
from tests.data.loading.encoded_records import pack, values


def folder_of(path: Path, **tables: dict[str, Any]) -> Path:
    folder = path / "films"
    folder.mkdir()
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


def test_a_column_that_only_a_later_file_has_is_sent(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path, a={"id": [1], "x": [1]}, b={"id": [2], "x": [1.5], "y": ["late"]}, c={"id": [3]}
    )

    assert values(folder) == [
        {"id": 1, "x": 1.0},
        {"id": 2, "x": 1.5, "y": "late"},
        {"id": 3},
    ]


def test_a_workers_file_has_every_column_of_the_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a={"id": [1]}, b={"id": [2], "x": [1.5]})
    files = sorted(folder.iterdir())

    queries = [query_of(file, {"id": "BIGINT", "x": "DOUBLE"}) for file in files]

    assert [values(query) for query in queries] == [[{"id": 1}], [{"id": 2, "x": 1.5}]]


@pytest.mark.parametrize(
    ("tables", "match"),
    [
        ({"a": {"x": [1]}, "b": {"x": ["no"]}}, r"`x` is int64 in a\.parquet and string in b\.par"),
        ({"a": {"x": [2**53 + 1]}, "b": {"x": [0.5]}}, r"`x` is int64 in a\.parquet and double"),
        ({"a": {"x": [1]}, "b": {"X": [1]}}, "`x` and `X` differ only in case"),
        ({"a": {"x": [1], "X": [1]}}, "`x` and `X` differ only in case"),
        ({"a": {"s": [{"a": 1, "A": 2}]}}, "`a` and `A` differ only in case"),
    ],
    ids=["kinds", "large", "cases", "case", "member"],
)
def test_files_that_cannot_be_one_table_unchanged_are_refused(
    tmp_path: Path, tables: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        pack(folder_of(tmp_path, **tables))


def test_files_of_two_types_are_sent_as_dtype_says(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a={"x": [1]}, b={"x": ["no"]})

    assert values(folder, dtype={"x": "string"}) == [{"x": "1"}, {"x": "no"}]


def test_durations_in_a_file_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1], "ran": [pd.Timedelta("1s")]})
    frame.to_parquet(tmp_path / "runs.parquet")

    with pytest.raises(BadRecord, match=r"column `ran` has durations; send a number"):
        pack(tmp_path / "runs.parquet")

    assert values(tmp_path / "runs.parquet", columns=["id"]) == [{"id": 1}]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "Asia/Kolkata"])
def test_a_naive_time_keeps_its_nanoseconds_in_any_zone(tmp_path: Path, zone: str) -> None:
    times = pa.array([1_700_000_000_123_456_789, 1_700_000_000_999_999_999], pa.timestamp("ns"))
    table = pa.table({"at": times})
    pq.write_table(table, tmp_path / "t.parquet")
    meant = times.to_pandas().dt.tz_localize(zone)

    for source in (table, tmp_path / "t.parquet"):
        sent = [pd.Timestamp(record["at"]) for record in values(source, timezone=zone)]

        assert sent == meant.tolist()


def test_decimals_inside_lists_are_exact_or_refused() -> None:
    kind = pa.list_(pa.decimal128(38, 9))
    lists = [[Decimal("1.10")], [Decimal("123456789012345678.123456789")], [Decimal("12345678.1")]]

    found = pack(pa.table({"prices": pa.array(lists, kind)}))

    assert [record["prices"] for record in found.records] == [[1.1], [12345678.1]]
    assert found.rejected == [
        (2, "prices", "contains a decimal that no JSON number represents exactly")
    ]


@pytest.mark.slow
def test_decimals_without_a_digit_before_the_point_are_written_with_one(tmp_path: Path) -> None:
    cells = [Decimal("0.02"), Decimal("-0.02"), Decimal("0.00"), None]
    table = pa.table({"x": pa.array(cells, pa.decimal128(2, 2)), "n": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "t.parquet")

    for source in (table, tmp_path / "t.parquet", f"SELECT * FROM '{tmp_path / 't.parquet'}'"):
        for dtype in ({}, {"x": "number"}):
            assert [r.get("x") for r in pack(source, dtype=dtype).records] == [0.02, -0.02, 0, None]
        texts = [r.get("x") for r in pack(source, dtype={"x": "string"}).records]
        assert texts == ["0.02", "-0.02", "0.00", None]
        assert [r["objectID"] for r in pack(source, id="x").records] == ["0.02", "-0.02", "0.00"]


@pytest.mark.parametrize(
    ("array", "sent"),
    [
        (pa.array([1.5], pa.float16()), 1.5),
        (pa.array([Decimal("1.10")], pa.decimal256(50, 9)), 1.1),
    ],
    ids=["half", "wide decimal"],
)
def test_types_that_duckdb_does_not_support_are_sent(array: Any, sent: float) -> None:
    assert values(pa.table({"x": array})) == [{"x": sent}]
    assert values(pd.DataFrame({"x": pd.Series(array, dtype=pd.ArrowDtype(array.type))})) == [
        {"x": sent}
    ]


def test_an_unknown_type_raises_bad_input() -> None:
    months = pa.array([(1, 2, 3)], pa.month_day_nano_interval())

    with pytest.raises((BadInput, BadRecord)):
        pack(pa.table({"x": pa.array([months.to_pylist()], pa.list_(months.type))}))


def test_days_and_times_in_a_file_are_text(tmp_path: Path) -> None:
    table = pa.table({"day": pa.array([dt.date(2020, 1, 2)], pa.date64()), "at": [dt.time(1, 2)]})
    pq.write_table(table, tmp_path / "t.parquet")

    assert values(tmp_path / "t.parquet") == [{"day": "2020-01-02", "at": "01:02:00"}]


def test_a_folder_never_replaces_the_values_of_a_stored_column(tmp_path: Path) -> None:
    folder = tmp_path / "a=6"
    folder.mkdir()
    pd.DataFrame({"a": [3], "b": [1]}).to_parquet(folder / "t.parquet")

    for source in (tmp_path, folder / "t.parquet"):
        with pytest.raises(BadInput, match="the folder `a=6` would replace its values"):
            values(source)
    stored = f"SELECT * FROM read_parquet('{folder}/*.parquet', hive_partitioning=false)"
    assert values(stored) == [{"a": 3, "b": 1}]


def test_a_name_that_two_stored_columns_have_is_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "t.parquet")

    with pytest.raises(BadInput, match="several columns are named `a`"):
        values(tmp_path / "t.parquet")
