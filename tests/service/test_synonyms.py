"""Synonyms are stored, found and replaced as a whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
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


def test_the_other_spelling_of_a_type_is_kept_and_means_the_same(inside: Inside) -> None:
    spelled = {**ALL[1], "type": "oneWaySynonym"}
    inside.fill("shop", {"objectID": "r", "title": "ipad"})

    inside.done("PUT", f"{PATH}/2", spelled)

    assert inside.call("GET", f"{PATH}/2").json() == spelled
    assert inside.ids("shop", "tablet") == ["r"]
    for kind in ("onewaysynonym", "oneWaySynonym"):
        [hit] = inside.call("POST", f"{PATH}/search", {"type": kind}).json()["hits"]
        assert hit["type"] == "oneWaySynonym"


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


def test_matches_in_entries_are_highlighted(shop: Inside) -> None:
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
        ({**ALL[0], "synonyms": []}, "`synonyms` is missing; it is required in a synonym"),
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


# ------------------------------------------------------------------------------------- effect


@pytest.fixture
def stocked(shop: Inside) -> Inside:
    titles = ["blue jeans", "an ipad", "a phone", "a bar", "room <no>", "trousers"]
    shop.fill("shop", *({"objectID": str(n), "title": t} for n, t in enumerate(titles)))
    return shop


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("blue trousers", ["0"]),
        ("tablet", ["1"]),
        ("ipad", ["1"]),
        ("smartphone", ["2"]),
        ("foo", ["3"]),
        ("room 1", ["4"]),
        ("no", ["4"]),
    ],
)
def test_each_type_changes_what_is_found(stocked: Inside, query: str, ids: list[str]) -> None:
    assert stocked.ids("shop", query) == ids


def test_synonyms_are_switched_off_by_the_query(stocked: Inside) -> None:
    assert stocked.ids("shop", "tablet", synonyms=False) == []
    assert stocked.ids("shop", "blue trousers", synonyms=False) == []


def test_browsing_heeds_synonyms(stocked: Inside) -> None:
    answer = stocked.call("POST", "/1/indexes/shop/browse", {"query": "tablet"}).json()

    assert [hit["objectID"] for hit in answer["hits"]] == ["1"]


def test_a_change_of_synonyms_takes_effect_at_once(stocked: Inside) -> None:
    assert stocked.ids("shop", "slate") == []

    stocked.done("PUT", f"{PATH}/2", {**ALL[1], "input": "slate"})
    assert (stocked.ids("shop", "slate"), stocked.ids("shop", "tablet")) == (["1"], [])

    stocked.done("DELETE", f"{PATH}/2")
    assert stocked.ids("shop", "slate") == []

    stocked.done("POST", f"{PATH}/clear")
    assert stocked.ids("shop", "room 1") == []


def test_synonyms_are_read_by_the_rules_of_new_settings(stocked: Inside) -> None:
    stocked.fill("shop", {"objectID": "c", "title": "learn c++"})
    synonym = {**ALL[1], "objectID": "6", "input": "cpp", "synonyms": ["c++"]}
    stocked.done("PUT", f"{PATH}/6", synonym)
    assert stocked.ids("shop", "cpp") == ["c"]
    stocked.fill("shop", {"objectID": "d", "title": "learn c"})

    stocked.done("PUT", "/1/indexes/shop/settings", {"separatorsToIndex": "+"})

    assert stocked.ids("shop", "cpp") == ["c"]


@pytest.mark.parametrize("scope", [None, ["synonyms"]])
def test_synonyms_take_effect_after_a_copy_and_a_move(
    stocked: Inside, scope: list[str] | None
) -> None:
    stocked.fill("new", {"objectID": "1", "title": "an ipad"})
    assert stocked.ids("new", "tablet") == []

    order = {"operation": "copy", "destination": "new", "scope": scope}
    stocked.done("POST", "/1/indexes/shop/operation", order)
    assert stocked.ids("new", "tablet") == ["1"]

    stocked.done("POST", f"{PATH}/clear")
    order = {"operation": "move", "destination": "old"}
    stocked.done("POST", "/1/indexes/new/operation", order)
    assert stocked.ids("old", "tablet") == ["1"]
    assert stocked.ids("shop", "tablet") == []


def test_another_index_of_the_same_name_has_no_synonyms(stocked: Inside) -> None:
    assert stocked.ids("shop", "tablet") == ["1"]

    stocked.done("DELETE", "/1/indexes/shop")
    stocked.fill("shop", {"objectID": "1", "title": "an ipad"})

    assert stocked.ids("shop", "tablet") == []


def test_synonyms_take_effect_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as before:
        before.done("POST", f"{PATH}/batch", ALL)
        before.fill("shop", {"objectID": "1", "title": "an ipad <no> 7"})

    with serving(tmp_path) as after:
        assert after.ids("shop", "tablet jean") == ["1"]


@contextmanager
def serving(folder: Path) -> Iterator[Inside]:
    inner = Service(folder)
    inner.start()
    app = App(inner)
    yield Inside(app)
    app.close()
    inner.stop()


def test_a_search_uses_either_the_old_or_the_new_synonyms(inside: Inside) -> None:
    sets = [
        [{**ALL[1], "objectID": str(n), "input": "x", "synonyms": [f"{one}{n}"]} for n in range(50)]
        for one in ("a", "b")
    ]
    titles = [f"{one}{n}" for one in "ab" for n in range(50)]
    inside.fill("shop", *({"objectID": title, "title": title} for title in titles))
    inside.done("POST", f"{PATH}/batch", sets[0])
    seen: set[tuple[str, ...]] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(tuple(inside.ids("shop", "x", hitsPerPage=1000)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    turn = 0
    # On a busy machine ten writes can pass between two searches.
    while turn < 10 or len({name[0] for ids in [*seen] for name in ids}) < 2:
        turn += 1
        inside.done("POST", f"{PATH}/batch?replaceExistingSynonyms=true", sets[turn % 2])
    done.set()
    watcher.join()

    told = {(len(ids), *{name[0] for name in ids}) for ids in seen}
    assert told == {(50, "a"), (50, "b")}
