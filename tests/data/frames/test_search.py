"""Hits of a search as a DataFrame."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from svc_notebook.data import frames
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput
from tests.data.frames.conftest import INDEX

RANKING = [
    "nbTypos", "geoDistance", "words", "filters", "proximityDistance", "firstMatchedWord",
    "nbExactWords", "userScore", "textScore", "semanticScore", "fusedScore",
    "promoted",
]  # fmt: skip


def search(client: Client, query: str = "", **options: Any) -> pd.DataFrame:
    return background_loop.run(frames.search(client.aio, INDEX, query, **options))


def test_hits_are_rows_best_first(products: Client) -> None:
    frame = search(products, "lamp")

    assert frame["objectID"].tolist() == ["1", "2"]
    assert frame["rank"].tolist() == [1, 2]
    assert list(frame.columns) == ["rank", "objectID", "name", "brand", "price", "tags"]
    assert frame["tags"].tolist() == [["a", "lamp"], None]


def test_ranks_continue_from_page_to_page(products: Client) -> None:
    frame = search(products, hitsPerPage=3, page=1)

    assert frame["rank"].tolist() == [4]


def test_other_members_of_the_answer_are_kept(products: Client) -> None:
    frame = search(products, "lamp", facets=["brand"])

    told = frame.attrs["svc"]
    assert (told["index"], told["query"], told["nbHits"]) == (INDEX, "lamp", 2)
    assert told["params"] == {"facets": ["brand"]}
    assert told["facets"] == {"brand": {"Cobb": 1, "Lund": 1}}


def test_the_value_of_each_criterion_is_shown_on_request(products: Client) -> None:
    frame = search(products, "lampp", criteria=True)

    assert list(frame.columns)[-len(RANKING) :] == RANKING
    assert frame["nbTypos"].tolist() == [1, 1]
    assert frame["promoted"].tolist() == [False, False]
    assert frame["words"].dtype == "int64"


def test_matches_are_marked_on_request(products: Client) -> None:
    frame = search(products, "lamp", highlight=True)

    assert frame["highlighted.name"].tolist() == ["oak <em>lamp</em>", "brass <em>lamp</em>"]
    assert frame["highlighted.tags"][0] == ["a", "<em>lamp</em>"]


def test_columns_are_chosen(products: Client) -> None:
    frame = search(products, "lamp", columns=["price", "nowhere"])

    assert list(frame.columns) == ["rank", "objectID", "price", "nowhere"]
    assert frame["price"].tolist() == [30.0, 20.5]


def test_an_empty_result_has_the_same_schema(products: Client) -> None:
    full = search(products, "lamp", columns=["name"], criteria=True)
    empty = search(products, "zzz", columns=["name"], criteria=True)

    assert list(empty.columns) == list(full.columns)
    assert empty.dtypes.drop("name").tolist() == full.dtypes.drop("name").tolist()
    assert len(empty) == 0


def test_a_frame_can_have_nullable_dtypes(products: Client) -> None:
    frame = search(products, "lamp", dtype_backend="numpy_nullable")

    assert frame["rank"].dtype == "Int64"
    assert frame["price"].dtype == "Float64"


def test_many_queries_make_one_long_frame(products: Client) -> None:
    queries = ["lamp", "zzz", "desk", "lamp"] * 20

    frame = background_loop.run(frames.search_many(products.aio, INDEX, queries, columns=["name"]))

    assert frame["query"].tolist() == ["lamp", "lamp", "zzz", "desk", "lamp", "lamp"] * 20
    assert frame["rank"].fillna(0).tolist() == [1, 2, 0, 1, 1, 2] * 20
    assert list(frame.columns) == ["query", "rank", "objectID", "name"]
    assert frame.attrs["svc"]["nbHits"] == [2, 0, 1, 2] * 20


def test_a_query_without_hits_keeps_its_row(products: Client) -> None:
    """Of 20 queries two find nothing: they have a row each, and nothing but their words."""
    queries = [*(f"lamp {n % 3}" if n % 2 else "desk" for n in range(18)), "zzz", "qqq"]

    frame = background_loop.run(
        frames.search_many(
            products.aio,
            INDEX,
            queries,
            criteria=True,
            highlight=True,
            removeWordsIfNoResults="lastWords",
        )
    )

    assert list(dict.fromkeys(frame["query"])) == list(dict.fromkeys(queries))
    hits = frame.groupby("query", sort=False)["objectID"].count()
    assert hits[["zzz", "qqq"]].tolist() == [0, 0]
    none = frame[frame["objectID"].isna()].drop(columns="query")
    assert none.isna().all(axis=None)
    assert len(none) == 2


@pytest.mark.parametrize("queries", [["lamp"], ["zzz"], ["lamp", "zzz"], []], ids=str)
def test_the_dtypes_of_many_searches_do_not_change_with_what_they_find(
    products: Client, queries: list[str]
) -> None:
    frame = background_loop.run(
        frames.search_many(products.aio, INDEX, queries, criteria=True, columns=["name"])
    )

    assert [str(dtype) for dtype in frame.dtypes] == [
        str(pd.Series([""]).dtype), "Int64", str(pd.Series([""]).dtype),
        str(frame["name"].dtype), *["Int64"] * 8, *["Float64"] * 3, "boolean",
    ]  # fmt: skip


def test_a_page_beyond_the_last_leaves_its_query_in(products: Client) -> None:
    frame = background_loop.run(frames.search_many(products.aio, INDEX, ["lamp"], page=7))

    assert frame["query"].tolist() == ["lamp"]
    assert frame["rank"].isna().all()
    assert frame.attrs["svc"]["nbHits"] == [2]


def test_queries_that_are_not_text_are_refused(products: Client) -> None:
    with pytest.raises(BadInput, match="dropna"):
        background_loop.run(frames.search_many(products.aio, INDEX, ["a", float("nan")]))  # type: ignore[list-item]


@pytest.fixture
def odd(products: Client) -> Client:
    """A record whose attributes are called as what a search adds."""
    record = {
        "objectID": "1", "name": "lamp", "rank": 42, "query": "its own",
        "highlighted.name": "as it is", "words": ["one"], "_words": 2,
    }  # fmt: skip
    products.replace_all("odd", [record])
    return products


@pytest.mark.parametrize("flatten", [False, True])
def test_added_columns_are_renamed_if_a_record_has_their_name(odd: Client, flatten: bool) -> None:
    found = background_loop.run(
        frames.search_many(odd.aio, "odd", ["lamp"], highlight=True, criteria=True, flatten=flatten)
    )

    added = found.attrs["svc"]["added"]
    assert found.columns.is_unique
    assert (found["rank"].tolist(), found["query"].tolist()) == ([42], ["its own"])
    assert (added["rank"], added["query"], added["words"]) == ("_rank", "_query", "__words")
    assert (added["highlighted.name"], added["nbTypos"]) == ("_highlighted.name", "nbTypos")
    assert found["_highlighted.name"].tolist() == ["<em>lamp</em>"]
    assert set(found.columns) - set(added.values()) == {
        "objectID", "name", "rank", "query", "highlighted.name", "words", "_words",
    }  # fmt: skip


def test_a_requested_column_keeps_its_name(products: Client) -> None:
    frame = search(products, "lamp", columns=["rank"])

    assert list(frame.columns) == ["_rank", "objectID", "rank"]


def test_facets_are_counted(products: Client) -> None:
    frame = background_loop.run(
        frames.read_facets(products.aio, INDEX, "oak", facets=["brand", "price"])
    )

    assert frame.loc[frame["facet"] == "brand", ["value", "count"]].to_numpy().tolist() == [
        ["Cobb", 2]
    ]
    assert frame.attrs["svc"]["facets_stats"]["price"]["max"] == 90
    assert "facets" not in frame.attrs["svc"]


def test_values_of_one_facet_are_searched(products: Client) -> None:
    frame = background_loop.run(frames.read_facet_values(products.aio, INDEX, "brand", "co"))

    assert frame.to_dict("records") == [
        {"value": "Cobb", "highlighted": "<em>Co</em>bb", "count": 2}
    ]
