"""Values that are pushed and read back are equal, as far as JSON represents them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from tests.conftest import Running, examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
# Each column's values, the dtype they are pushed as, and whether the same dtype is read back.
COLUMNS: dict[str, tuple[st.SearchStrategy[Any], str, bool]] = {
    "whole": (st.integers(-(2**63), 2**63 - 1), "int64", True),
    "gaps": (st.none() | st.integers(-(2**63), 2**63 - 1), "Int64", False),
    "small": (st.integers(0, 255), "uint8", False),
    "number": (st.floats(-1e300, 1e300).map(lambda x: x + 0.0), "float64", False),
    "flag": (st.booleans(), "bool", True),
    "perhaps": (st.none() | st.booleans(), "boolean", False),
    "text": (TEXT, "str", True),
    "kind": (st.sampled_from(["a", "b"]), "category", False),
    "list": (st.lists(TEXT | st.integers(-9, 9), max_size=3), "object", True),
    "object": (st.dictionaries(TEXT, st.none() | st.booleans(), max_size=2), "object", True),
}


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[Client]:
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        yield client


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(1, 6))
    frame = pd.DataFrame({"objectID": [f"{n:02d}" for n in range(rows)]})
    for name in draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True)):
        values, dtype, _ = COLUMNS[name]
        drawn = draw(st.lists(values, min_size=rows, max_size=rows))
        frame[name] = pd.Series(drawn, dtype=dtype)
    return frame


def plain(column: pd.Series[Any]) -> list[Any]:
    return [None if value is None or value is pd.NA else value for value in column.tolist()]


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(frame=frames())
def test_a_frame_that_is_pushed_is_read_back_equal(client: Client, frame: pd.DataFrame) -> None:
    svc.push(frame, "returning", if_exists="replace", client=client)

    read = svc.read_browse("returning", client=client).sort_values("objectID", ignore_index=True)

    empty = {name for name in frame.columns if frame[name].isna().all()}
    assert set(read.columns) == set(frame.columns) - empty
    for name in read.columns:
        assert plain(read[name]) == plain(frame[name])
        if COLUMNS.get(name, (None, "", False))[2]:
            assert read[name].dtype == frame[name].dtype
