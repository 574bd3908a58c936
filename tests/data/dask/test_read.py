"""Indices read into Dask DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.loading.dask.read import groups, ranges
from svc_notebook.errors import BadInput, SvcError
from tests.conftest import Running

ROWS = 1200
BRANDS = [f"brand \"{n}' \\" for n in range(30)]
FRAME = pd.DataFrame(
    {
        "objectID": [f"{n:05d}" for n in range(ROWS)],
        "year": pd.array([None if n % 100 == 0 else 1900 + n % 120 for n in range(ROWS)], "Int64"),
        "score": np.arange(ROWS) / 3,
        "brand": [BRANDS[n % 30 if n % 5 else 0] for n in range(ROWS)],
        "tags": [["a", "b"] if n % 2 else ["b"] if n % 3 else None for n in range(ROWS)],
        "seen": [n % 2 == 0 for n in range(ROWS)],
    }
)


@pytest.fixture(scope="module")
def films(service: Running) -> str:
    client = svc.Client(connection(service))
    svc.push(FRAME, "dask-films", client=client)
    facets = ["year", "brand", "tags"]
    svc.settings("dask-films", attributesForFaceting=facets, client=client)
    return "dask-films"


def connection(service: Running) -> Any:
    from svc_notebook.data.client import ClientConfig, Secret

    return ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize(
    ("by", "options"),
    [
        ("year", {}),
        ("score", {"divisions": [100, 200.5]}),
        ("score", {}),
        ("score", {"npartitions": 1}),
        (None, {}),
        (None, {"npartitions": 1}),
        (None, {"npartitions": 500}),
        ("brand", {"npartitions": 4}),
        ("tags", {}),
        ("brand", {"npartitions": 1}),
    ],
)
def test_an_index_is_read_by_the_workers_in_disjoint_parts(
    client: Client, films: str, by: str | None, options: dict[str, Any]
) -> None:
    frame = svc.read_dask(films, by=by, client=client, **options)

    read = frame.compute().sort_values("objectID").reset_index(drop=True)
    whole = svc.read_browse(films, client=client).sort_values("objectID").reset_index(drop=True)
    assert read["objectID"].tolist() == whole["objectID"].tolist()
    assert read["tags"].tolist() == whole["tags"].tolist()
    assert (read["score"] == whole["score"]).all()
    assert frame.dtypes.to_dict() == read.dtypes.to_dict()
    assert {name: str(dtype) for name, dtype in read.dtypes.items() if name != "brand"} == {
        "objectID": str(whole["objectID"].dtype), "year": "Int64", "score": "float64",
        "tags": "object", "seen": "boolean",
    }  # fmt: skip


def test_parts_are_of_like_size(client: Client, films: str) -> None:
    frame = svc.read_dask(films, by="year", npartitions=4, client=client)

    sizes = frame.map_partitions(len).compute(scheduler="synchronous").tolist()

    assert sum(sizes) == ROWS
    assert sizes == [300, 300, 300, 288, 12][: len(sizes)] or max(sizes) < ROWS / 2


def test_filters_and_columns_hold_in_every_part(client: Client, films: str) -> None:
    frame = svc.read_dask(
        films, by="brand", columns=["year"], filters="year < 1910 OR year > 2000", client=client
    )

    read = frame.compute(scheduler="synchronous")

    assert list(read.columns) == ["objectID", "year"]
    assert len(read) == int(((FRAME["year"] < 1910) | (FRAME["year"] > 2000)).sum())


def test_pages_and_ranges_of_any_number_are_of_like_size(client: Client, films: str) -> None:
    for by in ("score", None):
        frame = svc.read_dask(films, by=by, npartitions=5, client=client)

        sizes = frame.map_partitions(len).compute(scheduler="synchronous").tolist()

        assert sum(sizes) == ROWS
        assert max(sizes) <= (ROWS / 5 if by is None else ROWS / 3)


def test_filters_hold_in_pages(client: Client, films: str) -> None:
    frame = svc.read_dask(films, columns=["year"], filters="year < 1910", client=client)

    read = frame.compute(scheduler="synchronous")

    assert list(read.columns) == ["objectID", "year"]
    assert sorted(read["objectID"]) == FRAME["objectID"][FRAME["year"] < 1910].tolist()


def test_an_empty_index_is_one_empty_partition(client: Client, index: str) -> None:
    svc.push(FRAME.head(1), index, client=client)
    svc.clear_index(index, client=client)

    assert len(svc.read_dask(index, client=client).compute(scheduler="synchronous")) == 0


@pytest.mark.parametrize("by", ["score", None])
def test_an_index_that_changes_after_it_was_divided_is_an_error(
    client: Client, index: str, by: str | None
) -> None:
    svc.push(FRAME, index, client=client)
    frame = svc.read_dask(index, by=by, npartitions=3, client=client)

    svc.push(FRAME.tail(1).assign(objectID="more"), index, client=client)

    with pytest.raises(BadInput, match=r"the index has changed.*Call svc.read_dask again"):
        frame.compute(scheduler="synchronous")


@pytest.mark.slow
def test_what_was_read_can_be_pushed_on(client: Client, films: str, index: str) -> None:
    svc.read_dask(films, by="year", client=client).svc.push(index, client=client)

    copy = svc.read_browse(index, client=client).sort_values("objectID")
    assert copy["score"].tolist() == FRAME["score"].tolist()


@pytest.mark.parametrize(
    ("by", "options", "match"),
    [
        ("seen", {}, "neither a number nor a facet.*attributesForFaceting"),
        ("absent", {}, "neither a number nor a facet"),
        (None, {"divisions": [1]}, "by='price'"),
        ("brand", {"npartitions": 0}, "from 1 to 10,000"),
        ("brand", {"npartitions": 10**30}, "from 1 to 10,000"),
        ("brand", {"columns": "year"}, r"columns=\['year'\]"),
        ("year", {"divisions": []}, "must be the bounds of a number"),
        ("year", {"divisions": [1900, "x"]}, "must be the bounds of a number"),
        ("year", {"divisions": [float("nan")]}, "must be the bounds of a number"),
        ("year", {"divisions": 1900}, "`divisions` must be a list, not a number"),
    ],
)
def test_what_cannot_be_divided_is_refused_with_advice(
    client: Client, films: str, by: str | None, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        svc.read_dask(films, by=by, client=client, **options)


def test_an_index_that_is_not_there_is_told(client: Client) -> None:
    with pytest.raises(BadInput, match="there is no index"):
        svc.read_dask("nowhere", by="x", client=client)


def test_a_value_that_does_not_fit_is_an_error_with_advice(client: Client, index: str) -> None:
    odd = [{"objectID": f"{n:05d}", "group": "g", "x": n} for n in range(1200)]
    odd[-1]["x"] = "text"
    client.replace_all(index, odd)
    svc.settings(index, attributesForFaceting=["group"], client=client)

    with pytest.raises(SvcError, match=r"dtype=\{'x': object\}"):
        svc.read_dask(index, by="group", client=client).compute(scheduler="synchronous")

    frame = svc.read_dask(index, by="group", dtype={"x": object}, client=client)
    assert frame.compute(scheduler="synchronous")["x"].tolist()[-1] == "text"


def passes(filters: str, year: float | None) -> bool:
    """Whether a number passes the conjunction of comparisons that `ranges` writes."""
    return all(one_passes(each, year) for each in filters.split(" AND "))


def one_passes(each: str, year: float | None) -> bool:
    negated, each = each.startswith("NOT "), each.removeprefix("NOT ")
    _, operator, bound = each.split(" ")
    found = year is not None and (year < float(bound) if operator == "<" else year >= float(bound))
    return found != negated


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6),
    st.none() | st.floats(-60, 60, allow_nan=False),
)
def test_a_number_is_in_one_range_alone(bounds: Sequence[float], value: float | None) -> None:
    assert [passes(each, value) for each in ranges("year", bounds)].count(True) == 1


def test_values_are_shared_out_evenly() -> None:
    filters = groups("b", {"x": 9, "y": 5, "z": 4}, 2)

    assert filters == [
        '"b":"x"',
        '"b":"y" OR "b":"z" AND NOT "b":"x"',
        'NOT "b":"x" AND NOT "b":"y" AND NOT "b":"z"',
    ]
