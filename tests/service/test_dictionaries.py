"""Custom entries of dictionaries, disabled standard entries, and their effect on searches."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svc_notebook.service import limits
from svc_notebook.service.handlers import curation
from tests.conftest import Inside

ENTRIES: dict[str, dict[str, Any]] = {
    "stopwords": {"objectID": "1", "language": "en", "word": "downtown", "state": "enabled"},
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


def custom(inside: Inside, dictionary: str) -> list[str]:
    """The objectIDs of the entries of one's own."""
    found = search(inside, dictionary, hitsPerPage=1000)["hits"]
    return [hit["objectID"] for hit in found if hit["type"] == "custom"]


def words(answer: dict[str, Any]) -> list[str]:
    return [hit["word"] for hit in answer["hits"]]


@pytest.mark.parametrize("dictionary", ENTRIES)
def test_an_entry_is_saved_and_found(inside: Inside, dictionary: str) -> None:
    entry = ENTRIES[dictionary]

    save(inside, dictionary, add(entry))

    query, language = "downtown" if dictionary == "stopwords" else "", entry["language"]
    answer = search(inside, dictionary, query, language=language)
    assert answer == {"hits": [{**entry, "type": "custom"}], "nbHits": 1, "page": 0, "nbPages": 1}
    url = f"/1/dictionaries/{dictionary}/search?query={query}&language={language}"
    assert inside.call("GET", url).json() == answer
    assert search(inside, dictionary, query, language="nl")["hits"] == []


def test_a_task_of_a_dictionary_is_read_without_an_index(inside: Inside) -> None:
    answer = inside.done("POST", "/1/dictionaries/plurals/batch", add(ENTRIES["plurals"]))

    assert inside.call("GET", f"/1/task/{answer['taskID']}").json()["status"] == "published"


@pytest.mark.slow
def test_a_stop_word_is_enabled_by_default(inside: Inside) -> None:
    word = {"objectID": "1", "language": "en", "word": "down"}
    save(inside, "stopwords", add(word))
    assert search(inside, "stopwords")["hits"][0]["state"] == "enabled"

    save(inside, "stopwords", add({**word, "state": "disabled"}))

    assert search(inside, "stopwords")["hits"][0]["state"] == "disabled"


def test_of_two_steps_on_an_entry_the_last_holds(inside: Inside) -> None:
    first, gone = ENTRIES["stopwords"], {"action": "deleteEntry", "body": {"objectID": "1"}}

    save(inside, "stopwords", {"requests": [*add(first)["requests"], gone]})
    assert custom(inside, "stopwords") == []
    save(inside, "stopwords", {"requests": [gone, *add(first)["requests"]]})

    assert custom(inside, "stopwords") == ["1"]


@pytest.mark.parametrize(("clear", "left"), [(False, ["1", "2"]), (True, ["2"])])
def test_a_batch_adds_or_replaces(inside: Inside, clear: bool, left: list[str]) -> None:
    entry = ENTRIES["stopwords"]
    save(inside, "stopwords", add(entry))

    more = add({**entry, "objectID": "2"}, clearExistingDictionaryEntries=clear)
    save(inside, "stopwords", more)

    assert custom(inside, "stopwords") == left


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
        ("stopwords", add({**ENTRIES["stopwords"], "words": []}), "is not a member of an entry"),
        (
            "stopwords",
            add({**ENTRIES["stopwords"], "language": "xx"}),
            "do not support the language xx",
        ),
        (
            "compounds",
            add({**ENTRIES["compounds"], "language": "en"}),
            "do not support the language en",
        ),
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
    monkeypatch.setattr(curation, "MAX_ENTRIES", 2)
    entry = ENTRIES["stopwords"]
    save(inside, "stopwords", add(entry, {**entry, "objectID": "2"}))
    path = "/1/dictionaries/stopwords/batch"

    again = inside.call("POST", path, add(entry))
    third = inside.call("POST", path, add({**entry, "objectID": "3"}))

    assert (again.status_code, third.status_code) == (200, 403)


@pytest.mark.parametrize("query", ["", "?query=a&hitsPerPage=0", "?query=a&hitsPerPage=1001"])
def test_a_search_that_cannot_be_is_refused(inside: Inside, query: str) -> None:
    assert inside.call("GET", f"/1/dictionaries/stopwords/search{query}").status_code == 400


def test_standard_stop_words_are_listed(inside: Inside) -> None:
    answer = search(inside, "stopwords", "about")

    [hit] = answer["hits"]
    assert hit["type"] == "standard"
    assert (hit["language"], hit["word"], hit["state"]) == ("en", "about", "enabled")
    assert re.fullmatch("[0-9a-f]{32}", hit["objectID"])
    assert answer == search(inside, "stopwords", "about")


def test_standard_stop_words_come_page_by_page_in_one_order(inside: Inside) -> None:
    whole = search(inside, "stopwords", language="en", hitsPerPage=1000)

    pages = [
        search(inside, "stopwords", language="en", hitsPerPage=100, page=page)
        for page in range(-(-whole["nbHits"] // 100))
    ]

    assert len(pages) == pages[0]["nbPages"] > 5
    assert [word for page in pages for word in words(page)] == words(whole)
    assert len(set(words(whole))) == whole["nbHits"]
    assert {hit["language"] for hit in whole["hits"]} == {"en"}


def test_a_custom_entry_replaces_the_standard_entry(inside: Inside) -> None:
    entry = {"objectID": "mine", "language": "en", "word": "About", "state": "disabled"}

    save(inside, "stopwords", add(entry))

    assert search(inside, "stopwords", "about")["hits"] == [{**entry, "type": "custom"}]


def test_standard_entries_that_are_off_are_not_listed(inside: Inside) -> None:
    switch(inside, stopwords={"en": True})
    assert search(inside, "stopwords", "about")["hits"] == []

    switch(inside, stopwords={"en": False})

    assert words(search(inside, "stopwords", "about")) == ["about"]


def test_standard_plurals_are_found_by_a_word(inside: Inside) -> None:
    answer = search(inside, "plurals", "mice", language="en")

    assert [(hit["words"], hit["type"]) for hit in answer["hits"]] == [
        (["mice", "mouse"], "standard")
    ]


def test_standard_compounds_are_found_by_a_word(inside: Inside) -> None:
    answer = search(inside, "compounds", "boekenkast kast", language="nl")

    assert [(hit["word"], hit["decomposition"]) for hit in answer["hits"]] == [
        ("boekenkast", ["boeken", "kast"])
    ]


def test_a_payload_beyond_10_mb_is_refused(inside: Inside) -> None:
    content = b'{"requests": [' + b" " * limits.MAX_BODY_BYTES + b"]}"

    answer = inside.call("POST", "/1/dictionaries/stopwords/batch", content=content)

    assert answer.status_code == 413


def switch(inside: Inside, **standard: Any) -> None:
    inside.done("PUT", "/1/dictionaries/*/settings", {"disableStandardEntries": standard})


@pytest.fixture
def books(inside: Inside) -> Inside:
    switch(inside, compounds={"de": True})
    inside.fill(
        "books",
        {"objectID": "1", "title": "The mouse"},
        {"objectID": "2", "title": "Mice"},
        {"objectID": "3", "title": "Tablette gegen Kopfschmerzen: Kopfschmerztablette"},
        {"objectID": "4", "title": "Tablette"},
        searchableAttributes=["title"],
        decompoundedAttributes={"de": ["title"]},
    )
    return inside


def test_a_custom_stop_word_takes_effect_at_once_until_it_is_deleted(books: Inside) -> None:
    asked: dict[str, Any] = {"query": "gegen mouse", "removeStopWords": ["en"]}
    assert books.ids("books", **asked) == []

    save(books, "stopwords", add({"objectID": "1", "language": "en", "word": "Gegen"}))
    assert books.ids("books", **asked) == ["1"]

    gone = {"requests": [{"action": "deleteEntry", "body": {"objectID": "1"}}]}
    save(books, "stopwords", gone)
    assert books.ids("books", **asked) == []


@pytest.mark.parametrize("by", ["entry", "switch"])
def test_a_standard_stop_word_can_be_disabled(books: Inside, by: str) -> None:
    asked: dict[str, Any] = {"query": "the mice", "removeStopWords": ["en"]}
    assert books.ids("books", **asked) == ["2"]

    if by == "entry":
        entry = {"objectID": "1", "language": "en", "word": "the", "state": "disabled"}
        save(books, "stopwords", add(entry))
    else:
        switch(books, stopwords={"en": True})

    assert books.ids("books", **asked) == []


def test_forms_of_ones_own_replace_the_standard_ones(books: Inside) -> None:
    asked: dict[str, Any] = {"query": "mouse", "ignorePlurals": ["en"]}
    assert sorted(books.ids("books", **asked)) == ["1", "2"]

    forms = {"objectID": "1", "language": "en", "words": ["mouse", "tablette"]}
    save(books, "plurals", add(forms))

    assert sorted(books.ids("books", **asked)) == ["1", "3", "4"]


def test_standard_forms_are_switched_off(books: Inside) -> None:
    switch(books, plurals={"en": True})

    assert books.ids("books", "mouse", ignorePlurals=["en"]) == ["1"]


def test_a_compound_of_ones_own_is_taken_apart_at_once(books: Inside) -> None:
    assert books.ids("books", "schmerz") == []

    save(books, "compounds", add(ENTRIES["compounds"]))

    assert books.ids("books", "schmerz") == ["3"]
    assert sorted(books.ids("books", "tablette")) == ["3", "4"]


def test_a_compound_taken_for_an_atom_is_not_taken_apart(books: Inside) -> None:
    save(books, "compounds", add(ENTRIES["compounds"]))

    save(books, "compounds", add({**ENTRIES["compounds"], "decomposition": []}))

    assert books.ids("books", "schmerz") == []
