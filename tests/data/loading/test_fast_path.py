"""Small tables are encoded without DuckDB, with identical bytes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.load_plan.fast_path import MAX_CELLS
from svc_notebook.data.loading.options import LoadSettings
from tests.conftest import examples
from tests.data.loading.encoded_records import Packed, pack, pack_small

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ID = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
COLUMNS: dict[str, tuple[st.SearchStrategy[Any], str]] = {
    "whole": (st.integers(-(2**63), 2**63 - 1), "int64"),
    "short": (st.integers(-(2**31), 2**31 - 1), "int32"),
    "gaps": (st.none() | st.integers(-(2**63), 2**63 - 1), "Int64"),
    "number": (st.none() | st.floats(), "float64"),
    "flag": (st.booleans(), "bool"),
    "perhaps": (st.none() | st.booleans(), "boolean"),
    "text": (st.none() | TEXT, "str"),
    "words": (st.none() | TEXT, "object"),
    "time": (st.none() | st.datetimes(dt.datetime(1700, 1, 1)), "datetime64[us, UTC]"),
    "list": (st.none() | st.lists(TEXT | st.integers(-9, 9), max_size=3), "object"),
    "object": (st.dictionaries(TEXT, st.floats() | st.booleans(), max_size=2), "object"),
    "any": (st.none() | TEXT | st.integers() | st.floats() | st.booleans(), "object"),
    "id": (ID | st.integers(), "object"),
    "objectID": (ID, "str"),
    "sku": (st.integers(0, 9), "int64"),
    "a.b": (st.dates(), "object"),
}
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "nulls": st.sampled_from(["omit", "null", "error"]),
        "limit": st.integers(1, 4),
        "batch": st.integers(1, 3),
        "record_bytes": st.integers(20, 200),
    },
)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(0, 4))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, min_size=1, max_size=5))
    return pd.DataFrame({name: series(draw, name, rows) for name in names})


def series(draw: st.DrawFn, name: str, rows: int) -> pd.Series[Any]:
    values, dtype = COLUMNS[name]
    return pd.Series(draw(st.lists(values, min_size=rows, max_size=rows)), dtype=dtype)


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(frame=frames(), options=OPTIONS)
def test_few_rows_are_written_byte_for_byte_as_many_are(
    frame: pd.DataFrame, options: dict[str, Any]
) -> None:
    pack(frame, **options)  # compares the two


@pytest.mark.parametrize("operation", ["Increment", "AddUnique"])
@pytest.mark.parametrize("action", ["update", "update_existing"])
def test_operations_and_deletions_are_written_alike(operation: str, action: str) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "n": [1, 2], "t": ["x", None]})

    changed = pack(frame, id="id", action=action, operations={"n": operation})
    deleted = pack(frame, id="id", action="delete")

    assert len(changed.steps) == len(deleted.steps) == 2
    assert quick(frame, id="id", action=action, operations={"n": operation})
    assert quick(frame, id="id", action="delete")


@pytest.mark.parametrize(
    "values",
    [
        ["lamp", None, "Tür 😀 \u2028 \x7f"],
        [1.5, 1e300, None, -0.0, 5e-324],
        [1, 2, 3],
        [True, False],
        [["a", 1], {"b": None}],
        pd.to_datetime(["2024-01-02T03:04:05.5Z"]).as_unit("us"),
    ],
    ids=["text", "numbers", "whole", "flags", "nested", "times"],
)
def test_ordinary_values_are_written_the_short_way(values: Any) -> None:
    frame = pd.DataFrame({"x": values})

    assert quick(frame)


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (pd.DataFrame({"x": [1.0, np.inf]}), {}),
        (pd.DataFrame({"x": ["\x1f"]}), {}),
        (pd.DataFrame({"id": ["a", "a"]}), {"id": "id"}),
        (pd.DataFrame({"x": ["a", "a"]}), {}),
        (pd.DataFrame({"x": ["a", None]}), {"nulls": "error"}),
        (pd.DataFrame({"x": ["1"]}), {"dtype": {"x": "integer"}}),
        (pd.DataFrame({"x": [{1, 2}]}), {}),
        (pd.DataFrame({"x": range(MAX_CELLS + 1)}), {}),
        (pd.DataFrame({"x": ["é" * 60]}), {"record_bytes": 150}),
    ],
    ids=["infinity", "control", "twin ids", "twins", "error", "dtype", "set", "many", "large"],
)
def test_what_is_out_of_the_ordinary_goes_the_long_way(
    frame: pd.DataFrame, options: dict[str, Any]
) -> None:
    assert quick(frame, **options) is None


def test_a_few_rows_need_no_database(without_package: Callable[..., None]) -> None:
    without_package("duckdb")

    packed = quick(pd.DataFrame({"id": ["a"], "n": [1]}))

    assert packed is not None
    assert packed.records == [{"objectID": "a", "id": "a", "n": 1}]


def quick(frame: pd.DataFrame, **options: Any) -> Packed | None:
    return pack_small(frame, LoadSettings.of(options))
