"""Results as frames of Polars, and the accessors of Polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.core.imports import register_accessors
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import BadInput
from tests.conftest import Running, examples

RECORDS: list[dict[str, Any]] = [
    {"objectID": "1", "name": "red lamp", "price": 10, "tags": ["a", "b"], "size": {"w": 1}},
    {"objectID": "2", "name": "blue lamp", "price": None, "tags": [], "size": {"h": 2.5}},
    {"objectID": "3", "name": "oak table", "price": 90, "maker": {"names": [{"de": "x"}]}},
]


@pytest.fixture(autouse=True)
def accessors() -> None:
    """Register the accessors, as each use of the package does."""
    register_accessors()


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    client = Client(
        ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))
    )
    yield client
    client.close()


@pytest.fixture
def index(client: Client) -> str:
    client.replace_all("in-polars", RECORDS)
    settings: Any = {"attributesForFaceting": ["name"]}
    client.wait(client.set_settings("in-polars", settings), index="in-polars")
    return "in-polars"


def test_columns_keep_their_types_and_nested_values() -> None:
    frame = pd.DataFrame(
        {
            "whole": [1, 2],
            "gap": pd.array([1, None], "Int64"),
            "share": [0.5, np.nan],
            "text": ["a", None],
            "at": pd.to_datetime(["2026-01-01", "NaT"], utc=True).as_unit("us"),
            "flag": [True, False],
            "lists": [["a"], None],
            "objects": [{"a": 1}, {"b": [{"c": 1}, {"d": "x"}]}],
            "numbers": pd.Series([1, 2.5], dtype=object),
            "mixed": [1, {"a": "x"}],
            "empty": pd.Series([None, None], dtype=object),
        }
    )

    converted = svc.to_polars(frame)

    assert {name: str(kind) for name, kind in converted.schema.items()} == {
        "whole": "Int64", "gap": "Int64", "share": "Float64", "text": "String",
        "at": "Datetime(time_unit='us', time_zone='UTC')", "flag": "Boolean",
        "lists": "List(String)", "numbers": "Float64", "mixed": "String", "empty": "Null",
        "objects": "Struct({'a': Int64, 'b': List(Struct({'c': Int64, 'd': String}))})",
    }  # fmt: skip
    assert converted.row(1)[:4] == (2, None, None, None)
    assert converted["mixed"].to_list() == ["1", '{"a": "x"}']
    assert converted["objects"].to_list()[1]["b"][1] == {"c": None, "d": "x"}


CELLS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_null(item) for name, item in value.items() if item is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(CELLS, max_size=6))
def test_no_value_is_lost(values: list[Any]) -> None:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})

    converted = svc.to_polars(frame)["x"]

    if converted.dtype == pl.String:
        texts = [value for value in values if isinstance(value, str)]
        assert [text for text in converted if text in texts] == texts or len(texts) < len(values)
        assert converted.is_null().to_list() == [value is None for value in values]
    else:
        assert without_null(converted.to_list()) == without_null(values)


def test_an_index_is_the_first_column() -> None:
    frame = pd.DataFrame({"count": [3]}, index=pd.Index(["2026"], name="date"))

    assert svc.to_polars(frame).to_dicts() == [{"date": "2026", "count": 3}]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], "must be a DataFrame of pandas"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are called `a`"),
    ],
)
def test_what_cannot_be_converted_is_refused(value: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        svc.to_polars(value)


def test_every_kind_of_reader_can_be_converted(index: str, client: Client) -> None:
    tables = [
        svc.search(index, "lamp", client=client),
        svc.read_browse(index, client=client),
        svc.read_records(index, ["1", "3"], client=client),
        svc.read_facets(index, client=client),
        svc.read_logs(client=client),
        svc.read_indices(client=client),
        svc.explain(index, "lamp", client=client),
        svc.search_many(index, ["lamp", "sofa"], client=client),
        svc.tuning.history(index, client=client),
    ]

    for table in tables:
        converted = svc.to_polars(table)
        assert converted.height == len(table)
        assert converted.columns[-len(table.columns) :] == [*table.columns]
    chunks = [*svc.read_browse(index, client=client, chunksize=2)]
    whole = pl.concat(map(svc.to_polars, chunks), how="diagonal_relaxed")
    assert sorted(whole["objectID"]) == ["1", "2", "3"]


def test_a_dtype_backend_of_polars_names_the_function(index: str, client: Client) -> None:
    with pytest.raises(BadInput, match=r"svc\.to_polars\(result\) returns a frame of Polars"):
        svc.read_browse(index, client=client, dtype_backend="polars")  # type: ignore[call-overload]


@pytest.mark.parametrize("lazy", [False, True])
def test_rows_are_pushed_compared_and_deleted(lazy: bool, client: Client) -> None:
    data = pl.DataFrame({"objectID": ["1", "2"], "name": ["lamp", "desk"], "tags": [["a"], []]})
    frame: Any = data.lazy() if lazy else data
    name = f"pushed-from-polars-{lazy}"

    assert frame.svc.plan(name).rows == 2
    assert frame.svc.push(name, if_exists="replace", client=client).published == 2

    changed: Any = data.with_columns(name=pl.lit("x")).lazy() if lazy else data
    states = changed.svc.diff(name, client=client)
    assert isinstance(states, pl.DataFrame)
    assert states["state"].to_list() == (["changed"] * 2 if lazy else ["unchanged"] * 2)
    read = frame.svc.records(name, client=client)
    assert read["tags"].to_list() == [["a"], []]
    assert frame.svc.delete(name, client=client).published == 2


def test_a_column_is_searched(index: str, client: Client) -> None:
    queries: Any = pl.Series("query", ["lamp", "table"])

    hits = queries.svc.search(index, client=client)

    assert isinstance(hits, pl.DataFrame)
    assert sorted(hits["objectID"]) == ["1", "2", "3"]
    ids: Any = pl.Series(["3"])
    assert ids.svc.records(index, client=client)["name"].to_list() == ["oak table"]


def test_methods_of_a_request_are_refused_with_a_reason() -> None:
    frame: Any = pl.DataFrame({"objectID": ["1"]})

    with pytest.raises(AttributeError, match=r"does not contain the request"):
        frame.svc.next_page()
    with pytest.raises(AttributeError, match=r"did you mean `push`"):
        frame.svc.pusch()
    with pytest.raises(BadInput, match="pass `index=`"):
        frame.svc.records()
    assert repr(frame.svc) == (
        "df.svc of 1 row: push, plan, diff, delete, records, events, crawler_urls, crawled_urls"
    )
    assert "LazyFrame" in repr(frame.lazy().svc)
    assert "id" in frame.svc.records.__doc__
