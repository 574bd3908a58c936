"""Dictionaries take words of one's own and switch standard ones off."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.service.handlers import dictionaries
from tests.conftest import Inside

ENTRIES: dict[str, dict[str, Any]] = {
    "stopwords": {"objectID": "1", "language": "en", "word": "down", "state": "enabled"},
    "plurals": {"objectID": "1", "language": "fr", "words": ["cheval", "chevaux"]},
    "compounds": {
        "objectID": "1",
        "language": "de",
        "word": "kopfschmerztablette",
        "decomposition": ["kopf", "schmerz", "tablette"],
    },
}


def add(*bodies: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"requests": [{"action": "addEntry", "body": body} for body in bodies], **more}


def save(inside: Inside, dictionary: str, body: dict[str, Any]) -> None:
    inside.done("POST", f"/1/dictionaries/{dictionary}/batch", body)


def search(inside: Inside, dictionary: str, query: str = "", **more: Any) -> dict[str, Any]:
    path = f"/1/dictionaries/{dictionary}/search"
    return dict(inside.call("POST", path, {"query": query, **more}).json())


@pytest.mark.parametrize("dictionary", ENTRIES)
def test_an_entry_is_saved_and_found(inside: Inside, dictionary: str) -> None:
    entry = ENTRIES[dictionary]

    save(inside, dictionary, add(entry))

    answer = search(inside, dictionary)
    assert answer == {"hits": [{**entry, "type": "custom"}], "nbHits": 1, "page": 0, "nbPages": 1}
    url = f"/1/dictionaries/{dictionary}/search?query=&language={entry['language']}"
    assert inside.call("GET", url).json() == answer
    assert search(inside, dictionary, language="nl")["hits"] == []


def test_a_task_of_a_dictionary_is_told_without_an_index(inside: Inside) -> None:
    answer = inside.done("POST", "/1/dictionaries/plurals/batch", add(ENTRIES["plurals"]))

    assert inside.call("GET", f"/1/task/{answer['taskID']}").json()["status"] == "published"


def test_a_stop_word_is_enabled_unless_told_otherwise(inside: Inside) -> None:
    word = {"objectID": "1", "language": "en", "word": "down"}
    save(inside, "stopwords", add(word))
    assert search(inside, "stopwords")["hits"][0]["state"] == "enabled"

    save(inside, "stopwords", add({**word, "state": "disabled"}))

    assert search(inside, "stopwords")["hits"][0]["state"] == "disabled"


def test_of_two_steps_on_an_entry_the_last_holds(inside: Inside) -> None:
    first, gone = ENTRIES["stopwords"], {"action": "deleteEntry", "body": {"objectID": "1"}}

    save(inside, "stopwords", {"requests": [*add(first)["requests"], gone]})
    assert search(inside, "stopwords")["nbHits"] == 0
    save(inside, "stopwords", {"requests": [gone, *add(first)["requests"]]})

    assert search(inside, "stopwords")["nbHits"] == 1


@pytest.mark.parametrize(("clear", "left"), [(False, ["1", "2"]), (True, ["2"])])
def test_a_batch_adds_or_replaces(inside: Inside, clear: bool, left: list[str]) -> None:
    entry = ENTRIES["stopwords"]
    save(inside, "stopwords", add(entry))

    more = add({**entry, "objectID": "2"}, clearExistingDictionaryEntries=clear)
    save(inside, "stopwords", more)

    assert [hit["objectID"] for hit in search(inside, "stopwords")["hits"]] == left


def test_languages_tell_which_dictionaries_they_have(inside: Inside) -> None:
    save(inside, "plurals", add(ENTRIES["plurals"]))

    languages = inside.call("GET", "/1/dictionaries/*/languages").json()

    assert languages["fr"] == {
        "stopwords": {"nbCustomEntries": 0},
        "plurals": {"nbCustomEntries": 1},
        "compounds": None,
    }
    assert languages["de"]["compounds"] == {"nbCustomEntries": 0}


def test_standard_entries_are_switched_language_by_language(inside: Inside) -> None:
    path = "/1/dictionaries/*/settings"

    def put(**standard: Any) -> Any:
        inside.done("PUT", path, {"disableStandardEntries": standard})
        return inside.call("GET", path).json()["disableStandardEntries"]

    assert put(stopwords={"fr": True, "en": False})["stopwords"] == {"fr": True, "en": False}
    assert put(stopwords={"de": True})["stopwords"] == {"fr": True, "en": False, "de": True}
    assert put(plurals={"fi": True}).keys() == {"stopwords", "plurals"}
    assert put(stopwords=None) == {"stopwords": {}, "plurals": {"fi": True}}


@pytest.mark.parametrize(
    ("dictionary", "body", "told"),
    [
        ("stopword", add(), "stopwords, plurals, compounds"),
        ("stopwords", {}, "`requests` is missing"),
        ("stopwords", add({"objectID": "1", "language": "en"}), "`requests[0].body.word`"),
        ("plurals", add({"objectID": "1", "words": ["a"]}), "`requests[0].body.language`"),
        ("compounds", add(ENTRIES["stopwords"]), "`requests[0].body.decomposition` is missing"),
        ("stopwords", add({**ENTRIES["stopwords"], "words": []}), "is not part of an entry"),
        ("stopwords", add({**ENTRIES["stopwords"], "language": "xx"}), "no language xx"),
        ("compounds", add({**ENTRIES["compounds"], "language": "en"}), "no language en"),
        ("stopwords", {"requests": [{"action": "dropEntry", "body": {}}]}, "`requests[0].action`"),
    ],
)
def test_a_batch_that_is_wrong_is_refused_with_the_place(
    inside: Inside, dictionary: str, body: dict[str, Any], told: str
) -> None:
    answer = inside.call("POST", f"/1/dictionaries/{dictionary}/batch", body)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


def test_more_entries_than_the_quota_are_refused(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionaries, "QUOTA", 2)
    entry = ENTRIES["stopwords"]
    save(inside, "stopwords", add(entry, {**entry, "objectID": "2"}))
    path = "/1/dictionaries/stopwords/batch"

    again = inside.call("POST", path, add(entry))
    third = inside.call("POST", path, add({**entry, "objectID": "3"}))

    assert (again.status_code, third.status_code) == (200, 403)


@pytest.mark.parametrize("query", ["", "?query=a&hitsPerPage=0", "?query=a&hitsPerPage=1001"])
def test_a_search_that_cannot_be_is_refused(inside: Inside, query: str) -> None:
    assert inside.call("GET", f"/1/dictionaries/stopwords/search{query}").status_code == 400
