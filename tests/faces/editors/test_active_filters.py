"""Active filters of a search, and the search without each."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.faces.editors.query_editor.facets import list_active_filters


@pytest.mark.parametrize(
    ("params", "held"),
    [
        ({"query": "lamp", "page": 2}, {}),
        (
            {"facetFilters": [["brand:Acme", "brand:Umbra"], "colour:red"]},
            {
                "brand: Acme": {"facetFilters": ["colour:red", ["brand:Umbra"]]},
                "brand: Umbra": {"facetFilters": ["colour:red", ["brand:Acme"]]},
                "colour: red": {"facetFilters": [["brand:Acme", "brand:Umbra"]]},
            },
        ),
        (
            {"numericFilters": ["price>=10", "price<=20.5", "stock>0"], "query": "a"},
            {
                "price ≥ 10, ≤ 20.5": {"numericFilters": ["stock>0"], "query": "a"},
                'numericFilters: ["stock>0"]': {
                    "numericFilters": ["price>=10", "price<=20.5"],
                    "query": "a",
                },
            },
        ),
        (
            {"filters": "price<9", "hitsPerPage": 5, "page": 3},
            {
                'filters: "price<9"': {"hitsPerPage": 5},
                "hitsPerPage: 5": {"filters": "price<9"},
            },
        ),
        (
            {"facetFilters": ["brand:-Acme", "colour:red"]},
            {
                "colour: red": {"facetFilters": ["brand:-Acme"]},
                'facetFilters: ["brand:-Acme"]': {"facetFilters": ["colour:red"]},
            },
        ),
        ({"facetFilters": "brand:Acme"}, {"brand: Acme": {}}),
    ],
    ids=["nothing", "facets", "ranges", "parameters", "negated", "text"],
)
def test_each_filter_can_be_taken_away(params: dict[str, Any], held: dict[str, Any]) -> None:
    assert {one["label"]: one["value"] for one in list_active_filters(params)} == held


def test_a_long_value_is_cut() -> None:
    [one] = list_active_filters({"filters": "brand:x OR " * 50})

    assert len(one["label"]) == 60
    assert one["label"].endswith("…")
