"""What is proposed for a search that finds nothing."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.client import Client
from svc_notebook.editors import event_loop
from svc_notebook.editors.query_editor import facets as faceting
from svc_notebook.editors.query_editor import relaxation
from svc_notebook.session.connection import asynchronous


def labels(client: Client, index: str, params: dict[str, Any]) -> list[tuple[str, int]]:
    ways = event_loop.run(relaxation.relax(asynchronous(client), index, params))
    return [(way["label"], way["hits"]) for way in ways]


@pytest.mark.parametrize(
    ("params", "proposed"),
    [
        ({"query": "zebra"}, []),
        ({"query": "lamp zebra"}, [("Without “zebra”", 2)]),
        (
            {"query": "lamp", "facetFilters": [["brand:Nobody"]], "hitsPerPage": 1},
            [("Any brand", 2)],
        ),
        ({"query": "lamp", "numericFilters": ["price>=80"]}, [("Any price", 2)]),
        ({"query": "lamp", "filters": "brand:Nobody"}, [("Without filters", 2)]),
        (
            {"facetFilters": [["brand:Umbra"]], "numericFilters": ["price>=80"]},
            [("Without any filter", 3), ("Any brand", 1), ("Any price", 1)],
        ),
        ({"query": "lamp", "page": 9}, [("First page", 2)]),
    ],
    ids=["nothing helps", "word", "facet", "range", "filters", "several", "page"],
)
def test_helpful_relaxations_are_listed_with_their_hits(
    client: Client, shop: str, params: dict[str, Any], proposed: list[tuple[str, int]]
) -> None:
    assert labels(client, shop, params) == proposed


def test_a_proposal_finds_what_it_says(client: Client, shop: str) -> None:
    params = {"query": "red lamp zebra", "facetFilters": ["brand:Acme"], "hitsPerPage": 2}

    [way] = event_loop.run(relaxation.relax(asynchronous(client), shop, params))

    assert way["value"] == {**params, "query": "red lamp"}
    assert client.search(shop, **way["value"])["nbHits"] == way["hits"]


def test_values_are_found_among_those_counted_where_a_facet_is_not_searchable() -> None:
    facets = faceting.draw_facets({}, {"colour": {"dark red": 2, "blue": 1}}, {})

    assert faceting.find_values(facets, "colour", "RED") == [["dark red", 2, False]]
    assert faceting.find_values(facets, "other", "red") == []
    assert faceting.is_searchable({"attributesForFaceting": ["searchable(a)", "b"]}, "a")
    assert not faceting.is_searchable({"attributesForFaceting": ["searchable(a)", "b"]}, "b")
    assert faceting.is_searchable({}, "b")
