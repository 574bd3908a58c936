"""Values of options as users of pandas give them: integer names, time zones, wrong types."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from svc_notebook.data.loading.options import LoadSettings, SendSettings
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack
from tests.looping import loop_over

# A table without a header, whose columns have integers as names.
TABLE = pd.DataFrame([["a", "1", "x;y"], ["b", "2", "z"]])


def test_columns_without_a_header_are_named_by_their_integers() -> None:
    named = TABLE.set_axis(["0", "1", "2"], axis="columns")
    for by_integer, by_text in (
        ({"id": 0}, {"id": "0"}),
        ({"id": [0, 1]}, {"id": ["0", "1"]}),
        ({"columns": [0, np.int64(1)], "id": 0}, {"columns": ["0", "1"], "id": "0"}),
        ({"rename": {0: "sku"}, "id": "sku"}, {"rename": {"0": "sku"}, "id": "sku"}),
        ({"dtype": {1: "integer"}, "id": 0}, {"dtype": {"1": "integer"}, "id": "0"}),
        (
            {"dtype": {2: "list"}, "list_separator": {2: ";"}, "id": 0},
            {"dtype": {"2": "list"}, "list_separator": {"2": ";"}, "id": "0"},
        ),
        ({"nulls": {1: "error"}, "id": 0}, {"nulls": {"1": "error"}, "id": "0"}),
    ):
        assert pack(TABLE, **by_integer).records == pack(named, **by_text).records
    assert pack(TABLE, dtype={2: "list"}, id=0).records[0]["2"] == ["x", "y"]


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (ZoneInfo("Europe/Berlin"), "Europe/Berlin"), (dt.UTC, "UTC"),
        (pd.Timestamp("2024-01-01", tz="Asia/Tokyo").tzinfo, "Asia/Tokyo"),
    ],
)  # fmt: skip
def test_a_time_zone_is_an_object_or_its_name(zone: dt.tzinfo, name: str) -> None:
    assert LoadSettings.of({"timezone": zone}).timezone == name


@loop_over(
    "option, value, message",
    [
        ("columns", 3, "`columns` must be a list, not a number"),
        ("columns", ["a", None], "`columns[1]` must be text, not None"),
        ("columns", "a", "`columns` must be a list of names: columns=['a']"),
        ("rename", {"a": 1}, "`rename['a']` must be text, not a number"),
        ("rename", str.lower, "`rename` must be a dict by column"),
        ("list_separator", 3, "`list_separator` must be text or a dict, not a number"),
        ("split", 2000, "`split` must be a dict, not a number"),
        ("timezone", 2, "`timezone` must be text, not a number"),
        ("timezone", dt.timezone(dt.timedelta(hours=2)), "`UTC+02:00` is not a time zone"),
        ("encoding", 8, "`encoding` must be text, not a number"),
        ("sheet", 0, "`sheet` must be text, not a number"),
        ("nest", "no", "`nest` must be True or False, not text"),
        ("header", 0, "`header` must be True or False; `skip` is the number of lines above"),
        ("limit", "5", "`limit` must be a whole number, not text"),
        ("skip", [0, 1], "`skip` must be a whole number, not a list"),
        ("nulls", ["NA"], "`nulls` must be one of omit, null, error"),
    ],
)
def test_a_value_of_another_type_is_refused(option: str, value: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        LoadSettings.of({option: value})

    assert message in str(caught.value)


@pytest.mark.parametrize("value", [0, 1025, 10**30])
def test_the_concurrency_is_bounded(value: int) -> None:
    with pytest.raises(BadInput, match="`in_flight` must be from 1 to 1,024"):
        SendSettings(in_flight=value)
