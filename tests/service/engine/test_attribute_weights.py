"""The weights of attributes in textual relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index

SETTINGS = {"searchableAttributes": ["title", "about,notes"], "enableReRanking": True}
RECORDS = [
    {"objectID": "title", "title": "lamp", "about": "oak", "notes": "oak"},
    {"objectID": "about", "title": "oak", "about": "lamp", "notes": "oak"},
    {"objectID": "notes", "title": "oak", "about": "oak", "notes": "lamp"},
]


def fetch(ids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"objectID": name} for name in ids]


def score_records(settings: Any, **params: Any) -> dict[str, float]:
    index = Index({**SETTINGS, **settings})
    index.put(RECORDS)
    result = index.search({"query": "lamp ", "getRankingInfo": True, **params}, fetch)
    return {hit["objectID"]: hit["_rankingInfo"]["textScore"] for hit in result.hits}


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        pytest.param("halving", ["title", "about", "notes"], id="halving"),
        pytest.param("flat", ["about", "notes", "title"], id="flat"),
        pytest.param({"notes": 3}, ["notes", "about", "title"], id="numbers"),
        pytest.param({"about": 0.5, "title": 2}, ["title", "notes", "about"], id="several"),
    ],
)
def test_weights_order_hits_from_settings_and_from_parameters(
    weights: Any, order: list[str]
) -> None:
    stored = score_records({"attributeWeights": weights})

    assert stored == score_records({}, attributeWeights=weights)
    assert sorted(stored, key=lambda name: (-stored[name], name)) == list(stored) == order


def test_without_weights_each_position_counts_half_of_the_one_before() -> None:
    assert score_records({}) == score_records({}, attributeWeights={"about": 0.5, "notes": 0.5})


def test_an_occurrence_of_weight_0_does_not_count() -> None:
    assert score_records({}, attributeWeights={"title": 0})["title"] == 0


def test_a_weight_of_an_attribute_that_is_not_searched_is_refused_in_a_search() -> None:
    with pytest.raises(BadInput, match=r"titel.*not in searchableAttributes.*title"):
        score_records({}, attributeWeights={"titel": 2})


def test_weights_need_searchable_attributes() -> None:
    with pytest.raises(BadInput, match="all attributes count as one text"):
        score_records({"searchableAttributes": []}, attributeWeights={"title": 2})


def test_stored_weights_of_an_attribute_that_is_no_longer_searched_are_ignored() -> None:
    weights = {"title": 2, "about": 3}

    scores = score_records({"searchableAttributes": ["title"], "attributeWeights": weights})

    assert list(scores) == ["title"]
