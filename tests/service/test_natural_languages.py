"""Spoken queries: the parameters that `naturalLanguages` implies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Inside


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.fill("shop", {"objectID": "1", "name": "Mice"}, {"objectID": "2", "name": "Lamp"})
    spoken = {
        "objectID": "spoken",
        "conditions": [{"context": "natural_language"}],
        "consequence": {"userData": {"spoken": True}},
    }
    inside.done("PUT", "/1/indexes/shop/rules/spoken", spoken)
    return inside


def ask(inside: Inside, query: str, **params: Any) -> dict[str, Any]:
    body = {"query": query, "queryType": "prefixNone", **params}
    return dict(inside.call("POST", "/1/indexes/shop/query", body).json())


def test_a_spoken_sentence_finds_its_subject(shop: Inside) -> None:
    assert ask(shop, "do you have a mouse")["nbHits"] == 0

    answer = ask(shop, "do you have a mouse", naturalLanguages=["en"])

    assert [hit["objectID"] for hit in answer["hits"]] == ["1"]


def test_words_without_matches_are_optional(shop: Inside) -> None:
    answer = ask(shop, "a purple mouse", naturalLanguages=["en"])

    assert [hit["objectID"] for hit in answer["hits"]] == ["1"]


def test_explicit_parameters_are_kept(shop: Inside) -> None:
    strict = {"naturalLanguages": ["en"], "removeWordsIfNoResults": "none"}

    assert ask(shop, "a purple mouse", **strict)["nbHits"] == 0


def test_rules_for_spoken_queries_apply(shop: Inside) -> None:
    assert "appliedRules" not in ask(shop, "mouse")

    answer = ask(shop, "mouse", naturalLanguages=["en"])

    assert answer["userData"] == [{"spoken": True}]


def test_languages_may_stand_in_the_url(shop: Inside) -> None:
    url = "/1/indexes/shop?query=the%20mouse%20is&naturalLanguages=en&queryType=prefixNone"

    assert [hit["objectID"] for hit in shop.call("GET", url).json()["hits"]] == ["1"]
