"""Query suggestions are built from counted searches, facet values and other indices."""

from __future__ import annotations

import time
from typing import Any

import pytest

from svc_notebook.service.suggestion_builder import SuggestionBuilder
from tests.conftest import Inside
from tests.service.past import Clock

SUGGESTIONS = "films_suggestions"
FILMS = [
    {"objectID": f"{kind} {number}", "title": kind, "brand": brand, "color": "red"}
    for kind, brand in (("desk lamp", "Lumo"), ("desk lamps", "Nord"), ("garden chair", "Nord"))
    for number in range(3)
]


@pytest.fixture
def shop(inside: Inside) -> Inside:
    """An index with searches of three users."""
    inside.fill("films", *FILMS, attributesForFaceting=["brand", "color"], replicas=["cheap"])
    for user in ("anna", "bob", "carl"):
        search(inside, "Desk Lamp", user, analyticsTags=["web"])
    search(inside, "desk lamps", "dora")
    search(inside, "lamp", "emil")
    search(inside, "chair", "fred", analyticsTags=["app"])
    search(inside, "toaster", "gina")
    return inside


def search(inside: Inside, query: str, user: str, index: str = "films", **params: Any) -> None:
    body = {"query": query, "userToken": user, **params}
    assert inside.call("POST", f"/1/indexes/{index}/query", body).is_success


def build(inside: Inside, **fields: Any) -> dict[str, dict[str, Any]]:
    """Save a configuration and build it; returns the suggestions by query."""
    source = fields.pop("source", {})
    body = {"sourceIndices": [{"indexName": "films", "minHits": 1, **source}], **fields}
    if inside.call("GET", f"/1/configs/{SUGGESTIONS}").is_success:
        answer = inside.call("PUT", f"/1/configs/{SUGGESTIONS}", body)
    else:
        answer = inside.call("POST", "/1/configs", {"indexName": SUGGESTIONS, **body})
    assert answer.is_success, answer.text
    service = inside.app.service
    SuggestionBuilder(service).build_due()
    while service.tasks.published < service.tasks.last:
        time.sleep(0.01)
    found = inside.call("POST", f"/1/indexes/{SUGGESTIONS}/query", {"hitsPerPage": 100}).json()
    return {
        hit["query"]: {name: value for name, value in hit.items() if name[0] != "_"}
        for hit in found["hits"]
    }


def test_searches_become_suggestions_with_hits_and_facets(shop: Inside) -> None:
    facets = [{"attribute": "brand", "amount": 1}, {"attribute": "color"}]

    suggestions = build(shop, source={"facets": facets})

    assert [*suggestions] == ["desk lamp", "chair", "desk lamps", "lamp"]
    # The last word is the beginning of a word: six hits are lamps, three of each brand.
    exact = {"brand": [{"value": "Lumo", "count": 3}], "color": [{"value": "red", "count": 6}]}
    assert suggestions["desk lamp"] == {
        "objectID": "desk lamp",
        "query": "desk lamp",
        "nb_words": 2,
        "popularity": 3,
        "films": {"exact_nb_hits": 6, "facets": {"exact_matches": exact}},
    }
    settings = shop.call("GET", f"/1/indexes/{SUGGESTIONS}/settings").json()
    assert settings["customRanking"] == ["desc(popularity)"]


def test_options_choose_the_queries(shop: Inside) -> None:
    assert [*build(shop, source={"minHits": 4})] == ["desk lamp", "lamp"]
    assert "lamp" not in build(shop, source={"minLetters": 5})
    assert [*build(shop, source={"analyticsTags": ["app", "x"]})] == ["chair"]
    assert [*build(shop, exclude=["cha.r", "lamps?", "("])] == []
    merged = build(shop, languages=["en"])
    assert (merged["desk lamp"]["popularity"], "desk lamps" in merged) == (4, False)
    search(shop, "lamp #3", "x", removeWordsIfNoResults="allOptional")
    assert "lamp #3" not in build(shop, source={"minHits": 0})
    special = build(shop, source={"minHits": 0}, allowSpecialCharacters=True)
    assert "lamp #3" in special
    assert "toaster" in special


def test_facet_values_other_indices_and_replicas_add_queries(shop: Inside) -> None:
    external: list[dict[str, Any]] = [
        {"objectID": "1", "query": "Garden Chair", "count": 9},
        {"objectID": "2"},
    ]
    shop.fill("popular", *external)
    search(shop, "garden", "x", index="cheap")

    source = {"external": ["popular"], "generate": [["color", "brand"]], "replicas": True}
    suggestions = build(shop, source=source)

    assert suggestions["garden chair"]["popularity"] == 9
    assert suggestions["garden"]["popularity"] == 1
    assert suggestions["red nord"]["popularity"] == 0
    assert suggestions["red nord"]["films"]["exact_nb_hits"] == 6
    assert "garden" not in build(shop)


def test_suggestions_are_built_again_each_day(shop: Inside, clock: Clock) -> None:
    build(shop)
    first = shop.call("GET", f"/1/configs/{SUGGESTIONS}/status").json()
    builder = SuggestionBuilder(shop.app.service)
    assert first["isRunning"] is False

    builder.build_due()
    assert shop.call("GET", f"/1/configs/{SUGGESTIONS}/status").json() == first
    clock.seconds += 24 * 3600 + 1
    builder.build_due()

    second = shop.call("GET", f"/1/configs/{SUGGESTIONS}/status").json()
    assert second["lastSuccessfulBuiltAt"] > first["lastSuccessfulBuiltAt"]


def test_a_build_that_fails_keeps_the_suggestions_and_says_why(shop: Inside) -> None:
    before = build(shop)
    shop.done("DELETE", "/1/indexes/films")

    assert build(shop) == before

    log = shop.call("GET", f"/1/logs/{SUGGESTIONS}").json()
    assert (log["level"], log["message"]) == ("ERROR", "Index films does not exist")


def test_configurations_are_listed_and_deleted_by_keys_that_reach_them(shop: Inside) -> None:
    build(shop)
    key = shop.call("POST", "/1/keys", {"acl": ["settings", "editSettings"], "indexes": ["a*"]})
    other = key.json()["key"]

    assert [row["indexName"] for row in shop.call("GET", "/1/configs").json()] == [SUGGESTIONS]
    assert shop.call("GET", "/1/configs", key=other).json() == []
    body = {"indexName": "a", "sourceIndices": [{"indexName": "films"}]}
    assert shop.call("POST", "/1/configs", body, key=other).status_code == 403
    again = {"indexName": SUGGESTIONS, "sourceIndices": [{"indexName": "films"}]}
    assert shop.call("POST", "/1/configs", again).status_code == 409
    itself = {"indexName": "films", "sourceIndices": [{"indexName": "films"}]}
    assert "the suggestions itself" in shop.call("POST", "/1/configs", itself).json()["message"]
    assert shop.call("DELETE", f"/1/configs/{SUGGESTIONS}").is_success
    assert shop.call("GET", f"/1/configs/{SUGGESTIONS}").status_code == 404
    assert shop.ids(SUGGESTIONS)
