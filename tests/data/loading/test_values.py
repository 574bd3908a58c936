"""Values of every type as JSON."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import uuid
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.encoding.json_values import Unsendable, write_json
from svc_notebook.errors import BadInput, BadRecord
from tests.conftest import examples
from tests.data.loading.encoded_records import pack, values

PARIS = dt.timezone(dt.timedelta(hours=2))
UUID = uuid.UUID("12345678123456781234567812345678")


class Shade(enum.Enum):
    DARK = "dark"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('a"b\n\x00é😀', '"a\\"b\\n\\u0000é😀"'),
        (True, "true"),
        (np.bool_(False), "false"),
        (np.int64(7), "7"),
        (2**63 - 1, "9223372036854775807"),
        (1.5, "1.5"),
        (np.float32(0.1), "0.1"),
        (decimal.Decimal("12.50"), "12.50"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=PARIS), '"2024-01-02T01:04:05Z"'),
        (dt.datetime(1, 1, 2, 3, 4, 5, 500_000, tzinfo=dt.UTC), '"0001-01-02T03:04:05.5Z"'),
        (pd.Timestamp("2024-01-02 03:04:05.123456789Z"), '"2024-01-02T03:04:05.123456789Z"'),
        (dt.date(2024, 1, 2), '"2024-01-02"'),
        (dt.time(3, 4), '"03:04:00"'),
        (UUID, f'"{UUID}"'),
        (Shade.DARK, '"dark"'),
        ([1, None, math.nan, "x"], '[1,null,null,"x"]'),
        (np.array([1.5, 2.5]), "[1.5,2.5]"),
        ({"a": {"b": (1, 2)}}, '{"a":{"b":[1,2]}}'),
        (pd.Period("2024-01", "M"), '"2024-01"'),
        (None, None),
        (pd.NA, None),
        (pd.NaT, None),
        (math.nan, None),
        (np.datetime64("NaT", "s"), None),
        (decimal.Decimal("NaN"), None),
    ],
)
def test_a_value_is_written_as_json(value: object, text: str | None) -> None:
    assert write_json(value) == text


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.inf, "infinite"),
        ([1, -math.inf], "infinite"),
        (2**63, "does not fit in 64 bits"),
        ({"n": -(2**63) - 1}, "does not fit in 64 bits"),
        (decimal.Decimal("0.1234567890123456789"), "no JSON number represents exactly"),
        (decimal.Decimal("Infinity"), "infinite"),
        (dt.datetime(2024, 1, 2), "timezone='UTC'"),
        (np.datetime64("2024-01-02"), "timezone='UTC'"),
        (dt.timedelta(1), "total_seconds"),
        (np.timedelta64(1, "s"), "total_seconds"),
        (b"x", "decode"),
        ({1, 2}, "sorted"),
        ({1: 2}, "keys that are not text"),
        (1j, "complex"),
        (object(), "which JSON lacks"),
        ("\ud83d", "lone surrogate"),
    ],
)
def test_a_value_without_json_is_refused_with_advice(value: object, reason: str) -> None:
    with pytest.raises(Unsendable, match=reason):
        write_json(value)


def test_nesting_without_an_end_is_refused() -> None:
    deep: list[Any] = []
    deep.append(deep)

    with pytest.raises(Unsendable, match="deep"):
        write_json(deep)


def test_a_naive_time_is_read_in_the_zone_given() -> None:
    assert write_json(dt.datetime(2024, 7, 1, 12), "Europe/Paris") == '"2024-07-01T10:00:00Z"'


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "int64": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "date": st.dates(),
    "time": st.datetimes(timezones=st.just(dt.UTC)),
}
TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "double": pa.float64(),
    "float": pa.float32(),
    "date": pa.date32(),
    "time": pa.timestamp("us", tz="UTC"),
}


def held(kind: str, value: Any) -> Any:
    return np.float32(value) if kind == "float" else value


@settings(max_examples=examples(30), deadline=None)
@given(st.data(), st.sampled_from(sorted(LEAVES)))
def test_both_encoders_write_the_same(data: st.DataObject, kind: str) -> None:
    column = data.draw(st.lists(st.none() | LEAVES[kind], min_size=1, max_size=8))
    table = pa.table({"x": pa.array(column, TYPES[kind]), "id": list(map(str, range(len(column))))})

    sent = [record.get("x") for record in pack(table, id="id").records]

    one_by_one = [write_json(None if v is None else held(kind, v)) for v in column]
    assert sent == [None if text is None else msgspec.json.decode(text) for text in one_by_one]


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | TEXT
    | st.floats(allow_nan=False, allow_infinity=False)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=5,
)
NAMES = TEXT.filter(lambda name: name != "objectID")


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.dictionaries(NAMES, ANYTHING, max_size=4), min_size=1, max_size=5))
def test_what_a_frame_holds_is_what_is_sent(rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["x"]
    columns = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in names}
    frame = pd.DataFrame(columns)

    sent = values(frame)

    wanted = [{name: value for name, value in row.items() if value is not None} for row in rows]
    assert sent == wanted


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("series", "sent"),
    [
        (pd.Series([1, 2]), [1, 2]),
        (pd.Series([1.0, math.nan]), [1.0, None]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series(["a", pd.NA], dtype="string"), ["a", None]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([3, 1], dtype="category"), [3, 1]),
        (pd.Series([1, "a"]), [1, "a"]),
        (pd.Series([1, 2.5], dtype=object), [1, 2.5]),
        (pd.Series([[1, 2], {"a": None}]), [[1, 2], {"a": None}]),
        (pd.Series([[1], None]), [[1], None]),
        (pd.Series([dt.date(2024, 1, 2), None]), ["2024-01-02", None]),
        (
            pd.Series([pd.Timestamp("2024-01-02", tz="Europe/Paris"), pd.NaT]),
            ["2024-01-01T23:00:00Z", None],
        ),
        (
            pd.Series([pd.Timestamp("2024-01-02T03:04:05.123456789Z"), pd.NaT]),
            ["2024-01-02T03:04:05.123456789Z", None],
        ),
        (pd.Series([1, 2], dtype="uint8"), [1, 2]),
        (pd.Series([0.5, 2], dtype="float16"), [0.5, 2]),
        (pd.Series(pd.period_range("2024-01", periods=2, freq="M")), ["2024-01", "2024-02"]),
        (pd.Series(pd.interval_range(0, 2)), ["(0, 1]", "(1, 2]"]),
        (pd.Series([1, 0], dtype=pd.SparseDtype("int64", 0)), [1, 0]),
        (pd.Series([1, 2], dtype=pd.ArrowDtype(pa.int32())), [1, 2]),
        (pd.Series([[1], [2, 3]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), [[1], [2, 3]]),
        (pd.Series([decimal.Decimal("1.10"), None]), [1.1, None]),
        (pd.Series([None, None]), [None, None]),
    ],
)
def test_every_dtype_is_sent_as_what_it_means(series: pd.Series[Any], sent: list[Any]) -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "x": series})

    assert [record.get("x") for record in pack(frame, id="id").records] == sent


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (math.inf, "infinite"),
        (2**70, "64 bits"),
        (dt.timedelta(1), "duration"),
        ({1}, "set"),
        (b"x", "bytes"),
        (dt.datetime(2024, 1, 1), "zone"),
        (decimal.Decimal("0.1234567890123456789"), "exactly"),
    ],
)
def test_one_bad_value_costs_its_row_alone(bad: object, reason: str) -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "x": pd.Series(["fine", bad], dtype=object)})

    packed = pack(frame, id="id")

    assert packed.records == [{"objectID": "1", "id": "1", "x": "fine"}]
    ((row, column, told),) = packed.rejected
    assert (row, column) == (2, "x")
    assert reason in told


@pytest.mark.parametrize(
    ("series", "match"),
    [
        (pd.Series(pd.to_timedelta([1, 2], unit="s")), "total_seconds"),
        (pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"])), "timezone='UTC'"),
    ],
)
def test_a_column_of_a_type_without_json_is_refused_by_name(
    series: pd.Series[Any], match: str
) -> None:
    with pytest.raises(BadRecord, match=match) as caught:
        pack(pd.DataFrame({"when": series}))

    assert caught.value.column == "when"


def test_infinite_floats_are_rejected_one_by_one() -> None:
    packed = pack(pd.DataFrame({"id": list("abc"), "x": [1.0, math.inf, -math.inf]}), id="id")

    assert [record["objectID"] for record in packed.records] == ["a"]
    assert [row for row, _, _ in packed.rejected] == [2, 3]


def test_naive_times_are_sent_in_utc_once_their_zone_is_told() -> None:
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2024-07-01 12:00:00.00", "2024-01-01 12:00:00.25"])}
    )

    assert values(frame, timezone="Europe/Paris") == [
        {"when": "2024-07-01T10:00:00Z"},
        {"when": "2024-01-01T11:00:00.25Z"},
    ]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), "several levels"),
        (["a", math.nan], "the name of column nan is a float; rename it to text"),
        (["x", "x"], "several columns are named `x`"),
        ([1, "1"], "several columns are named `1`"),
        ([("a", "b"), "c"], "is a tuple; rename"),
    ],
)
def test_column_names_json_cannot_have_are_refused(columns: Any, match: str) -> None:
    frame = pd.DataFrame([[1, 2]])
    frame.columns = (
        columns if isinstance(columns, pd.MultiIndex) else pd.Index(columns, tupleize_cols=False)
    )

    with pytest.raises(BadInput, match=match):
        pack(frame)


def test_numbers_as_column_names_become_text() -> None:
    assert values(pd.DataFrame([[1, 2]])) == [{"0": 1, "1": 2}]


@pytest.mark.parametrize(
    ("kind", "cells", "sent"),
    [
        ("string", ["1", "2"], ["1", "2"]),
        ("integer", ["1", "-2"], [1, -2]),
        ("number", ["1", "2.5"], [1, 2.5]),
        ("boolean", ["yes", "0"], [True, False]),
        ("date", ["2024-01-02", "2024-1-3"], ["2024-01-02", "2024-01-03"]),
        ("timestamp", ["2024-01-02 03:04:05", "2024-01-02T03:04:05+02:00"],
         ["2024-01-02T03:04:05Z", "2024-01-02T01:04:05Z"]),
        ("epoch", ["1970-01-01 00:00:02", "1969-12-31T23:59:59.5Z"], [2, -1]),
        ("epoch_ms", ["1970-01-01 00:00:02", "1970-01-01"], [2000, 0]),
        ("json", ['{"a": [1]}', "null"], [{"a": [1]}, None]),
    ],
)  # fmt: skip
def test_a_dtype_asked_for_is_kept_to(kind: str, cells: list[str], sent: list[Any]) -> None:
    table = pa.table({"id": ["1", "2"], "x": cells})

    packed = pack(table, id="id", dtype={"x": kind}, timezone="UTC")

    assert [record.get("x") for record in packed.records] == sent


def test_a_value_that_is_not_of_the_dtype_asked_for_is_rejected() -> None:
    table = pa.table({"id": ["1", "2"], "x": ["1", "one"]})

    packed = pack(table, id="id", dtype={"x": "integer"})

    assert packed.rejected == [(2, "x", "is not a whole number")]


def test_floats_that_are_whole_make_whole_ids() -> None:
    packed = pack(pd.DataFrame({"id": [1.0, 2.0, math.nan], "x": [1, 2, 3]}), id="id")

    assert [record["objectID"] for record in packed.records] == ["1", "2"]
    assert packed.rejected == [(3, "id", "has no id")]


@pytest.mark.parametrize("kind", ["frame", "list", "objects"])
@pytest.mark.parametrize(
    ("time", "is_sent"),
    [
        ("2024-03-31 02:30", False), ("2024-10-27 02:30", False), ("2024-03-31 03:00", True),
        ("2024-03-31 01:59:59", True), ("2024-10-27 01:59:59", True), ("2024-10-27 03:00", True),
    ],
    ids=["skipped", "repeated", "after skip", "before skip", "before repeat", "after repeat"],
)  # fmt: skip
def test_a_time_that_its_zone_skips_or_repeats_is_rejected(
    kind: str, time: str, is_sent: bool
) -> None:
    moment = dt.datetime.fromisoformat(time)
    frame = pd.DataFrame({"at": [moment], "n": [1]})
    if kind == "objects":
        frame["at"] = pd.Series([moment], dtype=object)
    source = [{"at": moment, "n": 1}] if kind == "list" else frame

    packed = pack(source, timezone="Europe/Paris")

    assert len(packed.records) == int(is_sent)
    assert [reason[:32] for _, _, reason in packed.rejected] == [
        "is a time that its zone skips or"
    ] * (not is_sent)
    assert len(pack(source, timezone="UTC").records) == 1


@pytest.mark.parametrize(
    ("place", "is_sent"),
    [
        ({"lat": 90, "lng": -180}, True),
        ({"lat": 91, "lng": 0}, False),
        ({"lat": 1.5, "lng": 180.1}, False),
        ([{"lat": 1, "lng": 2}, {"lat": 3, "lng": 4}], True),
        ([{"lat": 1, "lng": 2}, {"lat": -91, "lng": 4}], False),
        (None, True),
    ],
)
def test_places_off_the_globe_are_rejected(place: Any, is_sent: bool) -> None:
    packed = pack([{"id": "a", "_geoloc": place, "n": 1}, {"id": "b", "n": 2}], id="id")

    assert len(packed.records) == 1 + is_sent
    assert len(packed.rejected) == (not is_sent)
