"""A search without hits: its reasons, and searches with hits."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.data.client import Client
from svc_notebook.data.session.connection import asynchronous
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.query_editor import facets as faceting
from svc_notebook.faces.functions import empty_search


def diagnose(client: Client, index: str, params: dict[str, Any]) -> tuple[Any, Any]:
    found = event_loop.run(empty_search.relax(asynchronous(client), index, params))
    return [(way["label"], way["hits"]) for way in found["searches"]], found["reasons"]


@pytest.mark.parametrize(
    ("params", "proposed", "reasons"),
    [
        ({"query": "zebra"}, [("All records", 3)], ["No record contains “zebra”."]),
        ({"query": "lamp zebra"}, [("Without “zebra”", 2)], ["No record contains “zebra”."]),
        (
            {"query": "zebra red xylophone lamp quokka"},
            [("Only “red lamp”", 1)],
            ["No record contains “zebra”, “xylophone” or “quokka”."],
        ),
        (
            {"query": "red blue zebra lamp"},
            [("Only “red lamp”", 1)],
            ["No record contains “zebra”."],
        ),
        (
            {"query": "red blue"},
            [("Without “red”", 1), ("Without “blue”", 1)],
            ["Each word has hits, but no record contains “red” and “blue” together."],
        ),
        (
            {"query": "lamp", "facetFilters": [["brand:Nobody"]], "hitsPerPage": 1},
            [("Without the filter on brand", 2)],
            ["No record matches the filter on brand."],
        ),
        (
            {"query": "lamp", "numericFilters": ["price>=80"]},
            [("Without the filter on price", 2)],
            ["Without filters the words have 2 hits; no record among them matches "
             "the filter on price."],
        ),
        (
            {"query": "lamp", "filters": "brand:Nobody"},
            [("Without the filter brand:Nobody", 2)],
            ["No record matches the filter brand:Nobody."],
        ),
        (
            {"facetFilters": [["brand:Umbra"]], "numericFilters": ["price>=80"]},
            [("Without any filter", 3), ("Without the filter on brand", 1),
             ("Without the filter on price", 1)],
            ["No record matches the filter on brand and the filter on price together."],
        ),
        ({"query": "lamp", "page": 9}, [("First page", 2)], []),
    ],
    ids=["nothing helps", "word", "three words", "words apart", "two apart", "facet", "range",
         "filters", "several", "page"],
)  # fmt: skip
def test_reasons_are_named_and_helpful_searches_listed(
    client: Client, shop: str, params: dict[str, Any], proposed: list[tuple[str, int]],
    reasons: list[str],
) -> None:  # fmt: skip
    assert diagnose(client, shop, params) == (proposed, reasons)


def test_an_index_without_records_is_the_reason(client: Client, shop: str) -> None:
    client.wait(client.clear_objects(shop), index=shop)

    assert diagnose(client, shop, {"query": "a b"}) == ([], [f"The index {shop} has no records."])


def test_a_proposal_finds_what_it_says(client: Client, shop: str) -> None:
    params = {"query": "red lamp zebra", "facetFilters": ["brand:Acme"], "hitsPerPage": 2}

    found = event_loop.run(empty_search.relax(asynchronous(client), shop, params))
    way = next(way for way in found["searches"] if way["label"] == "Without “zebra”")

    assert way["value"] == {**params, "query": "red lamp"}
    assert client.search(shop, **way["value"])["nbHits"] == way["hits"]


def test_values_are_found_among_those_counted_where_a_facet_is_not_searchable() -> None:
    facets = faceting.draw_facets({}, {"colour": {"dark red": 2, "blue": 1}}, {})

    assert faceting.find_values(facets, "colour", "RED") == [["dark red", 2, False]]
    assert faceting.find_values(facets, "other", "red") == []
    assert faceting.is_searchable({"attributesForFaceting": ["searchable(a)", "b"]}, "a")
    assert not faceting.is_searchable({"attributesForFaceting": ["searchable(a)", "b"]}, "b")
    assert faceting.is_searchable({}, "b")
