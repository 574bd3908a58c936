"""Columns of DataFrames: dtypes, gaps and nested values."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.frames import columns
from svc_notebook.data.frames.columns import Columns, KnownColumns, finished, typed
from svc_notebook.data.frames.page_decoder import TEXT
from svc_notebook.errors import BadInput
from tests.conftest import examples

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)
UNIFORM = st.sampled_from([st.integers(-9, 9), st.booleans(), st.text(max_size=2), CELLS])


@settings(max_examples=examples(80), deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(0, 9))
def test_no_value_changes_on_its_way_into_a_frame_however_it_is_cut(
    data: st.DataObject, chunk: int, rows: int
) -> None:
    kinds = {name: data.draw(UNIFORM) for name in "abc"}
    records = [
        {name: data.draw(kind) for name, kind in kinds.items() if data.draw(st.booleans())}
        for _ in range(rows)
    ]
    before, columns.CHUNK_RECORDS = columns.CHUNK_RECORDS, chunk
    try:
        gathered = Columns()
        for record in records:
            gathered.add([record])
        frame = gathered.frame()
    finally:
        columns.CHUNK_RECORDS = before

    back = [
        {name: value for name, value in row.items() if not missing(value)}
        for row in frame.to_dict("records")
    ]
    wanted = [{n: v for n, v in record.items() if v is not None} for record in records]
    assert len(frame) == len(records)
    assert back == wanted or frame.columns.empty
    assert list(frame.columns) == list(dict.fromkeys(n for r in records for n in r))


def missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], "int64"),
        ([1, None], "Int64"),
        ([1.5, None], "float64"),
        ([2**53 + 1, 0.5], "object"),
        ([2**63, None], "object"),
        ([1, 2.5], "float64"),
        ([True, False], "bool"),
        ([True, None], "object"),
        ([None, None], "object"),
        ([1, "a"], "object"),
        ([2**70, 1], "object"),
        ([[1], {"a": 1}], "object"),
    ],
)
def test_a_column_has_the_dtype_of_its_values(values: list[Any], dtype: str) -> None:
    gathered = Columns()
    gathered.add({"x": value} for value in values)

    assert gathered.frame()["x"].dtype == dtype


def test_requested_columns_are_present_in_order_even_without_rows() -> None:
    gathered = Columns(["b", "a"])

    assert list(gathered.frame().columns) == ["b", "a"]


def test_a_requested_column_that_no_record_has_has_only_missing_values() -> None:
    gathered = Columns(["b"])
    gathered.add([{"a": 1}, {"a": 2}])

    assert gathered.frame()["b"].isna().tolist() == [True, True]


SCHEMA = {"name": "str", "count": "int64", "on": "bool", "at": "datetime64[us, UTC]"}
DEFAULTS = {"str": "", "int64": 0, "bool": False}


@pytest.mark.parametrize(
    "rows", [[], [{}], [{"name": "a", "count": 1, "on": True, "at": "2024-01-02T03:04:05.5Z"}]]
)
def test_a_fixed_schema_is_the_same_whatever_rows_come(rows: list[dict[str, Any]]) -> None:
    frame = typed(rows, SCHEMA, DEFAULTS)

    assert list(frame.columns) == list(SCHEMA)
    assert frame["count"].dtype == "int64"
    assert frame["on"].dtype == "bool"
    assert str(frame["at"].dtype) == "datetime64[us, UTC]"
    assert frame["name"].dtype == pd.Series([], dtype="str").dtype


def test_times_are_in_utc_and_what_is_no_time_is_missing() -> None:
    frame = typed([{"at": "2024-01-02T03:04:05+02:00"}, {"at": ""}], {"at": SCHEMA["at"]}, {})

    assert frame["at"][0] == pd.Timestamp("2024-01-02T01:04:05Z")
    assert frame["at"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("backend", "dtype"), [("numpy_nullable", "Int64"), ("pyarrow", "int64[pyarrow]")]
)
def test_a_dtype_backend_is_kept_to(backend: Any, dtype: str) -> None:
    frame = finished(pd.DataFrame({"x": [1]}), {"index": "i", "none": None}, backend)

    assert frame["x"].dtype == dtype
    assert frame.attrs["svc"] == {"index": "i"}


def test_an_unknown_dtype_backend_is_refused() -> None:
    with pytest.raises(BadInput, match="numpy_nullable"):
        finished(pd.DataFrame(), {}, "polars")  # type: ignore[arg-type]


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.one_of(CELLS, st.none(), st.integers(-9, 9)), max_size=8), st.integers(1, 4))
def test_a_column_is_of_one_dtype_however_it_is_cut(values: list[Any], chunk: int) -> None:
    whole, cut = Columns(["x"]), Columns(["x"])
    whole.add({"x": value} for value in values)
    before, columns.CHUNK_RECORDS = columns.CHUNK_RECORDS, chunk
    try:
        for value in values:
            cut.add([{"x": value}])
        pieces = cut.frame()
    finally:
        columns.CHUNK_RECORDS = before

    assert pieces["x"].dtype == whole.frame()["x"].dtype


@pytest.mark.parametrize(
    ("value", "dtype"),
    [("a", TEXT), (1, "Int64"), (1.5, "float64"), (True, "object"), ([1], "object")],
    ids=str,
)
@pytest.mark.parametrize("record", [{}, {"a": None}], ids=["absent", "missing"])
def test_a_column_without_a_value_keeps_the_dtype_of_the_frames_before(
    record: Any, value: Any, dtype: Any
) -> None:
    known = KnownColumns()
    frames = []
    for each in ({"a": value}, record, {"b": 1, **record}):
        gathered = Columns()
        gathered.add([each])
        frames.append(known.complete(gathered.frame()))

    assert [list(frame) for frame in frames] == [["a"], ["a"], ["a", "b"]]
    assert [frame["a"].dtype for frame in frames[1:]] == [dtype, dtype]
    assert frames[2]["a"].isna().all()
