"""Why a search has no hits: the warning of a search, and the table of its conditions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import NoHitsWarning
from svc_notebook.faces.magics.extension import run
from tests.conftest import Running

INDEX = "why-lamps"
LAMPS = pd.DataFrame(
    {
        "objectID": ["1", "2", "3"],
        "name": ["red lamp", "blue lamp", "desk"],
        "brand": ["Acme", "Umbra", "Acme"],
        "color": ["red", "blue", "oak"],
        "price": [10, 20, 90],
        "date": ["2023-01-01", "2024-05-06", "2025-01-02"],
    }
)
QUERIES: Any = pd.Series(["lamp"])


@pytest.fixture(autouse=True)
def stocked(service: Running) -> None:
    client = svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    if INDEX not in {entry["name"] for entry in client.list_indices()["items"]}:
        svc.push(LAMPS, INDEX)
        svc.set_settings(INDEX, {"attributesForFaceting": ["brand", "searchable(price)"]})


REASONS: list[tuple[str, dict[str, Any], str]] = [
    ("zebra", {}, "no record contains “zebra”"),
    ("red blue", {}, "“red” excludes the only hit"),
    ("lamp", {"filters": "price > 50"}, "the filter price > 50 excludes all 2 hits"),
    (
        "lamp",
        {"filters": "brand:Acme AND price > 50"},
        "the filter price > 50 excludes the only hit",
    ),
    ("lamp", {"filters": "color:red"}, "`color` is not among attributesForFaceting"),
    ("lamp", {"filters": "barnd:Acme"}, "`barnd` is not among .*did you mean `brand`"),
    ("lamp", {"facetFilters": [["color:red"]]}, "`color` is not among attributesForFaceting"),
    ("lamp", {"filters": "date > 2024"}, "`date` of why-lamps holds text, such as '2023-01-01'"),
    ("", {"numericFilters": ["prise<50"]}, "no record of .* has `prise`; did you mean `price`"),
    ("", {"filters": "brand:Acme AND brand:Umbra"}, "the filter brand:(Acme|Umbra) excludes all"),
    ("desk", {"restrictSearchableAttributes": ["brand"]}, "restrictSearchableAttributes"),
    ("lamps", {"typoTolerance": False}, "typoTolerance=False excludes all 2 hits"),
    ("lamp", {"page": 7}, "this page is beyond the 2 hits"),
]


@pytest.mark.parametrize(("query", "params", "reason"), REASONS)
def test_a_search_without_hits_says_the_reason(
    query: str, params: dict[str, Any], reason: str
) -> None:
    if query == "lamps":
        params = {**params, "ignorePlurals": False}
    with pytest.warns(NoHitsWarning, match=f"^no hits in {INDEX}: .*{reason}"):
        svc.search(INDEX, query, **params)

    conditions = svc.why(INDEX, query, **params)

    texts = str(pd.Series([], dtype="str").dtype)  # `object` before pandas 3
    assert [*conditions.dtypes.astype(str)] == [texts, "int64", "int64", texts, texts]
    assert conditions["condition"].is_unique


def test_the_first_condition_excludes_all_hits_and_the_fix_is_code() -> None:
    conditions = svc.why(INDEX, "lamp", filters="brand:Acme AND price > 50", hitsPerPage=5)
    first = conditions.iloc[0]

    assert (first["condition"], first["hits"], first["alone"]) == ("the filter price > 50", 1, 1)
    assert first["reason"] == "it excludes the only hit"
    found = eval(first["fix"], {"svc": svc})
    assert found["objectID"].tolist() == ["1"]


def test_the_fix_of_a_filter_by_no_facet_declares_it() -> None:
    conditions = svc.why(INDEX, "lamp", filters="color:red")
    fix = conditions.loc[conditions["condition"] == "the filter color:red", "fix"].item()

    assert fix == (
        f"svc.set_settings('{INDEX}', {{'attributesForFaceting': "
        "['brand', 'searchable(price)', 'color']}})"
    ).replace("}})", "})")


def test_the_verb_lists_the_conditions_of_a_search_with_hits_too() -> None:
    conditions = run(f"why {INDEX} lamp --filters brand:Acme", None, {})

    assert conditions.attrs["svc"]["nbHits"] == 1
    assert "reason" not in conditions.attrs["svc"]
    assert conditions["reason"].str.startswith("it excludes").all()


WITHOUT_EFFECT: dict[str, Callable[[], Any]] = {
    "facets": lambda: svc.search(INDEX, "lamp", facets=["color"]),
    "optionalFilters": lambda: svc.search(INDEX, "lamp", optionalFilters=["color:red"]),
    "negation": lambda: svc.search(INDEX, "lamp", filters="NOT color:red"),
    "alternative": lambda: svc.search(INDEX, "lamp", filters="brand:Acme OR color:red"),
    "facetFilters": lambda: svc.search(INDEX, facetFilters=[["color:red", "brand:Acme"]]),
    "negated facetFilters": lambda: svc.search(INDEX, "lamp", facetFilters=["color:-red"]),
    "many negations": lambda: svc.search_many(INDEX, ["lamp"], filters="NOT color:red"),
    "counted negation": lambda: svc.read_facets(INDEX, facets=["brand"], filters="NOT color:red"),
    "read_facets": lambda: svc.read_facets(INDEX, facets=["brand", "color"]),
    "search_many": lambda: svc.search_many(INDEX, ["lamp", "desk"], filters="color:red"),
    "queries": lambda: QUERIES.svc.search(INDEX, optionalFilters=["color:red"]),
    "count_values": lambda: svc.count_values(INDEX, "color", ["red"]),
    "read_browse": lambda: svc.read_browse(INDEX, filters="color:red"),
    "search": lambda: run(f"search {INDEX} lamp --facets color", None, {}),
    "facets verb": lambda: run(f"facets {INDEX} --facets brand,color", None, {}),
    "browse verb": lambda: run(f"browse {INDEX} --filters color:red", None, {}),
}


@pytest.mark.parametrize("call", WITHOUT_EFFECT.values(), ids=WITHOUT_EFFECT)
def test_every_search_warns_once_of_an_attribute_that_is_no_facet(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        call()

    messages = [f"{warning.message}" for warning in issued]
    assert len(messages) == 1
    assert f"`color` is not among attributesForFaceting of {INDEX}" in messages[0]


@pytest.mark.parametrize(
    ("function", "params"),
    [
        (svc.search, {"filters": "price = 20"}),
        (svc.search, {"filters": "price:20"}),
        (svc.search, {"facets": ["price", "brand"]}),
        (svc.search, {"facets": "*", "optionalFilters": "brand:Acme"}),
        (svc.search, {"filters": "NOT brand:Zed AND (price < 1 OR price:1 TO 900)"}),
        (svc.search, {"facetFilters": [["brand:Acme", "brand:-Zed"], "price:-1"]}),
        (svc.search, {"filters": "NOT _tags:new AND NOT price:1"}),
        (svc.search, {"hitsPerPage": 0, "filters": "price > 900"}),
        (svc.read_browse, {"filters": "price < 1"}),
    ],
)
def test_what_is_right_is_not_warned_of(function: Any, params: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(INDEX, **params)


def test_hits_beyond_the_pagination_limit_are_named_with_the_way_to_them(service: Running) -> None:
    name = "why-pages"
    svc.push([{"objectID": f"{n}"} for n in range(1100)], name)

    with pytest.warns(NoHitsWarning, match=rf"paginationLimitedTo; svc.read_browse\('{name}'"):
        found = svc.search(name, page=100, hitsPerPage=10)
    with service.client() as client:
        answers = [
            client.post(f"/1/indexes/{name}/query", json={"page": page, "hitsPerPage": 10}).json()
            for page in (99, 100)
        ]

    assert found.empty
    assert "message" not in answers[0]
    assert answers[1]["message"] == (
        "you can only fetch the 1000 hits for this query. You can extend the number of hits "
        "returned via the paginationLimitedTo index parameter or use the browse method"
    )


@pytest.mark.parametrize("query", ["😀", "!?", " - ", "…"])
def test_a_query_without_words_says_that_it_matches_everything(query: str) -> None:
    with pytest.warns(UserWarning, match="has no letters or digits .* it matches every record"):
        found = svc.search(INDEX, query)

    assert len(found) == len(LAMPS)


@pytest.mark.parametrize("query", ["", " ", "lamp!"])
def test_other_queries_are_not_said_to_match_everything(query: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svc.search(INDEX, query)
