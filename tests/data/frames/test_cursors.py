"""Browses and searches resumed from a cursor or page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop
from svc_notebook.errors import BadInput
from tests.conftest import Running, examples

INDEX = "continuing"
COUNT = 2300  # more than two pages of a browse


@pytest.fixture(scope="module")
def aio(service: Running) -> Iterator[AsyncClient]:
    key = Secret(service.adminKey)
    with Client(ClientConfig(url=service.url, app_id=service.appId, api_key=key)) as client:
        records = ({"objectID": f"{n:05}", "n": n, "word": "oak"} for n in range(COUNT))
        client.replace_all(INDEX, records)
        yield client.aio


def browsed(aio: AsyncClient, **options: Any) -> list[pd.DataFrame]:
    async def read() -> list[pd.DataFrame]:
        return [chunk async for chunk in frames.browse_chunks(aio, INDEX, **options)]

    return background_loop.run(read())


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 1500).filter(lambda size: size > 60 or COUNT % size), st.integers(0, 40))
def test_a_browse_can_be_resumed_from_any_chunk(aio: AsyncClient, size: int, stop: int) -> None:
    whole = browsed(aio, chunksize=size)
    place = whole[min(stop, len(whole) - 1)].attrs["svc"]["next"]

    ids = [name for chunk in whole for name in chunk["objectID"]]
    read = sum(len(chunk) for chunk in whole[: stop + 1])
    rest = background_loop.run(frames.read_browse(aio, INDEX, cursor=place)) if place else None

    assert ids == sorted(ids)
    assert len(ids) == COUNT
    assert all(len(chunk) == size for chunk in whole[:-1])
    assert ids[read:] == ([] if rest is None else rest["objectID"].tolist())


def test_pages_follow_each_other_to_the_end(aio: AsyncClient) -> None:
    page, seen = browsed(aio, chunksize=900)[0], 0
    while len(page):
        seen += len(page)
        page = background_loop.run(frames.next_page(aio, page))

    assert seen == COUNT
    assert page.columns.tolist() == ["objectID", "n", "word"]


@pytest.mark.parametrize("window", [{"hitsPerPage": 7}, {"offset": 5, "length": 7}])
def test_a_search_is_paged(aio: AsyncClient, window: Any) -> None:
    first = background_loop.run(frames.search(aio, INDEX, "oak", **window))
    second = background_loop.run(frames.next_page(aio, first))

    assert second["rank"].tolist() == [rank + 7 for rank in first["rank"]]
    assert not set(second["objectID"]) & set(first["objectID"])


def test_all_that_a_search_finds_is_browsed(aio: AsyncClient) -> None:
    hits = background_loop.run(frames.search(aio, INDEX, "oak", hitsPerPage=5, filters="n < 1500"))

    assert len(background_loop.run(frames.browse_all(aio, hits))) == 1500


def test_a_frame_is_read_again_with_what_changed_meanwhile(aio: AsyncClient) -> None:
    hits = background_loop.run(frames.search(aio, INDEX, filters="n = 17"))
    records = background_loop.run(frames.read_records(aio, INDEX, ["00017"], columns=["word"]))
    chunk = browsed(aio, chunksize=20)[0]
    task = background_loop.run(aio.partial_update_object(INDEX, "00017", {"word": "ash"}))
    background_loop.run(aio.wait(dict(task), index=INDEX))

    again = [background_loop.run(frames.refresh(aio, frame)) for frame in (hits, records, chunk)]

    assert [frame["word"][frame["objectID"] == "00017"].item() for frame in again] == ["ash"] * 3
    assert again[1].columns.tolist() == ["objectID", "word"]


def test_the_provenance_of_a_frame_is_plain_json_and_survives_a_file(
    aio: AsyncClient, tmp_path: Any
) -> None:
    hits = background_loop.run(frames.search(aio, INDEX, "oak", hitsPerPage=3))
    hits.to_parquet(tmp_path / "hits.parquet")
    back = pd.read_parquet(tmp_path / "hits.parquet")

    assert json.loads(json.dumps(hits.attrs["svc"])) == hits.attrs["svc"]
    assert background_loop.run(frames.next_page(aio, back))["rank"].tolist() == [4, 5, 6]


def test_a_frame_without_provenance_or_of_another_service_is_refused(aio: AsyncClient) -> None:
    hits = background_loop.run(frames.search(aio, INDEX, "oak"))
    hits.attrs["svc"]["address"] = "http://elsewhere"

    with pytest.raises(BadInput, match=r"is from application .* at http://elsewhere"):
        background_loop.run(frames.refresh(aio, hits))
    with pytest.raises(BadInput, match="has no record of how it was read"):
        background_loop.run(frames.next_page(aio, pd.DataFrame({"a": [1]})))
    with pytest.raises(BadInput, match="the result of read_indices has no pages"):
        background_loop.run(frames.next_page(aio, background_loop.run(frames.read_indices(aio))))


def test_objects_become_columns_on_request(products: Client) -> None:
    flat = background_loop.run(frames.read_browse(products.aio, "frames", flatten=True))
    picked = background_loop.run(frames.search(products.aio, "frames", "table", columns=["size.w"]))

    assert flat.set_index("objectID")["size.w"].dropna().to_dict() == {"3": 1}
    assert "size" not in flat
    assert picked["size.w"].tolist() == [1]


def test_a_name_that_flattening_makes_twice_is_refused(aio: AsyncClient) -> None:
    task = background_loop.run(aio.put_object("twice", "1", {"a.b": 1, "a": {"b": 2}}))
    background_loop.run(aio.wait(dict(task), index="twice"))

    with pytest.raises(BadInput, match=r"`a\.b` twice.*flatten=False"):
        background_loop.run(frames.read_browse(aio, "twice", flatten=True))


def test_values_are_counted_exactly_however_rare(products: Client) -> None:
    counted = background_loop.run(
        frames.count_values(products.aio, "frames", "brand", ["Cobb", "Lund", "-none", "Cobb"])
    )

    assert counted.to_numpy().tolist() == [["Cobb", 2], ["Lund", 1], ["-none", 0]]


def test_values_are_counted_as_facets_have_them(aio: AsyncClient) -> None:
    task = background_loop.run(aio.put_object("kinds", "1", {"n": 2, "yes": True}))
    background_loop.run(aio.wait(dict(task), index="kinds"))
    changed = background_loop.run(
        aio.set_settings("kinds", {"attributesForFaceting": ["n", "yes"]})
    )
    background_loop.run(aio.wait(dict(changed), index="kinds"))

    numbers = background_loop.run(frames.count_values(aio, "kinds", "n", pd.Series([2.0, 2.5])))
    truths = background_loop.run(frames.count_values(aio, "kinds", "yes", pd.Series([True, False])))

    assert numbers.to_numpy().tolist() == [["2", 1], ["2.5", 0]]
    assert truths.to_numpy().tolist() == [["true", 1], ["false", 0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("Cobb", r"`values` must be a list: \['Cobb'\]"),
        ([None], "dropna"),
        ([["a"]], "cannot have the value"),
    ],
)
def test_invalid_values_are_not_counted(aio: AsyncClient, values: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        background_loop.run(frames.count_values(aio, "frames", "brand", values))


def test_tasks_are_read(aio: AsyncClient) -> None:
    task = background_loop.run(aio.put_object("tasks", "1", {"a": 1}))
    background_loop.run(aio.wait(dict(task), index="tasks"))

    found = background_loop.run(frames.read_tasks(aio, dict(task), index="tasks"))

    assert found.to_numpy().tolist() == [[task["taskID"], "tasks", "published"]]


@pytest.mark.slow
@pytest.mark.parametrize("form", [list, pd.Series, iter], ids=["list", "Series", "iterator"])
@pytest.mark.sampled(1)
def test_many_searches_are_read_again_in_whatever_form_their_queries_came(
    aio: AsyncClient, form: Any
) -> None:
    found = background_loop.run(frames.search_many(aio, INDEX, form(["oak"] * 1001), hitsPerPage=1))

    again = background_loop.run(frames.refresh(aio, found))

    pd.testing.assert_frame_equal(found, again)


def test_a_missing_argument_of_a_frame_is_named(aio: AsyncClient) -> None:
    counts = background_loop.run(frames.count_values(aio, INDEX, "word", iter(["oak"])))

    with pytest.raises(
        BadInput, match=r"does not contain the `values`.*call count_values\(…\) again"
    ):
        background_loop.run(frames.refresh(aio, counts))
