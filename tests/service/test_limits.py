"""Limits of one call: beyond each a 400 that names the parameter and the limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import hints
from svc_notebook.service import limits
from svc_notebook.service.app import App
from svc_notebook.service.search.search_response import LIMITED_ELSEWHERE, quote_bytes
from svc_notebook.service.service import Service
from tests.conftest import Inside

MOST = limits.MAX_LIST_ITEMS
# Lists whose items are not any text.
ITEMS: dict[str, Any] = {
    "advancedSyntaxFeatures": "exactPhrase",
    "alternativesAsExact": "ignorePlurals",
    "aroundPrecision": {"from": 0, "value": 10},
    "ignorePlurals": "en",
    "naturalLanguages": "en",
    "queryLanguages": "en",
    "ranking": "typo",
    "reRankingApplyFilter": "name:a",
    "customRanking": "asc(n)",
    "removeStopWords": "en",
    "responseFields": "hits",
    "restrictSearchableAttributes": "name",
}


# More than 512 bytes.
LONG_QUERY = "x " * 257


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    service = Service(tmp_path_factory.mktemp("shop"))
    service.start()
    app = App(service)
    inside = Inside(app)
    records = [{"objectID": str(n), "name": "lamp", "brand": "Acme", "n": n} for n in range(3)]
    inside.fill("p", *records, attributesForFaceting=["searchable(brand)"])
    yield inside
    app.close()
    service.stop()


def lists() -> list[str]:
    """The parameters that may be a list, apart from those with limits of their own."""
    return sorted(
        name
        for name, kind in hints(SearchParams).items()
        if name not in LIMITED_ELSEWHERE and any(get_origin(one) is list for one in parts(kind))
    )


def parts(kind: Any) -> Iterator[Any]:
    yield kind
    for inner in get_args(kind):
        if get_origin(kind) is not list:
            yield from parts(inner)


def refused(answer: Any) -> str:
    assert answer.status_code == 400, answer.text[:300]
    return str(answer.json()["message"])


@pytest.mark.parametrize("name", lists())
def test_a_list_with_too_many_items_is_refused_by_name(shop: Inside, name: str) -> None:
    item = ITEMS.get(name, "name")

    taken = shop.call("POST", "/1/indexes/p/query", {name: [item] * MOST})
    message = refused(shop.call("POST", "/1/indexes/p/query", {name: [item] * (MOST + 1)}))

    assert taken.status_code == 200, taken.text
    assert message.startswith(f"`{name}` has 1,001 items, the maximum is 1,000")


@pytest.mark.parametrize("name", ["facets", "optionalWords"])
def test_items_of_a_list_written_as_text_are_counted(shop: Inside, name: str) -> None:
    text = ",".join(["brand"] * (MOST + 1))

    message = refused(shop.call("POST", "/1/indexes/p/query", {name: text}))

    assert message.startswith(f"`{name}` has 1,001 items")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/1/indexes/p/browse", {"attributesToRetrieve": ["n"] * (MOST + 1)}),
        ("/1/indexes/p/facets/brand/query", {"attributesToRetrieve": ["n"] * (MOST + 1)}),
        (
            "/1/indexes/*/queries",
            {"requests": [{"indexName": "p", "attributesToRetrieve": ["n"] * (MOST + 1)}]},
        ),
        (
            "/1/indexes/*/objects",
            {
                "requests": [
                    {"indexName": "p", "objectID": "1", "attributesToRetrieve": ["n"] * (MOST + 1)}
                ]
            },
        ),
    ],
    ids=["browse", "facet", "many", "objects"],
)
def test_items_of_lists_are_counted_in_every_call(
    shop: Inside, path: str, body: dict[str, Any]
) -> None:
    assert "`attributesToRetrieve` has 1,001 items" in refused(shop.call("POST", path, body))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"filters": " OR ".join(["a:x"] * 10_001)}, "filters: more than 10,000 filter terms"),
        ({"facetFilters": [["a:x"] * 10_001]}, "facetFilters: more than 10,000 filter terms"),
        ({"optionalFilters": ["a:x"] * 1_001}, "optionalFilters: more than 1,000 filter terms"),
        ({"insidePolygon": [[1, 1, 2, 2, 3, 1]] * 1_001}, "insidePolygon: expected at most 1,000"),
        ({"insidePolygon": [[1, 1] * 9_000] * 23}, "insidePolygon: expected at most 200,000"),
        ({"insideBoundingBox": [[1, 1, 2, 2]] * 1_001}, "insideBoundingBox: expected at most"),
    ],
    ids=["filters", "facetFilters", "optionalFilters", "polygons", "points", "boxes"],
)
def test_filters_and_areas_have_limits_of_their_own(
    shop: Inside, params: dict[str, Any], said: str
) -> None:
    assert refused(shop.call("POST", "/1/indexes/p/query", params)).startswith(said)
    assert refused(shop.call("POST", "/1/indexes/p/browse", params)).startswith(said)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("indexes/texts/facets/name/query", {"facetQuery": LONG_QUERY}),
        ("indexes/*/queries", {"requests": [
            {"indexName": "texts", "type": "facet", "facet": "name", "facetQuery": LONG_QUERY}
        ]}),
        ("indexes/texts/synonyms/search", {"query": LONG_QUERY}),
        ("indexes/texts/rules/search", {"query": LONG_QUERY}),
        ("dictionaries/stopwords/search", {"query": LONG_QUERY}),
        ("clusters/mapping/search", {"query": LONG_QUERY}),
    ],
)  # fmt: skip
def test_a_long_query_of_any_search_is_refused(inside: Inside, path: str, body: object) -> None:
    inside.fill("texts", {"objectID": "1", "name": "x"})
    settings = {"attributesForFaceting": ["searchable(name)"]}
    inside.done("PUT", "/1/indexes/texts/settings", settings)

    answer = inside.call("POST", f"/1/{path}", body)

    assert answer.status_code == 400
    assert "uery` is longer than 512 bytes" in answer.json()["message"]


def test_too_many_searches_in_one_call_are_refused(shop: Inside) -> None:
    def call(count: int) -> Any:
        body = {"requests": [{"indexName": "p", "hitsPerPage": 0}] * count}
        return shop.call("POST", "/1/indexes/*/queries", body)

    assert len(call(limits.MAX_QUERIES).json()["results"]) == limits.MAX_QUERIES
    assert refused(call(limits.MAX_QUERIES + 1)).startswith("`requests` has 501 searches")


def test_of_too_many_rules_the_first_are_applied_and_a_message_says_so(shop: Inside) -> None:
    most = limits.MAX_APPLIED_RULES
    shop.fill("r", {"objectID": "1", "name": "lamp"})
    rules = [
        {"objectID": f"r{number:05}", "conditions": [], "consequence": {"userData": number}}
        for number in range(most + 5)
    ]
    shop.done("POST", "/1/indexes/r/rules/batch", rules)

    answer = shop.call("POST", "/1/indexes/r/query", {}).json()

    assert answer["userData"] == list(range(most))
    assert answer["message"] == "1,005 rules match; only the first 1,000 were applied"


def test_a_search_beyond_its_time_is_refused_with_advice(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.start()
    patient = Inside(App(service))
    patient.fill("p", {"objectID": "1", "name": "lamp"})
    hasty = Inside(App(service, search_timeout=1e-9))

    answer = hasty.call("POST", "/1/indexes/p/query", {"query": "lamp"})

    assert answer.status_code == 408
    assert answer.json()["message"].startswith("the search took longer than 1e-09 s: search for")
    assert "--search-timeout" in answer.json()["message"]
    assert patient.ids("p", "lamp") == ["1"]
    for inside in (patient, hasty):
        inside.app.close()
    service.stop()


@pytest.mark.parametrize("size", [0, 10, 4095, 5000, 30_000])
def test_long_texts_are_quoted_as_short_ones(size: int) -> None:
    piece = bytes(range(256)) + "a b+c%d é漢 ,[]1.5~".encode()
    raw = (piece * (size // len(piece) + 1))[:size]

    # In pieces of one byte each it goes the short way.
    assert quote_bytes(raw) == "".join(quote_bytes(bytes([code])) for code in raw)
