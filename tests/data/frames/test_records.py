"""Records read by objectID."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from svc_notebook.data import frames
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.frames.records import id_text
from svc_notebook.errors import BadInput, CursorRepeated
from tests.data.client.stub import Act, Stub, answer, serving
from tests.data.frames.conftest import INDEX


def records(client: Client, ids: Any, **options: Any) -> pd.DataFrame:
    return background_loop.run(frames.read_records(client.aio, INDEX, ids, **options))


def test_records_come_in_the_order_of_their_ids(products: Client) -> None:
    frame = records(products, ["3", "007", "1"])

    assert frame["objectID"].tolist() == ["3", "007", "1"]
    assert frame["price"].tolist() == [90, 50, 30]
    assert frame["size"].tolist() == [{"w": 1}, None, None]


def test_an_id_without_a_record_has_no_row_and_is_listed(products: Client) -> None:
    with pytest.warns(UserWarning, match=r"^1 of 3 ids is not in \w+: `nowhere`; attrs"):
        frame = records(products, ["1", "nowhere", "3"])

    assert frame["objectID"].tolist() == ["1", "3"]
    assert frame["price"].notna().all()
    assert frame.attrs["svc"]["missing"] == ["nowhere"]


def test_more_ids_than_one_request_takes(products: Client) -> None:
    frame = records(products, ["1", "2"] * 1100, columns=["name"])

    assert len(frame) == 2200
    assert frame["name"].iloc[[0, 2199]].tolist() == ["oak lamp", "brass lamp"]


@pytest.mark.parametrize("dtype", [int, float])
def test_whole_numbers_are_ids_too(products: Client, dtype: type) -> None:
    assert records(products, np.array([3, 1], dtype))["price"].tolist() == [90, 30]


def test_a_uuid_is_an_id() -> None:
    assert id_text(UUID(int=1)) == "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize("bad", [None, 1.5, "", True, float("nan")])
def test_an_invalid_id_is_refused(products: Client, bad: object) -> None:
    with pytest.raises(BadInput, match="is not an objectID"):
        records(products, ["1", bad])


def test_no_ids_give_no_rows_but_the_columns(products: Client) -> None:
    frame = records(products, [], columns=["objectID", "name"])

    assert list(frame.columns) == ["objectID", "name"]
    assert len(frame) == 0


def test_a_whole_index_comes_back(products: Client) -> None:
    frame = background_loop.run(frames.read_browse(products.aio, INDEX))

    assert sorted(frame["objectID"]) == ["007", "1", "2", "3"]
    assert frame.columns[0] == "objectID"
    assert set(frame.columns) == {"objectID", "name", "brand", "price", "tags", "size"}


def test_browsing_takes_filters_and_columns_over_many_pages(products: Client) -> None:
    frame = background_loop.run(
        frames.read_browse(
            products.aio, INDEX, columns=["price"], filters="price < 60", hitsPerPage=1
        )
    )

    assert list(frame.columns) == ["objectID", "price"]
    assert sorted(frame["price"]) == [20.5, 30, 50]


@pytest.mark.parametrize(("size", "lengths"), [(1, [1, 1, 1, 1]), (3, [3, 1]), (9, [4])])
def test_chunks_have_the_requested_size(products: Client, size: int, lengths: list[int]) -> None:
    async def gather() -> list[pd.DataFrame]:
        chunks = await frames.read_browse(products.aio, INDEX, chunksize=size, hitsPerPage=2)
        return [chunk async for chunk in chunks]

    chunks = background_loop.run(gather())

    assert [len(chunk) for chunk in chunks] == lengths
    assert sorted(pd.concat(chunks)["objectID"]) == ["007", "1", "2", "3"]


@pytest.mark.parametrize("options", [{}, {"flatten": True}, {"dtype_backend": "numpy_nullable"}])
def test_a_chunk_has_the_columns_of_those_before_it(products: Client, options: Any) -> None:
    async def gather() -> list[pd.DataFrame]:
        chunks = await frames.read_browse(
            products.aio, INDEX, chunksize=1, hitsPerPage=2, **options
        )
        return [chunk async for chunk in chunks]

    chunks = background_loop.run(gather())
    whole = background_loop.run(frames.read_browse(products.aio, INDEX, **options))

    for before, after in pairwise(chunks):
        assert list(after)[: before.shape[1]] == list(before)
        assert after.attrs["svc"]["reader"] == "read_browse"
    assert list(chunks[-1]) == list(whole)


def test_a_chunk_is_of_one_row_or_more(products: Client) -> None:
    async def first() -> pd.DataFrame:
        return await anext(frames.browse_chunks(products.aio, INDEX, 0))

    with pytest.raises(BadInput, match="1 or more"):
        background_loop.run(first())


def test_an_index_that_filters_leave_empty_has_its_columns(products: Client) -> None:
    frame = background_loop.run(
        frames.read_browse(products.aio, INDEX, columns=["name"], filters="price > 1000")
    )

    assert list(frame.columns) == ["objectID", "name"]
    assert len(frame) == 0


def test_columns_are_a_list(products: Client) -> None:
    with pytest.raises(BadInput, match=r"columns=\['name'\]"):
        background_loop.run(frames.read_browse(products.aio, INDEX, columns="name"))


def test_indices_are_listed(products: Client) -> None:
    frame = background_loop.run(frames.read_indices(products.aio)).set_index("name")

    assert frame.loc[INDEX, "entries"] == 4
    assert str(frame["updatedAt"].dtype) == "datetime64[us, UTC]"
    assert (frame["updatedAt"] > pd.Timestamp("2024-01-01", tz="UTC")).all()


def test_settings_are_read(products: Client) -> None:
    frame = background_loop.run(frames.read_settings(products.aio, INDEX)).set_index("setting")

    assert frame.loc["customRanking", "value"] == ["desc(price)"]


@pytest.mark.parametrize("ids", ["lamp-1", 5])
def test_ids_that_are_no_list_are_refused(products: Client, ids: Any) -> None:
    with pytest.raises(BadInput, match="`ids` must be a list of objectIDs"):
        records(products, ids)


@pytest.mark.parametrize("size", [0, -1])
def test_chunks_of_no_size_are_refused_at_once(products: Client, size: Any) -> None:
    with pytest.raises(BadInput, match="`chunksize` must be a number of rows"):
        background_loop.run(frames.read_browse(products.aio, INDEX, chunksize=size))


def browsed(server: Stub, **options: Any) -> Any:
    client = Client(ClientConfig("APP", Secret("k"), url=server.url))
    return background_loop.run(frames.read_browse(client.aio, "i", **options))


def ringing(*numbers: int) -> list[Act]:
    """Pages of one record each, whose cursors are `a`, `b` and `a` again."""
    cursors = ["a", "b", "a"]
    pages = zip(numbers, cursors, strict=True)
    return [answer({"hits": [{"objectID": str(n)}], "cursor": cursor}) for n, cursor in pages]


def test_a_browse_with_a_repeated_cursor_returns_what_it_read() -> None:
    with serving(*ringing(1, 2, 3)) as server, pytest.raises(CursorRepeated) as caught:
        browsed(server)

    frame = caught.value.result
    assert isinstance(frame, pd.DataFrame)
    assert frame["objectID"].tolist() == ["1", "2", "3"]
    assert "filters" in str(caught.value)
    assert len(server.requests) == 3


@pytest.mark.parametrize("chunksize", [1, 2, 5])
def test_chunks_come_before_the_error_that_ends_them(chunksize: int) -> None:
    seen: list[str] = []

    async def read_all() -> None:
        client = Client(ClientConfig("APP", Secret("k"), url=server.url))
        async for chunk in frames.browse_chunks(client.aio, "i", chunksize):
            seen.extend(chunk["objectID"])

    with serving(*ringing(1, 2, 3)) as server, pytest.raises(CursorRepeated):
        background_loop.run(read_all())

    assert seen == ["1", "2", "3"]
