"""Synonyms are kept, found and replaced as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Inside

PATH = "/1/indexes/shop/synonyms"
ALL: list[dict[str, Any]] = [
    {"objectID": "1", "type": "synonym", "synonyms": ["trousers", "Jeans"]},
    {"objectID": "2", "type": "onewaysynonym", "input": "tablet", "synonyms": ["ipad"]},
    {"objectID": "3", "type": "altcorrection1", "word": "smartphone", "corrections": ["phone"]},
    {"objectID": "4", "type": "altcorrection2", "word": "foo", "corrections": ["bar"]},
    {"objectID": "5", "type": "placeholder", "placeholder": "<no>", "replacements": ["1", "jean"]},
]


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.done("POST", f"{PATH}/batch", ALL)
    return inside


def found(inside: Inside, **body: Any) -> list[str]:
    return [hit["objectID"] for hit in inside.call("POST", f"{PATH}/search", body).json()["hits"]]


@pytest.mark.parametrize("synonym", ALL, ids=lambda synonym: synonym["type"])
def test_each_type_is_saved_and_read(inside: Inside, synonym: dict[str, Any]) -> None:
    path = f"{PATH}/{synonym['objectID']}"

    answer = inside.done("PUT", path, synonym)

    assert answer.keys() == {"taskID", "updatedAt", "id"}
    assert inside.call("GET", path).json() == synonym


def test_the_other_spelling_of_a_type_is_the_same(inside: Inside) -> None:
    inside.done("PUT", f"{PATH}/2", {**ALL[1], "type": "oneWaySynonym"})

    assert inside.call("GET", f"{PATH}/2").json() == ALL[1]


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({}, ["1", "2", "3", "4", "5"]),
        ({"query": "jean"}, ["1", "5"]),
        ({"query": "JEANS trou"}, ["1"]),
        ({"type": "altcorrection1,altCorrection2"}, ["3", "4"]),
        ({"type": "placeholder", "query": "jean"}, ["5"]),
        ({"page": 1, "hitsPerPage": 2}, ["3", "4"]),
        ({"query": "nothing"}, []),
    ],
)
def test_synonyms_are_found_by_words_and_type(
    shop: Inside, body: dict[str, Any], ids: list[str]
) -> None:
    assert found(shop, **body) == ids


def test_what_was_found_is_marked(shop: Inside) -> None:
    answer = shop.call("POST", f"{PATH}/search", {"query": "jean", "type": "synonym"}).json()

    assert answer["nbHits"] == 1
    assert answer["hits"][0]["_highlightResult"]["synonyms"] == [
        {"value": "trousers", "matchLevel": "none", "matchedWords": []},
        {"value": "<em>Jeans</em>", "matchLevel": "full", "matchedWords": ["jean"]},
    ]


@pytest.mark.parametrize(("replace", "left"), [("", 5), ("?replaceExistingSynonyms=true", 1)])
def test_a_batch_adds_or_replaces_the_whole_list(shop: Inside, replace: str, left: int) -> None:
    shop.done("POST", f"{PATH}/batch{replace}", [{**ALL[0], "synonyms": ["a", "b"]}])

    assert len(found(shop)) == left
    assert shop.call("GET", f"{PATH}/1").json()["synonyms"] == ["a", "b"]


def test_synonyms_are_deleted_and_cleared(shop: Inside) -> None:
    answer = shop.done("DELETE", f"{PATH}/1")
    assert answer.keys() == {"taskID", "deletedAt"}
    assert found(shop) == ["2", "3", "4", "5"]

    shop.done("POST", f"{PATH}/clear")

    assert found(shop) == []
    assert shop.call("GET", f"{PATH}/2").status_code == 404


@pytest.mark.parametrize(
    ("operation", "scope", "ids"),
    [
        ("copy", None, ["1", "2", "3", "4", "5"]),
        ("copy", ["synonyms"], ["1", "2", "3", "4", "5"]),
        ("copy", ["settings", "rules"], ["9"]),
        ("move", None, ["1", "2", "3", "4", "5"]),
    ],
)
def test_synonyms_go_along_with_their_index(
    shop: Inside, operation: str, scope: list[str] | None, ids: list[str]
) -> None:
    shop.done("PUT", "/1/indexes/new/synonyms/9", {**ALL[0], "objectID": "9"})

    body = {"operation": operation, "destination": "new", "scope": scope}
    shop.done("POST", "/1/indexes/shop/operation", body)

    hits = shop.call("POST", "/1/indexes/new/synonyms/search").json()["hits"]
    assert [hit["objectID"] for hit in hits] == ids


def test_synonyms_go_with_a_deleted_index(shop: Inside) -> None:
    shop.done("DELETE", "/1/indexes/shop")
    shop.fill("shop", {"objectID": "1"})

    assert found(shop) == []


@pytest.mark.parametrize(
    ("synonym", "told"),
    [
        ({**ALL[0], "synonyms": []}, "`synonyms` is missing; a synonym needs it"),
        ({**ALL[1], "type": "onewaysynonyms"}, "`type`"),
        ({"objectID": "1", "type": "placeholder", "replacements": ["a"]}, "`placeholder`"),
        ({**ALL[2], "objectID": "1", "corrections": ["two words"]}, "not a single word"),
        ({"type": "synonym", "synonyms": ["a"]}, "objectID"),
        ({**ALL[0], "objectID": "2"}, "2 in the body, 1 in the path"),
        ({**ALL[0], "synonym": ["a"]}, "did you mean `synonyms`?"),
    ],
)
def test_a_synonym_that_cannot_be_is_refused(
    inside: Inside, synonym: dict[str, Any], told: str
) -> None:
    answer = inside.call("PUT", f"{PATH}/1", synonym)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


def test_a_wrong_synonym_of_a_batch_is_named(inside: Inside) -> None:
    answer = inside.call("POST", f"{PATH}/batch", [ALL[0], {**ALL[1], "input": ""}])

    assert "`[1].input` is missing" in answer.json()["message"]


def test_an_unknown_type_to_search_for_is_refused(shop: Inside) -> None:
    answer = shop.call("POST", f"{PATH}/search", {"type": "synonim"})

    assert (answer.status_code, "did you mean `synonym`?" in answer.text) == (400, True)
